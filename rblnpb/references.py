"""What records may refer to, and tables put right whose records refer to what is not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from rblnpb.columns import Dependencies, Int64, Table
from rblnpb.errors import Finding, Severity
from rblnpb.profile import KINDS, Profile
from rblnpb.wording import counted_records

__all__ = ["Fault", "ReferenceLimits", "dangling_faults", "fault_findings", "mended", "reference_limits"]

Mask = npt.NDArray[np.bool_]

ReferenceLimits = Mapping[str, int | Int64]
"""What each column that refers may hold: a number of rows, or an array of the ids that exist; 0 always may."""

AnyTable = TypeVar("AnyTable", bound=Table)


def reference_limits(profile: Profile, slice_count: int) -> ReferenceLimits:
    """The limits that the definitions of a profile set.

    Args:
        profile: Its records are not looked at.
        slice_count: Rows of its device slices, to which dependencies refer.
    """
    rows = len(profile.strings)
    return dict.fromkeys(_STRING_COLUMNS, rows) | {
        "command_row": len(profile.commands),
        "predecessor_ordinal": slice_count,
        "successor_ordinal": slice_count,
        "engine_id": np.array([engine.engine_id for engine in profile.engines], np.int64),
        "program_id": np.array([program.program_id for program in profile.programs], np.int64),
        "device_id": np.array([device.device_id for device in profile.devices], np.int64),
    }


_STRING_COLUMNS: Final = tuple(
    sorted({name for table in KINDS.values() for name in table.schema() if name.endswith("_strindex")}),
)


@dataclass(frozen=True)
class Fault:
    """Records of one kind that have one flaw.

    Attributes:
        table: Their kind.
        column: In which the flaw is.
        is_wild: Whether the value is none that the column can have; else it refers to what the profile does not define.
        count: How many.
        row: Of the first of them.
        value: That one's.
    """

    table: type[Table]
    column: str
    is_wild: bool
    count: int
    row: int
    value: int

    def finding(self) -> Finding:
        """The fault in words."""
        label = self.table.label
        where = f"{label}.{self.column}"
        if self.is_wild:
            having = counted_records(self.count, label, "has", "have")
            message = f"{having} a launch id beyond 2**63 - 1: it was read as 0, not known"
            return Finding(Severity.ERROR, "impossible-value", message, self.count, where)
        referring = counted_records(self.count, label, "refers", "refer")
        message = f"{referring} by {self.column} to what the profile does not define (record {self.row}: {self.value})"
        return Finding(Severity.ERROR, "dangling-reference", message, self.count, where)


def fault_findings(faults: Iterable[Fault]) -> list[Finding]:
    """Findings about faults of whole tables, of which some came block by block: one a column, wild values first.

    Args:
        faults: Those of one column in the order of their rows.
    """
    joined: dict[tuple[bool, int, int], Fault] = {}
    for fault in faults:
        place = (not fault.is_wild, fault.table.kind, list(fault.table.schema()).index(fault.column))
        known = joined.get(place)
        joined[place] = replace(known, count=known.count + fault.count) if known else fault
    return [joined[place].finding() for place in sorted(joined)]


def _fault(table: Table, column: str, mask: Mask, first_row: int, *, is_wild: bool = False) -> Fault:
    row = int(np.argmax(mask))
    return Fault(type(table), column, is_wild, int(mask.sum()), first_row + row, int(getattr(table, column)[row]))


def dangling_faults(table: Table, limits: ReferenceLimits) -> list[Fault]:
    """What a table refers to in vain, column by column."""
    return [_fault(table, name, mask, 0) for name, mask in _dangling(table, limits)]


def mended(table: AnyTable, limits: ReferenceLimits, first_row: int = 0) -> tuple[AnyTable, list[Fault]]:
    """A table in which references to what is not there are none, and what was wrong with it.

    A launch id beyond its limit becomes 0. Dependencies lose the record instead: one without both ends is none.

    Args:
        table: As a file has it.
        limits: What it may refer to.
        first_row: Of the table, where it is a block of a longer one.
    """
    faults: list[Fault] = []
    changes: dict[str, Any] = {}
    if "launch_id" in table.schema() and len(table):
        launch_id, top = table.column("launch_id"), table.limits()["launch_id"][1]
        if int(launch_id.max()) > top:
            faults.append(_fault(table, "launch_id", launch_id > top, first_row, is_wild=True))
            changes["launch_id"] = np.where(launch_id > top, 0, launch_id)
    masks = dict(_dangling(table, limits))
    faults.extend(_fault(table, name, mask, first_row) for name, mask in masks.items())
    if isinstance(table, Dependencies):
        return (table.take(~np.any(list(masks.values()), axis=0)) if masks else table), faults
    changes |= {name: np.where(mask, 0, getattr(table, name)) for name, mask in masks.items()}
    return (table.replace(**changes) if changes else table), faults


def _dangling(table: Table, limits: ReferenceLimits) -> Iterator[tuple[str, Mask]]:
    """Columns that refer to something that is not there, and in which records."""
    if not len(table):
        return
    for name in table.schema():
        limit = limits.get(name)
        if limit is None:
            continue
        values = table.column(name)
        if isinstance(limit, int) and int(values.max()) < limit and (values.dtype.kind == "u" or int(values.min()) >= 0):
            continue
        mask = _is_dangling(values, limit)
        if mask.any():
            yield name, mask


def _is_dangling(values: npt.NDArray[Any], limit: int | Int64) -> Mask:
    if isinstance(limit, int):
        return np.asarray((values < 0) | (values >= limit))
    top = max(int(values.max(initial=0)), int(limit.max(initial=0)))
    if top > _LOOKUP_LIMIT:
        return np.asarray(~np.isin(values, limit) & (values != 0))
    # Ids are small in practice: one look-up a record instead of a sort.
    exists = np.zeros(top + 1, np.bool_)
    exists[limit] = True
    exists[0] = True
    return np.asarray(~exists[values])


_LOOKUP_LIMIT: Final = 1 << 20
"""Greatest id for which a table of all ids is made: a file can name any id in a few bytes."""
