"""The host's side: who launches what and when, and what the runtime does on the host meanwhile.

Ways to launch. *Drained*: a run is submitted when the one before has been waited for, as today's runtime does while it
profiles. *Streamed*: threads submit at their own pace and the device's queue takes it up. *Bursting*: many are submitted at once,
more than the queue holds, and then waited for. *Planned*: every launch has a given thread and time, as taken from a host trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, HostSlices, Int64, Launches
from rblnpb.profile import HostActivity
from rblnpb.sim.draws import Draws
from rblnpb.sim.schedule import queue_starts

__all__ = ["Calls", "HostWork", "LaunchPlan", "Load", "bursting_calls", "drained_calls", "planned_calls", "streamed_calls"]

_SUBMIT_NS = 2_000
_LATENCY_NS = 4_000
_NOTICE_NS = 2_500
_THINK_NS = 5_000
_COPY_SETUP_NS = 600
_COPY_BYTES_PER_US = 20_000
_BURST = 32
_QUEUE_DEPTH = 16


@dataclass(frozen=True, eq=False)
class LaunchPlan:
    """Launches of n operators at given times.

    Attributes:
        time_ns: int64[n]; when each is submitted: Unix time (host real time), any order.
        process_id, thread_id: int64[n]; who submits it, native ids.
        op_row: int64[n]; row of `ops`.
        ops: Full operator names, such as "aten::mm".
        threads: (native thread id, name) of the threads that have a name.
    """

    time_ns: Int64
    process_id: Int64
    thread_id: Int64
    op_row: Int64
    ops: tuple[str, ...]
    threads: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of(cls, time_ns: npt.ArrayLike, process_id: npt.ArrayLike, thread_id: npt.ArrayLike, ops: Sequence[str]) -> LaunchPlan:
        """A plan from columns of length n; an id may be one number for all."""
        times = np.asarray(time_ns, np.int64)
        rows = {op: row for row, op in enumerate(dict.fromkeys(ops))}
        pids, tids = (np.broadcast_to(np.asarray(column, np.int64), times.shape) for column in (process_id, thread_id))
        return cls(times, pids, tids, np.array([rows[op] for op in ops], np.int64), tuple(rows))

    def __len__(self) -> int:
        return len(self.time_ns)

    def sorted(self) -> LaunchPlan:
        """The same launches in order of time; equal times keep their order."""
        order = np.argsort(self.time_ns, kind="stable")
        columns = (self.time_ns[order], self.process_id[order], self.thread_id[order], self.op_row[order])
        return LaunchPlan(*columns, self.ops, self.threads)


@dataclass(frozen=True, eq=False)
class Load:
    """What n calls ask of host and device, in the order of their launches.

    Attributes:
        program: int64[n]; place of the program among the session's.
        length_ns: int64[n]; how long the device needs.
        input_bytes, output_bytes: int64[n]; copied from and to the host.
        compile_ns: int64[n]; compilation before the launch; 0 when the program is there already.
        process_id, thread_id: int64[n]; who launches.
        launch_id: int64[n]; ascending by one.
        instance: int64[n]; runtime instance, from 1.
        sequence: int64[n]; ordinal of the call on its instance, from 0.
        pause_ns: int64[n]; what the host does, or does not do, before it begins with the call.
    """

    program: Int64
    length_ns: Int64
    input_bytes: Int64
    output_bytes: Int64
    compile_ns: Int64
    process_id: Int64
    thread_id: Int64
    launch_id: Int64
    instance: Int64
    sequence: Int64
    pause_ns: Int64


@dataclass(frozen=True, eq=False)
class HostWork:
    """Things of one sort that the runtime did on the host: k of them, in any order.

    Attributes:
        activity: What it was.
        call: int64[k]; the call that it served.
        start_ns, duration_ns: int64[k]; host monotonic clock.
        size_bytes: int64[k]; ABSENT where nothing was copied.
    """

    activity: HostActivity
    call: Int64
    start_ns: Int64
    duration_ns: Int64
    size_bytes: Int64


@dataclass(frozen=True, eq=False)
class Calls:
    """n calls with their times in the host monotonic clock, in the order of their launches.

    Attributes:
        load: What they ask.
        begin_ns: int64[n]; when the host begins with each: compiling and copying come before the launch.
        launch_ns: int64[n]; when each is submitted.
        start_ns: int64[n]; when the device begins it.
        host: What the runtime did on the host.
    """

    load: Load
    begin_ns: Int64
    launch_ns: Int64
    start_ns: Int64
    host: tuple[HostWork, ...]

    def __len__(self) -> int:
        return len(self.launch_ns)

    @property
    def end_ns(self) -> Int64:
        """int64[n]; when the device is done with each."""
        return self.start_ns + self.load.length_ns

    def launches(self) -> Launches:
        """The launch records, in order."""
        return Launches.of(
            launch_id=self.load.launch_id,
            program_id=self.load.program + 1,
            start_ns=self.launch_ns,
            process_id=self.load.process_id,
            thread_id=self.load.thread_id,
            instance=self.load.instance,
            sequence=self.load.sequence,
        )

    def host_slices(self) -> HostSlices:
        """The records of the host's work, in order of time."""
        parts = [work for work in self.host if len(work.call)]
        if not parts:
            return HostSlices.empty()
        call = np.concatenate([work.call for work in parts])
        table = HostSlices.of(
            activity=np.repeat([work.activity for work in parts], [len(work.call) for work in parts]),
            start_ns=np.concatenate([work.start_ns for work in parts]),
            duration_ns=np.concatenate([work.duration_ns for work in parts]),
            process_id=self.load.process_id[call],
            thread_id=self.load.thread_id[call],
            launch_id=self.load.launch_id[call],
            size_bytes=np.concatenate([work.size_bytes for work in parts]),
        )
        return table.take(np.argsort(table.start_ns, kind="stable"))


