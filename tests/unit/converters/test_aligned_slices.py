"""What slices say of themselves, whatever their number."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.timeline import SliceNames
from rblnpb.naming import NameStyle


@pytest.mark.parametrize("string_count", [9, 100_000])
def test_texts_in_use_are_those_of_all_blocks(string_count: int) -> None:
    count = 150_000
    stage, nothing, no_call = np.ones(count, np.int32), np.zeros(count, np.int32), np.full(count, -1, np.int64)
    stage[[70_000, -1]] = 7, string_count - 1
    override = nothing.copy()
    override[140_000] = 5
    names = SliceNames(NameStyle.LEGACY, ("",) * string_count, stage, nothing, nothing, no_call, no_call, override)

    assert names.text_rows().tolist() == [0, 1, 5, 7, string_count - 1]
