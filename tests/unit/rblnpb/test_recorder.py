"""The recorder: nothing lost without being counted, nothing half written, whoever calls it and however it ends."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import Counters, Dependencies, DeviceSlices, HostSlices, Launches, Overheads, TraceEvents
from rblnpb.container import fields, scan
from rblnpb.errors import OutputError
from rblnpb.profile import Commands, Device, Engine, EngineKind, Loss, LossReason, Program, Session
from rblnpb.recorder import DROPPED, Recorder
from rblnpb.v1.stream_pb2 import Closing

SESSION = Session(session_id=7)
NEVER_NS = 1 << 60


class Standstill:
    """Stands still unless it is set."""

    def __init__(self) -> None:
        self.now_ns = 5_000

    def __call__(self) -> int:
        return self.now_ns


class Disk(io.BytesIO):
    """Takes so many bytes, then it is full; a packet that does not fit is taken in part."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__()
        self.size_bytes = size_bytes
        self.is_pipe = False

    def truncate(self, size: int | None = None, /) -> int:
        if self.is_pipe:
            raise io.UnsupportedOperation("truncate")
        return super().truncate(size)

    def write(self, data: Any) -> int:
        room = self.size_bytes - self.tell()
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(memoryview(data)[:room])


def _recorder(file: Any, **arguments: Any) -> Recorder:
    return Recorder(file, SESSION, **{"clock": Standstill(), "flush_interval_ns": NEVER_NS, **arguments})


def _launches(count: int, *, first: int = 1) -> Launches:
    return Launches.of(launch_id=np.arange(first, first + count), start_ns=np.arange(count))


def _bodies(file: io.BytesIO) -> list[int]:
    return [frame.body for frame in scan(file.getvalue()).frames]


def test_what_is_recorded_one_by_one_and_in_bulk_is_in_the_file_in_its_order() -> None:
    file = io.BytesIO()
    with _recorder(file) as recorder:
        ordinals = [
            recorder.add(Launches, launch_id=1, start_ns=-4, thread_id=42),
            recorder.record(_launches(2, first=2)),
            recorder.add(Launches, launch_id=4),
        ]
    profile = rblnpb.read(file.getvalue())
    assert ordinals == [0, 1, 3]
    assert profile.launches.equals(
        Launches.of(launch_id=[1, 2, 3, 4], start_ns=[-4, 0, 1, 0], thread_id=[42, 0, 0, 0]),
    )
    assert (profile.is_complete, profile.findings) == (True, ())


def test_absent_values_stay_absent() -> None:
    file = io.BytesIO()
    with _recorder(file) as recorder:
        recorder.add(HostSlices, size_bytes=None)
        recorder.add(HostSlices, size_bytes=0)
    assert rblnpb.read(file.getvalue()).host_slices.equals(HostSlices.concat([HostSlices.of(1), HostSlices.of(1, size_bytes=0)]))


def test_texts_are_interned_and_precede_the_records_that_refer_to_them() -> None:
    file = io.BytesIO()
    with _recorder(file) as recorder:
        recorder.add(Overheads, op_strindex="aten::sub.out", reason_strindex="dtype-not-fp16", start_ns=1)
        recorder.flush()
        recorder.add(Overheads, op_strindex="aten::sub.out", place_strindex=recorder.intern("model.py:3(f)"))
    profile = rblnpb.read(file.getvalue())
    assert profile.strings == ("", "aten::sub.out", "dtype-not-fp16", "model.py:3(f)")
    assert [profile.strings[row] for row in profile.overheads.place_strindex.tolist()] == ["", "model.py:3(f)"]
    assert _bodies(file) == [8, 9, 11, 9, 11, 14]


