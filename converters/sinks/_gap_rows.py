"""Gaps as text for programs: JSON, and rows of a table. A block of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from ..results import CAUSES, Coded, GapColumns, GapTable, Numbers, SliceColumns
from ..timeline import Int64
from ._json_columns import Member, Texts, fact_texts, list_texts, number_texts, object_texts, value_texts

__all__ = ["gap_columns", "gap_rows", "gap_texts"]

_ITEM, _INNER, _PART = b"    ", b"      ", b"        "

_FACTS: Final = (
    "op",
    "launching_op",
    "activity",
    "engine",
    "predecessor",
    "reason",
    "place",
    "program",
    "launch_id",
    "submitted_ns",
    "pid",
    "tid",
)


def gap_texts(gaps: GapTable) -> Iterator[bytes]:
    """The items of a JSON list that is a member of the outermost object, with their commas, as orjson indents them."""
    between = b",\n" + _ITEM
    for place, block in enumerate(gaps.blocks()):
        yield between if place else between[1:]
        yield between.join(_objects(block).tolist())


def _objects(block: GapColumns) -> Texts:
    """object[k]; each gap."""
    longest = block.longest_part
    evidence = tuple(fact.take(longest) for fact in block.evidence)
    of_parts = {
        "cause": value_texts(block.cause, _PART),
        "duration_ns": number_texts(block.part_ns),
        "uncertainty_ns": value_texts(block.uncertainty_ns, _PART),
        "evidence": fact_texts(block.evidence, len(block.part_ns), _PART + b"  "),
    }
    parts = object_texts([Member(*column) for column in of_parts.items()], len(block.part_ns), _PART)
    columns = {
        "device": value_texts(block.device, _INNER),
        "engine": value_texts(block.engine, _INNER),
        "start_ns": number_texts(block.start_ns),
        "duration_ns": number_texts(block.duration_ns),
        "cause": of_parts["cause"][longest],
        "uncertainty_ns": of_parts["uncertainty_ns"][longest],
        "evidence": fact_texts(evidence, len(block), _INNER),
        "after": _slices(block.after),
        "before": _slices(block.before),
        "inside_program": value_texts(block.inside_program, _INNER),
        "parts": list_texts(parts, block.part_count, _INNER),
    }
    return object_texts([Member(*column) for column in columns.items()], len(block), _ITEM)


def _slices(slices: SliceColumns) -> Texts:
    columns: dict[str, Coded | Numbers] = {
        "name": slices.name,
        "engine": slices.engine,
        "program": slices.program,
        "launch_id": slices.launch_id,
    }
    members = [Member(key, value_texts(column, _PART)) for key, column in columns.items()]
    return object_texts(members, len(slices.name.code), _INNER)


def gap_columns() -> tuple[str, ...]:
    """Names of the columns of `gap_rows`."""
    return (
        *("device", "engine", "start_ns", "duration_ns", "cause", "uncertainty_ns", "after", "before", "inside_program"),
        *(f"{cause.replace('-', '_')}_ns" for cause in CAUSES),
        *_FACTS,
        "python_frames",
    )


def gap_rows(gaps: GapTable) -> Iterator[tuple[object, ...]]:
    """A row a gap: its place, its main cause with the evidence, and times of causes, which add up to its length."""
    for block in gaps.blocks():
        yield from zip(*_cells(block), strict=True)


def _cells(block: GapColumns) -> list[list[object]]:
    longest = block.longest_part
    place = (block.device, block.engine, block.start_ns, block.duration_ns, block.cause.take(longest))
    names = (block.after.name, block.before.name, block.inside_program)
    columns = [
        column.tolist() if isinstance(column, np.ndarray) else column.values_or_none().tolist()
        for column in (*place, block.uncertainty_ns.take(longest), *names)
    ]
    of_gap = np.repeat(np.arange(len(block)), block.part_count)
    causes = list(CAUSES)
    place_of = np.array([causes.index(str(cause)) for cause in block.cause.values], np.int64)
    times = np.zeros((len(causes), len(block)), np.int64)
    times[place_of[block.cause.code], of_gap] = block.part_ns
    facts = [_values(block, key, longest).tolist() for key in _FACTS]
    return [*columns, *times.tolist(), *facts, _values(block, "python_frames", longest).tolist()]


def _values(block: GapColumns, key: str, parts: Int64) -> npt.NDArray[np.object_]:
    """object[k]; a fact of some parts, whichever of the columns under its name tells it."""
    found = np.full(len(parts), None, object)
    for fact in block.evidence:
        if fact.key == key and not isinstance(fact.column, tuple):
            own = fact.column.take(parts)
            if key == "python_frames" and isinstance(own, Coded):
                own = Coded(own.code, tuple(" <- ".join(map(str, frames)) for frames in own.values if isinstance(frames, tuple)))
            found[own.is_told] = own.values_or_none()[own.is_told]
    return found
