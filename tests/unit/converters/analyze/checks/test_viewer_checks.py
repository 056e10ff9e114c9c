"""Rows of a trace as viewers hold them."""

from __future__ import annotations

from rblnpb.errors import Severity
from tests.support.checked_traces import checked, event, x


def test_rows_that_become_one() -> None:
    rows = [x("a", 0, 1, tid=-4), x("b", 5, 1, tid=2**33), x("c", 9, 1, tid=3), x("d", 10, 1, tid=10)]
    assert checked(rows) == {"merged-rows": (Severity.WARNING, 2, [1, 3]), "wild-ids": (Severity.INFO, 1, [0])}


def test_texts_are_ids_of_their_own() -> None:
    assert checked([x("a", 0, 1, tid="3"), x("b", 5, 1, tid=3), x("c", 9, 1, pid="p")]) == {}


def test_a_row_of_metadata_alone_merges_with_nothing() -> None:
    assert checked([event("M", 0, tid=-1, name="thread_name", args={"name": "n"}), x("b", 5, 1, tid=0)]) == {}


def test_names_that_are_said_again() -> None:
    rows = [
        event("M", 0, name="thread_name", args={"name": "n"}),
        event("M", 0, name="thread_name", args={"name": "n"}),
        event("M", 0, name="thread_name", args={"name": "m"}),
        event("M", 0, name="thread_name", args={"name": "o"}, tid=2),
        event("M", 0, name="process_name", args={"name": "p"}),
        event("M", 0, name="process_name", args={"name": "q"}, tid=9),
        event("M", 0, name="other", args={"name": "p"}),
        event("M", 0, name="other", args={"name": "q"}),
        x("a", 0, 1),
    ]
    assert checked(rows) == {"repeated-metadata": (Severity.INFO, 2, [2, 5])}
