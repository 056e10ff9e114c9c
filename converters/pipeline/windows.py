"""Windows of time: as they are asked for, and as times of the trace clock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Final

import numpy as np

from rblnpb.clock import clock_maps
from rblnpb.errors import ClockError, Finding, Severity, UsageError
from rblnpb.reader import ProfileFile

from ..host_trace import UNIX_NS
from ..merging.align import Alignment
from ..merging.around import around
from ..merging.launch_times import is_settled
from ..merging.window import beginning_ns, within
from ..timeline import HostTrace, Int64, Timeline

__all__ = ["Window", "parse_window", "stored_window"]

_MARGIN_NS: Final = 10**6
"""What is read beyond a window before it is cut exactly."""

_UNITS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_EDGE: Final = re.compile(r"([+-]?[0-9][0-9_.,]{0,60})\s*(ns|us|µs|ms|s)?")


@dataclass(frozen=True)
class Window:
    """The part of a run that is asked for.

    Attributes:
        start_ns, end_ns: From the first time that the inputs hold; the end is not in it; None: open. From `host_trace.UNIX_NS` on a
            number is a Unix time.
        around: What it is the time of: the name of an op, a step, a program or a layer; None: the times say it.
        first_ns: First time that the inputs hold, trace clock, where it is known already; None: that of the timeline.
    """

    start_ns: int | None = None
    end_ns: int | None = None
    around: str | None = None
    first_ns: int | None = None

    def times(self, first_ns: int) -> tuple[int | None, int | None]:
        """Start and end in the trace clock, for inputs whose first time is given."""
        edges = (self.start_ns, self.end_ns)
        start, end = (edge if edge is None or edge >= UNIX_NS else first_ns + edge for edge in edges)
        return start, end

    def of(self, timeline: Timeline) -> Timeline:
        """What of a timeline is in the window.

        Raises:
            UsageError: Nothing is called by the name.
        """
        first_ns = beginning_ns(timeline) if self.first_ns is None else self.first_ns
        if self.around is None:
            if first_ns is None:
                return timeline
            return within(timeline, *self.times(first_ns), zero_ns=first_ns)
        if not self.around:
            raise UsageError("--around needs a name; is a variable of the shell unset?")
        start, end, starts = around(timeline, self.around)
        zero_ns = first_ns or 0
        return within(timeline, start, end, zero_ns=zero_ns).with_findings(_others(self.around, starts - zero_ns))


def _others(name: str, starts_ns: Int64) -> Iterator[Finding]:
    """That a window is of the first of several things of a name, and when the next ones start."""
    if len(starts_ns) > 1:
        next_ones = ", ".join(f"{start:,}" for start in starts_ns[1:4].tolist()) + (", ..." if len(starts_ns) > 4 else "")
        message = f"{len(starts_ns):,} things are called {name!r}: the window is that of the first; others start at {next_ones} ns"
        yield Finding(Severity.INFO, "window-of-several", message, len(starts_ns))


def stored_window(window: Window, file: ProfileFile, host: HostTrace | None) -> tuple[Window, tuple[int, int]] | None:
    """The part of a stored profile that a window needs, so that the rest of the file is not read.

    Args:
        window: What is asked for.
        file: The profile.
        host: The trace that it is to be joined with; None: none.

    Returns:
        The window with what its times count from, and first moment and end, host monotonic ns, with a margin; None where only all
        records together tell: around a name, or where the readings of a clock do not settle its times.
    """
    bounds = file.bounds_ns()
    if window.around is not None or bounds is None:
        return None
    # An empty window has all that records refer to, and the readings of the clocks.
    head = file.profile(window=(0, 0))
    maps = clock_maps(head.clocks, head.clock_snapshots)
    if any(not is_settled(one) for one in maps.values()):
        return None
    try:
        alignment = Alignment.of(head, needs_real_time=host is not None)
    except ClockError:
        return None
    if alignment.is_alone:
        return None
    first_ns = int(alignment.monotonic_to_trace(np.array(bounds[:1]))[0])
    first_of_host = None if host is None else host.first_ns()
    first_ns = first_ns if first_of_host is None else min(first_ns, first_of_host)
    edges = window.times(first_ns)
    offsets = [0] if alignment.real_time is None else alignment.real_time.offset_ns.tolist()
    start = bounds[0] if edges[0] is None else edges[0] - max(offsets) - _MARGIN_NS
    end = bounds[1] + 1 if edges[1] is None else edges[1] - min(offsets) + _MARGIN_NS
    return replace(window, first_ns=first_ns), (max(start, 0), max(start, end, 0))


def parse_window(text: str) -> Window:
    """A window as it is typed: START:END, each a number with a unit (ns, us, ms, s; ms where there is none) or nothing.

    Raises:
        UsageError: It is something else, or ends before it starts.

    >>> parse_window("1.5ms:20ms")
    Window(start_ns=1500000, end_ns=20000000, around=None, first_ns=None)
    >>> parse_window("2s:").end_ns is None
    True
    """
    start_text, colon, end_text = text.partition(":")
    if not colon:
        raise UsageError(f"a window is START:END, such as 10ms:25ms or 1.5s: ; {text!r} has no colon")
    start, end = (_edge(part.strip(), text) for part in (start_text, end_text))
    if start is not None and end is not None and end <= start:
        raise UsageError(f"the window {text} ends before it starts, or at once")
    return Window(start, end)


def _edge(part: str, text: str) -> int | None:
    if not part:
        return None
    match = _EDGE.fullmatch(part)
    try:
        number = Decimal(match[1].replace("_", "").replace(",", "")) if match else None
    except InvalidOperation:
        number = None
    if match is None or number is None:
        raise UsageError(f"{part!r} in the window {text} is no time: write 250us, 10ms or 1.5s; without a unit it is milliseconds")
    if match[2] is None and number >= UNIX_NS:
        # So large a number can only be a Unix time as traces and reports have it.
        return int(number)
    value = int(number * _UNITS[match[2] or "ms"])
    if abs(value) >= 1 << 62:
        raise UsageError(f"{part!r} in the window {text} is too large for a time in ns")
    return value
