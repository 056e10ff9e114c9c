"""Record tables: one class a kind of record, one numpy array a column.

The classes mirror `proto/rblnpb/v1/columns.proto` field by field, under the same names; the codec pairs them by name. A
column that may be missing for single records (*nullable* in the schema) holds `ABSENT` there. Columns that the schema does not
call *signed* hold no negative number, though some are int64 here so that they can be subtracted. Tables are immutable: their
arrays are read-only, and every operation returns a new table. An array that its giver can still write to is copied; one that is
read-only is taken as it is (`frozen` makes it so without a copy).
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar

import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import ABSENT, StoredColumn, TextArray, frozen, kept

__all__ = [
    "ABSENT",
    "CHUNK_LIMIT",
    "Counters",
    "Dependencies",
    "DeviceSlices",
    "HostSlices",
    "Launches",
    "Overheads",
    "StoredColumn",
    "Table",
    "TextArray",
    "TraceEvents",
    "WorkloadSlices",
    "frozen",
    "kept",
]

CHUNK_LIMIT: Final = 65_536
"""Most records of one chunk."""

UInt64 = npt.NDArray[np.uint64]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt8 = npt.NDArray[np.uint8]
Float64 = npt.NDArray[np.float64]

Self = TypeVar("Self", bound="Table")

_INT64_TOP: Final = (1 << 63) - 1


def _column(dtype: type[np.generic], *, nullable: bool = False, signed: bool = False, top: int | None = None) -> Any:
    return dataclasses.field(metadata={"dtype": np.dtype(dtype), "nullable": nullable, "signed": signed, "top": top})


def _text() -> Any:
    return dataclasses.field(metadata={"dtype": None, "nullable": False, "signed": False, "top": None})


@dataclass(frozen=True, eq=False)
class Table:
    """What all record tables share. All columns of a table have the same length, its number of records.

    A table of a file's chunk holds its columns as the file does; each becomes an array when it is first asked for, and stays one.

    Attributes:
        kind: Field number of the kind in the schema's Chunk.
        label: Name of the kind, as the schema's field is called.
    """

    kind: ClassVar[int] = 0
    label: ClassVar[str] = ""

    def __post_init__(self) -> None:
        own, stored, lengths = vars(self), {}, set()
        for name, (dtype, _) in self.schema().items():
            value = own[name]
            lengths.add(len(value))
            if isinstance(value, StoredColumn):
                stored[name] = value
                del own[name]
            elif dtype is not None:
                own[name] = kept(value, dtype)
        if len(lengths) > 1:
            raise ValueError(f"columns of {type(self).__name__} differ in length: {sorted(lengths)}")
        own["_length"], own["_stored"] = lengths.pop(), stored

    def __len__(self) -> int:
        length: int = self._length  # type: ignore[attr-defined]  # no field, which would be a column
        return length

    def column(self, name: str) -> Any:
        """The array (or `TextArray`) of a column."""
        return getattr(self, name)

    def repeated_value(self, name: str) -> np.generic | None:
        """The value of a column that is held once for all records; None where each has its own, and where there is no record."""
        values = vars(self).get(name)
        return values[0] if isinstance(values, np.ndarray) and values.strides == (0,) and len(values) else None

    def column_into(self, name: str, room: npt.NDArray[Any]) -> None:
        """Write a column into an array of its dtype; what a file has in fewer bytes goes there without an array in between."""
        stored = vars(self)["_stored"].get(name)
        if stored is None:
            room[:] = self.column(name)
        else:
            stored.fill(room)

    @classmethod
    def schema(cls) -> Mapping[str, tuple[np.dtype[Any] | None, bool]]:
        """Column name to (dtype, nullable), in schema order; dtype None means a `TextArray`."""
        return _schema(cls)  # type: ignore[arg-type]  # a class is hashable

    @classmethod
    def signed_columns(cls) -> frozenset[str]:
        """Names of the columns that the schema calls signed: the only ones that may hold a negative number."""
        return frozenset(field.name for field in dataclasses.fields(cls) if field.metadata["signed"])

    @classmethod
    def limits(cls) -> Mapping[str, tuple[int, int]]:
        """Least and greatest value of each column of integers, without ABSENT."""
        return _limits(cls)  # type: ignore[arg-type]  # as above

    @classmethod
    def of(cls: type[Self], count: int | None = None, **columns: Any) -> Self:
        """A table from the columns given; the others are zero, or absent where they may be.

        Args:
            count: Number of records; taken from the first array when left out. A scalar fills its column.
            **columns: Arrays or scalars by column name.

        Raises:
            TypeError: A name that the kind does not have.
            ValueError: Columns of different length, or no length at all.
        """
        schema = cls.schema()
        unknown = columns.keys() - schema.keys()
        if unknown:
            raise TypeError(f"{cls.__name__} has no column {sorted(unknown)[0]!r}; it has {', '.join(schema)}")
        if count is None:
            sized = [len(value) for value in columns.values() if isinstance(value, (TextArray, StoredColumn)) or np.ndim(value)]
            if not sized:
                raise ValueError("count is needed when no column is an array")
            count = sized[0]
        filled: dict[str, Any] = {}
        for name, (dtype, nullable) in schema.items():
            value = columns.get(name, ABSENT if nullable else 0)
            if dtype is None:
                filled[name] = value if name in columns else TextArray(np.zeros(count, np.int64), np.empty(0, np.uint8))
            elif isinstance(value, StoredColumn) or np.ndim(value):
                filled[name] = value
            else:
                filled[name] = frozen(np.full(count, value, dtype))
        return cls(**filled)

    @classmethod
    def empty(cls: type[Self]) -> Self:
        """A table without records."""
        return cls.of(0)

    def columns(self) -> dict[str, Any]:
        """Column name to array (or `TextArray`), in schema order."""
        return {name: getattr(self, name) for name in self.schema()}

    def take(self: Self, rows: npt.NDArray[Any] | slice) -> Self:
        """The records of these rows (an index array, a mask or a slice), in that order; those of a slice are not copied."""
        columns = self.columns().items()
        return type(self)(**{name: v.take(rows) if isinstance(v, TextArray) else frozen(v[rows]) for name, v in columns})

    def replace(self: Self, **columns: Any) -> Self:
        """The same records with some columns exchanged."""
        return dataclasses.replace(self, **columns)

    @classmethod
    def concat(cls: type[Self], parts: Sequence[Self]) -> Self:
        """All records of the parts, in order."""
        if not parts:
            return cls.empty()
        if len(parts) == 1:
            return parts[0]
        schema = cls.schema()
        # All columns of a part in one look: a recording is of many small ones.
        columns = zip(*map(operator.attrgetter(*schema), parts), strict=True)
        return cls(
            **{
                name: TextArray.concat(values) if dtype is None else _joined(values)
                for (name, (dtype, _)), values in zip(schema.items(), columns, strict=True)
            }
        )

    def equals(self, other: object) -> bool:
        """Whether the other is of the same kind and has the same records in the same order."""
        if type(self) is not type(other) or not isinstance(other, Table):
            return False
        for name, mine in self.columns().items():
            theirs = getattr(other, name)
            if isinstance(mine, TextArray):
                same = np.array_equal(mine.ends, theirs.ends) and np.array_equal(mine.text, theirs.text)
            else:
                same = np.array_equal(mine, theirs)
            if not same:
                return False
        return True


def _joined(arrays: Sequence[npt.NDArray[Any]]) -> Any:
    try:
        # Half as dear as numpy's own way where they are short.
        return np.frombuffer(b"".join(arrays), arrays[0].dtype)  # type: ignore[arg-type]  # arrays are buffers
    except TypeError:
        # One of them is no stretch of memory, but a value that is repeated.
        return frozen(np.concatenate(arrays))


@functools.cache
def _schema(table: type[Table]) -> Mapping[str, tuple[np.dtype[Any] | None, bool]]:
    # Asked for with every table that is made: what dataclasses tell of a class, they work out each time.
    columns = {field.name: (field.metadata["dtype"], field.metadata["nullable"]) for field in dataclasses.fields(table)}
    return MappingProxyType(columns)


@functools.cache
def _limits(table: type[Table]) -> Mapping[str, tuple[int, int]]:
    limits = {
        field.name: (-_INT64_TOP if field.metadata["signed"] else 0, field.metadata["top"] or int(np.iinfo(dtype).max))
        for field in dataclasses.fields(table)
        if (dtype := field.metadata["dtype"]) is not None and dtype.kind in "iu"
    }
    return MappingProxyType(limits)


@dataclass(frozen=True, eq=False)
class Launches(Table):
    """Submissions by the host; `start_ns` is in the host monotonic clock. Columns as in LaunchColumns."""

    kind: ClassVar[int] = 16
    label: ClassVar[str] = "launches"

    launch_id: UInt64 = _column(np.uint64, top=_INT64_TOP)
    program_id: UInt32 = _column(np.uint32)
    start_ns: Int64 = _column(np.int64, signed=True)
    process_id: Int64 = _column(np.int64)
    thread_id: Int64 = _column(np.int64)
    instance: UInt32 = _column(np.uint32)
    sequence: Int64 = _column(np.int64)


@dataclass(frozen=True, eq=False)
class DeviceSlices(Table):
    """Activity of engines, in raw ticks of the device clock. Columns as in DeviceSliceColumns.

    `clock_id` is the clock of each record: the schema has it once a chunk, a profile joins chunks of several devices.
    """

    kind: ClassVar[int] = 17
    label: ClassVar[str] = "device_slices"

    clock_id: UInt32 = _column(np.uint32)
    command_row: UInt32 = _column(np.uint32)
    engine_id: UInt32 = _column(np.uint32)
    start_ticks: UInt64 = _column(np.uint64)
    duration_ticks: UInt64 = _column(np.uint64)
    launch_id: UInt64 = _column(np.uint64, top=_INT64_TOP)
    instance: UInt32 = _column(np.uint32)
    sequence: Int64 = _column(np.int64, nullable=True)
    workload: Int64 = _column(np.int64, nullable=True)
    compute_cycles: Int64 = _column(np.int64, nullable=True)
    size_bytes: Int64 = _column(np.int64, nullable=True)
    name_strindex: UInt32 = _column(np.uint32)
    stage_strindex: UInt32 = _column(np.uint32)
    event_ordinal: Int64 = _column(np.int64, nullable=True)


@dataclass(frozen=True, eq=False)
class WorkloadSlices(Table):
    """Runtime calls on a device, frames around their commands, in raw ticks. Columns as in WorkloadSliceColumns."""

    kind: ClassVar[int] = 18
    label: ClassVar[str] = "workload_slices"

    clock_id: UInt32 = _column(np.uint32)
    engine_id: UInt32 = _column(np.uint32)
    start_ticks: UInt64 = _column(np.uint64)
    duration_ticks: UInt64 = _column(np.uint64)
    launch_id: UInt64 = _column(np.uint64, top=_INT64_TOP)
    program_id: UInt32 = _column(np.uint32)
    instance: UInt32 = _column(np.uint32)
    sequence: Int64 = _column(np.int64, nullable=True)
    workload: Int64 = _column(np.int64, nullable=True)


@dataclass(frozen=True, eq=False)
class Dependencies(Table):
    """Dependencies between device slices that no command states; ordinals count `Profile.device_slices` of the session."""

    kind: ClassVar[int] = 19
    label: ClassVar[str] = "dependencies"

    predecessor_ordinal: Int64 = _column(np.int64)
    successor_ordinal: Int64 = _column(np.int64)


@dataclass(frozen=True, eq=False)
class HostSlices(Table):
    """What the runtime did on the host; times in the host monotonic clock. Columns as in HostSliceColumns."""

    kind: ClassVar[int] = 20
    label: ClassVar[str] = "host_slices"

    activity: UInt32 = _column(np.uint32)
    start_ns: Int64 = _column(np.int64, signed=True)
    duration_ns: Int64 = _column(np.int64)
    process_id: Int64 = _column(np.int64)
    thread_id: Int64 = _column(np.int64)
    launch_id: UInt64 = _column(np.uint64, top=_INT64_TOP)
    size_bytes: Int64 = _column(np.int64, nullable=True)


@dataclass(frozen=True, eq=False)
class Overheads(Table):
    """Work that the program did not ask for; times in the host monotonic clock. Columns as in OverheadColumns."""

    kind: ClassVar[int] = 21
    label: ClassVar[str] = "overheads"

    overhead: UInt32 = _column(np.uint32)
    op_strindex: UInt32 = _column(np.uint32)
    reason_strindex: UInt32 = _column(np.uint32)
    place_strindex: UInt32 = _column(np.uint32)
    start_ns: Int64 = _column(np.int64, signed=True)
    duration_ns: Int64 = _column(np.int64, nullable=True)
    thread_id: Int64 = _column(np.int64)
    size_bytes: Int64 = _column(np.int64, nullable=True)


@dataclass(frozen=True, eq=False)
class Counters(Table):
    """Samples; `time_ticks` in the clock of each record's `clock_id`. Columns as in CounterColumns."""

    kind: ClassVar[int] = 22
    label: ClassVar[str] = "counters"

    clock_id: UInt32 = _column(np.uint32)
    name_strindex: UInt32 = _column(np.uint32)
    device_id: UInt32 = _column(np.uint32)
    time_ticks: UInt64 = _column(np.uint64)
    value: Float64 = _column(np.float64)


