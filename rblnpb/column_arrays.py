"""What the columns of record tables are made of: read-only arrays, byte strings, and columns as a file has them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["ABSENT", "StoredColumn", "TextArray", "frozen", "kept", "listed", "repeated", "row_blocks"]

ABSENT: Final = int(np.iinfo(np.int64).min)
"""Value of a nullable int64 column where the record has none: 0 and -1 are values."""

Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]


def frozen(array: npt.NDArray[Any]) -> Any:
    """The same array, read-only from now on: for one that nobody else writes to, so that a table takes it without a copy."""
    array.setflags(write=False)
    return array


def kept(values: Any, dtype: np.dtype[Any] | type[np.generic] | None = None) -> Any:
    """Values as a read-only array of their own: a read-only array as it is, also one that repeats one value; all else copied.

    Args:
        values: n values; an array or a sequence.
        dtype: Of the result; None = that of the values.
    """
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        return values if values.strides == (0,) and dtype in (None, values.dtype) else frozen(np.ascontiguousarray(values, dtype))
    return frozen(np.array(values, dtype, order="C", ndmin=1))


_Number = TypeVar("_Number", bound=np.generic)
_CODES: Final = {"i4": "i", "i8": "q", "u8": "Q", "f8": "d"}


def listed(values: Sequence[float], dtype: type[_Number]) -> npt.NDArray[_Number]:
    """The numbers of a list as an array: packed by `struct`, which takes half the time of numpy's own conversion.

    Args:
        values: n numbers, of int for the whole ones of these types.
        dtype: int32, int64, uint64 or float64.

    Returns:
        dtype[n].

    Raises:
        OverflowError: A number does not fit, or has a fraction.
    """
    kind = np.dtype(dtype)
    array = np.empty(len(values), dtype)
    try:
        struct.pack_into(f"={len(values)}{_CODES[kind.kind + str(kind.itemsize)]}", array.data, 0, *values)
    except struct.error as error:
        raise OverflowError(f"{error}, of {kind}") from error
    return array


def repeated(value: Any, count: int, dtype: np.dtype[Any]) -> Any:
    """One value so many times, held once; read-only."""
    return frozen(np.ndarray((count,), dtype, np.array(value, dtype), strides=(0,)))


@dataclass(frozen=True, eq=False)
class TextArray:
    """Byte strings of any length, one a record.

    Attributes:
        ends: int64[n]; where string i ends in `text`; it begins where the one before it ends. Ascending.
        text: uint8[m]; all strings, one after the other.
    """

    ends: Int64
    text: UInt8

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", kept(self.ends, np.int64))
        object.__setattr__(self, "text", kept(self.text, np.uint8))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, row: int) -> bytes:
        start = 0 if row == 0 else int(self.ends[row - 1])
        return self.text[start : int(self.ends[row])].tobytes()

    @classmethod
    def of(cls, strings: Sequence[bytes]) -> TextArray:
        """The array of these strings, in their order."""
        sizes = np.fromiter(map(len, strings), np.int64, len(strings))
        return cls(frozen(np.cumsum(sizes)), np.frombuffer(b"".join(strings), np.uint8))

    def sizes(self) -> Int64:
        """int64[n]; length of each string in bytes."""
        return np.diff(self.ends, prepend=np.int64(0))

    def take(self, rows: npt.NDArray[Any] | slice) -> TextArray:
        """The strings of these rows (an index array, a mask or a slice), in that order."""
        if isinstance(rows, slice):
            first, last, step = rows.indices(len(self))
            if step == 1:
                start = int(self.ends[first - 1]) if first else 0
                ends = frozen(self.ends[first : max(first, last)] - start)
                return TextArray(ends, self.text[start : start + (int(ends[-1]) if len(ends) else 0)])
        picked = np.arange(len(self))[rows]
        sizes = self.sizes()[picked]
        ends = np.cumsum(sizes)
        starts = self.ends[picked] - sizes
        source = np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
        return TextArray(frozen(ends), frozen(self.text[source]))

    @classmethod
    def concat(cls, parts: Sequence[TextArray]) -> TextArray:
        """All strings of the parts, in order."""
        sizes = np.concatenate([part.sizes() for part in parts]) if parts else np.empty(0, np.int64)
        text = np.concatenate([part.text for part in parts]) if parts else np.empty(0, np.uint8)
        return cls(frozen(np.cumsum(sizes)), frozen(text))


@dataclass(frozen=True, eq=False)
class StoredColumn:
    """A column as a file has it, in fewer bytes than a table: it becomes the table's array when somebody asks for it.

    Attributes:
        values: [n]; integers of any width that `dtype` holds all of, read-only.
        dtype: Of the table's array.
        valid: bool[n]; which records have a value, the others are ABSENT; None: all.
    """

    values: npt.NDArray[Any]
    dtype: np.dtype[Any]
    valid: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values) if self.valid is None else len(self.valid)

    def fill(self, room: npt.NDArray[Any]) -> None:
        """Write the table's values into an array of `dtype`, in one pass from the width of the file."""
        if self.valid is None:
            room[:] = self.values
        else:
            room[:] = ABSENT
            np.copyto(room, self.values, where=self.valid, casting="unsafe")

    def array(self) -> Any:
        """The table's values, read-only."""
        room = np.empty(len(self), self.dtype)
        self.fill(room)
        return frozen(room)


def row_blocks(count: int, size: int = 1 << 16) -> Iterator[slice]:
    """The rows of a table of any size, a block at a time: what is made of a block stays in the processor's cache."""
    return (slice(first, min(first + size, count)) for first in range(0, count, size))
