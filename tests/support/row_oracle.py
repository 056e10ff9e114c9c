"""Rows without crossings, slowly: every slice is held against every other one of its row."""

from __future__ import annotations

from collections.abc import Sequence

Slice = tuple[int, int, int]
"""Track, start, duration."""


def crosses(one: Slice, other: Slice) -> bool:
    """Whether one of two slices of a track starts inside of the other and ends after it."""
    (_, start, duration), (_, other_start, other_duration) = sorted((one, other), key=lambda item: item[1])
    return start < other_start < start + duration < other_start + other_duration


def slow_lanes(slices: Sequence[Slice]) -> list[int]:
    """The lane of every slice: the first one on which it crosses none of those that Perfetto takes before it."""
    lane_of: dict[int, int] = {}
    for row in sorted(range(len(slices)), key=lambda row: (slices[row][1], -slices[row][2], row)):
        others = [(lane, slices[other]) for other, lane in lane_of.items() if slices[other][0] == slices[row][0]]
        lane = 0
        while any(taken == lane and crosses(slices[row], other) for taken, other in others):
            lane += 1
        lane_of[row] = lane
    return [lane_of[row] for row in range(len(slices))]
