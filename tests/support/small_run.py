"""One small run, written event by event: a profile and the host trace of the same process, and what is to be found in them.

main thread                                          device
0      step begins (annotation)
0        aten::mm
500        aten::to, _copy_from 600 to 2,400         (its input for the scan: a copy out, 700 to 2,300)
2,500      aten::isinf, abs 2,600 to 3,600
4,000      aten::isnan, ne 4,100 to 4,400
5,000      aten::mm itself
6,000        launch 1, submit until 6,400
7,000                                                launch 1: a transfer until 8,000
8,000                                                launch 1: compute until 9,500
9,000      aten::mm itself ends
10,000     aten::mm ends
12,000   aten::add until 20,000, on the CPU from 13,000 to 19,000
22,000   aten::mm, compiles from 22,200 to 23,000
23,000     launch 2, submit until 23,300
24,000                                               launch 2: compute until 34,000
(worker) aten::mul from 24,000 to 29,000
25,000     launch 3 of the worker, submit until 25,500
30,000     aten::mm ends
31,000   aten::to until 36,000, _copy_from 31,500 to 35,500: a copy out of 2 bytes, 32,000 to 35,000
34,100                                               launch 3: compute until 40,000
42,000   waits until 49,000, in no operator
44,900                                               launch 4: compute until 46,000, before it was submitted
45,000   (worker) launch 4, submit until 45,300, in no operator
50,000   launch 5, submit until 50,200, in no operator; its work is lost
52,000                                               compute until 53,000, of no launch
60,000 step ends
"""

from __future__ import annotations

import numpy as np

from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import ABSENT, DeviceSlices, HostSlices, Launches, Overheads
from rblnpb.converters.timeline import HostTrace
from rblnpb.profile import Device, Engine, EngineKind, HostActivity, OverheadKind, Profile, Program, Session
from tests.support.timelines import host_trace, microseconds

BASE_NS = 1_790_857_026_000_000_000
"""Unix time of the run's zero."""

MONOTONIC_NS = 86_400_000_000_000
"""Host monotonic time of the run's zero; a tick of the device is 1 ns, and the device's counter stood at 0 then."""

MAIN, WORKER = 4242, 4243

_OPS = (
    ("aten::mm", 0, 10_000, MAIN),
    ("aten::to", 500, 2_500, MAIN),
    ("aten::_copy_from", 600, 2_400, MAIN),
    ("aten::isinf", 2_500, 4_000, MAIN),
    ("aten::abs", 2_600, 3_600, MAIN),
    ("aten::isnan", 4_000, 4_500, MAIN),
    ("aten::ne", 4_100, 4_400, MAIN),
    ("aten::mm", 5_000, 9_000, MAIN),
    ("aten::add", 12_000, 20_000, MAIN),
    ("aten::mm", 22_000, 30_000, MAIN),
    ("aten::to", 31_000, 36_000, MAIN),
    ("aten::_copy_from", 31_500, 35_500, MAIN),
    ("aten::mul", 24_000, 29_000, WORKER),
)

_LAUNCHES = ((1, 1, 6_000, MAIN), (2, 1, 23_000, MAIN), (3, 2, 25_000, WORKER), (4, 1, 45_000, WORKER), (5, 1, 50_000, MAIN))

_RUNTIME = (
    (HostActivity.COPY_OUT, 700, 2_300, MAIN, 0, 524_288),
    (HostActivity.SUBMIT, 6_000, 6_400, MAIN, 1, ABSENT),
    (HostActivity.COMPILE, 22_200, 23_000, MAIN, 2, ABSENT),
    (HostActivity.SUBMIT, 23_000, 23_300, MAIN, 2, ABSENT),
    (HostActivity.SUBMIT, 25_000, 25_500, WORKER, 3, ABSENT),
    (HostActivity.COPY_OUT, 32_000, 35_000, MAIN, 0, 2),
    (HostActivity.WAIT, 42_000, 49_000, MAIN, 0, ABSENT),
    (HostActivity.SUBMIT, 45_000, 45_300, WORKER, 4, ABSENT),
    (HostActivity.SUBMIT, 50_000, 50_200, MAIN, 5, ABSENT),
)

_WORK = (
    (2, 7_000, 8_000, 1, 524_288),
    (1, 8_000, 9_500, 1, ABSENT),
    (1, 24_000, 34_000, 2, ABSENT),
    (1, 34_100, 40_000, 3, ABSENT),
    (1, 44_900, 46_000, 4, ABSENT),
    (1, 52_000, 53_000, 0, ABSENT),
)


def small_profile() -> Profile:
    """The device's profile."""
    launch_id, program_id, at_ns, launching = np.array(_LAUNCHES, np.int64).T
    activity, begin_ns, end_ns, thread, served, moved = np.array(_RUNTIME, np.int64).T
    engine_id, start, stop, launched, size_bytes = np.array(_WORK, np.int64).T
    ends = (0, 60_000)
    return Profile(
        session=Session(session_id=1, process_id=MAIN, started_real_ns=BASE_NS, started_monotonic_ns=MONOTONIC_NS),
        strings=("", "aten::add", "dtype-not-fp16", "model.py:7(forward)"),
        clocks=(Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE),),
        devices=(Device(1, "rbln:0", 0, 1, 16),),
        engines=(Engine(1, 1, EngineKind.NEURAL_ENGINE_CLUSTERS), Engine(2, 1, EngineKind.EXTERNAL_HDMA)),
        programs=(Program(1, "mm"), Program(2, "mul")),
        clock_snapshots=(
            *(ClockSnapshot(16, end, MONOTONIC_NS + end, MONOTONIC_NS + end) for end in ends),
            *(ClockSnapshot(HOST_REALTIME, BASE_NS + end, MONOTONIC_NS + end, MONOTONIC_NS + end) for end in ends),
        ),
        launches=Launches.of(
            launch_id=launch_id, program_id=program_id, start_ns=MONOTONIC_NS + at_ns, process_id=MAIN, thread_id=launching
        ),
        device_slices=DeviceSlices.of(
            clock_id=16,
            engine_id=engine_id,
            start_ticks=start,
            duration_ticks=stop - start,
            launch_id=launched,
            size_bytes=size_bytes,
        ),
        host_slices=HostSlices.of(
            activity=activity,
            start_ns=MONOTONIC_NS + begin_ns,
            duration_ns=end_ns - begin_ns,
            process_id=MAIN,
            thread_id=thread,
            launch_id=served,
            size_bytes=moved,
        ),
        overheads=Overheads.of(
            1,
            overhead=OverheadKind.CPU_FALLBACK,
            op_strindex=1,
            reason_strindex=2,
            place_strindex=3,
            start_ns=MONOTONIC_NS + 13_000,
            duration_ns=6_000,
            thread_id=MAIN,
        ),
    )


def small_trace() -> HostTrace:
    """The host trace, with 60,000 ns as its window."""
    step = {"ph": "X", "cat": "user_annotation", "name": "step", "pid": MAIN, "tid": MAIN, "ts": "0", "dur": "60"}
    ops = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": name,
            "pid": MAIN,
            "tid": tid,
            "ts": microseconds(start),
            "dur": microseconds(end - start),
        }
        for name, start, end, tid in _OPS
    ]
    named = [
        {"ph": "M", "name": "thread_name", "pid": MAIN, "tid": tid, "args": {"name": name}}
        for tid, name in ((MAIN, "main"), (WORKER, "worker"))
    ]
    head = f'{{"schemaVersion": 1, "baseTimeNanoseconds": {BASE_NS}, "traceEvents": ['
    return host_trace(step, *ops, *named, head=head, base_time_ns=BASE_NS)