def drained_calls(load: Load, begin_ns: int, draws: Draws) -> Calls:
    """Each run is waited for before the next is submitted, whichever thread submits it.

    Args:
        load: What is asked; threads take turns as it says.
        begin_ns: Host monotonic time before the first.
        draws: Gives the host's own delays.
    """
    count = len(load.program)
    submit_ns, latency_ns, notice_ns = (_vary(base, count, draws) for base in (_SUBMIT_NS, _LATENCY_NS, _NOTICE_NS))
    think_ns = _vary(_THINK_NS, count, draws)
    copy_in_ns, copy_out_ns = _copy_ns(load.input_bytes), _copy_ns(load.output_bytes)
    device_ns = submit_ns + latency_ns
    waited_ns = device_ns + load.length_ns + notice_ns
    turn_ns = think_ns + load.pause_ns + load.compile_ns + copy_in_ns + waited_ns + copy_out_ns
    launch_ns = begin_ns + np.cumsum(turn_ns) - waited_ns - copy_out_ns
    host_begin_ns = launch_ns - copy_in_ns - load.compile_ns
    work = (
        _compiling(load, host_begin_ns),
        _copying(HostActivity.COPY_IN, load.input_bytes, launch_ns - copy_in_ns, copy_in_ns),
        _work(HostActivity.SUBMIT, np.arange(count), launch_ns, submit_ns),
        _work(HostActivity.WAIT, np.arange(count), launch_ns + submit_ns, waited_ns - submit_ns),
        _copying(HostActivity.COPY_OUT, load.output_bytes, launch_ns + waited_ns, copy_out_ns),
    )
    return Calls(load, host_begin_ns, launch_ns, launch_ns + device_ns, work)


