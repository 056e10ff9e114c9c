"""Rows on which no two slices cross: viewers draw a slice inside of another or beside it, and lose one that lies half in it.

Crossing is rare, and it is found on columns. A slice that crosses nothing stays and is in nobody's way. Only the others are taken
one by one, in the order in which Perfetto takes them, so that those go to another row which Perfetto would have dropped.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["crossing", "lanes", "one_line", "outer_first"]

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]

_BATCH: Final = 1 << 17
_FEW: Final = 1 << 15
"""Rows that are looked at together: as many as stay in the processor's cache with what is made of them."""


def lanes(track: npt.NDArray[np.integer], start_ns: Int64, duration_ns: Int64, among: npt.NDArray[np.bool_] | None = None) -> Int32:
    """The lane of every slice: 0 for those that stay on the row of their track, 1 for a second row, and so on.

    Args:
        track: int[n]; numbers from 0; slices share a row only within one track.
        start_ns: int64[n]; any clock, in any order.
        duration_ns: int64[n]; not negative.
        among: bool[n]; which slices there are, None = all; the others stay on lane 0 and are in nobody's way.

    Returns:
        int32[n]; within one lane of a track any two slices lie one inside of the other, or apart. Of slices with equal times
        the earlier row is the outer one.
    """
    lane = np.zeros(len(track), np.int32)
    if _are_all_apart(track, start_ns, duration_ns, among):
        return lane
    rows, ends = _track_by_track(track, duration_ns, among)
    for low, high in _batches(ends):
        part = rows[low:high]
        if _are_apart(start_ns, duration_ns, part, ends[(ends > low) & (ends < high)] - low):
            continue
        opens, closes = _spans(track, start_ns, duration_ns, part)
        if not (opens[1:] > opens[:-1]).all():
            order = outer_first(opens, closes)
            part[:] = part[order]
            opens = opens[order]
            closes = closes[order]
        odd = _crossing(opens, closes)
        opens, closes = opens[odd], closes[odd]
        is_free = np.maximum.accumulate(closes)[:-1] <= opens[1:]
        for begin, end in _batches(np.append(np.flatnonzero(is_free) + 1, len(odd))):
            lane[part[odd[begin:end]]] = _first_fit(opens[begin:end].tolist(), closes[begin:end].tolist())
    return lane


def _batches(ends: Int64) -> Iterator[tuple[int, int]]:
    """Pieces that end at some of these places, each about as large as the processor's cache likes them, or larger where none is."""
    count = int(ends[-1])
    found = np.searchsorted(ends, np.arange(_BATCH, count, _BATCH), side="right")
    return itertools.pairwise(np.unique(np.concatenate(([0], ends[np.minimum(found, len(ends) - 1)], [count]))).tolist())


def _are_all_apart(
    track: npt.NDArray[np.integer], start_ns: Int64, duration_ns: Int64, among: npt.NDArray[np.bool_] | None
) -> bool:
    """Whether each slice of a track ends before the next one of it starts, which most do: a few rows at a time."""
    narrow = _narrow(track)
    free_ns = np.full(int(track.max(initial=0)) + 1, np.iinfo(np.int64).min)
    for at in range(0, len(track), _FEW):
        block = slice(at, at + _FEW)
        rows, own = _picked(track, duration_ns, among, block, narrow)
        order = np.argsort(own, kind="stable")
        own = own.take(order)
        rows = order if rows is None else rows.take(order)
        start, end = start_ns[block], start_ns[block] + duration_ns[block]
        start, end = start.take(rows), end.take(rows)
        is_next = own[1:] != own[:-1]
        if not ((end[:-1] <= start[1:]) | is_next).all():
            return False
        first = np.flatnonzero(np.concatenate(([len(own) > 0], is_next)))
        if not (free_ns[own[first]] <= start[first]).all():
            return False
        last = np.append(first[1:], len(own)) - 1 if len(first) else first
        free_ns[own[last]] = end[last]
    return True


def _narrow(track: npt.NDArray[np.integer]) -> type[np.integer]:
    """Few numbers are sorted in half the time when they are small ones."""
    return np.uint16 if int(track.max(initial=0)) < 1 << 16 else np.int64


