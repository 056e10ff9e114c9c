"""The words for failure: one line each, and what a program can ask them."""

from __future__ import annotations

import pytest

from rblnpb import errors
from rblnpb.errors import CheckError, Finding, FormatError, OutputError, RblnpbError, Severity, UsageError, verdict

WARNING = Finding(Severity.WARNING, "not-ended", "the recording did not end properly")
ERROR = Finding(Severity.ERROR, "missing-packet", "2 packets are missing", 2, "byte 7")


def test_a_finding_is_one_line_with_place_and_code() -> None:
    assert str(ERROR) == "error: byte 7: 2 packets are missing [missing-packet]"
    assert str(WARNING) == "warning: the recording did not end properly [not-ended]"


@pytest.mark.parametrize(
    ("findings", "expected"),
    [((), "ok"), ((Finding(Severity.INFO, "a", "b"),), "ok"), ((WARNING,), "warning"), ((ERROR, WARNING), "error")],
)
def test_the_verdict_is_that_of_the_worst(findings: tuple[Finding, ...], expected: str) -> None:
    assert verdict(findings) == expected


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FormatError("a.pb", "it is cut"), "cannot read a.pb: it is cut"),
        (FormatError("a.pb", "it is cut", offset=0), "cannot read a.pb at byte 0: it is cut"),
        (FormatError("a.pb", "it is cut", offset=9, place="header"), "cannot read a.pb at byte 9 (header): it is cut"),
    ],
)
def test_an_unreadable_input_is_told_with_place_and_reason(error: FormatError, text: str) -> None:
    assert str(error) == text


def test_strictness_raises_with_the_worst_finding_first() -> None:
    error = CheckError("a.pb", (WARNING, ERROR))

    assert error.findings == (ERROR, WARNING)
    assert str(error) == (
        "a.pb: error: byte 7: 2 packets are missing [missing-packet] (and 1 more); leave strict out to read what is whole"
    )


def test_every_error_is_of_one_family_and_of_the_builtin_that_fits() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]

    assert all(issubclass(value, RblnpbError) for value in classes)
    assert issubclass(FormatError, ValueError)
    assert issubclass(OutputError, OSError)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (FormatError("a\nb.pb", "it is cut"), r"cannot read a\nb.pb: it is cut"),
        (OutputError("a\u2028b\x1b[2J exists"), r"a\u2028b\x1b[2J exists"),
        (UsageError("no window: 'a\rb'"), r"no window: 'a\rb'"),
        (CheckError("a.pb", (Finding(Severity.ERROR, "x", "of a\x85b"),), "stop"), r"a.pb: error: of a\x85b [x]; stop"),
        (Finding(Severity.INFO, "x", "a\tb", where="c\nd"), r"info: c\nd: a\tb [x]"),
    ],
)
def test_what_is_quoted_breaks_no_line(said: RblnpbError | Finding, text: str) -> None:
    """Names of files, and what is in them, may hold anything; a terminal would obey it."""
    assert str(said) == text
