"""Gaps in full: each as a value, and many of them as columns, made block by block when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from ..timeline import Bool, Int64

__all__ = ["Coded", "Fact", "Gap", "GapColumns", "GapPart", "GapTable", "Numbers", "SliceColumns", "SliceRef"]


@dataclass(frozen=True)
class SliceRef:
    """A slice beside a gap.

    Attributes:
        name: As viewers show it.
        engine: Name of its track.
        program: Of its launch; empty = not known.
        launch_id: None = not known.
    """

    name: str
    engine: str
    program: str
    launch_id: int | None


@dataclass(frozen=True)
class GapPart:
    """What one cause has of a gap; not always one stretch.

    Attributes:
        cause: One of `CAUSES`.
        duration_ns: How long.
        uncertainty_ns: As in `CauseTime`.
        evidence: What says so: names, ids and times of records, units in the keys.
    """

    cause: str
    duration_ns: int
    uncertainty_ns: int | None
    evidence: Mapping[str, object]


@dataclass(frozen=True)
class Gap:
    """A stretch without work between two slices.

    Attributes:
        device: Which stood idle.
        engine: Name of the track that did; empty: the device as a whole.
        start_ns, duration_ns: Trace clock.
        cause, uncertainty_ns, evidence: Of the longest of `parts`.
        after, before: The slice that ended last, and the one that ends the gap.
        inside_program: In a call of which program it lies; None: between calls.
        parts: By cause, the longest first; they add up to the duration.
    """

    device: str
    engine: str
    start_ns: int
    duration_ns: int
    cause: str
    uncertainty_ns: int | None
    evidence: Mapping[str, object]
    after: SliceRef
    before: SliceRef
    inside_program: str | None
    parts: tuple[GapPart, ...]


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of whole numbers.

    Attributes:
        value: int64[n].
        is_told: bool[n]; what stands elsewhere means nothing.
    """

    value: Int64
    is_told: Bool

    def take(self, rows: Int64) -> Numbers:
        """These rows, in that order."""
        return Numbers(self.value[rows], self.is_told[rows])

    def values_or_none(self) -> npt.NDArray[np.object_]:
        """object[n]; the numbers, None where none is told."""
        found = self.value.astype(object)
        found[~self.is_told] = None
        return found


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of few distinct values, whatever they are.

    Attributes:
        code: int64[n]; row of `values`; -1 = none is told.
        values: Such as texts, ids, or tuples of texts.
    """

    code: Int64
    values: tuple[object, ...]

    @property
    def is_told(self) -> Bool:
        """bool[n]."""
        return self.code >= 0

    def take(self, rows: Int64) -> Coded:
        """These rows, in that order."""
        return Coded(self.code[rows], self.values)

    def values_or_none(self) -> npt.NDArray[np.object_]:
        """object[n]; the values, None where none is told."""
        return self.spread(self.values, None)

    def spread(self, of_values: Sequence[object], nothing: object) -> npt.NDArray[np.object_]:
        """object[n]; what belongs to the value of each row, or to none."""
        table = np.fromiter((*of_values, nothing), object, len(of_values) + 1)
        return table[self.code]


@dataclass(frozen=True, eq=False)
class Fact:
    """One fact of the evidence of parts of gaps, as a column.

    Attributes:
        key: Its name, which ends in the unit where there is one.
        column: Its values, or facts of its own.
    """

    key: str
    column: Numbers | Coded | tuple[Fact, ...]

    @property
    def is_told(self) -> Bool:
        """bool[n]; where there is such a fact."""
        if isinstance(self.column, tuple):
            told: Bool = np.logical_or.reduce([fact.is_told for fact in self.column])
            return told
        return self.column.is_told

    def take(self, rows: Int64) -> Fact:
        """These rows, in that order."""
        if isinstance(self.column, tuple):
            return Fact(self.key, tuple(fact.take(rows) for fact in self.column))
        return Fact(self.key, self.column.take(rows))


@dataclass(frozen=True, eq=False)
class SliceColumns:
    """Slices beside gaps, as columns of length k; see `SliceRef`."""

    name: Coded
    engine: Coded
    program: Coded
    launch_id: Numbers

    def to_list(self) -> list[SliceRef]:
        """A value for each."""
        columns = (self.name, self.engine, self.program, self.launch_id)
        return [SliceRef(*row) for row in zip(*(column.values_or_none().tolist() for column in columns), strict=True)]


@dataclass(frozen=True, eq=False)
class GapColumns:
    """Some gaps as columns: k rows; and their parts, gap by gap, the longest of each first: p rows. See `Gap` and `GapPart`.

    Attributes:
        device, engine: k rows.
        start_ns, duration_ns: int64[k]; trace clock.
        after, before: k rows.
        inside_program: k rows; none is told for a gap between calls.
        part_count: int64[k]; parts of each gap, at least one.
        cause: p rows.
        part_ns: int64[p].
        uncertainty_ns: p rows.
        evidence: Facts of p rows each, in the order in which they are shown. Of two under one key no row has both.
    """

    device: Coded
    engine: Coded
    start_ns: Int64
    duration_ns: Int64
    after: SliceColumns
    before: SliceColumns
    inside_program: Coded
    part_count: Int64
    cause: Coded
    part_ns: Int64
    uncertainty_ns: Coded
    evidence: tuple[Fact, ...]

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def longest_part(self) -> Int64:
        """int64[k]; the first part of each gap."""
        first: Int64 = np.cumsum(self.part_count) - self.part_count
        return first

    def to_list(self) -> list[Gap]:
        """A value for each gap."""
        columns = (
            self.cause.values_or_none().tolist(),
            self.part_ns.tolist(),
            self.uncertainty_ns.values_or_none().tolist(),
            _mappings(self.evidence),
        )
        parts = iter([GapPart(*row) for row in zip(*columns, strict=True)])
        found = []
        for device, engine, start_ns, duration_ns, after, before, program, count in zip(
            self.device.values_or_none().tolist(),
            self.engine.values_or_none().tolist(),
            self.start_ns.tolist(),
            self.duration_ns.tolist(),
            self.after.to_list(),
            self.before.to_list(),
            self.inside_program.values_or_none().tolist(),
            self.part_count.tolist(),
            strict=True,
        ):
            own = tuple(islice(parts, count))
            most = (own[0].cause, own[0].uncertainty_ns, own[0].evidence)
            found.append(Gap(device, engine, start_ns, duration_ns, *most, after, before, program, own))
        return found


def _mappings(facts: tuple[Fact, ...]) -> list[dict[str, object]]:
    """The facts of each row."""
    found: list[dict[str, object]] = [{} for _ in range(len(facts[0].is_told))]
    for fact in facts:
        values = _mappings(fact.column) if isinstance(fact.column, tuple) else fact.column.values_or_none().tolist()
        for row in np.flatnonzero(fact.is_told).tolist():
            found[row][fact.key] = values[row]
    return found


class GapTable(Sequence[Gap]):
    """Gaps in an order, which are columns, and values only while somebody looks at them.

    Args:
        count: How many there are.
        columns: Makes the columns of those from a place on, up to another.
    """

    BLOCK: Final = 8192
    """Gaps that are columns at one time."""

    def __init__(self, count: int, columns: Callable[[int, int], GapColumns]) -> None:
        self._count, self._columns = count, columns

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Gap: ...
    @overload
    def __getitem__(self, place: slice) -> list[Gap]: ...
    def __getitem__(self, place: int | slice) -> Gap | list[Gap]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        return self._columns(at, at + 1).to_list()[0]

    def __iter__(self) -> Iterator[Gap]:
        return (gap for block in self.blocks() for gap in block.to_list())

    def blocks(self) -> Iterator[GapColumns]:
        """All of them in order, so many at a time that memory does not grow with their number."""
        for low in range(0, len(self), self.BLOCK):
            yield self._columns(low, min(low + self.BLOCK, len(self)))
