"""Layouts: what each mark stands for, and what is no layout."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.columns import ABSENT, TextArray, TraceEvents
from rblnpb.converters.event_layouts import MARKS, EventTexts, Layout, mark, texts_of

STRINGS = ("", "cpu_op", 'µ"', "7", '"Spans"', '"0x1"')
EVENTS = TraceEvents.of(
    category_strindex=np.array([1, 0]),
    name_strindex=2,
    process_strindex=np.array([3, 4]),
    thread_strindex=np.array([4, 3]),
    start_ns=np.array([-1_500, ABSENT]),
    duration_ns=np.array([2_000, 12_345]),
    id_strindex=5,
    id_number=np.array([ABSENT, 2**63 - 1]),
    arguments=TextArray.of([b"{ }", b"[1]"]),
)

WRITTEN = {
    "c": [b'"cpu_op"', b'""'],
    "C": [b'"cpu_op"', b'""'],
    "n": ['"µ\\""'.encode()] * 2,
    "N": [b'"\\u00b5\\""'] * 2,
    "p": [b"7", b'"Spans"'],
    "t": [b'"Spans"', b"7"],
    "i": [b'"0x1"'] * 2,
    "I": [b"0", b"9223372036854775807"],
    "s3": [b"-1.500", b"0.000"],
    "s0": [b"-1.5", b"0"],
    "s1": [b"-1.5", b"0.0"],
    "s2": [b"-1.50", b"0.00"],
    "d3": [b"2.000", b"12.345"],
    "d0": [b"2", b"12.345"],
    "d1": [b"2.0", b"12.345"],
    "d2": [b"2.00", b"12.345"],
    "a": [b"{ }", b"[1]"],
}


def written(layout: str, *rows: int) -> list[bytes]:
    return EventTexts(STRINGS).written(Layout.of(layout.encode()).pieces, EVENTS, np.array(rows, np.int64))


def test_every_mark_is_tried() -> None:
    assert set(WRITTEN) == {symbol for symbols in MARKS.values() for symbol in symbols}


@pytest.mark.parametrize("symbol", WRITTEN)
def test_a_mark_stands_for_the_value_of_its_column(symbol: str) -> None:
    assert written(f"<{mark(symbol).decode()}>", 0, 1) == [b"<" + text + b">" for text in WRITTEN[symbol]]


def test_a_layout_is_text_and_marks_in_any_order() -> None:
    assert written("\x1at,\x1ap\x1ad0", 1) == [b'7,"Spans"12.345']
    assert written("{}", 0, 1) == [b"{}", b"{}"]
    assert written("", 0) == [b""]
    assert written("\x1an") == []


@pytest.mark.parametrize(("layout", "shown"), [("{\x1ax}", "x}"), ("\x1as4", "s4"), ("\x1as", "s"), ("\x1a", "")])
def test_a_mark_of_a_newer_version_is_named(layout: str, shown: str) -> None:
    with pytest.raises(ValueError, match="a layout has the mark") as refusal:
        Layout.of(layout.encode())
    assert repr(f"\x1a{shown}") in str(refusal.value)


def test_strings_of_an_array_are_taken_in_any_order() -> None:
    assert texts_of(TextArray.of([b"a", b"", b"bcd"]), np.array([2, 0, 1, 2])) == [b"bcd", b"a", b"", b"bcd"]
