"""Advice on what the runtime recorded: hidden work, compilation, copies, waiting, submissions.

Each rule says what it takes to apply; whether its cost is worth advice is decided in `advice.py`.

cpu-fallback, python-tracer-fallback: operators that ran on the CPU, by operator and reason; the second where the reason is that a
    Python tracer was active. Cost: the time of the records.
recompilation: programs that were compiled though their operator had been before, by operator and reason. Cost: the time of the
    records; where the runtime recorded more time of compiling programs again than these tell, the rest is a finding of its own.
compile-in-window: programs that were compiled for the first time while recording. Cost: the time of these compilations within the
window of the host trace, or all of it where there is none.
copy-through-host: copies on the device that took the way through the host, by operator and way. Cost: the time of the records.
small-downloads: 8 copies to the host or more, of at most 256 bytes each. Cost: their time.
synchronise-in-loop: 8 waits for the device or more, in a recording that did not wait by itself. Cost: their time.
serialised-by-profiling: the recording waited for the device after each run. Cost: the time of these waits, where it is recorded.
queue-overrun: 8 submissions or more that took over four times the first quartile of all, and over 5 µs. Cost: the time beyond
    that quartile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rblnpb.profile import OverheadKind
from rblnpb.row_order import order_by
from rblnpb.wording import counted, first_few

from ...dialect import host_window
from ...results import Advice
from ...timeline import Int64, Timeline
from ..grouping import nearest_ranks
from ..host.host_classes import runtime_rows
from ..intervals import exact_sum, known_sum

__all__ = ["MANY", "hidden_work", "runtime_calls"]

MANY: Final = 8
"""Copies, waits and submissions are repeated from so many on."""

_FEW_BYTES: Final = 256
_LONG_SUBMIT: Final = 4
_LONG_SUBMIT_NS: Final = 5_000
_FIRST_CALL: Final = "first call"
"""Reason of a compilation that is none again."""

_FALLBACK_ADVICE: Final = {
    "trace": "measure without a Python tracer or debugger (with_stack=True, coverage, pdb): it keeps operators off the device",
    "dtype-not-fp16": "give it float16 tensors, or run the model in graph mode",
    "nan/inf input": "find where the NaN or infinity in its input comes from; TORCH_RBLN_DEPLOY=ON does not look",
    "all-scalar inputs": "keep arithmetic on single numbers in Python",
    "dispatch_mode": "take the torch dispatch mode (TorchDispatchMode) out of the measured part",
    "reentrant": "call it outside of other operators' kernels",
    "scalar": "keep arithmetic on single numbers in Python",
    "storage_offset": "make its input contiguous at its beginning: x.clone() once, instead of a view each time",
}
_OTHER_FALLBACK: Final = "use a type and a shape that the device supports, or graph mode"


def hidden_work(timeline: Timeline) -> Iterator[Advice]:
    """Advice on overheads, by kind, operator and reason."""
    yield from _fallbacks(timeline)
    yield from _recompilations(timeline)
    for op, reason, place, rows in _groups(timeline, OverheadKind.HOST_COPY):
        moved = known_sum(timeline.overheads.size_bytes[rows]) or 0
        yield Advice(
            code="copy-through-host",
            title=f"{op} goes through the host: {reason}",
            side="host",
            cost_ns=known_sum(timeline.overheads.duration_ns[rows]),
            count=len(rows),
            place=place,
            evidence=f"{counted(len(rows), 'copy', 'copies')}, {moved:,} bytes",
            advice="make both sides contiguous and of one type, so that the device can copy by itself",
        )


def _fallbacks(timeline: Timeline) -> Iterator[Advice]:
    for op, reason, place, rows in _groups(timeline, OverheadKind.CPU_FALLBACK):
        is_traced = reason == "trace"
        yield Advice(
            code="python-tracer-fallback" if is_traced else "cpu-fallback",
            title=f"{op} runs on the CPU: {'a Python tracer is active' if is_traced else reason}",
            side="host",
            cost_ns=known_sum(timeline.overheads.duration_ns[rows]),
            count=len(rows),
            place=place,
            evidence=f"{counted(len(rows), 'call')}, reason: {reason}",
            advice=_FALLBACK_ADVICE.get(reason, _OTHER_FALLBACK),
        )


def _recompilations(timeline: Timeline) -> Iterator[Advice]:
    told_ns = 0
    for op, reason, place, rows in _groups(timeline, OverheadKind.RECOMPILATION):
        cost_ns = known_sum(timeline.overheads.duration_ns[rows])
        told_ns += cost_ns or 0
        if reason != _FIRST_CALL:
            yield _recompilation(f"{op} is compiled again: {reason}", place, len(rows), cost_ns, counted(len(rows), "compilation"))
    first, again = _compilations(timeline)
    duration_ns = _measured_ns(timeline)
    first = first[duration_ns[first] > 0]
    rest_ns = exact_sum(duration_ns[again]) - told_ns
    if rest_ns > 0:
        evidence = (
            f"{counted(len(again), 'compilation')} of programs that had been compiled before; {rest_ns:,} ns are told nowhere else"
        )
        yield _recompilation("programs are compiled again", _programs(timeline, again), len(again), rest_ns, evidence)
    if len(first):
        yield Advice(
            code="compile-in-window",
            title="first calls compile in the measured time",
            side="host",
            cost_ns=exact_sum(duration_ns[first]),
            count=len(first),
            place=_programs(timeline, first),
            evidence=f"{counted(len(first), 'first compilation')}, the longest {int(duration_ns[first].max()):,} ns",
            advice="run every shape once before the measurement begins",
        )


def _recompilation(title: str, place: str, count: int, cost_ns: int | None, evidence: str) -> Advice:
    advice = "keep shapes and types the same from call to call: pad to a few sizes, or use graph mode"
    return Advice("recompilation", title, "host", cost_ns, count, place, evidence, advice)


def _compilations(timeline: Timeline) -> tuple[Int64, Int64]:
    """Rows of `timeline.runtime`: the first compilation of each program, and all others. One of an unknown program is a first."""
    rows = runtime_rows(timeline, "compile")
    rows = rows[order_by(timeline.runtime.start_ns[rows])]
    program = _program_keys(timeline, rows)
    _, first = np.unique(program, return_index=True)
    is_first = program < 0
    is_first[first] = True
    return rows[is_first], rows[~is_first]


def _measured_ns(timeline: Timeline) -> Int64:
    """int64[n]; how much of each row of `timeline.runtime` lies in the measured time: that of the host trace, if there is one."""
    runtime = timeline.runtime
    window = None if timeline.host is None else host_window(timeline.host)
    if window is None:
        return runtime.duration_ns
    start_ns, end_ns = runtime.start_ns, runtime.start_ns + runtime.duration_ns
    measured_ns: Int64 = np.maximum(np.minimum(end_ns, window[1]) - np.maximum(start_ns, window[0]), 0)
    return measured_ns


def _program_keys(timeline: Timeline, rows: Int64) -> Int64:
    """int64[n]; a number for the program of each row of `timeline.runtime`; -1 = not known."""
    launches = timeline.launches
    key = launches.name.astype(np.int64) * len(timeline.strings) + launches.compile_id
    return np.append(np.where(launches.name > 0, key, -1), -1)[timeline.runtime.launch[rows]]


def _programs(timeline: Timeline, rows: Int64) -> str:
    """Names of the programs of some rows of `timeline.runtime`: the first few."""
    names = np.unique(np.append(timeline.launches.name, 0)[timeline.runtime.launch[rows]]).tolist()
    return first_few([timeline.strings[name] for name in names if name])


def runtime_calls(timeline: Timeline) -> Iterator[Advice]:
    """Advice on copies, waits and submissions that the runtime recorded."""
    runtime = timeline.runtime
    downloads = runtime_rows(timeline, "copy out")
    size_bytes = runtime.size_bytes[downloads]
    small = downloads[(size_bytes >= 0) & (size_bytes <= _FEW_BYTES)]
    if len(small) >= MANY:
        evidence = f"{counted(len(small), 'copy', 'copies')} to the host of {exact_sum(runtime.size_bytes[small]):,} bytes in all"
        yield small_downloads(exact_sum(runtime.duration_ns[small]), len(small), _op(timeline, small), evidence)
    waits = runtime_rows(timeline, "wait")
    waited_ns = exact_sum(runtime.duration_ns[waits])
    if timeline.is_serialised:
        yield from _serialised(timeline, waited_ns, len(waits))
    elif len(waits) >= MANY:
        yield repeated_waits(waited_ns, len(waits), _op(timeline, waits), f"{counted(len(waits), 'wait')}, {waited_ns:,} ns")
    yield from _overruns(timeline)


def _serialised(timeline: Timeline, waited_ns: int, wait_count: int) -> Iterator[Advice]:
    count = wait_count or len(timeline.launches)
    if count:
        yield Advice(
            code="serialised-by-profiling",
            title="recording waits for the device after each run",
            side="host",
            cost_ns=waited_ns if wait_count else None,
            count=count,
            place="",
            evidence=f"{counted(wait_count, 'wait')}, {waited_ns:,} ns" if wait_count else "the waits themselves were not recorded",
            advice="take throughput and queue lengths from a run without the profiler; times within a run stand",
        )


def small_downloads(cost_ns: int, count: int, place: str, evidence: str) -> Advice:
    """Advice on many copies of few bytes to the host."""
    advice = "keep the numbers on the device, and read them together and less often: each .item() or .cpu() waits for the device"
    return Advice("small-downloads", "many small copies to the host", "host", cost_ns, count, place, evidence, advice)


def repeated_waits(cost_ns: int, count: int, place: str, evidence: str) -> Advice:
    """Advice on waits for the device that come again and again."""
    advice = "wait once after the loop instead of in each turn, so that the next launches are submitted while the device works"
    return Advice(
        "synchronise-in-loop", "the host waits for the device again and again", "host", cost_ns, count, place, evidence, advice
    )


def _overruns(timeline: Timeline) -> Iterator[Advice]:
    rows = runtime_rows(timeline, "submit")
    if len(rows) < MANY:
        return
    duration_ns = timeline.runtime.duration_ns[rows]
    usual_ns = int(nearest_ranks(np.zeros(len(rows), np.int64), duration_ns, 1, (25,))[0, 0])
    is_long = (duration_ns // _LONG_SUBMIT > usual_ns) & (duration_ns > _LONG_SUBMIT_NS)
    if is_long.sum() < MANY:
        return
    cost_ns = exact_sum(duration_ns[is_long] - usual_ns)
    of_all = counted(len(rows), "submission")
    yield Advice(
        code="queue-overrun",
        title="submissions wait for room in the device's queue",
        side="host",
        cost_ns=cost_ns,
        count=int(is_long.sum()),
        place=_op(timeline, rows[is_long]),
        evidence=f"{int(is_long.sum()):,} of {of_all} took over {_LONG_SUBMIT} times the usual {usual_ns:,} ns",
        advice="the device is the bottleneck here: give the host other work meanwhile, or submit fewer and larger launches",
    )


def _op(timeline: Timeline, rows: Int64) -> str:
    """The operator, or else the program, that most of some rows of `timeline.runtime` belong to; empty = none."""
    launch = timeline.runtime.launch[rows]
    host = timeline.host
    if host is not None:
        row = np.append(timeline.launches.host_row, -1)[launch]
        texts, name = host.strings, host.events.name[row[row >= 0]]
    if host is None or not len(name):
        texts, name = timeline.strings, np.append(timeline.launches.name, 0)[launch]
    return texts[int(np.bincount(name).argmax())] if len(name) else ""


def _groups(timeline: Timeline, kind: OverheadKind) -> Iterator[tuple[str, str, str, Int64]]:
    """Overheads of a kind by operator and reason: both, where the first was, and rows of `timeline.overheads`."""
    records, texts = timeline.overheads, timeline.strings
    rows = np.flatnonzero(records.kind == kind)
    key = records.op[rows].astype(np.int64) * len(texts) + records.reason[rows]
    order = order_by(key)
    for own in np.split(rows[order], np.flatnonzero(np.diff(key[order])) + 1):
        if len(own):
            op, reason, place = (int(column[own[0]]) for column in (records.op, records.reason, records.place))
            yield texts[op] or "an operator", texts[reason] or "unknown", texts[place], own
