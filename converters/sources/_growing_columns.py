"""The columns of a host trace while their length is not known yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT

from ..timeline import HostEvents, Int64

ABSENT_VALUES: Final[dict[str, npt.NDArray[Any]]] = {
    "phase": np.array(0, np.uint8),
    "category": np.array(0, np.int32),
    "name": np.array(0, np.int32),
    "track": np.array(0, np.int32),
    "start_ns": np.array(ABSENT, np.int64),
    "duration_ns": np.array(ABSENT, np.int64),
    "external_id": np.array(0, np.int64),
    "correlation_id": np.array(0, np.int64),
    "launch_id": np.array(0, np.int64),
    "event_index": np.array(-1, np.int64),
    "sequence_number": np.array(-1, np.int64),
    "size_bytes": np.array(ABSENT, np.int64),
    "device_type": np.array(-1, np.int32),
    "input_dims": np.array(0, np.int32),
    "concrete_inputs": np.array(0, np.int32),
    "context": np.array(0, np.int32),
    "flow_id": np.array(0, np.int32),
    "binding_point": np.array(0, np.uint8),
    "offset": np.array(0, np.int64),
    "length": np.array(0, np.int32),
}
"""What a row of each column of `HostEvents` holds that was not written."""

_INT64: Final = np.iinfo(np.int64)
_MOST_AT_ONCE: Final = 1 << 20
"""Small columns, which are copied to grow, grow by a quarter, and by no more rows than this; large ones, whose pages are moved, by
an eighth."""


class GrowingColumns:
    """Columns of `HostEvents` with room behind the rows they have.

    They grow in place where the system can move pages (mremap), so that the peak is little more than the columns. A column is
    one value until a second one comes.
    """

    def __init__(self, names: Collection[str]) -> None:
        """Keep these columns, and nothing of others."""
        self._columns: dict[str, npt.NDArray[Any]] = {}
        self._values = {name: absent for name, absent in ABSENT_VALUES.items() if name in names}
        self._count = 0
        self._capacity = 0

    def __len__(self) -> int:
        return self._count

    def append(self, count: int, values: Mapping[str, npt.NDArray[Any]]) -> None:
        """Append rows; a column that is not named holds its absent value there.

        Args:
            count: How many.
            values: By column: an array of that length, or one without dimensions, whose value all rows have.
        """
        if not count:
            return
        end = self._count + count
        if end > self._capacity:
            self._resize(end + max(min(end // 4, _MOST_AT_ONCE), end // 8) + 4096)
        for name, value_so_far in self._values.items():
            value = values.get(name, ABSENT_VALUES[name])
            if name not in self._columns:
                # Most columns are nobody's for the whole of a trace.
                if value is value_so_far:
                    continue
                if not value.ndim and (value == value_so_far or not self._count):
                    self._values[name] = value.astype(value_so_far.dtype)
                    continue
                self._columns[name] = np.full(self._capacity, value_so_far)
            self._columns[name][self._count : end] = value
        self._count = end

    def so_far(self) -> dict[str, npt.NDArray[Any]]:
        """What was appended, as `append` takes it; views, until the next row comes."""
        return {
            name: self._columns[name][: self._count] if name in self._columns else value for name, value in self._values.items()
        }

    def finish(self, base_time_ns: int) -> tuple[HostEvents, int]:
        """The columns, with the file's zero added to every start; this object is empty afterwards.

        Returns:
            The columns, and how many starts became ABSENT because int64 does not hold the sum.
        """
        self._resize(self._count)
        columns, self._columns = self._columns, {}
        if "start_ns" not in columns:
            columns["start_ns"] = np.full(self._count, self._values["start_ns"])
        start_ns = columns["start_ns"]
        lost = sum(_add_base(start_ns[rows], base_time_ns) for rows in row_blocks(self._count))
        kept = {name: columns.get(name, np.broadcast_to(value, self._count)) for name, value in self._values.items()}
        return HostEvents.some(kept), lost

    def _resize(self, capacity: int) -> None:
        for column in self._columns.values():
            column.resize(capacity, refcheck=False)
        self._capacity = capacity


def _add_base(start_ns: Int64, base_time_ns: int) -> int:
    """Add to some starts, in place, and count those that int64 cannot hold, which become ABSENT."""
    greatest, least = _INT64.max - max(base_time_ns, 0), _INT64.min + 1 - min(base_time_ns, 0)
    does_not_fit = (start_ns > greatest) | ((start_ns < least) & (start_ns != ABSENT))
    start_ns[does_not_fit] = ABSENT
    np.add(start_ns, base_time_ns, out=start_ns, where=start_ns != ABSENT)
    return int(np.count_nonzero(does_not_fit))