def _picked(
    track: npt.NDArray[np.integer],
    duration_ns: Int64,
    among: npt.NDArray[np.bool_] | None,
    block: slice,
    narrow: type[np.integer],
) -> tuple[npt.NDArray[np.intp] | None, npt.NDArray[np.integer]]:
    """Rows of a block that have slices, None = all, and their tracks; an empty slice crosses nothing."""
    is_there = duration_ns[block] > 0 if among is None else among[block] & (duration_ns[block] > 0)
    if is_there.all():
        return None, track[block].astype(narrow)
    rows = np.flatnonzero(is_there)
    return rows, track[block][rows].astype(narrow)


def _track_by_track(
    track: npt.NDArray[np.integer], duration_ns: Int64, among: npt.NDArray[np.bool_] | None
) -> tuple[npt.NDArray[np.integer], Int64]:
    """Rows of slices, track by track and in their order on each, and where each track ends."""
    blocks = [slice(first, first + _BATCH) for first in range(0, len(track), _BATCH)]
    count = int(track.max(initial=0)) + 1
    picked = partial(_picked, track, duration_ns, among, narrow=_narrow(track))
    sizes = sum((np.bincount(picked(block=block)[1], minlength=count) for block in blocks), np.zeros(count, np.int64))
    ends: Int64 = np.cumsum(sizes)
    places = ends - sizes
    found: npt.NDArray[np.integer] = np.empty(int(ends[-1]), np.int32 if len(track) < 1 << 31 else np.int64)
    for block in blocks:
        rows, own = picked(block=block)
        sizes = np.bincount(own, minlength=count)
        firsts = np.cumsum(sizes) - sizes
        order = np.argsort(own, kind="stable")
        found[np.arange(len(own)) + np.repeat(places - firsts, sizes)] = (order if rows is None else rows[order]) + block.start
        places += sizes
    return found, ends


def _are_apart(start_ns: Int64, duration_ns: Int64, rows: npt.NDArray[np.integer], borders: Int64) -> bool:
    """Whether each slice ends before the next one of its track starts; a track begins at each border."""
    for first in range(0, len(rows) - 1, _BATCH):
        part = rows[first : first + _BATCH + 1]
        start = start_ns[part]
        touching = np.flatnonzero(start[:-1] + duration_ns[part[:-1]] > start[1:]) + first + 1
        if not np.isin(touching, borders).all():
            return False
    return True


def _spans(
    track: npt.NDArray[np.integer], start_ns: Int64, duration_ns: Int64, rows: npt.NDArray[np.integer]
) -> tuple[Int64, Int64]:
    """Where some slices open and close, as `one_line` places them, in little more memory than that takes."""
    opens, closes, own = start_ns[rows], duration_ns[rows], track[rows]
    first, least, most = int(opens.min()), int(own.min()), int(own.max())
    length = 1 - first + max(int((opens[at : at + _BATCH] + closes[at : at + _BATCH]).max()) for at in range(0, len(rows), _BATCH))
    if length * (most - least + 1) >= np.iinfo(np.int64).max:
        opens, closes = np.split(one_line(np.tile(own, 2), np.concatenate((opens, opens + closes))), 2)
        return opens, closes
    opens -= first
    if most > least:
        opens += (own - least) * np.int64(length)
    closes += opens
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


def outer_first(opens: Int64, closes: Int64) -> npt.NDArray[np.integer]:
    """The order of opening; of slices that open together the one that closes last comes first, then the earlier row."""
    if (opens[1:] > opens[:-1]).all():
        return np.arange(len(opens))
    narrow: type[np.integer] = np.int32 if len(opens) < 1 << 31 else np.int64
    order: npt.NDArray[np.integer] = np.argsort(opens, kind="stable").astype(narrow)
    opened = opens[order]
    is_tie = opened[1:] == opened[:-1]
    if is_tie.any():
        together = np.flatnonzero(np.concatenate(([False], is_tie)) | np.concatenate((is_tie, [False])))
        rows = order[together]
        order[together] = rows[np.lexsort((-closes[rows], opens[rows]))]
    return order


