"""Words for counted things."""

from __future__ import annotations

from rblnpb.wording import counted, first_few


def test_one_thing_is_singular_and_none_are_not() -> None:
    assert [counted(count, "slice") for count in (0, 1, 2, 1_000)] == ["0 slices", "1 slice", "2 slices", "1,000 slices"]


def test_a_verb_goes_with_its_noun() -> None:
    assert [counted(count, "launch is", "launches are") for count in (1, 2)] == ["1 launch is", "2 launches are"]


def test_names_beyond_the_third_are_a_number() -> None:
    assert [first_few(list(names)) for names in ("", "abc", "abcde")] == ["", "a, b, c", "a, b, c and 2 more"]