def test_definitions_of_a_running_program_are_whole_in_the_profile() -> None:
    commands = replace(
        Commands.none(),
        program_id=np.array([0, 1, 2], np.uint32),
        layer_strindex=np.array([0, 1, 2], np.uint32),
        command_index=np.zeros(3, np.uint32),
        engine_kind=np.full(3, 2, np.uint32),
        size_bytes=np.full(3, 5, np.int64),
        chiplet=np.zeros(3, np.int64),
        predecessor_ends=np.zeros(3, np.int64),
    )
    programs = [Program(1, "mm", "aten::mm", "", 1, 1), Program(2, "add", "aten::add", "0/0", 2, 1)]
    clock, device, engine = (
        Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE),
        Device(1, "rbln:0", 0, 4, 16),
        Engine(1, 1, EngineKind(2)),
    )
    file = io.BytesIO()
    with _recorder(file) as recorder:
        assert (recorder.intern("mm"), recorder.intern("add")) == (1, 2)
        recorder.define(clocks=[clock], devices=[device], engines=[engine], threads=[(42, "main")])
        recorder.define(programs=programs[:1], commands=commands)
        recorder.flush()
        recorder.define(programs=programs[1:], commands=commands)
        recorder.add(DeviceSlices, clock_id=16, command_row=2, engine_id=1)
    profile = rblnpb.read(file.getvalue())
    assert (profile.clocks, profile.devices, profile.engines, profile.threads) == ((clock,), (device,), (engine,), ((42, "main"),))
    assert (profile.programs, profile.commands.layer_strindex.tolist()) == (tuple(programs), [0, 1, 2])
    assert "dangling-reference" not in {finding.code for finding in profile.findings}


def test_eight_threads_lose_nothing() -> None:
    file = io.BytesIO()
    recorder = _recorder(file, flush_interval_ns=0)

    def work(thread: int) -> None:
        for at in range(300):
            recorder.add(Launches, launch_id=thread * 1_000 + at, thread_id=thread)
            recorder.record(DeviceSlices.of(3, clock_id=16 + at % 2, launch_id=thread * 1_000 + at))

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(1, 9)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    recorder.close()
    profile = rblnpb.read(file.getvalue())
    assert sorted(profile.launches.launch_id.tolist()) == [thread * 1_000 + at for thread in range(1, 9) for at in range(300)]
    assert len(profile.device_slices) == 8 * 300 * 3
    assert (recorder.losses, profile.losses) == ((), ())


def test_a_full_chunk_is_written_by_the_call_that_fills_it() -> None:
    file = io.BytesIO()
    recorder = _recorder(file)
    recorder.record(_launches(65_535))
    assert _bodies(file) == [8]
    recorder.add(Launches, launch_id=65_536)
    assert _bodies(file) == [8, 11]


def test_a_second_after_the_last_writing_the_next_call_writes() -> None:
    clock, file = Standstill(), io.BytesIO()
    recorder = Recorder(file, SESSION, clock=clock)
    recorder.add(Launches)
    clock.now_ns += 999_999_999
    recorder.add(Launches)
    assert _bodies(file) == [8]
    clock.now_ns += 1
    recorder.add(Launches)
    assert _bodies(file) == [8, 11]


def test_a_table_of_several_chunks_loses_nothing_at_the_smallest_capacity() -> None:
    file = io.BytesIO()
    with _recorder(file, capacity=10) as recorder:
        assert recorder.record(_launches(25)) == 0
    assert rblnpb.read(file.getvalue()).launches.launch_id.tolist() == list(range(1, 26))


