"""The host source against a reader that takes one value after the other: any formatting, any values, any size of block."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from decimal import Decimal
from fractions import Fraction
from itertools import count, cycle
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.columns import ABSENT
from rblnpb.converters.host_trace import ALL_COLUMNS, CORE_COLUMNS
from rblnpb.converters.sources import _event_columns
from rblnpb.converters.sources._document import open_document
from rblnpb.converters.sources._event_array import CutSizes, Surroundings, split_events
from rblnpb.converters.sources._event_columns import EventColumns
from rblnpb.converters.sources._exact_time import decimal_ns, float_ns, text_ns
from rblnpb.converters.sources._json_errors import JsonSyntaxError
from rblnpb.converters.sources._json_metadata import read_metadata
from rblnpb.converters.sources._shared_reading import _joined, _plan
from rblnpb.converters.sources._trace_segments import SegmentReader
from rblnpb.converters.timeline import HostTrace
from rblnpb.errors import NotAProfileError
from tests.support.json_events import events_of, slow_events, values_of

# What a column is made of, mostly usual, sometimes odd; all as JSON text, for a number is more than its value.
NUMBERS = (
    *("0", "7", "12.5", "5106254555611.295", "1712195495519689.008", "8796093022207.9995", "4398046511103.0006", "-3.25", "1e3"),
    *("1.5E-2", "0.0005", "0.0015", "123456789.123456789", "9223372036854775.807", "9223372036854775.8079", "1e400", "-0", "2.50"),
)
WHOLE = (
    *("0", "1", "42", "-1", "2147483647", "2147483648", "9007199254740993"),
    *("9223372036854775807", "9223372036854775809", "18446744073709551615"),
)
ODD = ("null", "true", '""', '"12"', '"1.5"', '" 7 "', '"NaN"', '"x"', "[]", '[{"a": 1}, {}]', '{"b": "},{"}', "1.0", "3.5")
TEXTS = ("aten::mm", "", '},\n  {"', "},{", "}, {", "\\", 'a"b', "ü漢𝄞", "\t", "]", "}]", "kernel", "cpu_op")

number_texts = st.sampled_from(NUMBERS) | st.decimals(allow_nan=False, allow_infinity=False, min_value=0, places=3).map(str)
whole_texts = st.sampled_from(WHOLE) | st.integers(0, 99999).map(str)
odd_texts = st.sampled_from(ODD)
names = st.sampled_from(TEXTS).flatmap(lambda text: st.sampled_from([json.dumps(text), json.dumps(text, ensure_ascii=False)]))
id_texts = whole_texts | names


def mostly(usual: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Odd values are rare, or every block would go the slow way."""
    return st.integers(0, 19).flatmap(lambda dice: odd_texts if dice == 0 else usual)


plain_args = {"External id": whole_texts, "Ev Idx": whole_texts, "Sequence number": whole_texts, "Record function id": whole_texts}
other_args = {
    "external id": whole_texts,
    "correlation": whole_texts,
    "launch_id": whole_texts,
    "Bytes": whole_texts,
    "Device Type": whole_texts,
    "Input Dims": st.sampled_from(("[]", "[[2, 3], []]", "[[2,3]]")),
    "Input dims": st.sampled_from(("[[1]]", "[]")),
    "External Id": whole_texts,
    "CORRELATION_ID": whole_texts,
    "context": st.sampled_from(('"0/0"', '"Torch-Compiled Region: 0/1"', "7")),
    "Concrete Inputs": st.sampled_from(('["", "True"]', "[]")),
    "stream": st.sampled_from(('[{"x": 1},\n  {"y": 2}]', '"},{"', "7")),
}
phases = st.sampled_from(('"X"', '"X"', '"X"', '"s"', '"f"', '"t"', '"M"', '"i"', '"Z"', '"XX"', '"é"'))
plain_event = {
    "ph": st.sampled_from(('"X"', '"s"', '"f"')),
    "cat": st.sampled_from(('"cpu_op"', '"fwdbwd"')),
    "name": names,
    "pid": st.sampled_from(("1", "2")),
    "tid": st.sampled_from(("1", "2", '"1"')),
    "ts": st.decimals(0, 9_000_000_000_000, places=3).map(str),
    "dur": st.decimals(0, 1_000_000, places=3).map(str),
}
any_event = {
    "ph": phases,
    "cat": names,
    "name": names,
    "pid": id_texts,
    "tid": id_texts,
    "ts": number_texts,
    "dur": number_texts,
    "id": id_texts,
    "bp": st.sampled_from(('"e"', '"x"')),
}


