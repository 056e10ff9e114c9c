"""The columns of a host trace while their length is not known yet."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT

from ..timeline import HostEvents

_ABSENT: Final[dict[str, tuple[type[np.generic], int]]] = {
    "phase": (np.uint8, 0),
    "category": (np.int32, 0),
    "name": (np.int32, 0),
    "track": (np.int32, 0),
    "start_ns": (np.int64, int(ABSENT)),
    "duration_ns": (np.int64, int(ABSENT)),
    "external_id": (np.int64, 0),
    "correlation_id": (np.int64, 0),
    "launch_id": (np.int64, 0),
    "event_index": (np.int64, -1),
    "sequence_number": (np.int64, -1),
    "size_bytes": (np.int64, int(ABSENT)),
    "device_type": (np.int32, -1),
    "input_dims": (np.int32, 0),
    "concrete_inputs": (np.int32, 0),
    "context": (np.int32, 0),
    "flow_id": (np.int32, 0),
    "binding_point": (np.uint8, 0),
    "offset": (np.int64, 0),
    "length": (np.int64, 0),
}
"""Type of each column of `HostEvents`, and what a row holds that was not written."""

_INT64: Final = np.iinfo(np.int64)


class GrowingColumns:
    """Columns of `HostEvents` with room behind the rows they have.

    They grow in place where the system can move pages (mremap), so that the peak is little more than the columns.
    """

    def __init__(self) -> None:
        self._columns: dict[str, npt.NDArray[Any]] = {name: np.empty(0, kind) for name, (kind, _) in _ABSENT.items()}
        self._count = 0
        self._capacity = 0

    def __len__(self) -> int:
        return self._count

    def append(self, count: int, values: dict[str, npt.NDArray[Any]]) -> None:
        """Append rows; a column that is not named holds its absent value there.

        Args:
            count: How many.
            values: Arrays of that length by column.
        """
        end = self._count + count
        if end > self._capacity:
            self._resize(end + end // 4 + 4096)
        for name, column in values.items():
            self._columns[name][self._count : end] = column
        self._count = end

    def finish(self, base_time_ns: int) -> tuple[HostEvents, int]:
        """The columns, with the file's zero added to every start; this object is empty afterwards.

        Returns:
            The columns, and how many starts became ABSENT because int64 does not hold the sum.
        """
        self._resize(self._count)
        columns, self._columns = self._columns, {}
        start_ns = columns["start_ns"]
        greatest, least = _INT64.max - max(base_time_ns, 0), _INT64.min + 1 - min(base_time_ns, 0)
        does_not_fit = (start_ns > greatest) | ((start_ns < least) & (start_ns != ABSENT))
        start_ns[does_not_fit] = ABSENT
        np.add(start_ns, base_time_ns, out=start_ns, where=start_ns != ABSENT)
        return HostEvents(**columns), int(does_not_fit.sum())

    def _resize(self, capacity: int) -> None:
        for name, (_, absent) in _ABSENT.items():
            column = self._columns[name]
            column.resize(capacity, refcheck=False)
            if absent:
                column[self._capacity :] = absent
        self._capacity = capacity
