"""Which events are read by patterns, and which ones the decoder gets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from rblnpb.converters.sources import _event_scanner, _pattern_scan
from rblnpb.converters.sources._event_array import CutSizes, split_events
from rblnpb.converters.sources._event_columns import EventColumns
from rblnpb.converters.sources._event_scanner import Patience
from rblnpb.converters.sources._pattern_learning import learn_steps
from tests.support.noted_decoders import note_decoded

Event = dict[str, Any]


@pytest.fixture(autouse=True)
def few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns are looked for in blocks of few events."""
    monkeypatch.setattr(_event_scanner, "_LEARN_EVENTS", 20)
    for module in (_event_scanner, _pattern_scan):
        monkeypatch.setattr(module, "FEWEST_EVENTS", 4)


def op(number: int, name: str = "aten::mm", **more: Any) -> Event:
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": 1000 + number, "dur": 2.5}
    return {**event, "args": {"External id": number}, **more}


def kernel(number: int) -> Event:
    return {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 16, "ts": 1000 + number, "args": {"correlation": number}}


class Reading:
    """A trace that is read some 20 events at a time.

    Attributes:
        decoded: Numbers of events that were decoded, by block in which there were such.
        columns: Of all events.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.decoded: list[int] = []
        self.columns = EventColumns()
        note_decoded(self.columns, lambda _, count: self.decoded.append(count))
        texts = [json.dumps(event) for event in events]
        document = ('{"traceEvents": [\n' + ",\n".join(texts) + "\n]}").encode()
        split_events(iter([document]), self.columns.take, "trace", CutSizes(step_bytes=20 * len(texts[0])))

    def finish(self) -> tuple[list[str], list[int], list[int]]:
        strings = self.columns.strings
        events = self.columns.finish(0)
        return [strings[row] for row in events.name], events.start_ns.tolist(), events.external_id.tolist()


def told(events: Iterable[Event]) -> tuple[list[str], list[int], list[int]]:
    events = list(events)
    return (
        [event["name"] for event in events],
        [event["ts"] * 1000 for event in events],
        [event["args"].get("External id", 0) for event in events],
    )


def test_events_of_known_patterns_are_not_decoded() -> None:
    events = [op(number, f"op{number % 3}") for number in range(1000)]

    reading = Reading(events)

    assert sum(reading.decoded) < 100
    assert reading.finish() == told(events)


def test_what_is_rare_is_decoded_alone() -> None:
    events = [kernel(number) if number % 20 == 5 else op(number) for number in range(1000)]

    reading = Reading(events)

    assert set(reading.decoded[5:]) <= {1, 2}
    assert len(reading.decoded) >= 40
    assert reading.finish() == told(events)


def test_a_name_is_recognised_from_the_third_time_on() -> None:
    rare = {300: "rare", 500: "rare", 700: "rare", 900: "rare"}
    events = [op(number, rare.get(number, "aten::mm")) for number in range(1000)]

    reading = Reading(events)

    # It gets a row the first time; the second time it is known that it has one.
    assert reading.decoded[-2:] == [1, 1]
    assert sum(reading.decoded) < 100
    assert reading.finish() == told(events)


def test_threads_that_come_later_are_recognised_as_soon_as_they_have_rows() -> None:
    events = [op(number, tid=7 if number < 500 else 8 + number % 2) for number in range(1000)]

    reading = Reading(events)

    # One block of the new threads is decoded.
    assert sum(reading.decoded) < 120
    assert [reading.columns.tracks[row].tid for row in reading.columns.finish(0).track] == [event["tid"] for event in events]


def test_other_patterns_are_learned_when_most_events_have_none() -> None:
    events = [op(number) for number in range(500)] + [kernel(number) for number in range(500, 1000)]

    reading = Reading(events)

    # Two blocks are tried in vain; the second one is learned from.
    assert len(reading.decoded) == 5
    assert sum(reading.decoded) < 100
    assert reading.columns.finish(0).correlation_id.tolist() == [0] * 500 + list(range(500, 1000))


def test_what_has_no_patterns_is_looked_at_less_and_less(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noted(texts: list[bytes], *others: Any) -> Any:
        asked.append(len(texts))
        return learn_steps(texts, *others)

    monkeypatch.setattr(_event_scanner, "learn_steps", noted)
    events = [{**op(number), f"k{number}": "x" * (number % 7)} for number in range(3000)]

    reading = Reading(events)

    assert sum(reading.decoded) == 3000
    assert len(asked) <= 8
    assert reading.finish() == told(events)


def test_patterns_stay_known_where_a_segment_begins_but_rows_do_not() -> None:
    columns = EventColumns()
    events = [op(number, f"op{number % 3}") for number in range(200)]
    document = ('{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + "\n]}").encode()
    sizes = CutSizes(step_bytes=2000)
    split_events(iter([document]), columns.take, "trace", sizes)
    first = columns.cut_off()
    # In other rows than before.
    more = [op(number, f"op{2 - number % 3}") for number in range(200)]
    document = ('{"traceEvents": [\n' + ",\n".join(map(json.dumps, more)) + "\n]}").encode()
    split_events(iter([document]), columns.take, "trace", sizes)
    second = columns.cut_off()

    assert [first.strings[row] for row in first.columns["name"].tolist()] == told(events)[0]
    assert [second.strings[row] for row in second.columns["name"].tolist()] == told(more)[0]


def test_what_was_to_be_given_up_in_a_segment_is_not_in_the_next() -> None:
    columns = EventColumns()
    sizes = CutSizes(step_bytes=2000)
    ops = [op(number) for number in range(200)]

    def take(events: list[Event]) -> None:
        document = ('{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + "\n]}").encode()
        split_events(iter([document]), columns.take, "trace", sizes)

    take([*ops, *[kernel(number) for number in range(12)]])
    steps = columns._scanner._steps
    columns.cut_off()
    take(ops)

    assert steps
    assert columns._scanner._steps is steps


def test_columns_that_are_read_together_are_read_together_by_patterns_too() -> None:
    """Otherwise which strings there are, and what is said to be odd, would tell how a trace was read."""
    args = {"Input Dims": [[1]], "context": 5, "correlation": 6, "launch_id": 7}
    events = [op(number, args=args) for number in range(200)]
    events[150]["args"] = {**args, "Input Dims": [[2]]}
    events[151]["args"] = {**args, "launch_id": 1.5}
    document = ('{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + "\n]}").encode()
    found = []
    for step_bytes in (2000, 1 << 20):
        columns = EventColumns({"correlation_id", "context"})
        split_events(iter([document]), columns.take, "trace", CutSizes(step_bytes=step_bytes))
        found.append((set(columns.strings), columns.odd.findings()))

    assert found[0] == found[1]
    assert {"[[1]]", "[[2]]"} <= found[0][0]
    assert found[0][1]


def test_patience_grows_with_every_try_in_vain() -> None:
    patience = Patience()
    waits = []
    for _ in range(8):
        patience.lose()
        waits.append(0)
        while not patience.is_over:
            patience.pass_block()
            waits[-1] += 1
    assert waits == [2, 4, 8, 16, 32, 64, 64, 64]

    for _ in range(4):
        patience.reward()
    patience.lose()
    for _ in range(7):
        patience.pass_block()
    assert not patience.is_over
    patience.pass_block()
    assert patience.is_over
