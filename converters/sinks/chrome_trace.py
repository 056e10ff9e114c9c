"""A timeline as a trace in Chrome's trace event format, for Perfetto and chrome://tracing.

The host trace goes through as the bytes that it is; what a viewer could not show is changed, event by event, and every such
change is a finding. Beside it stand the devices, each a process with a row per engine, and an arrow from every launch to what
it caused. Times are exact to the nanosecond: microseconds with three decimals, small enough for a double to hold.

Held are columns and one block of text, whatever the size of the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT
from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ..json_text import is_utf8, microseconds, split_rows
from ..timeline import HostEvents, HostTrace, Id, Int32, Int64, Timeline
from ._changes import changes
from ._chrome_arrows import Arrows, arrow_blocks, draw_arrows
from ._chrome_copy import copy_events, replace_member
from ._chrome_counters import counter_blocks
from ._chrome_device import DevicePlan, plan_device
from ._chrome_host import HostPlan, plan_host, shown_times, slice_lengths
from ._chrome_ids import FreeNumbers, first_free_flow_id
from ._chrome_slices import BLOCK_ROWS, block_texts, slice_block
from ._streams import SECOND_NS, ByteStream, Progress

__all__ = ["ByteStream", "Progress", "write_chrome_trace"]

_EXACT_BELOW_NS: Final = (1 << 43) * 1000
"""From 2^43 µs on, 102 days, doubles lie so far apart that three decimals do not survive."""


def write_chrome_trace(timeline: Timeline, file: ByteStream, *, progress: Progress | None = None) -> tuple[Finding, ...]:
    """Write a timeline as Chrome trace JSON.

    Args:
        timeline: What to write; with or without a host trace.
        file: Written to in order, and left open.
        progress: See `Progress`.

    Returns:
        What could not go through as it was, counted.

    Raises:
        FormatError: The host's document cannot be read again.
        OSError: The stream does not take the bytes.
    """
    timeline = replace(timeline, runtime=timeline.runtime.unshown())
    plan = _plan(timeline)
    output = _Output(file, progress, plan.event_count)
    head, tail = _frame(plan.host, plan.base_time_ns)
    output.frame(head)
    for count, text in _host_blocks(plan):
        output.events(count, output.as_utf8(text))
    for count, text in _own_blocks(timeline, plan):
        output.events(count, text)
    output.frame(tail)
    lost = {"host-text-mended": output.mended_count, "counters-not-finite": len(timeline.counters) - plan.sample_count}
    return plan.findings + changes(lost)


class _Output:
    """The stream, and what has to be known of what went into it."""

    def __init__(self, file: ByteStream, progress: Progress | None, event_count: int) -> None:
        self._file = file
        self._progress = progress
        self._event_count = event_count
        self._written = 0
        self._is_first = True
        self.mended_count = 0

    def frame(self, text: bytes) -> None:
        """Write what stands before or after the events."""
        self._file.write(self.as_utf8(text))

    def events(self, count: int, text: bytes) -> None:
        """Write events, each with what parts it from the one before."""
        if not text:
            return
        self._file.write(text[2:] if self._is_first and text.startswith(b",\n") else text)
        self._is_first = False
        self._written += count
        if self._progress is not None:
            self._progress(self._written, self._event_count)

    def as_utf8(self, text: bytes) -> bytes:
        """Text that is not of our making, with replacement characters for what is no UTF-8."""
        if is_utf8(text):
            return text
        whole = text.decode("utf-8", "replace")
        self.mended_count += whole.count("\ufffd") - text.count("\ufffd".encode())
        return whole.encode()


@dataclass(frozen=True, eq=False)
class _Plan:
    """Everything that is decided before the first byte is written."""

    host: HostTrace
    host_plan: HostPlan
    device_plan: DevicePlan
    arrows: Arrows
    base_time_ns: int
    flow_id: int
    sample_count: int
    findings: tuple[Finding, ...]

    @property
    def event_count(self) -> int:
        """Events of the host, slices, samples that are numbers, and arrows."""
        slices = sum(
            int(np.count_nonzero(table.slices.event[rows] < 0))
            for table in self.device_plan.tables
            for rows in row_blocks(len(table.slices))
        )
        return len(self.host.events) + slices + self.sample_count + len(self.arrows)


def _plan(timeline: Timeline) -> _Plan:
    host, runtime = timeline.host or _no_host(), timeline.runtime
    used: set[Id] = {*np.unique(runtime.pid).tolist(), *np.unique(runtime.tid).tolist()}
    used |= {number for track in host.tracks for number in (track.pid, track.tid)}
    free = FreeNumbers(used)
    host_plan = plan_host(host, free)
    pids = {old.pid: new.pid for old, new in zip(host.tracks, host_plan.rows, strict=False)}
    device_plan = plan_device(timeline, free, pids)
    arrows = draw_arrows(timeline, host, host_plan, device_plan)
    base_time_ns, time_findings = _zero(timeline, host)
    flow_ids = (host.strings[row] for row in _used_texts(host.events.flow_id))
    return _Plan(
        host=host,
        host_plan=host_plan,
        device_plan=device_plan,
        arrows=arrows,
        base_time_ns=base_time_ns,
        flow_id=first_free_flow_id(flow_ids, host_plan.flows.chain_count + len(arrows)),
        sample_count=int(np.isfinite(timeline.counters.value).sum()),
        findings=host_plan.findings + device_plan.findings + arrows.findings + time_findings,
    )


def _used_texts(column: Int32) -> list[int]:
    """Rows of the strings to which a column of the host's events refers."""
    used = [np.unique(column[rows]) for rows in row_blocks(len(column))]
    return np.unique(np.concatenate(used)).tolist() if used else []


