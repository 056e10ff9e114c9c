"""Single gaps in full: where they lie, and what each of their parts is made of. Columns of a block of gaps at a time."""

from __future__ import annotations

from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...results import CAUSES, STEPS, Coded, Fact, GapColumns, GapTable, Numbers, SliceColumns
from ...timeline import Int64, Timeline
from ..grouping import consecutive
from .gap_evidence import Evidence, ExplainedGaps, PartColumns, coded
from .gap_frames import most_of
from .gaps import Gaps

__all__ = ["list_gaps", "longest"]

_CAUSES: Final = tuple(CAUSES)
_STEPS: Final = tuple(STEPS)


def longest(gaps: Gaps, top: int) -> Int64:
    """Rows of the longest gaps, the longest first, then the earliest; -1 = all.

    >>> nothing = np.zeros(3, np.int64)
    >>> longest(Gaps(nothing, np.array([0, 7, 20]), np.array([5, 9, 25]), nothing, nothing), 2).tolist()
    [0, 2]
    """
    order = order_by(gaps.start_ns - gaps.end_ns, gaps.start_ns)
    return order if top < 0 else order[:top]


def list_gaps(timeline: Timeline, found: ExplainedGaps, rows: Int64) -> GapTable:
    """Gaps in full.

    Args:
        timeline: Any.
        found: Its gaps.
        rows: int64[m]; which of them, in the order wanted.
    """
    evidence = Evidence(timeline, found, rows)

    def columns(low: int, high: int) -> GapColumns:
        return _columns(timeline, found, evidence, low, rows[low:high])

    return GapTable(len(rows), columns)


def _columns(timeline: Timeline, found: ExplainedGaps, evidence: Evidence, low: int, rows: Int64) -> GapColumns:
    gaps, calls = found.gaps, found.calls
    lane, before = gaps.lane[rows], gaps.before[rows]
    call = np.where(found.inside[rows], calls.of_work[before], -1)
    program = coded(np.append(calls.program, -1)[call], [name for name, _ in calls.programs])
    parts = _parts(found, rows)
    # A border that is not known to be uncertain is none: half of the codes stand for parts that have no such border.
    borders = tuple(
        None if per_border_ns is None else per_border_ns * touches for per_border_ns in found.uncertainty_ns for touches in (0, 1)
    )
    return GapColumns(
        device=Coded(lane, tuple(device for device, _ in found.lanes)),
        engine=Coded(lane, tuple(engine for _, engine in found.lanes)),
        start_ns=gaps.start_ns[rows],
        duration_ns=gaps.end_ns[rows] - gaps.start_ns[rows],
        after=_slices(timeline, found, gaps.after[rows]),
        before=_slices(timeline, found, before),
        inside_program=program,
        part_count=np.bincount(parts.place, minlength=len(rows)),
        cause=Coded(parts.cause, _CAUSES),
        part_ns=parts.duration_ns,
        uncertainty_ns=Coded(lane[parts.place] * 2 + parts.touches, borders),
        evidence=evidence.of(low, parts),
    )


def _slices(timeline: Timeline, found: ExplainedGaps, places: Int64) -> SliceColumns:
    """Slices at the ends of gaps, by their place in the work."""
    work, launches = found.work, timeline.launches
    launch = work.launch[places]
    launch_id = np.append(launches.launch_id, 0)[launch]
    names = timeline.slices.names.take(work.row[places]).render().tolist()
    return SliceColumns(
        name=Coded(np.arange(len(places)), tuple(name.decode(errors="replace") for name in names)),
        engine=Coded(work.track[places], tuple(track.name for track in timeline.tracks)),
        program=coded(np.append(launches.name, 0)[launch].astype(np.int64), timeline.strings),
        launch_id=Numbers(launch_id, launch_id != 0),
    )


def _parts(found: ExplainedGaps, rows: Int64) -> PartColumns:
    """What each gap is made of, the longest part first; of two that are equally long, the cause that comes first."""
    pieces, parts = found.pieces.of(rows), found.parts
    own, of_gap = _rows_of(parts.gap, rows)
    order = order_by(of_gap, -parts.duration_ns[own])
    own, of_gap = own[order], of_gap[order]
    cause = parts.cause[own]
    # Which part has a cause in a gap.
    place = np.full((len(rows), len(_CAUSES)), -1, np.int64)
    place[of_gap, cause] = np.arange(len(own))
    of_piece = place[pieces.gap, pieces.cause]
    length_ns = pieces.end_ns - pieces.start_ns
    _, name, name_ns = most_of(of_piece, pieces.name, length_ns)
    step = pieces.step
    steps_ns = np.zeros((len(_STEPS), len(own)), np.int64)
    np.add.at(steps_ns, (step[step >= 0], of_piece[step >= 0]), length_ns[step >= 0])
    steps = tuple(Fact(key, Numbers(column, column > 0)) for key, column in zip(_STEPS, steps_ns, strict=True))
    return PartColumns(own, rows[of_gap], of_gap, cause, parts.duration_ns[own], parts.touches[own], name, name_ns, steps)


def _rows_of(gap: Int64, rows: Int64) -> tuple[Int64, Int64]:
    """Rows of a table in order of gap that are of these gaps, one gap after the other; and the place of the gap of each."""
    first, last = np.searchsorted(gap, rows), np.searchsorted(gap, rows, side="right")
    counts = last - first
    return consecutive(first, counts), np.repeat(np.arange(len(rows)), counts)
