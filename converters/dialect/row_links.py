"""Links that a trace writes down itself, as "External id": the number of the op that a row was made for."""

from __future__ import annotations

from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ..timeline import Bool, HostTrace, Int64
from .categories import LAUNCHED, VENDOR, has_category

__all__ = ["NO_ID", "is_linked", "linked_ids", "linked_rows", "owner_rows"]

NO_ID: Final = -1
"""As 64 bits it is the largest number there is: makers mean by it that there is no id."""


def owner_rows(host: HostTrace, owners: Int64, external_id: Int64) -> Int64:
    """The row that has each of these ids for its own.

    Args:
        host: The trace.
        owners: int64[k]; rows of `host.events` that may own an id.
        external_id: int64[n]; 0 = unknown, which nothing owns.

    Returns:
        int64[n]; rows of `host.events`, the first in the file where several have one id; -1 = none has it.
    """
    own = host.events.external_id[owners]
    candidates = owners[own != 0]
    own = own[own != 0]
    by_id = order_by(own)
    place = np.searchsorted(own[by_id], external_id, side="left")
    found = np.concatenate((candidates[by_id], np.array([-1], np.int64)))[place]
    is_it = (found >= 0) & (host.events.external_id[found] == external_id) & (external_id != 0)
    return np.where(is_it, found, -1)


def is_linked(host: HostTrace, rows: Int64) -> Bool:
    """bool[n]; whether "External id" on each row of a device is that of the op which launched it; on others it is the row's own.

    Torch lists the vendor's rows as calls, and asks for no op of theirs: so `linked_rows` leaves them out.
    """
    return has_category(host, *LAUNCHED, *VENDOR)[host.events.category[rows]]


def linked_ids(host: HostTrace, rows: Int64) -> Int64:
    """int64[n]; "External id" of each row where it may be that of an op, else 0.

    Kineto of 2022 and 2023 wrote a row's own correlation id where no op was linked; ops count from 1 too, so that some have it.
    """
    external_id = host.events.external_id[rows]
    is_none = (external_id == host.events.correlation_id[rows]) | (external_id == NO_ID)
    return np.where(is_none, 0, external_id)


def linked_rows(host: HostTrace, rows: Int64, owners: Int64) -> Int64:
    """The row that each row of a device names itself, by its "External id" where its category means that.

    Args:
        host: The trace.
        rows: int64[n]; rows of devices.
        owners: int64[k]; rows that may be named: operators alone, or, as torch does it, annotations too.

    Returns:
        int64[n]; rows of `host.events`; -1 = none.
    """
    is_launched = has_category(host, *LAUNCHED)[host.events.category[rows]]
    return owner_rows(host, owners, np.where(is_launched, linked_ids(host, rows), 0))
