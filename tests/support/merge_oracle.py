"""What merging and its arithmetic should find, told one record after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

OP, ANNOTATION = "cpu_op", "user_annotation"


@dataclass(frozen=True)
class Slice:
    """A slice of the host; `track` is any number of a thread."""

    category: str
    track: int
    start_ns: int
    end_ns: int


def innermost(slices: Sequence[Slice], category: str, track: int, start_ns: int, end_ns: int) -> int:
    """Place of the innermost slice of a category that contains a stretch of time on a thread; -1 = none."""
    best, key = -1, (0, 0)
    for place, one in enumerate(slices):
        reaches = one.start_ns <= start_ns < one.end_ns and one.end_ns >= end_ns
        if one.category == category and one.track == track and reaches and (best < 0 or (one.start_ns, -one.end_ns) >= key):
            best, key = place, (one.start_ns, -one.end_ns)
    return best


def match(slices: Sequence[Slice], window: tuple[int, int], tracks: set[int], track: int, time_ns: int) -> tuple[int, str]:
    """The op of a launch, and the rule or the reason, by name."""
    op = innermost(slices, OP, track, time_ns, time_ns + 1)
    if op >= 0:
        return op, "innermost-op"
    if not window[0] <= time_ns < window[1]:
        return -1, "outside-window"
    if track not in tracks:
        return -1, "thread-not-in-trace"
    if innermost(slices, ANNOTATION, track, time_ns, time_ns + 1) >= 0:
        return -1, "annotation-only"
    return -1, "between-ops"


def launch_of(ids: Sequence[int], starts_ns: Sequence[int], wanted: int, at_ns: int) -> int:
    """The launch that a record names: of several with one id the last one submitted by then, else the first in the list."""
    same = [place for place, launch_id in enumerate(ids) if launch_id == wanted != 0]
    before = [place for place in same if starts_ns[place] <= at_ns]
    if before:
        return max(before, key=lambda place: (starts_ns[place], place))
    return same[0] if same else -1


def union_ns(spans: Sequence[tuple[int, int]]) -> int:
    """Moments that at least one (start, duration) covers, counted one by one."""
    return len({moment for start, duration in spans for moment in range(start, start + duration)})


def overlap_count(spans: Sequence[tuple[int, int]]) -> int:
    """How many (start, duration) begin while one that began before them, or stands before them, still runs."""
    ordered = sorted(spans, key=lambda span: span[0])
    return sum(any(start < other + length for other, length in ordered[:place]) for place, (start, _) in enumerate(ordered))