class Busy(io.BytesIO):
    """A slow disk: while it takes a chunk, something else is recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], None] | None = None

    def write(self, data: Any) -> int:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        return super().write(data)


def test_what_does_not_fit_while_the_file_is_written_is_dropped_and_counted() -> None:
    file, clock = Busy(), Standstill()
    recorder = _recorder(file, clock=clock, capacity=10)
    seen: list[int] = []

    def meanwhile() -> None:
        seen.append(recorder.record(_launches(12, first=100)))
        clock.now_ns = 9_000
        seen.append(recorder.add(Launches, launch_id=200))
        seen.append(recorder.add(Overheads))

    file.meanwhile = meanwhile
    recorder.record(_launches(10))
    loss = Loss(Launches.kind, LossReason.BUFFER_FULL, 3, first_monotonic_ns=5_000, last_monotonic_ns=9_000)
    assert (seen, recorder.losses) == ([10, DROPPED, 0], (loss,))
    recorder.close()
    profile = rblnpb.read(file.getvalue())
    assert profile.launches.launch_id.tolist() == [*range(1, 11), *range(100, 110)]
    assert profile.losses == (loss,)


def test_of_a_table_of_several_chunks_nothing_is_kept_behind_the_first_that_does_not_fit() -> None:
    file = Busy()
    recorder = _recorder(file, capacity=2)
    seen: list[int] = []
    file.meanwhile = lambda: seen.append(recorder.record(_launches(6, first=10)))
    recorder.record(_launches(2))
    recorder.close()
    profile = rblnpb.read(file.getvalue())
    assert seen == [2]
    assert profile.launches.launch_id.tolist() == [1, 2, 10, 11]
    assert [(loss.reason, loss.count) for loss in profile.losses] == [(LossReason.BUFFER_FULL, 4)]


def test_what_slips_between_the_chunks_of_a_table_moves_none_of_its_numbers() -> None:
    file = Busy()
    recorder = _recorder(file, capacity=2)
    file.meanwhile = lambda: seen.append(recorder.add(DeviceSlices, clock_id=16, start_ticks=99))
    seen: list[int] = []
    first = recorder.record(DeviceSlices.of(clock_id=16, start_ticks=[10, 11, 12, 13]))
    recorder.flush()
    recorder.record(Dependencies.of(predecessor_ordinal=[first + 1, first + 2], successor_ordinal=[first + 2, seen[0]]))
    recorder.close()
    profile = rblnpb.read(file.getvalue())
    starts, edges = profile.device_slices.start_ticks, profile.dependencies
    assert (first, seen, starts.tolist()) == (0, [4], [10, 11, 99, 12])
    assert (starts[edges.predecessor_ordinal].tolist(), starts[edges.successor_ordinal].tolist()) == ([11, 12], [12, 99])


def test_losses_are_in_the_file_before_it_is_closed() -> None:
    file = io.BytesIO()
    recorder = _recorder(file)
    recorder.add(Launches, launch_id=-1)
    recorder.flush()
    recorder.add(Launches, launch_id=1 << 64)
    recorder.flush()
    profile = rblnpb.read(file.getvalue())
    assert profile.dropped(Launches.kind) == 2
    assert [loss.count for loss in recorder.losses] == [2]


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (Launches, {"launch_id": -1}),
        (Launches, {"launch_id": 1 << 63}),
        (Launches, {"thread_id": -1}),
        (Launches, {"start_ns": 1.5}),
        (Launches, {"instance": 1 << 32}),
        (Counters, {"value": float("nan")}),
    ],
)
def test_a_value_that_its_column_cannot_hold_is_counted_as_invalid(kind: Any, columns: dict[str, Any]) -> None:
    recorder = _recorder(io.BytesIO())
    assert recorder.add(kind, **columns) == DROPPED
    assert [(loss.kind, loss.reason, loss.count) for loss in recorder.losses] == [(kind.kind, LossReason.INVALID, 1)]


@pytest.mark.parametrize(("kind", "column"), [(Launches, "thread"), (TraceEvents, "arguments")])
def test_a_column_that_the_kind_does_not_have_is_an_error_of_the_program(kind: Any, column: str) -> None:
    with pytest.raises(TypeError, match=f"has no column '{column}'"):
        _recorder(io.BytesIO()).add(kind, **{column: 1})


def test_what_comes_after_the_end_is_counted() -> None:
    file = io.BytesIO()
    recorder = _recorder(file)
    recorder.add(Launches, launch_id=1)
    recorder.end()
    recorder.add(Launches, launch_id=2)
    recorder.record(_launches(3))
    recorder.close()
    recorder.add(Launches, launch_id=3)
    profile = rblnpb.read(file.getvalue())
    assert profile.launches.launch_id.tolist() == [1]
    assert [(loss.reason, loss.count) for loss in profile.losses] == [(LossReason.AFTER_END, 4)]
    assert [loss.count for loss in recorder.losses] == [5]


def test_the_end_is_taken_from_both_clocks_once() -> None:
    file, clock = io.BytesIO(), Standstill()
    recorder = Recorder(file, SESSION, clock=clock, real_clock=lambda: 77)
    recorder.end()
    clock.now_ns = 6_000
    recorder.close()
    session = rblnpb.read(file.getvalue()).session
    assert (session.ended_monotonic_ns, session.ended_real_ns) == (5_000, 77)


def test_a_closed_recorder_writes_nothing_more() -> None:
    file = io.BytesIO()
    recorder = _recorder(file)
    recorder.close()
    size = len(file.getvalue())
    recorder.close()
    recorder.flush()
    assert len(file.getvalue()) == size


def test_chunks_are_placed_in_time_by_the_readings_so_far() -> None:
    file = io.BytesIO()
    recorder = _recorder(file)
    recorder.define(clocks=[Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE)])
    recorder.snapshot(ClockSnapshot(16, 100, 1_090, 1_110), ClockSnapshot(16, 1_100, 2_090, 2_110))
    recorder.add(DeviceSlices, clock_id=16, start_ticks=150, duration_ticks=50)
    recorder.add(DeviceSlices, clock_id=17, start_ticks=1)
    recorder.close()
    frame = scan(file.getvalue()).frames[-1]
    index = Closing.FromString(file.getvalue()[frame.start : frame.end]).index
    assert [(row.HasField("start_monotonic_ns"), row.start_monotonic_ns, row.end_monotonic_ns) for row in index] == [
        (True, 1_150, 1_200),
        (False, 0, 0),
    ]


def test_dependencies_find_their_slices_in_a_file_of_several_clocks() -> None:
    file = io.BytesIO()
    with _recorder(file) as recorder:
        first = recorder.record(DeviceSlices.of(clock_id=[17, 16, 17], start_ticks=[1, 2, 3]))
        last = recorder.add(DeviceSlices, clock_id=16, start_ticks=4)
        recorder.record(Dependencies.of(predecessor_ordinal=[first, first + 1], successor_ordinal=[last, first + 2]))
        recorder.flush()
        recorder.add(DeviceSlices, clock_id=16, start_ticks=5)
        recorder.add(Dependencies, predecessor_ordinal=last, successor_ordinal=4)
        recorder.add(Dependencies, predecessor_ordinal=last, successor_ordinal=99)
    profile = rblnpb.read(file.getvalue())
    starts, edges = profile.device_slices.start_ticks, profile.dependencies
    assert list(zip(starts[edges.predecessor_ordinal].tolist(), starts[edges.successor_ordinal].tolist(), strict=True)) == [
        (1, 4),
        (2, 3),
        (4, 5),
    ]
    assert [(loss.kind, loss.reason, loss.count) for loss in profile.losses] == [(Dependencies.kind, LossReason.INVALID, 1)]


def test_a_full_disk_costs_records_and_is_counted() -> None:
    file = Disk(700)
    recorder = _recorder(file)
    recorder.record(Launches.of(launch_id=[1]))
    recorder.flush()
    noise = np.random.default_rng(0).integers(0, 1 << 60, 500)
    recorder.record(Launches.of(launch_id=noise))
    recorder.flush()
    recorder.record(Launches.of(launch_id=[2]))
    recorder.close()
    profile = rblnpb.read(file.getvalue())
    assert profile.launches.launch_id.tolist() == [1, 2]
    assert profile.is_complete
    assert [(loss.reason, loss.count) for loss in profile.losses] == [(LossReason.WRITE_FAILED, 500)]
    assert profile.session.session_id == 7


def test_records_whose_definitions_could_not_be_written_are_lost() -> None:
    file = Disk(120)
    recorder = _recorder(file)
    recorder.add(Overheads, op_strindex="x" * 200)
    recorder.flush()
    file.size_bytes = 10_000
    recorder.add(Launches, launch_id=1)
    recorder.close()
    assert [(loss.kind, loss.reason) for loss in recorder.losses] == [
        (Overheads.kind, LossReason.WRITE_FAILED),
        (Launches.kind, LossReason.WRITE_FAILED),
    ]
    profile = rblnpb.read(file.getvalue())
    assert (len(profile.launches), profile.dropped(Launches.kind), profile.is_complete) == (0, 1, True)


def test_definitions_that_contradict_themselves_cost_records_and_disturb_nobody() -> None:
    recorder = _recorder(io.BytesIO())
    recorder.define(programs=[Program(1, "mm", "", "", 1, 5)])
    recorder.add(Launches, launch_id=1)
    recorder.close()
    assert [(loss.kind, loss.reason, loss.count) for loss in recorder.losses] == [(Launches.kind, LossReason.WRITE_FAILED, 1)]


def test_after_a_packet_that_cannot_be_taken_back_nothing_more_is_written() -> None:
    file = Disk(400)
    recorder = _recorder(file)
    recorder.add(Launches, launch_id=1)
    recorder.flush()
    file.is_pipe = True
    recorder.record(Launches.of(launch_id=np.random.default_rng(0).integers(0, 1 << 60, 500)))
    recorder.flush()
    file.size_bytes = 10_000
    recorder.close()
    profile = rblnpb.read(file.getvalue())
    assert profile.launches.launch_id.tolist() == [1]
    assert [(loss.reason, loss.count) for loss in recorder.losses] == [(LossReason.WRITE_FAILED, 500)]
    assert [finding.code for finding in profile.findings] == ["truncated", "not-ended"]


def test_a_file_that_was_closed_early_disturbs_nobody() -> None:
    file = io.BytesIO()
    recorder = _recorder(file)
    file.close()
    recorder.add(Launches)
    recorder.close()
    assert [loss.reason for loss in recorder.losses] == [LossReason.WRITE_FAILED]


def test_a_file_that_cannot_be_begun_is_said_at_once() -> None:
    with pytest.raises(OutputError, match="No space left on device"):
        _recorder(Disk(0))


def test_a_recorder_keeps_at_least_one_record() -> None:
    with pytest.raises(ValueError, match="at least one record, not 0"):
        _recorder(io.BytesIO(), capacity=0)


def _child(script: str, *arguments: str) -> subprocess.Popen[str]:
    code = (
        "import os, sys, threading, time\nimport rblnpb\nfrom rblnpb.clock import *\nfrom rblnpb.columns import *\n"
        + textwrap.dedent(script)
    )
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, cwd=Path.cwd())


def test_a_killed_process_leaves_a_file_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "killed.pb"
    script = """
        file = open(sys.argv[1], "xb", buffering=0)
        recorder = rblnpb.Recorder(file, rblnpb.Session(session_id=7), clock=time.monotonic_ns, flush_interval_ns=1_000_000)
        number = 0
        while True:
            number += 1
            recorder.add(Launches, launch_id=number, start_ns=time.monotonic_ns())
            if number == 2_000:
                print("going", flush=True)
    """
    with _child(script, str(path)) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
        assert child.wait() == -signal.SIGKILL
    profile = rblnpb.read(path)
    count = len(profile.launches)
    assert count > 0
    assert profile.launches.launch_id.tolist() == list(range(1, count + 1))
    assert {finding.code for finding in profile.findings} <= {"not-ended", "truncated"}
    assert not profile.is_complete


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_process_that_was_forked_off_records_nothing(tmp_path: Path) -> None:
    path = tmp_path / "forked.pb"
    script = """
        with open(sys.argv[1], "xb", buffering=0) as file:
            recorder = rblnpb.Recorder(file, rblnpb.Session(session_id=7), clock=time.monotonic_ns)
            recorder.add(Launches, launch_id=1)
            if os.fork() == 0:
                # As when another thread was recording at the fork: it does not exist here, and never lets go.
                holder = threading.Thread(target=recorder._lock.acquire)
                holder.start()
                holder.join()
                recorder.define(threads=[(1, "a")])
                recorder.snapshot(ClockSnapshot(2, 0, 0, 0))
                assert (recorder.intern("a"), recorder.losses) == (0, ())
                recorder.add(Launches, launch_id=2)
                recorder.record(Launches.of(launch_id=[3]))
                recorder.flush()
                recorder.close()
                os._exit(0)
            assert os.wait()[1] == 0
            recorder.close()
    """
    with _child(script, str(path)) as child:
        assert child.wait() == 0
    profile = rblnpb.read(path)
    assert (profile.launches.launch_id.tolist(), profile.findings) == ([1], ())


CLOCK = Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE)
SLICES = DeviceSlices.of(3, clock_id=16, launch_id=1, engine_id=1, start_ticks=np.array([0, 10, 20]), duration_ticks=5)


def _record_slices(file: Any, **choices: Any) -> Recorder:
    """A recorder with three slices in two files' worth of writing."""
    recorder = _recorder(file, **choices)
    recorder.define(clocks=[CLOCK], devices=[Device(1, "rbln:0")], engines=[Engine(1, 1, EngineKind.TASK_DMA)])
    recorder.snapshot(ClockSnapshot(16, 0, 100, 100), ClockSnapshot(16, 1_000, 1_100, 1_100))
    recorder.record(SLICES.replace(name_strindex=np.full(3, recorder.intern("mm"), np.uint32)).take(slice(0, 2)))
    recorder.flush()
    recorder.record(SLICES.take(slice(2, 3)))
    return recorder


