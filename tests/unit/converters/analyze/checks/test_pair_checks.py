"""Slices of a begin and an end."""

from __future__ import annotations

from rblnpb.errors import Severity
from tests.support.checked_traces import checked, event


def test_pairs_are_not_in_tables() -> None:
    rows = [event("B", 0, name="a"), event("B", 1, name="b"), event("E", 2, name="b"), event("E", 3)]
    assert checked(rows) == {"begin-end-pairs": (Severity.WARNING, 2, [0, 1])}


def test_what_has_no_partner_and_what_has_another_name() -> None:
    rows = [
        event("E", 0, name="z"),
        event("B", 1, name="a"),
        event("E", 2, name="b"),
        event("B", 3, name="c"),
        event("E", 3, name="c", tid=2),
    ]
    assert checked(rows) == {
        "end-without-begin": (Severity.WARNING, 2, [0, 4]),
        "begin-without-end": (Severity.WARNING, 1, [3]),
        "pair-names-differ": (Severity.WARNING, 1, [2]),
        "begin-end-pairs": (Severity.WARNING, 1, [1]),
    }


def test_asynchronous_slices_need_an_id() -> None:
    rows = [event("b", 0, name="a", cat="c"), event("e", 1, name="a", cat="c"), event("n", 1, name="a", cat="c", id=None)]
    assert checked(rows) == {"async-without-id": (Severity.WARNING, 3, [0, 1, 2])}


def test_asynchronous_slices_pair_by_id_category_and_process() -> None:
    whole = [event("b", 0, name="a", cat="c", id="1"), event("e", 9, name="a", cat="c", id="1", tid=5)]
    assert checked(whole) == {}
    local = {"id2": {"local": "0x1"}}
    assert checked([event("b", 0, name="a", cat="c", **local), event("e", 9, name="a", cat="c", **local)]) == {}
    for other in ({"id": "2"}, {"cat": "d"}, {"pid": 11}):
        assert checked([whole[0], {**whole[1], **other}]) == {
            "begin-without-end": (Severity.WARNING, 1, [0]),
            "end-without-begin": (Severity.WARNING, 1, [1]),
        }


def test_a_global_id_counts_in_all_processes() -> None:
    wide = {"cat": "c", "id2": {"global": "0x1"}}
    assert checked([event("b", 0, name="a", **wide), event("e", 9, name="a", pid=11, **wide)]) == {}
