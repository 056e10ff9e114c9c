"""What is learned of how events are written."""

from __future__ import annotations

import msgspec
import pytest

from rblnpb.converters.host_trace import ALL_COLUMNS, CORE_COLUMNS
from rblnpb.converters.sources._event_patterns import Constants, Kind, Step
from rblnpb.converters.sources._event_records import Arguments, Decoders
from rblnpb.converters.sources._pattern_learning import learn_steps

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


def last(steps: list[Step]) -> Constants:
    """What stands at the end of the first way through."""
    while following := steps[0].following:
        steps = following
    constants = steps[0].constants
    assert constants is not None
    return constants


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
    assert last(steps) == Constants("f", "", "Spans", None, True, ord("e"), 1, (("context", '"0/0"'), ("input_dims", "[[2]]")))


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
        # An id of an arrow is no plain value.
        (b'"ts"', b'"id": [1], "ts"'),
        (b'"ts"', b'"id": {}, "ts"'),
        (b'"n"', b'"External\\u0020id": 5, "n"'),
        (b"[-3", b'["' + b"stack " * 50 + b'"'),
        (b"[-3", b"[" + b"1, " * 200 + b"1"),
    ],
    ids=str,
)
def test_of_what_cannot_be_told_from_gaps_nothing_is_learned(change: tuple[bytes, bytes]) -> None:
    assert learned(OP)
    assert OP.replace(*change) != OP
    assert learned(OP.replace(*change)) == []


def test_a_key_is_what_its_escapes_stand_for() -> None:
    escaped = OP.replace(b"External id", b"External\\u0020id")

    assert [slot for _, slot in told(learned(escaped))] == [slot for _, slot in told(learned(OP))]
    assert Decoders.of(ALL_COLUMNS).usual(memoryview(escaped))[0].args.external_id == 5


def test_what_is_rare_is_not_learned_nor_anything_where_that_is_most() -> None:
    others = [OP.replace(b'"n"', b'"n%d"' % number).replace(b'": "c', b'": "%s' % (b"c" * number)) for number in range(2, 6)]

    assert len(learned(*[OP] * 16, *others, least_share=0.1)) == 1
    assert learned(*[OP] * 8, *others, least_share=0.1) == []


@pytest.mark.parametrize("field", msgspec.structs.fields(Arguments), ids=lambda field: field.encode_name)
def test_whatever_records_read_of_arguments_is_in_a_pattern_too(field: msgspec.structs.FieldInfo) -> None:
    value = b"7" if field.type is int else b'"seven"'
    steps = learned(OP.replace(b'"External id": 5', b'"%s": %s' % (field.encode_name.encode(), value)))
    columns = {slot[1] for _, slot in told(steps) if slot}
    constants = last(steps)
    told_by_it = columns | {column for column, _ in constants.texts} | ({"device_type"} if constants.device_type == 7 else set())

    # Those of metadata events, which have no patterns, aside.
    expected = set() if field.name in {"name", "labels"} else {field.name.removesuffix("_2021")}
    assert told_by_it - {None, "name", "track", "start_ns", "duration_ns"} == expected


def test_a_thread_is_a_gap_or_the_same_for_all() -> None:
    assert not last(learned(OP)).has_tid
    named = last(learned(OP.replace(b'"tid": 8', b'"tid": "Spans"')))
    assert (named.has_tid, named.tid) == (True, "Spans")
