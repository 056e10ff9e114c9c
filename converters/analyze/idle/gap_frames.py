"""Where in the Python program most of a part of a gap was spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...nesting import nearest
from ...results import CAUSES, Coded
from ...timeline import Int64, Timeline
from ..grouping import numbered
from ..host.host_calls import MODULE, PYTHON, HostCalls, read_calls
from .cause_times import GapParts
from .coverage import Coverage, Stretches
from .piece_table import GapPieces

__all__ = ["GapFrames", "gap_frames", "most_of"]

_MOST_FRAMES: Final = 8
"""Most Python frames that stand for a part: the innermost ones."""


def most_of(part: Int64, name: Int64, length_ns: Int64) -> tuple[Int64, Int64, Int64]:
    """What most of each part belongs to: of equals the first one, but any rather than 0.

    Args:
        part: int64[n]; of each piece of time.
        name: int64[n]; what the piece belongs to, not negative.
        length_ns: int64[n].

    Returns:
        The parts, in order; the name of each, and its time in the part.

    >>> most_of(np.array([4, 4, 4]), np.array([0, 7, 0]), np.array([1, 3, 2]))
    (array([4]), array([7]), array([3]))
    """
    order = order_by(part, name)
    part, name = part[order], name[order]
    begins = np.flatnonzero((np.diff(part, prepend=-1) != 0) | (np.diff(name, prepend=-1) != 0))
    sums = np.add.reduceat(length_ns[order], begins) if len(begins) else length_ns
    part, name = part[begins], name[begins]
    best = order_by(part, -sums, name == 0, order[begins])
    best = best[np.diff(part[best], prepend=-1) != 0]
    return part[best], name[best], sums[best]


@dataclass(frozen=True, eq=False)
class GapFrames:
    """The innermost Python frame of parts of gaps.

    Attributes:
        call: int64[p]; row of `calls` for each row of `GapParts`; -1 = none, or not looked for.
        calls: Those of the host; None where no part has any.
        caller: int64[n]; row of the frame around each of the calls; -1 = none.
    """

    call: Int64
    calls: HostCalls | None
    caller: Int64

    def stacks(self, parts: Int64) -> Coded:
        """Frames around most of each part, the innermost first.

        Args:
            parts: int64[k]; rows of `GapParts`; -1 = of none.
        """
        call = np.append(self.call, -1)[parts]
        if self.calls is None or not (call >= 0).any():
            return Coded(np.full(len(parts), -1), ())
        rows, of_part = numbered(call)
        at, code = rows, np.zeros(len(rows), np.int64)
        depths = []
        for _ in range(_MOST_FRAMES):
            depths.append(np.where(at >= 0, self.calls.frame[at], -1))
            at = np.where(at >= 0, self.caller[at], -1)
            _, code = numbered(code * (len(self.calls.frames) + 1) + depths[-1] + 1)
        _, example = np.unique(code, return_index=True)
        names = [frame.name for frame in self.calls.frames] if len(example) else []
        stacks = tuple(tuple(names[frame] for frame in row if frame >= 0) for row in np.stack(depths, axis=1)[example].tolist())
        return Coded(np.where(call >= 0, code[of_part], -1), stacks)


def gap_frames(timeline: Timeline, pieces: Iterable[GapPieces], parts: GapParts, lane: Int64, causes: tuple[int, ...]) -> GapFrames:
    """The frames of some parts.

    Args:
        timeline: Any.
        pieces: So many at a time as are at hand.
        parts: Of the same gaps.
        lane: int64[gaps]; row of the trace's tracks that each gap waited for; -1 = not known, or not of interest.
        causes: Places in `results.CAUSES` of parts that the host's thread stands for.
    """
    nothing, host = np.full(len(parts), -1), timeline.host
    if host is None:
        return GapFrames(nothing, None, nothing)
    gap, cause, start_ns, end_ns = _of_interest(pieces, lane, causes)
    if not len(gap):
        return GapFrames(nothing, None, nothing)
    calls = read_calls(host, with_annotations=False)
    is_frame = (calls.kind == PYTHON) | (calls.kind == MODULE)
    frames = np.flatnonzero(is_frame)
    coverage = Coverage.of(calls.track[frames], calls.start_ns[frames], calls.end_ns[frames])
    # The number of a piece stands for its gap here: what it is cut into keeps it.
    stretches, owner = coverage.cut(lane[gap], Stretches(np.arange(len(gap)), start_ns, end_ns)).covered()
    gap, cause = gap[stretches.gap], cause[stretches.gap]
    part = np.searchsorted(parts.gap * len(CAUSES) + parts.cause, gap * len(CAUSES) + cause)
    # No call may be 0.
    told, call, _ = most_of(part, frames[owner] + 1, stretches.end_ns - stretches.start_ns)
    nothing[told] = call - 1
    around = np.append(nearest(calls.parent, is_frame), -1)
    return GapFrames(nothing, calls, around[calls.parent])


def _of_interest(pieces: Iterable[GapPieces], lane: Int64, causes: tuple[int, ...]) -> Int64:
    """int64[4, n]; gap, cause, start and end of the pieces that `gap_frames` looks at."""
    found = [np.empty((4, 0), np.int64)]
    for one in pieces:
        own = np.flatnonzero((lane[one.gap] >= 0) & np.isin(one.cause, causes))
        found.append(np.stack([column[own] for column in (one.gap, one.cause, one.start_ns, one.end_ns)]))
    return np.concatenate(found, axis=1)