def streamed_calls(load: Load, begin_ns: int, draws: Draws) -> Calls:
    """Threads submit without waiting, a little slower than the device works; each waits once, at the end.

    Args:
        load: What is asked; call k belongs to the thread that it names, threads taking turns.
        begin_ns: Host monotonic time before the first.
        draws: Gives the pace.
    """
    count = len(load.program)
    thread_count = len(np.unique(load.thread_id))
    copy_in_ns, submit_ns = _copy_ns(load.input_bytes), _vary(_SUBMIT_NS, count, draws)
    # One call of each thread a round: rounds are 15 % longer than the device needs, and never shorter than the host's own work.
    pace_ns = max(int(load.length_ns.mean()) * 115 // 100 * thread_count, int((copy_in_ns + submit_ns).max()) * 2)
    rounds = -(-count // thread_count)
    gaps_ns = draws.around(np.full((rounds, thread_count), pace_ns), 30)
    stagger_ns = np.arange(thread_count) * (pace_ns // thread_count)
    arrival_ns = (np.cumsum(gaps_ns, axis=0) + stagger_ns).ravel()[:count]
    order = np.argsort(arrival_ns, kind="stable")
    load = replace(load, thread_id=load.thread_id[order])
    launch_ns = begin_ns + arrival_ns[order] + np.cumsum(load.compile_ns + load.pause_ns)
    host_begin_ns = launch_ns - copy_in_ns - load.compile_ns
    work = (
        _compiling(load, host_begin_ns),
        _copying(HostActivity.COPY_IN, load.input_bytes, launch_ns - copy_in_ns, copy_in_ns),
    )
    return _queued(load, host_begin_ns, launch_ns, submit_ns, work, draws)


def bursting_calls(load: Load, begin_ns: int, draws: Draws) -> Calls:
    """Bursts of launches, back to back, each waited for as a whole. The queue holds fewer: a submission waits for room in its call.

    What the launches of a burst read is copied in before the first of them, so that nothing holds the others up.

    Args:
        load: What is asked; threads take turns as it says.
        begin_ns: Host monotonic time before the first.
        draws: Gives the host's own delays.
    """
    count = len(load.program)
    bursts = -(-count // _BURST)
    submit_ns, latency_ns = _vary(_SUBMIT_NS, count, draws), _vary(_LATENCY_NS, count, draws)
    copy_in_ns = _copy_ns(load.input_bytes)
    copying_ns, prepare_ns, submitting_ns, arriving_ns, length_ns = (
        np.append(column, np.zeros(bursts * _BURST - count, np.int64)).reshape(bursts, _BURST).T
        for column in (copy_in_ns, load.pause_ns + load.compile_ns, submit_ns, latency_ns, load.length_ns)
    )
    copied_ns = np.cumsum(copying_ns, axis=0)
    # Each from the beginning of its burst; all bursts at once, one launch after the other.
    launch_ns, submitted_ns, start_ns, end_ns = (np.zeros_like(length_ns) for _ in range(4))
    for at in range(_BURST):
        launch_ns[at] = prepare_ns[at] + (submitted_ns[at - 1] if at else copied_ns[-1])
        room_ns = end_ns[at - _QUEUE_DEPTH] + _NOTICE_NS if at >= _QUEUE_DEPTH else 0
        submitted_ns[at] = np.maximum(launch_ns[at] + submitting_ns[at], room_ns)
        start_ns[at] = np.maximum(submitted_ns[at] + arriving_ns[at], end_ns[at - 1] if at else 0)
        end_ns[at] = start_ns[at] + length_ns[at]
    turn_ns = end_ns[-1] + _NOTICE_NS + _vary(_THINK_NS, bursts, draws)
    burst_ns = begin_ns + np.cumsum(turn_ns) - turn_ns
    copied, launched, submitted, started, ended = (
        (column + burst_ns).T.ravel()[:count] for column in (copied_ns, launch_ns, submitted_ns, start_ns, end_ns)
    )
    host_begin_ns = launched - load.compile_ns
    last = np.append(np.arange(_BURST - 1, count - 1, _BURST), count - 1)
    work = (
        _compiling(load, host_begin_ns),
        _copying(HostActivity.COPY_IN, load.input_bytes, copied - copy_in_ns, copy_in_ns),
        _work(HostActivity.SUBMIT, np.arange(count), launched, submitted - launched),
        _work(HostActivity.WAIT, last, submitted[last], ended[last] + _NOTICE_NS - submitted[last]),
    )
    return Calls(load, host_begin_ns, launched, started, work)


def planned_calls(load: Load, launch_ns: Int64, draws: Draws) -> Calls:
    """Launches at given times, ascending. A program is compiled just before its first launch, as far as its thread has time for it.

    Args:
        load: What is asked.
        launch_ns: int64[n]; host monotonic clock.
        draws: Gives the delays.
    """
    before_ns, after_ns = _room(load.thread_id, launch_ns)
    submit_ns = np.minimum(_vary(_SUBMIT_NS, len(launch_ns), draws), after_ns)
    compile_ns = np.where(load.compile_ns > 0, np.minimum(load.compile_ns, before_ns // 2), 0)
    compiling = _work(HostActivity.COMPILE, *_some(compile_ns > 0, launch_ns - compile_ns, compile_ns))
    return _queued(load, launch_ns - compile_ns, launch_ns, submit_ns, (compiling,), draws)


def _queued(load: Load, begin_ns: Int64, launch_ns: Int64, submit_ns: Int64, work: tuple[HostWork, ...], draws: Draws) -> Calls:
    count = len(launch_ns)
    arrival_ns = launch_ns + submit_ns + _vary(_LATENCY_NS, count, draws)
    start_ns = queue_starts(arrival_ns, load.length_ns)
    last = count - 1 - np.unique(load.thread_id[::-1], return_index=True)[1]
    submitted_ns = (launch_ns + submit_ns)[last]
    done_ns = (start_ns + load.length_ns)[last] + _NOTICE_NS
    submits = _work(HostActivity.SUBMIT, np.arange(count), launch_ns, submit_ns)
    waits = _work(HostActivity.WAIT, last, submitted_ns, done_ns - submitted_ns)
    return Calls(load, begin_ns, launch_ns, start_ns, (*work, submits, waits))


def _room(thread_id: Int64, launch_ns: Int64) -> tuple[Int64, Int64]:
    """int64[n] each; time since the launch before, and until the next, on the same thread; 2**62 where there is none."""
    order = np.lexsort((launch_ns, thread_id))
    gaps_ns = np.diff(launch_ns[order])
    gaps_ns[np.diff(thread_id[order]) != 0] = 1 << 62
    before_ns, after_ns = np.empty_like(launch_ns), np.empty_like(launch_ns)
    before_ns[order] = np.concatenate([[1 << 62], gaps_ns])
    after_ns[order] = np.concatenate([gaps_ns, [1 << 62]])
    return before_ns, after_ns


def _vary(base_ns: int, count: int, draws: Draws) -> Int64:
    return draws.around(np.full(count, base_ns), 25)


def _copy_ns(size_bytes: Int64) -> Int64:
    return np.where(size_bytes > 0, _COPY_SETUP_NS + size_bytes * 1_000 // _COPY_BYTES_PER_US, 0)


def _some(chosen: npt.NDArray[np.bool_], start_ns: Int64, duration_ns: Int64) -> tuple[Int64, Int64, Int64]:
    call = np.flatnonzero(chosen)
    return call, start_ns[call], duration_ns[call]


def _work(activity: HostActivity, call: Int64, start_ns: Int64, duration_ns: Int64) -> HostWork:
    return HostWork(activity, call, start_ns, duration_ns, np.full(len(call), ABSENT))


def _compiling(load: Load, start_ns: Int64) -> HostWork:
    return _work(HostActivity.COMPILE, *_some(load.compile_ns > 0, start_ns, load.compile_ns))


def _copying(activity: HostActivity, size_bytes: Int64, start_ns: Int64, duration_ns: Int64) -> HostWork:
    call, start_ns, duration_ns = _some(size_bytes > 0, start_ns, duration_ns)
    return HostWork(activity, call, start_ns, duration_ns, size_bytes[call])
