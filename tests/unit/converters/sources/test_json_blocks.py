"""Where things stand in a block of text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.sources._json_blocks import _true_places


@given(st.lists(st.booleans(), max_size=40))
def test_true_places_are_those_that_numpy_finds(mask: list[bool]) -> None:
    assert _true_places(np.array(mask, np.bool_)).tolist() == np.flatnonzero(mask).tolist()


@pytest.mark.parametrize("place", range(24))
def test_one_place_is_found_wherever_in_a_word_it_is(place: int) -> None:
    mask = np.zeros(23, np.bool_)
    mask[place : place + 1] = True

    assert _true_places(mask).tolist() == ([place] if place < 23 else [])
