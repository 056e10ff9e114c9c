"""Windows of time: as they are asked for, and as times of the trace clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from rblnpb.errors import Finding, Severity, UsageError

from ..host_trace import UNIX_NS
from ..merging.around import around
from ..merging.window import beginning_ns, within
from ..timeline import Timeline

__all__ = ["Window", "parse_window"]

_UNITS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_EDGE: Final = re.compile(r"([+-]?[0-9][0-9_.,]*)\s*(ns|us|µs|ms|s)?")


@dataclass(frozen=True)
class Window:
    """The part of a run that is asked for.

    Attributes:
        start_ns, end_ns: From the first time that the inputs hold; the end is not in it; None: open. From `host_trace.UNIX_NS` on a
            number is a Unix time.
        around: What it is the time of: the name of an op, a step, a program or a layer; None: the times say it.
    """

    start_ns: int | None = None
    end_ns: int | None = None
    around: str | None = None

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
        findings: tuple[Finding, ...] = ()
        start: int | None
        end: int | None
        if self.around is not None:
            start, end, count = around(timeline, self.around)
            if count > 1:
                message = f"{count:,} things are called {self.around!r}: the window is that of the first; --window names any other"
                findings = (Finding(Severity.INFO, "window-of-several", message, count),)
        else:
            first_ns = beginning_ns(timeline)
            if first_ns is None:
                return timeline
            start, end = self.times(first_ns)
        return within(timeline, start, end).with_findings(findings)


def parse_window(text: str) -> Window:
    """A window as it is typed: START:END, each a number with a unit (ns, us, ms, s; ms where there is none) or nothing.

    Raises:
        UsageError: It is something else, or ends before it starts.

    >>> parse_window("1.5ms:20ms")
    Window(start_ns=1500000, end_ns=20000000, around=None)
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