@dataclass(frozen=True, eq=False)
class TraceEvents(Table):
    """Archived events of a host trace, in the order of its file. Columns as in TraceEventColumns."""

    kind: ClassVar[int] = 23
    label: ClassVar[str] = "trace_events"

    phase: UInt32 = _column(np.uint32)
    category_strindex: UInt32 = _column(np.uint32)
    name_strindex: UInt32 = _column(np.uint32)
    process_strindex: UInt32 = _column(np.uint32)
    thread_strindex: UInt32 = _column(np.uint32)
    start_ns: Int64 = _column(np.int64, nullable=True, signed=True)
    duration_ns: Int64 = _column(np.int64, nullable=True, signed=True)
    id_strindex: UInt32 = _column(np.uint32)
    arguments: TextArray = _text()
    layout_strindex: UInt32 = _column(np.uint32)
    id_number: Int64 = _column(np.int64, nullable=True)
    text: TextArray = _text()


class _StoredAttribute:
    """What is found in the place of an array that a table does not have yet; once it has it, this is passed by."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, table: Table | None, _: type[Table]) -> Any:
        stored = None if table is None else vars(table).get("_stored", {}).get(self._name)
        if stored is None:
            raise AttributeError(self._name)
        # One array, whoever asks at the same time.
        return vars(table).setdefault(self._name, stored.array())


for _table in Table.__subclasses__():
    # Afterwards: while a dataclass is made, this would be a default.
    for _name in _table.schema():
        setattr(_table, _name, _StoredAttribute(_name))
