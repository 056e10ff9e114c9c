"""What is learned of how events are written."""

from __future__ import annotations

import msgspec
import pytest

from rblnpb.converters.host_trace import ALL_COLUMNS, CORE_COLUMNS
from rblnpb.converters.sources._event_patterns import Constants, Kind, Step, learn_steps
from rblnpb.converters.sources._event_records import Decoders

OP = (
    b'{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 8, "ts": 1.5, "dur": 2, '
    b'"args": {"External id": 5, "n": [-3, 2.5]}}'
)


def learned(*texts: bytes, columns: frozenset[str] = ALL_COLUMNS, least_share: float = 0.0) -> list[Step]:
    decode = Decoders.of(columns).usual
    return learn_steps(texts, [decode(memoryview(text))[0] for text in texts], columns, least_share)


def told(steps: list[Step]) -> list[tuple[bytes, tuple[str, str | None] | None]]:
    """The first way through."""
    found: list[tuple[bytes, tuple[str, str | None] | None]] = []
    while steps:
        slot = steps[0].slot
        found.append((steps[0].fixed.text, (slot.kind.value, slot.column) if slot else None))
        steps = steps[0].following
    return found


def test_a_pattern_is_the_text_of_an_event_with_gaps_for_what_differs() -> None:
    assert told(learned(OP)) == [
        (b'{"ph": "X", "cat": "cpu_op", "name": "', ("name", "name")),
        (b'", "pid": 7, "tid": ', ("thread", "track")),
        (b', "ts": ', ("time", "start_ns")),
        (b', "dur": ', ("time", "duration_ns")),
        (b', "args": {"External id": ', ("number", "external_id")),
        (b', "n": [-', ("ignored", None)),
        (b", ", ("ignored", None)),
        (b"]}}", None),
    ]


def test_numbers_that_nobody_asked_for_are_ignored() -> None:
    kinds = [slot for _, slot in told(learned(OP, columns=CORE_COLUMNS))]

    assert kinds[4] == (Kind.IGNORED.value, None)


def test_what_is_the_same_in_all_events_of_a_pattern_stands_at_its_end() -> None:
    fixed = b', "pid": "Spans", "tid": null, "bp": "e", "args": {"Device Type": 1, "context": "0/0", "Input Dims": [[2]]}}'
    text = b'{"ph": "f", "id": 12' + fixed
    steps = learned(text)
    assert told(steps) == [
        (b'{"ph": "f", "id": ', ("number", "flow_id")),
        (fixed, None),
    ]
    constants = steps[0].following[0].constants
    assert constants == Constants("f", "", "Spans", None, ord("e"), 1, (("context", '"0/0"'), ("input_dims", "[[2]]")))


def test_patterns_that_begin_alike_share_that() -> None:
    longer = OP.replace(b": 5, ", b': 5, "Ev Idx": 3, ')
    steps = learned(OP, longer, OP)

    (only,) = steps
    for _ in range(4):
        (only,) = only.following
    assert [step.fixed.text for step in only.following] == [b', "n": [-', b', "Ev Idx": ']


@pytest.mark.parametrize(
    "change",
    [
        (b'"ph": "X"', b'"ph": "M"'),
        (b"1.5", b"1.5e3"),
        (b"1.5", b"-1.5"),
        (b"1.5", b"1.2345"),
        (b"1.5", b"12345678901234567"),
        (b"2.5", b"1e5"),
        (b": 5,", b": -5,"),
        (b": 5,", b": 12345678901234567,"),
        # A link that is spelled in another way has to be looked for.
        (b"External id", b"External Id"),
        (b'"n"', b'"Correlation ID"'),
        # Of two values under one key, the last one counts.
        (b'"n"', b'"External id": 5, "n"'),
        (b'"n"', b'"external id": 5, "n"'),
        (b'"ts"', b'"ts": 5, "ts"'),
        (b'"n"', b'"\\u006e"'),
        (b"[-3", b'["' + b"stack " * 50 + b'"'),
        (b"[-3", b"[" + b"1, " * 200 + b"1"),
    ],
    ids=str,
)
def test_of_what_cannot_be_told_from_gaps_nothing_is_learned(change: tuple[bytes, bytes]) -> None:
    assert learned(OP)
    assert OP.replace(*change) != OP
    assert learned(OP.replace(*change)) == []


def test_what_is_rare_is_not_learned_nor_anything_where_that_is_most() -> None:
    others = [OP.replace(b'"n"', b'"n%d"' % number).replace(b'": "c', b'": "%s' % (b"c" * number)) for number in range(2, 6)]

    assert len(learned(*[OP] * 16, *others, least_share=0.1)) == 1
    assert learned(*[OP] * 8, *others, least_share=0.1) == []


def test_a_name_is_text() -> None:
    with pytest.raises(msgspec.ValidationError):
        learned(OP.replace(b'"aten::mm"', b"5"))
