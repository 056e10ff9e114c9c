"""Gaps made by hand, as the columns that sinks take."""

from __future__ import annotations

from typing import Any

import numpy as np

from rblnpb.converters.results import Coded, Fact, Gap, GapColumns, GapTable, Numbers, SliceColumns, SliceRef


def coded(values: list[Any]) -> Coded:
    """A column in which every row has a value of its own; None = not told."""
    return Coded(np.array([-1 if value is None else row for row, value in enumerate(values)], np.int64), tuple(values))


def numbers(values: list[Any]) -> Numbers:
    """A column of numbers; None = not told."""
    is_told = np.array([value is not None for value in values], np.bool_)
    return Numbers(np.array([value or 0 for value in values], np.int64), is_told)


def listed(*gaps: Gap) -> GapTable:
    """A table of these gaps, whose facts come in the order of their first mention."""
    return GapTable(len(gaps), lambda low, high: _columns(gaps[low:high]))


def _columns(gaps: tuple[Gap, ...]) -> GapColumns:
    parts = [part for gap in gaps for part in gap.parts]
    return GapColumns(
        device=coded([gap.device for gap in gaps]),
        engine=coded([gap.engine for gap in gaps]),
        start_ns=np.array([gap.start_ns for gap in gaps], np.int64),
        duration_ns=np.array([gap.duration_ns for gap in gaps], np.int64),
        after=_slices([gap.after for gap in gaps]),
        before=_slices([gap.before for gap in gaps]),
        inside_program=coded([gap.inside_program for gap in gaps]),
        part_count=np.array([len(gap.parts) for gap in gaps], np.int64),
        cause=coded([part.cause for part in parts]),
        part_ns=np.array([part.duration_ns for part in parts], np.int64),
        uncertainty_ns=coded([part.uncertainty_ns for part in parts]),
        evidence=_facts([dict(part.evidence) for part in parts]),
    )


def _slices(slices: list[SliceRef]) -> SliceColumns:
    names, engines = coded([one.name for one in slices]), coded([one.engine for one in slices])
    return SliceColumns(names, engines, coded([one.program for one in slices]), numbers([one.launch_id for one in slices]))


def _facts(rows: list[dict[str, Any]]) -> tuple[Fact, ...]:
    facts = []
    for key in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(key) for row in rows]
        if any(isinstance(value, dict) for value in values):
            steps = dict.fromkeys(step for value in values for step in value or ())
            facts.append(Fact(key, tuple(Fact(step, numbers([(value or {}).get(step) for value in values])) for step in steps)))
        else:
            facts.append(Fact(key, coded(values)))
    return tuple(facts)