def crossing(track: npt.NDArray[np.integer], start_ns: Int64, end_ns: Int64) -> npt.NDArray[np.bool_]:
    """Slices that begin within another of their track and end after it.

    Args:
        track: int[n]; numbers from 0.
        start_ns, end_ns: int64[n]; any clock, any order; the end is not before the start.

    Returns:
        bool[n]; of two that cross, the one that begins later.

    >>> crossing(np.zeros(3, np.int64), np.array([0, 2, 5]), np.array([10, 8, 12]))
    array([False, False,  True])
    """
    crosses = np.zeros(len(track), np.bool_)
    # An empty slice crosses nothing.
    rows = np.flatnonzero(end_ns > start_ns)
    opens, closes = np.split(one_line(np.tile(track[rows], 2), np.concatenate((start_ns[rows], end_ns[rows]))), 2)
    order = outer_first(opens, closes)
    odd = order[_is_among_crossing(opens[order], closes[order])]
    crosses[rows[odd]] = _crosses_earlier(opens[odd], closes[odd])
    return crosses


def _crossing(opens: Int64, closes: Int64) -> Int64:
    """Rows of slices that cross another, sorted outer before inner: a batch at a time, with those before it that are still open."""
    crosses = np.zeros(len(opens), np.bool_)
    around = np.empty(0, np.int64)
    first = 0
    while first < len(opens):
        last = min(first + max(_BATCH, len(around)), len(opens))
        rows = np.concatenate((around, np.arange(first, last)))
        own_opens, own_closes = opens[rows], closes[rows]
        odd = np.flatnonzero(_is_among_crossing(own_opens, own_closes))
        if len(odd):
            crosses[rows[odd]] |= _crosses(own_opens[odd], own_closes[odd])
        around = rows[own_closes > opens[min(last, len(opens) - 1)]]
        first = last
    return np.flatnonzero(crosses)


def _is_among_crossing(opens: Int64, closes: Int64) -> npt.NDArray[np.bool_]:
    """Which of some slices, sorted outer before inner, cross another or stand between two that do.

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
    is_straddled: npt.NDArray[np.bool_] = np.cumsum(found - left) != 0
    is_straddled[1:] |= is_straddled[:-1].copy()
    return is_straddled


def _crosses(opens: Int64, closes: Int64) -> npt.NDArray[np.bool_]:
    """Which of some slices, sorted outer before inner, cross another."""
    return _crosses_later(opens, closes) | _crosses_earlier(opens, closes)


def _crosses_earlier(opens: Int64, closes: Int64) -> npt.NDArray[np.bool_]:
    """Which of some slices open while one is open that closes before them."""
    # What crosses from the left crosses from the right when time runs backwards.
    order = outer_first(-closes, -opens)
    crosses = np.empty(len(opens), np.bool_)
    crosses[order] = _crosses_later(-closes[order], -opens[order])
    return crosses


def _crosses_later(opens: Int64, closes: Int64) -> npt.NDArray[np.bool_]:
    """Which of some slices, sorted outer before inner, are open when one opens that closes after them."""
    count = len(opens)
    low, high = np.arange(1, count + 1), np.searchsorted(opens, closes, side="left")
    # A binary tree of maxima: the greatest of any range is that of two nodes, at most, on each of its floors.
    size = 1 << count.bit_length()
    tree = np.zeros(2 * size, np.int64)
    tree[:] = np.iinfo(np.int64).min
    tree[size : size + count] = closes
    floor = size
    while floor > 1:
        tree[floor // 2 : floor] = np.maximum(tree[floor : 2 * floor : 2], tree[floor + 1 : 2 * floor : 2])
        floor //= 2
    crosses = np.zeros(count, np.bool_)
    rows = np.flatnonzero(low < high)
    low, high = low[rows] + size, high[rows] + size
    while len(rows):
        # Where a range does not begin or end inside of a pair, the node that is looked at is within it, or empty.
        own = closes[rows]
        crosses[rows] |= ((low & 1 == 1) & (tree[low] > own)) | ((high & 1 == 1) & (tree[high - 1] > own))
        low, high = (low + 1) >> 1, high >> 1
        is_more = low < high
        rows, low, high = rows[is_more], low[is_more], high[is_more]
    return crosses


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
