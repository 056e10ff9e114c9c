"""What latency, queue, the host's split and its scans should be, told one record and one moment after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def percentile(values: Sequence[int], percent: int) -> int:
    """The smallest value that at least so many percent of the values do not exceed."""
    return min(value for value in values if 100 * sum(other <= value for other in values) >= percent * len(values))


@dataclass(frozen=True)
class Launched:
    """A launch with its work: when it was submitted, when its first work began and its last ended, and on which device."""

    submitted_ns: int
    start_ns: int
    end_ns: int
    device: int = 0


def waiting_ns(launches: Sequence[Launched], place: int) -> int:
    """How long a launch waited behind those of its device that were submitted before it, or at its time and stand before it."""
    one = launches[place]
    earlier = [
        other.end_ns
        for at, other in enumerate(launches)
        if other.device == one.device and (other.submitted_ns, at) < (one.submitted_ns, place)
    ]
    until_ns = min(max(earlier, default=one.submitted_ns), one.start_ns)
    return max(until_ns - one.submitted_ns, 0)


def queue_length(launches: Sequence[Launched], time_ns: int) -> int:
    """Launches that are submitted and not done at a moment; one is never done before it was submitted."""
    return sum(one.submitted_ns <= time_ns < max(one.end_ns, one.submitted_ns) for one in launches)


def time_at_length(launches: Sequence[Launched]) -> list[int]:
    """Nanoseconds at each length, from the first submission to the last end, counted one by one."""
    if not launches:
        return [0]
    first = min(one.submitted_ns for one in launches)
    last = max(max(one.end_ns, one.submitted_ns) for one in launches)
    lengths = [queue_length(launches, moment) for moment in range(first, last)]
    return [lengths.count(length) for length in range(max(lengths, default=0) + 1)]


@dataclass(frozen=True)
class Call:
    """A slice of one thread; `calls` lie in it, one after the other."""

    name: str
    start_ns: int
    end_ns: int
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Recorded:
    """Something that the runtime recorded on that thread, by the class it gives time to."""

    sort: str
    start_ns: int
    end_ns: int


RECORDED = ("fallback", "compile", "wait", "upload", "download", "submit")
"""Of records that overlap, the one named first counts."""
COPIES = ("aten::to", "aten::_to_copy", "aten::copy_", "aten::_copy_from")


def scans(call: Call, *, is_operator: bool = True) -> list[tuple[Call, list[Call]]]:
    """(operator, rows of the scan) for each scan of an input below a call."""
    found: list[tuple[Call, list[Call]]] = []
    at = 0
    while at + 1 < len(call.calls):
        pair = {one.name for one in call.calls[at : at + 2]}
        if pair == {"aten::isinf", "aten::isnan"} and is_operator and "::" in call.name:
            rows = list(call.calls[at : at + 2])
            if at and call.calls[at - 1].name in COPIES:
                rows.insert(0, call.calls[at - 1])
            found.append((call, rows))
            at += 1
        at += 1
    return found + [scan for one in call.calls for scan in scans(one)]


def split(calls: Sequence[Call], records: Sequence[Recorded]) -> dict[str, int]:
    """Nanoseconds by class, counted one by one over every moment that a call covers."""
    totals: dict[str, int] = {}
    for call in calls:
        checked = {id(row) for _, rows in scans(call) for row in rows}
        for moment in range(call.start_ns, call.end_ns):
            sort = _class_at(call, moment, checked, records)
            totals[sort] = totals.get(sort, 0) + 1
    return totals


def _class_at(call: Call, moment: int, checked: set[int], records: Sequence[Recorded]) -> str:
    stack = [call]
    while inner := [one for one in stack[-1].calls if one.start_ns <= moment < one.end_ns]:
        stack.append(inner[0])
    if any(id(one) in checked for one in stack):
        return "checks"
    here = {one.sort for one in records if one.start_ns <= moment < one.end_ns}
    for sort in RECORDED:
        if sort in here:
            return sort
    crossing = [one for one in stack if _crosses(one)]
    return _way(crossing[0], records) if crossing else "dispatch"


def _crosses(call: Call) -> bool:
    return call.name in COPIES and (call.name == "aten::_copy_from" or any(map(_crosses, call.calls)))


def _way(call: Call, records: Sequence[Recorded]) -> str:
    """The way of a copy, from the records that overlap with it; an upload where there are both."""
    within = {one.sort for one in records if max(one.start_ns, call.start_ns) < min(one.end_ns, call.end_ns)}
    return "upload" if "upload" in within else "download" if "download" in within else "copy"
