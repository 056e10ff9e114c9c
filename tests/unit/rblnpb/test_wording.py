"""Words for counted things."""

from __future__ import annotations

from rblnpb.wording import counted, counted_records, first_few


def test_one_thing_is_singular_and_none_are_not() -> None:
    assert [counted(count, "slice") for count in (0, 1, 2, 1_000)] == ["0 slices", "1 slice", "2 slices", "1,000 slices"]


def test_a_verb_goes_with_its_noun() -> None:
    assert [counted(count, "launch is", "launches are") for count in (1, 2)] == ["1 launch is", "2 launches are"]


def test_records_are_called_as_their_table_is() -> None:
    tables = ("device_slices", "launches", "dependencies", "records")
    assert [counted_records(1, table, "is", "are") for table in tables] == [
        "1 device_slice is",
        "1 launch is",
        "1 dependency is",
        "1 record is",
    ]
    assert [counted_records(1_000, table) for table in tables] == [f"1,000 {table}" for table in tables]


def test_names_beyond_the_third_are_a_number() -> None:
    assert [first_few(list(names)) for names in ("", "abc", "abcde")] == ["", "a, b, c", "a, b, c and 2 more"]
