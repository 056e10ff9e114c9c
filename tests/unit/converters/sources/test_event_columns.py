"""Which of the ways of reading a block are tried."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pytest

from rblnpb.converters.sources import _event_columns
from rblnpb.converters.sources._event_array import CutSizes, split_events
from rblnpb.converters.sources._event_columns import EventColumns
from rblnpb.converters.sources._event_records import Decoders

OP = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2.5, "args": {"External id": 1}}
KERNEL = {**OP, "cat": "kernel", "tid": 16, "args": {"correlation": 9, "stream": 7}}


def text_of(events: list[dict[str, Any]]) -> bytes:
    return ('{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + "\n]}").encode()


def counted(tried: Counter[str], made: EventColumns) -> None:
    """Count how often each decoder is asked."""

    def counting(name: str, decode: Callable[[memoryview], list[Any]]) -> Callable[[memoryview], list[Any]]:
        def asked(text: memoryview) -> list[Any]:
            tried[name] += 1
            return decode(text)

        return asked

    known = made._decoders
    made._decoders = replace(
        known,
        plain=counting("plain", known.plain),
        usual=counting("usual", known.usual),
        usual_of_any=counting("usual_of_any", known.usual_of_any),
    )


def read(events: list[dict[str, Any]]) -> tuple[EventColumns, Counter[str]]:
    """A trace of an event a block, and which decoders it took."""
    made, tried = EventColumns(), Counter[str]()
    counted(tried, made)
    split_events(iter([text_of(events)]), made.take, "trace", CutSizes(step_bytes=1))
    return made, tried


def test_blocks_of_ops_are_read_as_such() -> None:
    _, tried = read([OP] * 10)

    assert set(tried) == {"plain"}


def test_where_there_are_none_they_are_looked_for_less_often() -> None:
    made, tried = read([KERNEL] * 100)

    assert tried["usual"] >= 100
    # After 1, 3, 7 and 15 blocks, and every 15 blocks from there on.
    assert tried["plain"] <= 10
    assert made.finish(0).correlation_id.tolist() == [9] * 100


def test_where_there_are_some_again_they_are_found() -> None:
    made, tried = read([KERNEL] * 20 + [OP] * 60)

    assert tried["plain"] >= 40
    assert made.finish(0).external_id.tolist() == [0] * 20 + [1] * 60


def test_a_thread_that_comes_late_is_read_and_then_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_event_columns, "_LOOK_EVENTS", 4)
    asked: list[set[Any]] = []
    of = Decoders.of

    def noted(columns: Collection[str], tracks: Collection[tuple[Any, Any]] = ()) -> Decoders:
        asked.append(set(tracks))
        return of(columns, tracks)

    monkeypatch.setattr(Decoders, "of", noted)
    tids = [7, 7, 7, 7, 7, 8, 8, 8, 8, "9", None, 1 << 63, 7, 7, 7, 7]
    made, _ = read([{**OP, "tid": tid} for tid in tids])

    assert asked == [set(), {(7, 7)}, {(7, 7), (7, 8)}, {(7, tid) for tid in (7, 8, "9", None, 1 << 63)}]
    assert [made.tracks[row].tid for row in made.finish(0).track.tolist()] == tids


def test_of_many_threads_none_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_event_columns, "_LOOK_EVENTS", 50)
    made, _ = read([{**OP, "tid": tid} for tid in range(200)])

    assert made._decoders.usual is made._decoders.usual_of_any
    assert len(made.tracks) == 200
