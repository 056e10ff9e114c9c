"""What a check reads of single events once more."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from rblnpb.converters.sources import _document
from rblnpb.converters.sources.event_details import read_details
from rblnpb.converters.sources.kineto import read_host
from rblnpb.errors import FormatError
from tests.support.timelines import TextDocument
from tests.support.vendor_traces import Json

NOTHING = np.empty(0, np.int64)

EVENTS: list[Json] = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "a"}},
    {"ph": "C", "name": "c", "pid": 1, "ts": 1, "args": {"x": 1, "y": "2.5", "z": None}},
    {"ph": "X", "name": "x" * 500, "pid": 1, "tid": 1, "ts": 2, "dur": 1},
    {"ph": "b", "name": "q", "cat": "k", "pid": 1, "tid": 1, "ts": 3, "id": 4},
    {"ph": "C", "name": "c", "pid": 1, "ts": 4, "args": {"x": 3}},
    {"ph": "e", "name": "q", "cat": "k", "pid": 1, "tid": 1, "ts": 5, "id": 4},
    {"ph": "n", "name": "q", "cat": "k", "pid": 1, "tid": 1, "ts": 6},
    {"ph": "C", "name": "d", "pid": 1, "ts": 7, "args": {}},
    {"ph": "X", "name": "x" * 500, "pid": 1, "tid": 1, "ts": 2, "dur": 1},
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "b"}},
    {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "a"}},
]


@pytest.mark.parametrize("block_bytes", [1 << 17, 64, 7])
def test_details_are_the_same_whatever_the_blocks(block_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_document, "BLOCK_BYTES", block_bytes)
    host = read_host(io.BytesIO(json.dumps(EVENTS).encode()))
    found = read_details(host, np.array([2, 3, 8]))
    names = [found.series_names[row] for row in found.series.tolist()]
    values = ["none" if math.isnan(value) else value for value in found.value.tolist()]
    assert list(zip(found.sample_row.tolist(), names, values, strict=True)) == [
        (1, "c x", 1.0),
        (1, "c y", 2.5),
        (1, "c z", "none"),
        (4, "c x", 3.0),
    ]
    assert found.empty_rows.tolist() == [7]
    assert found.async_rows.tolist() == [3, 5, 6]
    assert found.async_id[0] == found.async_id[1] >= 0 > found.async_id[2]
    assert found.label_rows.tolist() == [0, 9, 10]
    assert found.label[0] == found.label[2] != found.label[1]
    assert found.same_rows.tolist() == [2, 3, 8]
    assert found.same_text[0] == found.same_text[2] != found.same_text[1]


def test_a_trace_without_any_of_them() -> None:
    found = read_details(read_host(io.BytesIO(json.dumps(EVENTS[2:3]).encode())), NOTHING)
    assert [len(column) for column in (found.sample_row, found.empty_rows, found.async_rows, found.label_rows)] == [0, 0, 0, 0]


def test_arguments_that_are_no_object_hold_no_value() -> None:
    rows = [{**EVENTS[1], "args": 5}, {**EVENTS[1], "args": [1]}, {**EVENTS[3], "id2": "x", "id": ""}]
    found = read_details(read_host(io.BytesIO(json.dumps(rows).encode())), NOTHING)
    assert found.empty_rows.tolist() == [0, 1]


def test_text_that_is_no_unicode_is_mended() -> None:
    text = b'[{"ph":"C","name":"c","pid":1,"ts":1,"args":{"\xff":1,"b":"\\ud800"}}]'
    found = read_details(read_host(io.BytesIO(text)), NOTHING)
    assert found.series_names == ("c \ufffd", "c b")


def test_a_document_that_ends_earlier_than_it_did_is_refused() -> None:
    text = json.dumps(EVENTS).encode()
    host = read_host(io.BytesIO(text))
    cut = replace(host, document=TextDocument(text[: int(host.events.offset[-1])], name="cut.json"))
    with pytest.raises(FormatError, match=r"^cannot read cut\.json: it is not what it was when it was read first"):
        read_details(cut, NOTHING)
