"""Lines and tables for people."""

from __future__ import annotations

from rblnpb.converters.sinks._text_tables import TextReport
from rblnpb.errors import Finding, Severity


def test_lines_go_on_beyond_the_last_column_unless_they_fold() -> None:
    report = TextReport(20)
    report.line("a line that is longer than it should be")
    report.line("a line that is longer than it should be", indent=3, folds=True)
    assert report.text() == "a line that is longer than it should be\n   a line that is\n   longer than it\n   should be\n"


def test_numbers_are_right_aligned_and_texts_are_not() -> None:
    report = TextReport(80)
    report.table(("name", "count"), [("a", "1"), ("bc", "1,000")])
    assert report.text() == "name   count\n────────────\na          1\nbc     1,000\n"


def test_a_remark_folds_before_any_other_column() -> None:
    report = TextReport(33)
    report.table(("name", "count", "why"), [("a name", "1", "for a reason that is long")], remark=True)
    assert report.text() == (
        "name     count   why\n─────────────────────────────────\na name       1   for a reason\n                 that is long\n"
    )


def test_a_narrow_table_leaves_columns_out_and_breaks_no_number() -> None:
    report = TextReport(40)
    shown = report.table(("name", "busy", "idle", "sum"), [("a name of words", "1.000 ms", "22.000 ms", "3 ns")], ranks={"sum": 1})
    assert report.text() == (
        "name                  busy    sum\n"
        "─────────────────────────────────\n"
        "a name of words   1.000 ms   3 ns\n"
        "  Left out for want of width: idle\n"
        "  (--format json has all)\n"
    )
    assert shown == ["name", "busy", "sum"]


def test_a_name_folds_between_words_before_a_number_is_left_out() -> None:
    report = TextReport(30)
    report.table(("name", "busy"), [("a_name_that_is_long and more", "1.000 ms")])
    assert report.text() == (
        "name                      busy\n──────────────────────────────\na_name_that_is_long   1.000 ms\nand more\n"
    )


def test_a_table_of_any_width_folds_nothing() -> None:
    report = TextReport(None)
    report.table(("name", "busy"), [("a name " * 40, "1 ns")], total=("total", "1 ns"))
    assert max(map(len, report.text().splitlines())) == 287


def test_markup_in_names_is_text() -> None:
    report = TextReport(80)
    report.line("[bold]x[/bold] :smile:")
    assert report.text() == "[bold]x[/bold] :smile:\n"


def test_findings() -> None:
    report = TextReport(80)
    report.findings((Finding(Severity.INFO, "a-code", "it is so"),))
    assert report.text() == "\nFindings: 1\n  INFO    it is so [a-code]\n"


def test_a_name_with_line_ends_stays_on_its_line() -> None:
    report = TextReport(80)
    report.table(("Op", "calls"), [["a\nb\x1b", "1"]])

    assert report.text().splitlines()[2:] == ["a\\x0ab\\x1b       1"]
