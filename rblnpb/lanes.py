"""Rows on which no two slices cross: viewers draw a slice inside of another or beside it, and lose one that lies half in it.

Crossing is rare, and it is found on whole columns. Only between the first and the last slice of such a place are slices taken
one by one, in the order in which Perfetto takes them, so that those go to another row which Perfetto would have dropped.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["lanes", "one_line", "outer_first"]

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]

_BATCH: Final = 1 << 17


def lanes(track: npt.NDArray[np.integer], start_ns: Int64, duration_ns: Int64) -> Int32:
    """The lane of every slice: 0 for those that stay on the row of their track, 1 for a second row, and so on.

    Args:
        track: int[n]; numbers from 0; slices share a row only within one track.
        start_ns: int64[n]; any clock, in any order.
        duration_ns: int64[n]; not negative.

    Returns:
        int32[n]; within one lane of a track any two slices lie one inside of the other, or apart. Of slices with equal times
        the earlier row is the outer one.
    """
    lane = np.zeros(len(track), np.int32)
    # An empty slice crosses nothing. Few numbers are sorted in half the time when they are small ones.
    narrow = np.uint16 if int(track.max(initial=0)) < 1 << 16 else track.dtype
    if (duration_ns > 0).all():
        own = track
        rows = np.argsort(own.astype(narrow), kind="stable")
    else:
        rows = np.flatnonzero(duration_ns > 0)
        own = track[rows]
        rows = rows[np.argsort(own.astype(narrow), kind="stable")]
    ends = np.cumsum(np.bincount(own))
    # Whole tracks, as many as keep the work in the processor's cache.
    batch = np.searchsorted(ends, np.arange(_BATCH, len(rows), _BATCH), side="right")
    edges = np.unique(np.concatenate(([0], ends[np.minimum(batch, len(ends) - 1)], ends[-1:])))
    for low, high in itertools.pairwise(edges.tolist()):
        part = rows[low:high]
        start, duration = start_ns[part], duration_ns[part]
        is_apart = start[:-1] + duration[:-1] <= start[1:]
        is_apart[ends[(ends > low) & (ends < high)] - low - 1] = True
        if is_apart.all():
            continue
        opens, closes = _spans(track[part], start, duration)
        order = outer_first(opens, closes)
        opens, closes = opens[order], closes[order]
        for first, last in _crossing_places(opens, closes):
            lane[part[order[first:last]]] = _first_fit(opens[first:last].tolist(), closes[first:last].tolist())
    return lane


def _spans(track: npt.NDArray[np.integer], start_ns: Int64, duration_ns: Int64) -> tuple[Int64, Int64]:
    """Where slices open and close, as `one_line` places them."""
    end_ns = start_ns + duration_ns
    first = int(start_ns.min())
    length = int(end_ns.max()) - first + 1
    if length * (int(track.max()) + 1) < np.iinfo(np.int64).max:
        opens = track * np.int64(length) + (start_ns - first)
        return opens, opens + duration_ns
    opens, closes = np.split(one_line(np.tile(track, 2), np.concatenate((start_ns, end_ns))), 2)
    return opens, closes


def one_line(track: npt.NDArray[np.integer], time_ns: Int64) -> Int64:
    """Moments of all tracks on one line, one track after the other.

    Args:
        track: int[n]; numbers from 0.
        time_ns: int64[n]; any clock.

    Returns:
        int64[n]; equal where track and time are, else in order of track and then of time.
    """
    if not len(track):
        return time_ns
    first = int(time_ns.min())
    length = int(time_ns.max()) - first + 1
    if length * (int(track.max()) + 1) < np.iinfo(np.int64).max:
        return track * np.int64(length) + (time_ns - first)
    # Times far apart on many tracks: their ranks are close together.
    moments, rank = np.unique(time_ns, return_inverse=True)
    return track * np.int64(len(moments)) + rank


def outer_first(opens: Int64, closes: Int64) -> npt.NDArray[np.intp]:
    """The order of opening; of slices that open together the one that closes last comes first, then the earlier row."""
    if (opens[1:] > opens[:-1]).all():
        return np.arange(len(opens))
    order = np.argsort(opens, kind="stable")
    is_tie = np.diff(opens[order]) == 0
    if is_tie.any():
        together = np.flatnonzero(np.concatenate(([False], is_tie)) | np.concatenate((is_tie, [False])))
        rows = order[together]
        order[together] = rows[np.lexsort((-closes[rows], opens[rows]))]
    return order


def _crossing_places(opens: Int64, closes: Int64) -> list[tuple[int, int]]:
    """Ranges of slices, sorted outer before inner, outside of which nothing crosses anything.

    A slice finds some slices open when it opens and leaves some open when it closes. Without crossings these are the same ones,
    those that contain it. A slice finds one more for each that crosses it from the left, and leaves one more for each that
    crosses it from the right. So the sum of the differences over all slices up to some place is the number of pairs that cross
    and have one slice on either side of that place.
    """
    place = np.arange(len(opens))
    # Of slices that close together the inner one, which opened later, closes first.
    closing = len(opens) - 1 - np.argsort(closes[::-1], kind="stable")
    closed_before = np.empty(len(opens), np.int64)
    closed_before[closing] = place
    found = place - np.searchsorted(closes[closing], opens, side="right")
    left = np.searchsorted(opens, closes, side="left") - closed_before - 1
    straddled = np.cumsum(found - left) != 0
    firsts = np.flatnonzero(straddled & ~np.concatenate(([False], straddled[:-1])))
    lasts = np.flatnonzero(straddled & ~np.concatenate((straddled[1:], [False])))
    return list(zip(firsts.tolist(), (lasts + 2).tolist(), strict=True))


_FOREVER: Final = int(np.iinfo(np.int64).max)


def _first_fit(starts: list[int], ends: list[int]) -> list[int]:
    """The first lane for each slice, taken in order, on which it crosses none that is open there; in O(n log n)."""
    innermost = _Tops()
    open_ends: defaultdict[int, list[int]] = defaultdict(lambda: [_FOREVER])
    closing: list[tuple[int, int]] = []
    lane_of = []
    for start, end in zip(starts, ends, strict=True):
        while closing and closing[0][0] <= start:
            lane = heapq.heappop(closing)[1]
            open_ends[lane].pop()
            innermost.put(lane, open_ends[lane][-1])
        lane = innermost.first(end)
        open_ends[lane].append(end)
        innermost.put(lane, end)
        heapq.heappush(closing, (end, lane))
        lane_of.append(lane)
    return lane_of


class _Tops:
    """Where the innermost open slice of each lane ends, as a binary tree of maxima; lanes without one end never."""

    def __init__(self) -> None:
        self._tree = [_FOREVER, _FOREVER]

    def first(self, end: int) -> int:
        """The first lane that ends at `end` or later."""
        tree = self._tree
        if tree[1] < end:
            self._double()
            return len(tree) // 2
        node = 1
        while 2 * node < len(tree):
            node *= 2
            node += tree[node] < end
        return node - len(tree) // 2

    def put(self, lane: int, end: int) -> None:
        """The lane ends here now."""
        tree = self._tree
        node = len(tree) // 2 + lane
        tree[node] = end
        while node > 1:
            node //= 2
            latest = max(tree[2 * node], tree[2 * node + 1])
            if tree[node] == latest:
                break
            tree[node] = latest

    def _double(self) -> None:
        """Make room for twice as many lanes."""
        leaves = self._tree[len(self._tree) // 2 :]
        size = 2 * len(leaves)
        self._tree = [_FOREVER] * (2 * size)
        for lane, end in enumerate(leaves):
            self._tree[size + lane] = end
        for node in range(size - 1, 0, -1):
            self._tree[node] = max(self._tree[2 * node], self._tree[2 * node + 1])
