"""Which of the ways of reading a block are tried."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec
import pytest

from rblnpb.converters.host_trace import ALL_COLUMNS
from rblnpb.converters.sources import _event_columns
from rblnpb.converters.sources._event_array import CutSizes, split_events
from rblnpb.converters.sources._event_columns import EventColumns
from rblnpb.converters.sources._event_records import Decoders
from tests.support.noted_decoders import note_decoded

OP = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2.5, "args": {"External id": 1}}


def text_of(events: list[dict[str, Any]]) -> bytes:
    return ('{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + "\n]}").encode()


def read(events: list[dict[str, Any]]) -> tuple[EventColumns, Counter[str]]:
    """A trace of an event a block, and which decoders it took."""
    made, tried = EventColumns(), Counter[str]()
    note_decoded(made, lambda name, _: tried.update([name]))
    split_events(iter([text_of(events)]), made.take, "trace", CutSizes(step_bytes=1))
    return made, tried


def test_tracks_become_known_and_one_that_comes_late_is_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_event_columns, "_LOOK_EVENTS", 4)
    asked: list[set[Any]] = []
    knowing = Decoders.knowing

    def noted(self: Decoders, tracks: Collection[tuple[Any, Any]]) -> Decoders:
        asked.append(set(tracks))
        return knowing(self, tracks)

    monkeypatch.setattr(Decoders, "knowing", noted)
    tids = [7, 7, 7, 7, 7, 8, 8, 8, 8, "9", None, 7, 8, 7, 1 << 63, 1 << 63, 7]
    made, tried = read([{**OP, "tid": tid} for tid in tids])

    known = [{(7, tid) for tid in some} for some in ({7}, {7, 8}, {7, 8, "9"}, {7, 8, "9", None}, {7, 8, "9", None, 1 << 63})]
    assert asked == known
    assert [made.tracks[row].tid for row in made.finish(0).track.tolist()] == tids
    # Those that know tracks are not counted. The others had the first blocks, each that had a new track, and, behind one that
    # cannot be known, the last two.
    assert tried == {"usual": 4, "usual_of_any": 6}


def test_of_many_threads_none_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_event_columns, "_LOOK_EVENTS", 50)
    made, _ = read([{**OP, "tid": tid} for tid in range(200)])

    assert not made._decoders.knows_tracks
    assert len(made.tracks) == 200


def decodes(decode: Callable[[memoryview], list[Any]], event: dict[str, Any]) -> bool:
    try:
        return len(decode(memoryview(json.dumps(event).encode()))) == 1
    except msgspec.ValidationError:
        return False


def test_decoders_that_know_tracks_take_these_and_no_others() -> None:
    known = Decoders.of(ALL_COLUMNS).knowing([(7, 8), ("Spans", None)])
    decode = known.usual

    assert all(decodes(decode, {**OP, "pid": pid, "tid": tid}) for pid in (7, "Spans") for tid in (8, None))
    assert decodes(decode, {key: value for key, value in OP.items() if key not in {"pid", "tid"}})
    assert not any(decodes(decode, {**OP, "pid": pid, "tid": 8}) for pid in (8, "7", None, 7.5))
    assert not any(decodes(decode, {**OP, "pid": 7, "tid": tid}) for tid in (7, "8", "Spans"))
    assert decodes(known.usual_of_any, {**OP, "pid": 8, "tid": 7})


@pytest.mark.parametrize(
    ("tids", "are_known"),
    [
        (range(64), True),
        (range(65), False),
        ([], False),
        ([(1 << 63) - 1, -(1 << 63)], True),
        ([1 << 63], False),
        ([-(1 << 63) - 1], False),
    ],
)
def test_so_many_ids_are_known_as_a_decoder_takes(tids: Sequence[int], are_known: bool) -> None:
    known = Decoders.of(ALL_COLUMNS).knowing([(7, tid) for tid in tids])

    assert known.knows_tracks == are_known
    assert all(decodes(known.usual, {**OP, "pid": 7, "tid": tid}) for tid in tids)