def _zero(timeline: Timeline, host: HostTrace) -> tuple[int, tuple[Finding, ...]]:
    """Unix time of the output's zero, and what had to be done for it.

    The file's own zero stands where it can: a time before it would be dropped by Perfetto, and one far from it rounded.
    """
    first = min((int(times.min()) for times in _times(timeline, host)), default=None)
    if first is None:
        return host.base_time_ns, ()
    zero = host.base_time_ns
    findings = []
    if timeline.host is None:
        zero = first // SECOND_NS * SECOND_NS
    elif first < zero or any(_inexact(times - zero) for times in _times(timeline, host)):
        zero = first // SECOND_NS * SECOND_NS
        count = int(np.count_nonzero(host.events.start_ns != ABSENT))
        text = f"the times of the host do not fit a double, or start before its zero; all {count} count from {zero} ns now"
        findings.append(Finding(Severity.INFO, "host-times-rebased", text, max(count, 1)))
    lengths = (slice_lengths(host, rows) for rows in row_blocks(len(host.events)))
    inexact = sum(_inexact(times - zero) for times in _times(timeline, host)) + sum(map(_inexact, lengths))
    if inexact:
        text = f"{counted(inexact, 'time lies', 'times lie')} more than 101 days from the zero, or as long; viewers round"
        findings.append(Finding(Severity.WARNING, "times-inexact", text, inexact))
    return zero, tuple(findings)


def _times(timeline: Timeline, host: HostTrace) -> Iterator[Int64]:
    """All times that are shown, in blocks, none of them empty."""
    for rows in row_blocks(len(host.events)):
        yield from filter(len, [shown_times(host, rows)])
    tables = (timeline.slices.start_ns, timeline.frames.start_ns, timeline.runtime.start_ns, timeline.counters.time_ns)
    for column in tables:
        for rows in row_blocks(len(column)):
            yield column[rows]


def _inexact(times_ns: Int64) -> int:
    """How many of these a double cannot hold in microseconds to the nanosecond."""
    if int(times_ns.max(initial=0)) < _EXACT_BELOW_NS and int(times_ns.min(initial=0)) > -_EXACT_BELOW_NS:
        return 0
    return int(((np.abs(times_ns) >= _EXACT_BELOW_NS) & (times_ns % 1000 != 0)).sum())


def _host_blocks(plan: _Plan) -> Iterator[tuple[int, bytes]]:
    """The events of the host, in order."""
    host, done = plan.host, 0
    for rows, text in copy_events(host, plan.host_plan.changes(host, plan.flow_id, plan.base_time_ns), plan.host_plan.left_out):
        yield rows - done, text
        done = rows


def _own_blocks(timeline: Timeline, plan: _Plan) -> Iterator[tuple[int, bytes]]:
    """All other events of the output, in order: metadata of ours, slices of ours, counters, arrows."""
    zero = plan.base_time_ns
    yield 0, _labels(plan)
    for table in plan.device_plan.tables:
        for rows in row_blocks(len(table.slices), BLOCK_ROWS):
            yield from block_texts(table, slice_block(table, rows), zero)
    yield from counter_blocks(timeline, plan.device_plan.processes, zero)
    yield from arrow_blocks(plan.arrows, plan.flow_id + plan.host_plan.flows.chain_count, zero)


def _labels(plan: _Plan) -> bytes:
    """Metadata of ours, at the time of the host's latest: Perfetto lets the latest name of a row stand."""
    events = plan.host.events
    timed = (events.phase == ord("M")) & (events.start_ns != ABSENT)
    latest = int(np.max(events.start_ns[timed], initial=plan.base_time_ns))
    (time,) = split_rows(1, microseconds(np.array([latest - plan.base_time_ns])))
    labels = plan.host_plan.labels + plan.device_plan.labels
    return b"".join(label.text(b'"ts":%s,' % time) for label in labels)


def _frame(host: HostTrace, base_time_ns: int) -> tuple[bytes, bytes]:
    """What stands before and after the events, with the zero of the output in it."""
    head, tail = host.head.removeprefix(b"\xef\xbb\xbf"), host.tail
    if base_time_ns != host.base_time_ns:
        if not head.lstrip().startswith(b"{"):
            head, tail = b'{"traceEvents":[', tail.rstrip() + b"}"
        document = replace_member(head + tail, "baseTimeNanoseconds", b"%d" % base_time_ns)
        # The tail begins with the bracket that closes the events; if the zero stands behind it, the head is as it was.
        length = len(head) if document.startswith(head) else len(document) - len(tail)
        head, tail = document[:length], document[length:]
    return head + b"\n", b"\n" + tail


@dataclass(frozen=True)
class _NoDocument:
    """The document of a trace that has no host."""

    name: str = ""

    def blocks(self) -> Iterator[bytes]:
        """Nothing."""
        return iter(())


def _no_host() -> HostTrace:
    """A host trace without events, in the form that Kineto gives one."""
    kinds = {"UInt8": np.uint8, "Int32": np.int32, "Int64": np.int64}
    return HostTrace(
        document=_NoDocument(),
        events=HostEvents(**{column.name: np.empty(0, kinds[str(column.type)]) for column in fields(HostEvents)}),
        strings=("",),
        tracks=(),
        base_time_ns=0,
        has_base_time=True,
        head=b'{"schemaVersion":1,"deviceProperties":[],"displayTimeUnit":"ms","baseTimeNanoseconds":0,"traceEvents":[',
        tail=b"]}\n",
        metadata={},
    )
