"""Text as rows of a table."""

from __future__ import annotations

import pytest

from rblnpb.strings import StringTable


def test_a_text_has_one_row_however_often_it_is_put_in() -> None:
    table = StringTable()

    assert table.intern_all(["mm", "args", "mm", "", "mm"]) == [1, 2, 1, 0, 1]
    assert (table.rows(), table.rows(2), len(table)) == (("", "mm", "args"), ("args",), 3)


def test_a_table_goes_on_from_the_rows_of_another_and_keeps_their_places() -> None:
    table = StringTable(("", "a", "", "a", "b"))

    assert [table.intern(text) for text in ("a", "b", "", "c")] == [1, 4, 0, 5]
    assert table.rows() == ("", "a", "", "a", "b", "c")


@pytest.mark.parametrize("rows", [(), ("a",)])
def test_row_0_is_the_empty_string(rows: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="row 0"):
        StringTable(rows)
