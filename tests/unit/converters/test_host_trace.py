"""The columns of a host trace: which there are, and what becomes of those that were not read."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.host_trace import ALL_COLUMNS, CORE_COLUMNS, TABLE_COLUMNS, VIEW_COLUMNS, HostEvents


def test_columns_that_were_not_read_fail_by_name() -> None:
    events = HostEvents.some({"phase": np.array([88, 88], np.uint8), "name": np.array([1, 2], np.int32)})

    assert (len(events), events.name.tolist(), list(events.columns())) == (2, [1, 2], ["phase", "name"])
    with pytest.raises(AttributeError, match=r'the column "offset" of the host events was not read; name it in read_host'):
        _ = events.offset
    with pytest.raises(AttributeError, match="'HostEvents' object has no attribute 'offsets'"):
        _ = events.offsets  # type: ignore[attr-defined]  # that is the case
    assert repr(events) == "HostEvents(2 events: phase, name)"


def test_columns_cannot_be_written_to() -> None:
    events = HostEvents.some({"phase": np.array([88], np.uint8)})

    with pytest.raises(ValueError, match="read-only"):
        events.phase[0] = 0


@pytest.mark.parametrize("purpose", [VIEW_COLUMNS, TABLE_COLUMNS])
def test_whatever_the_purpose_the_core_is_read(purpose: frozenset[str]) -> None:
    assert CORE_COLUMNS < purpose < ALL_COLUMNS