def test_what_was_recorded_shows_itself_as_a_written_profile_does() -> None:
    file, whole = io.BytesIO(), io.BytesIO()
    _record_slices(file).close()
    profile = rblnpb.read(file.getvalue())
    rblnpb.write(profile, whole, display=True)

    shown = [packet for packet in _packets(file.getvalue()) if not packet.startswith(b"\xc2\xc5\x03")]
    assert len(shown) == 2
    assert set(shown) <= set(_packets(whole.getvalue()))
    assert profile.session.has_display_packets
    assert (profile.is_complete, profile.findings) == (True, ())


def _packets(data: bytes) -> list[bytes]:
    return [data[start:end] for _, _, start, end in fields(data, 0, len(data))]


@pytest.mark.parametrize(("choices", "limit", "count"), [({"display": False}, 9, 0), ({}, 2, 0), ({"display": True}, 2, 2)])
def test_a_recording_shows_itself_unless_it_is_large_or_told_otherwise(
    choices: dict[str, Any], limit: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rblnpb.display.DISPLAY_LIMIT", limit)
    file = io.BytesIO()
    _record_slices(file, **choices).close()

    assert scan(file.getvalue()).display_packet_count == count
    # The header stands before the slices, so it says what may be.
    assert rblnpb.read(file.getvalue()).session.has_display_packets == (choices != {"display": False})


def test_slices_that_refer_to_nothing_are_shown_all_the_same() -> None:
    file = io.BytesIO()
    with _recorder(file) as recorder:
        recorder.define(clocks=[CLOCK])
        recorder.snapshot(ClockSnapshot(16, 0, 100, 100))
        recorder.record(SLICES.replace(command_row=np.full(3, 77, np.uint32), name_strindex=np.full(3, 78, np.uint32)))

    assert scan(file.getvalue()).display_packet_count == 2


def test_readings_of_a_long_recording_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rblnpb._recorder_display._READINGS_KEPT", 4)
    file = io.BytesIO()
    with _record_slices(file) as recorder:
        for second in range(2, 20):
            recorder.snapshot(ClockSnapshot(16, second * 1_000, second * 1_000 + 100, second * 1_000 + 100))
            recorder.flush()

    assert scan(file.getvalue()).display_packet_count == 2
    assert len(rblnpb.read(file.getvalue()).clock_snapshots) == 20


def test_readings_of_one_clock_are_not_thinned_out_for_those_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rblnpb._recorder_display._READINGS_KEPT", 4)
    file = io.BytesIO()
    with _recorder(file) as recorder:
        recorder.define(clocks=[CLOCK])
        for second in range(20):
            now_ns = second * 1_000 + 100
            recorder.snapshot(*(ClockSnapshot(clock, now_ns, now_ns, now_ns) for clock in (HOST_REALTIME, 16, HOST_REALTIME)))
            recorder.flush()
        recorder.record(SLICES)

    assert scan(file.getvalue()).display_packet_count == 2


def test_a_disk_without_room_for_display_packets_may_have_it_for_the_end() -> None:
    whole = io.BytesIO()
    _record_slices(whole).close()
    # The last three are two display packets and the closing packet, which is shorter than the first of them.
    *before, first, _, closing = (len(packet) + 2 for packet in _packets(whole.getvalue()))
    assert closing < first
    disk = Disk(sum(before) + closing)
    _record_slices(disk).close()

    profile = rblnpb.read(disk.getvalue())
    assert (profile.is_complete, len(profile.device_slices)) == (True, 3)