@st.composite
def objects(draw: st.DrawFn, members: dict[str, st.SearchStrategy[str]], *, odd: bool) -> list[tuple[str, str]]:
    keys = draw(st.lists(st.sampled_from(sorted(members)), unique=not odd, max_size=len(members)))
    return [(key, draw(mostly(members[key]) if odd else members[key])) for key in keys]


@st.composite
def events(draw: st.DrawFn) -> list[tuple[str, str]]:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return []
    if kind < 5:
        members = [(key, draw(values)) for key, values in plain_event.items()]
        return [*members, ("args", as_text(draw(objects(plain_args, odd=False)), ", "))]
    odd = kind == 9
    members = draw(objects(any_event, odd=odd))
    args = as_text(draw(objects({**plain_args, **other_args}, odd=odd)), ",\n      ")
    return [*members, ("args", draw(odd_texts) if odd and draw(st.booleans()) else args)]


def as_text(members: list[tuple[str, str]], comma: str, colon: str = ": ") -> str:
    return "{" + comma.join(f"{json.dumps(key)}{colon}{value}" for key, value in members) + "}"


FORMATS = (
    ("[\n  ", ",\n  ", ",\n    ", ": ", "\n  ]"),
    ("[", ",", ",", ":", "]"),
    ("[", ", ", ", ", ": ", "]"),
    ("[\n", "\n,\n", ",", ":", "\n]"),
    (" [ ", " ,\t", " , ", " : ", "\r\n] "),
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    usual = draw(st.sampled_from(FORMATS))
    parts = [usual[0]]
    found = draw(st.lists(events(), max_size=12))
    for position, members in enumerate(found):
        # Now and then one event is written in another way than its neighbours.
        style = draw(st.sampled_from(FORMATS)) if draw(st.integers(0, 9)) == 0 else usual
        parts += [style[1]] if position else []
        parts.append("null" if position and draw(st.integers(0, 49)) == 0 else as_text(members, style[2], style[3]))
    array = "".join([*parts, usual[4]])
    base = draw(st.sampled_from(("", '"baseTimeNanoseconds": 1790857026000000000', '"baseTimeNanoseconds": 7')))
    before, after = draw(st.sampled_from(((base, ""), ("", base), ('"a": {"traceEvents": [1]}', base))))
    keys = ",\n".join(part for part in (before, f'"traceEvents":{array}', after) if part)
    text = draw(st.sampled_from((array, "{" + keys + "}", " {\n" + keys + "\n}\n", "\ufeff{" + keys + "}")))
    return text.encode()


def read_in_pieces(document: bytes, block_bytes: int, step_bytes: int, asked: frozenset[str] = ALL_COLUMNS) -> HostTrace:
    """As `read_host` does it, with blocks of another size."""
    blocks = (document[at : at + block_bytes] for at in range(0, len(document), block_bytes))
    columns = EventColumns(asked)
    around = split_events(blocks, columns.take, "pieces", CutSizes(step_bytes=step_bytes))
    metadata = read_metadata(around)
    return HostTrace(
        document=open_document(io.BytesIO(document)),
        events=columns.finish(metadata.base_time_ns),
        strings=columns.strings,
        tracks=columns.tracks,
        base_time_ns=metadata.base_time_ns,
        has_base_time=metadata.has_base_time,
        head=around.head,
        tail=around.tail,
        metadata=metadata.values,
    )


@given(documents(), st.integers(1, 300) | st.just(1 << 17), st.integers(1, 900) | st.just(1 << 18))
def test_events_are_those_of_the_slow_reader_whatever_the_size_of_a_block(
    document: bytes, block_bytes: int, step_bytes: int
) -> None:
    trace = read_in_pieces(document, block_bytes, step_bytes)

    assert events_of(trace) == slow_events(document)
    assert document.startswith(trace.head)
    assert document.endswith(trace.tail)
    assert trace.head.endswith(b"[")
    assert trace.tail.startswith(b"]")


@given(documents(), st.integers(1, 900), st.integers(1, 3))
def test_events_are_the_same_however_soon_their_tracks_are_known(document: bytes, step_bytes: int, look_events: int) -> None:
    with mock.patch.object(_event_columns, "_LOOK_EVENTS", look_events):
        trace = read_in_pieces(document, 1 << 17, step_bytes)

    assert events_of(trace) == slow_events(document)


@given(documents(), st.integers(1, 900), st.sets(st.sampled_from(sorted(ALL_COLUMNS))))
def test_columns_are_the_same_whichever_others_are_read(document: bytes, step_bytes: int, some: set[str]) -> None:
    asked = CORE_COLUMNS | some

    trace = read_in_pieces(document, 1 << 17, step_bytes, asked)

    expected = slow_events(document)
    assert values_of(trace) == {name: [getattr(event, name) for event in expected] for name in (asked - {"track"}) | {"pid", "tid"}}


def whole(made: EventColumns, around: Surroundings) -> dict[str, Any]:
    """All that a trace is made of, in the order in which it was met."""
    metadata = read_metadata(around)
    events = made.finish(metadata.base_time_ns)
    return {
        **{name: (column.dtype, column.strides, column.tolist()) for name, column in events.columns().items()},
        "strings": made.strings,
        "tracks": made.tracks,
        "names": [list(names.items()) for names in (made.thread_names, made.process_names, made.process_labels)],
        "odd": made.odd.findings(),
        "around": around,
        "metadata": metadata,
    }


def read_by_one(document: bytes, sizes: CutSizes, columns: frozenset[str] = ALL_COLUMNS) -> dict[str, Any] | None:
    """None when it is no JSON."""
    made = EventColumns(columns)
    try:
        return whole(made, split_events(iter([document]), made.take, "pieces", sizes))
    except (JsonSyntaxError, NotAProfileError):
        return None


def read_by_several(document: bytes, sizes: CutSizes, readers: int, *, is_packed: bool) -> dict[str, Any] | None:
    """As several processes read it, each its segments; None when they leave it to one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        path.write_bytes(gzip.compress(document[:100], 1) + gzip.compress(document[100:], 1) if is_packed else document)
        try:
            plan, head = _plan(open_document(path), ALL_COLUMNS, sizes)
            if plan is None:
                return None
            turns = cycle([SegmentReader(plan) for _ in range(readers)])
            found = _joined(
                (reader.read(number) for number, reader in zip(count(), turns, strict=False)), plan, head, lambda _: None
            )
            return None if found is None else whole(found.made, found.around)
        except (JsonSyntaxError, NotAProfileError):
            return None


@st.composite
def usual_documents(draw: st.DrawFn) -> bytes:
    """Two events at least, of less than 350 bytes, written in one way, and no text in them that looks like the end of one."""
    begin, comma, inner_comma, colon, end = draw(st.sampled_from(FORMATS))
    members = {**plain_event, "name": st.sampled_from(('"aten::mm"', '"a\\"b"', '"\\\\"', '"ü漢𝄞"', '"]"', '"}]"'))}
    found = draw(st.lists(st.tuples(st.fixed_dictionaries(members), objects(plain_args, odd=False)), min_size=2, max_size=12))
    texts = [as_text([*event.items(), ("args", as_text(args, inner_comma, colon))], inner_comma, colon) for event, args in found]
    array = begin + comma.join(texts) + end
    return draw(st.sampled_from((array, f'{{"traceEvents":{array}}}'))).encode()


@given(usual_documents(), st.integers(700, 1500), st.integers(1, 1500), st.integers(1, 3), st.booleans())
def test_what_is_written_as_usual_is_left_to_nobody(
    document: bytes, step_bytes: int, segment_bytes: int, readers: int, is_packed: bool
) -> None:
    sizes = CutSizes(step_bytes, segment_bytes)

    together = read_by_several(document, sizes, readers, is_packed=is_packed)

    assert together is not None
    assert together == read_by_one(document, sizes)


cut_sizes = st.builds(CutSizes, st.integers(1, 900), st.integers(1, 900))


@given(documents(), cut_sizes, st.integers(1, 3), st.booleans())
def test_a_trace_is_the_same_by_however_many_it_is_read(document: bytes, sizes: CutSizes, readers: int, is_packed: bool) -> None:
    together = read_by_several(document, sizes, readers, is_packed=is_packed)

    assert together in (None, read_by_one(document, sizes))


@given(
    documents(),
    cut_sizes,
    st.integers(0, 10**6),
    st.sampled_from((b"", b'"', b"{", b"}", b"]", b",", b"\xff", b"NaN")),
    st.booleans(),
)
def test_what_is_broken_is_left_to_one_reader(document: bytes, sizes: CutSizes, place: int, put: bytes, is_cut: bool) -> None:
    at = place % len(document)
    broken = document[:at] + put + (b"" if is_cut else document[at + 1 :])

    together = read_by_several(broken, sizes, 2, is_packed=False)

    assert together in (None, read_by_one(broken, sizes))
    assert together is None or broken.decode()


def padded(name: str, style: tuple[str, str], size: int) -> str:
    """An event of so many bytes, all that looks like the end of one in its first 130."""
    members = [("ph", '"X"'), ("name", name), ("args", '{"stack": [{"a": 1},\n  {"b": 2},{"c": 3}]}'), ("pad", '""')]
    text = as_text(members, *style)
    return text[:-2] + "." * (size - len(text.encode())) + text[-2:]


@settings(max_examples=60)
@given(
    st.lists(names, min_size=20, max_size=24),
    st.sampled_from(((",\n  ", ": "), (",", ":"))),
    st.integers(1, 3),
    st.integers(0, 299),
    st.integers(1000, 1300),
    st.booleans(),
)
def test_names_that_look_like_the_end_of_an_event_do_not_cut_it(
    found: list[str], style: tuple[str, str], per_segment: int, before_bytes: int, step_bytes: int, is_packed: bool
) -> None:
    # So far behind the place where it may begin, a segment does. Two events are in the first block.
    sizes = [300 - len(style[0]) + before_bytes, *[300 - len(style[0])] * len(found)]
    texts = [padded(name, style, size) for name, size in zip(found, sizes, strict=False)]
    document = f"[{style[0].join(texts)}]".encode()

    together = read_by_several(document, CutSizes(step_bytes, 300 * per_segment), 2, is_packed=is_packed)

    expected = read_by_one(document, CutSizes(step_bytes, 300 * per_segment))
    assert expected is not None
    # Where one of them stands where a segment should begin, one reader has to do.
    is_hidden = not len(style[0]) < before_bytes < 170
    assert together == expected or (is_hidden and together is None)


def nearest_ns(microseconds: Decimal | None) -> int:
    return ABSENT if microseconds is None else round(Fraction(microseconds) * 1000)


near_a_half = st.builds(
    lambda whole, tenths: Decimal(whole).scaleb(-3) + Decimal(tenths).scaleb(-6),
    st.integers(0, 9_000_000_000_000_000),
    st.integers(-600, 600),
)
times = (
    st.decimals(-(10**16), 10**16, places=3) | st.decimals(0, 10**13, places=6) | near_a_half | st.integers(0, 10**15).map(Decimal)
)
fitting_times = times.filter(lambda value: abs(Fraction(value) * 1000) < 2**63 - 1)


@given(st.lists(fitting_times | st.none(), max_size=20))
def test_decimals_are_rounded_once_and_half_to_even(values: list[Decimal | None]) -> None:
    assert decimal_ns(values).tolist() == [nearest_ns(value) for value in values]


@given(st.lists(times | st.none(), max_size=20))
def test_floats_are_exact_or_refused(values: list[Decimal | None]) -> None:
    fast = float_ns([float("nan") if value is None else float(value) for value in values])

    assert fast is None or fast.tolist() == [nearest_ns(value) for value in values]


@given(st.lists(st.integers(0, 2**42 * 1000 - 1)))
def test_floats_of_three_decimals_are_never_refused_below_their_bound(nanoseconds: list[int]) -> None:
    fast = float_ns([float(Decimal(value).scaleb(-3)) for value in nanoseconds])

    assert fast is not None
    assert fast.tolist() == nanoseconds


@given(st.lists(times | st.none(), max_size=20), st.sampled_from(("f", "")))
def test_texts_are_exact_or_refused(values: list[Decimal | None], form: str) -> None:
    fast = text_ns([b"" if value is None else format(value, form).encode() for value in values])

    assert fast is None or fast.tolist() == [nearest_ns(value) for value in values]


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20))
def test_texts_of_three_decimals_are_never_refused(nanoseconds: list[int]) -> None:
    fast = text_ns([f"{value // 1000}.{value % 1000:03}".encode() for value in nanoseconds])

    assert fast is not None
    assert fast.tolist() == nanoseconds


def test_a_brace_of_the_event_itself_is_not_taken_for_its_last() -> None:
    event = '{"ph": "X", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0.000, "dur": 0.000, "args": {}}'
    document = f"[{event}\n,\n{event}, {event}, {{}}]".encode()

    assert events_of(read_in_pieces(document, 1, 1)) == slow_events(document)
