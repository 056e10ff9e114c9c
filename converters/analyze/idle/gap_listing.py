"""Single gaps in full: where they lie, and what each of their parts is made of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import numpy as np

from ...results import CAUSES, STEPS, Gap, GapPart, SliceRef
from ...timeline import Int64, Timeline
from ..grouping import consecutive
from .gap_evidence import Evidence, ExplainedGaps, PartShares
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
    order: Int64 = np.lexsort((gaps.start_ns, gaps.start_ns - gaps.end_ns)).astype(np.int64)
    return order if top < 0 else order[:top]


def list_gaps(timeline: Timeline, found: ExplainedGaps, rows: Int64) -> tuple[Gap, ...]:
    """Gaps in full.

    Args:
        timeline: Any.
        found: Its gaps.
        rows: int64[m]; which of them, in the order wanted.
    """
    gaps, calls = found.gaps, found.calls
    evidence = Evidence(timeline, found, rows)
    beside = _slices_beside(timeline, found, rows)
    call = np.where(found.inside[rows], calls.of_work[gaps.before[rows]], -1)
    program = np.append(calls.program, -1)[call]
    columns = (rows, gaps.lane[rows], gaps.start_ns[rows], gaps.end_ns[rows] - gaps.start_ns[rows])
    places = (gaps.after[rows], gaps.before[rows], program)
    listed = []
    for (row, lane, start_ns, duration_ns, after, before, own), shares in zip(
        zip(*(column.tolist() for column in (*columns, *places)), strict=True), _parts(found, rows), strict=True
    ):
        (device, engine), per_border_ns = found.lanes[lane], found.uncertainty_ns[lane]
        parts = tuple(
            GapPart(
                part.cause,
                part.duration_ns,
                None if per_border_ns is None else per_border_ns * border_count,
                evidence.of(row, part) if part.cause != "short" else {},
            )
            for part, border_count in shares
        )
        most = parts[0]
        listed.append(
            Gap(
                device,
                engine,
                start_ns,
                duration_ns,
                most.cause,
                most.uncertainty_ns,
                most.evidence,
                beside[after],
                beside[before],
                calls.programs[own][0] if own >= 0 else None,
                parts,
            )
        )
    return tuple(listed)


def _slices_beside(timeline: Timeline, found: ExplainedGaps, rows: Int64) -> dict[int, SliceRef]:
    """Slices at the ends of gaps, by their place in the work."""
    work, launches = found.work, timeline.launches
    places = np.unique(np.concatenate((found.gaps.after[rows], found.gaps.before[rows])))
    launch = work.launch[places]
    columns = (
        places,
        work.track[places],
        np.append(launches.name, 0)[launch],
        np.append(launches.launch_id, 0)[launch],
    )
    names = timeline.slices.names.take(work.row[places]).render().tolist()
    return {
        place: SliceRef(text.decode(errors="replace"), timeline.tracks[track].name, timeline.strings[name], launch_id or None)
        for place, track, name, launch_id, text in zip(*(column.tolist() for column in columns), names, strict=True)
    }


def _parts(found: ExplainedGaps, rows: Int64) -> Iterator[list[tuple[PartShares, int]]]:
    """What each gap is made of, the longest part first, and how many uncertain borders each part has."""
    pieces, parts = found.pieces, found.parts
    own, counts = _rows_of(pieces.gap, rows)
    columns = (pieces.cause[own], pieces.name[own], pieces.step[own], pieces.end_ns[own] - pieces.start_ns[own])
    of_pieces = zip(*(column.tolist() for column in columns), strict=True)
    own, part_counts = _rows_of(parts.gap, rows)
    borders = iter(parts.touches[own].tolist())
    for count, part_count in zip(counts, part_counts, strict=True):
        made: dict[int, tuple[dict[int, int], dict[int, int]]] = {}
        for cause, name, step, length_ns in islice(of_pieces, count):
            names, steps = made.setdefault(cause, ({}, {}))
            names[name] = names.get(name, 0) + length_ns
            steps[step] = steps.get(step, 0) + length_ns
        # Parts are in order of causes.
        shares = zip((_shares(found, cause, *made[cause]) for cause in sorted(made)), islice(borders, part_count), strict=True)
        # Of two that are equally long, the cause that comes first.
        yield sorted(shares, key=lambda share: -share[0].duration_ns)


def _rows_of(gap: Int64, rows: Int64) -> tuple[Int64, list[int]]:
    """Rows of a table in order of gap that are of these gaps, one gap after the other, and how many each gap has."""
    first, last = np.searchsorted(gap, rows), np.searchsorted(gap, rows + 1)
    counts = last - first
    return consecutive(first, counts), counts.tolist()


def _shares(found: ExplainedGaps, cause: int, names: dict[int, int], steps: dict[int, int]) -> PartShares:
    # A name says more than none that has as much.
    most = max(names, key=lambda name: (names[name], name > 0))
    by_step = {_STEPS[step]: steps[step] for step in sorted(steps) if step >= 0}
    return PartShares(_CAUSES[cause], sum(names.values()), found.pieces.names[most], names[most], by_step)
