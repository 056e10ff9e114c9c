"""Traces as profiles, by hand: what the columns hold, which events share a layout, and which are kept as they are."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import rblnpb
from rblnpb.columns import ABSENT, TraceEvents
from rblnpb.converters.merging import merge
from rblnpb.converters.sinks import _archive_events, _archive_texts
from rblnpb.converters.sinks.profile_file import trace_profile, write_trace_archive
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace
from rblnpb.errors import FormatError
from rblnpb.profile import Device, Engine, EngineKind, Profile, Session, TraceDocument
from tests.support.archives import archive, archive_of, given_back
from tests.support.timelines import TextDocument
from tests.support.vendor_traces import Launch, document, first_emitter, newer_emitter, op
from tests.unit.converters.sources.test_kineto import KINETO

RUN = (Launch(7, 1_500, 2_500), Launch(8, 3_000, 4_000))


def archived(text: bytes) -> Profile:
    """The profile of a trace that comes back from it."""
    data = archive(text)
    assert given_back(data) == text
    return rblnpb.read(data)


def of_event(*texts: str) -> TraceEvents:
    """The columns of events, each as it is written."""
    return archived(f'{{"traceEvents":[{",".join(texts)}]}}'.encode()).trace_events


def layouts(text: bytes) -> list[str]:
    """The layout of each event, with `$` for the marks."""
    profile = archived(text)
    return [profile.strings[row].replace("\x1a", "$") for row in profile.trace_events.layout_strindex.tolist()]


def test_columns_layouts_and_frame_of_a_trace_of_kineto() -> None:
    profile = archived(KINETO)
    events, frame = profile.trace_events, profile.trace_document
    strings = {
        name: [profile.strings[row] for row in getattr(events, f"{name}_strindex").tolist()]
        for name in ("category", "name", "process", "thread", "id")
    }

    assert (events.phase.tolist(), events.start_ns.tolist()) == ([ord("X"), ord("i")], [1_500, 4_000])
    assert (events.duration_ns.tolist(), events.id_number.tolist()) == ([2_250, ABSENT], [ABSENT, ABSENT])
    assert strings == {
        "category": ["cpu_op", ""],
        "name": ["aten::mm", "Record Window End"],
        "process": ["7", '""'],
        "thread": ["8", '""'],
        "id": ["", ""],
    }
    assert json.loads(events.arguments[0])["Ev Idx"] == 4
    assert (events.arguments[1], events.text.text.size) == (b"", 0)
    assert layouts(KINETO)[1] == (
        ',\n  {\n    "ph": "i",\n    \n    "s": "g",\n    "name": $n,\n    "pid": $p,\n    "tid": $t,\n    "ts": $s3\n    \n  }'
    )
    assert frame is not None
    assert (frame.name, frame.base_time_ns) == ("trace.json", 1_000_000)
    assert frame.head.endswith(b'"traceEvents": [\n    \n  ')
    assert frame.tail == b'\n  ],"traceName": "trace.json" }'


def test_the_same_trace_is_the_same_session_and_another_one_is_another() -> None:
    ids = [archived(text).session.session_id for text in (KINETO, KINETO, KINETO.replace(b"aten::mm", b"aten::add"))]

    assert ids[0] == ids[1] != ids[2]
    assert 0 not in ids


def test_events_of_one_writer_share_a_layout_whatever_their_arguments() -> None:
    args = ["{}", '{"a":[{}]}', '"x"', "7", "{ }"]
    rows = of_event(*(f'{{"ph":"X","ts":{row}.5,"args":{text}}}' for row, text in enumerate(args)))

    assert len(set(rows.layout_strindex.tolist()[1:])) == 1
    assert [rows.arguments[row].decode() for row in range(5)] == args


def test_a_member_behind_the_arguments_is_not_one_of_them() -> None:
    rows = of_event('{"ph":"X","args":{}}', '{"ph":"X","args":{}}', '{"ph":"X","args":{"b":1},"b":{}}', '{"ph":"X","args":{}}')

    assert [rows.arguments[row] for row in range(4)] == [b"{}", b"{}", b'{"b":1}', b"{}"]
    assert len(set(rows.layout_strindex.tolist()[1:])) == 2


@pytest.mark.parametrize(
    ("event", "column", "value"),
    [
        ('{"ph":"X","ts":"123.4"}', "start_ns", 123_400),
        ('{"ph":"X","ts":0.0005}', "start_ns", 0),
        ('{"ph":"X","ts":1e3}', "start_ns", 1_000_000),
        ('{"ph":"X","ts":true}', "start_ns", ABSENT),
        ('{"ph":"X","ts":1,"ts":2}', "start_ns", 2_000),
        ('{"ph":"X","dur":1.0000}', "duration_ns", 1_000),
        ('{"ph":"X","name":7}', "name_strindex", 0),
        ('{"ph":"X","name":"a\\/b"}', "phase", ord("X")),
        ('{"ph":"X","pid":1.0}', "phase", ord("X")),
        ('{"ph":"X","args":1,"args":2}', "phase", ord("X")),
    ],
)
def test_an_event_that_columns_do_not_hold_exactly_is_kept_as_it_is(event: str, column: str, value: int) -> None:
    rows = of_event(event)

    assert (rows.text[0].decode(), rows.layout_strindex.tolist()) == (event, [0])
    assert getattr(rows, column).tolist() == [value]
    assert rows.arguments[0] == b""


def test_values_that_are_null_and_other_members_stand_in_the_layout() -> None:
    assert layouts(b'[{"ph":"f","cat":null,"bp":"e","id":12}]') == ['{"ph":"f","cat":null,"bp":"e","id":$I}']


@pytest.mark.parametrize(
    ("value", "mark", "number"),
    [("0", "I", 0), ("999999999999999999", "I", 10**18 - 1), ('"0x1"', "i", ABSENT), ("-1", "i", ABSENT)],
)
def test_plain_ids_are_numbers_and_others_texts(value: str, mark: str, number: int) -> None:
    text = f'[{{"ph":"s","id":{value}}}]'.encode()

    assert layouts(text) == [f'{{"ph":"s","id":${mark}}}']
    assert archived(text).trace_events.id_number.tolist() == [number]


def test_what_is_no_event_is_in_the_text_of_the_next_one() -> None:
    rows = archived(b'[{"ph":"X"}, null, {"ph":"X"} , 7]').trace_events

    assert [rows.text[row] for row in range(2)] == [b"", b', null, {"ph":"X"}']


def test_a_member_that_varies_costs_layouts_up_to_a_limit() -> None:
    rows = of_event(*(f'{{"ph":"X","sf":{row}}}' for row in range(100)))

    assert len(set(rows.layout_strindex.tolist()) - {0}) == 64
    assert int((rows.layout_strindex == 0).sum()) == 36


def test_a_member_that_is_long_is_kept_with_its_event() -> None:
    rows = of_event(json.dumps({"ph": "X", "sf": "x" * 4096}))

    assert rows.layout_strindex.tolist() == [0]


def test_how_the_document_is_read_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    text = document([*first_emitter(RUN), *(op("aten::mm", at, at + 5) for at in range(0, 5_000, 10))])
    data = archive(text)
    host = read_host(io.BytesIO(text))
    small = HostTrace(**(vars(host) | {"document": TextDocument(text, block_bytes=7, name="<bytes>")}))

    assert archive_of(small) == data
    monkeypatch.setattr(_archive_texts, "_STEP_ROWS", 3)
    monkeypatch.setattr(_archive_texts, "_STEP_BYTES", 200)
    assert given_back(archive(text)) == text


def test_a_chunk_ends_before_it_is_full_or_its_texts_grow_long(monkeypatch: pytest.MonkeyPatch) -> None:
    text = document([op("aten::mm", at, at + 5, external_id=1) for at in range(0, 1_000, 10)])
    monkeypatch.setattr(_archive_texts, "_STEP_ROWS", 10)
    monkeypatch.setattr(_archive_events, "CHUNK_LIMIT", 25)

    def counts() -> list[int]:
        with rblnpb.open_profile(archive(text)) as file:
            return [chunk.head.count for chunk in file.chunks(TraceEvents)]

    assert counts() == [20, 20, 20, 20, 21]
    monkeypatch.setattr(_archive_events, "_CHUNK_BYTES", 1)
    assert counts() == [*[10] * 10, 1]
    assert given_back(archive(text)) == text


@pytest.mark.parametrize("text", [KINETO[:-200], KINETO[:-1], KINETO[1:]], ids=["in the events", "behind them", "before them"])
def test_a_document_that_is_another_one_by_now_is_refused(text: bytes) -> None:
    host = read_host(io.BytesIO(KINETO))
    cut = HostTrace(**(vars(host) | {"document": TextDocument(text, name="cut.json")}))

    with pytest.raises(FormatError, match=r"^cannot read cut\.json: it is not what it was when it was read first"):
        archive_of(cut)


# --- the session and its devices ---------------------------------------------------------------------------------------


def profile_of(text: bytes) -> Profile:
    return rblnpb.read(archive(text))


def test_the_session_says_whose_the_trace_is() -> None:
    told: dict[str, Any] = {"host_name": "node7", "distributedInfo": {"rank": 3, "world_size": 8, "backend": "x"}}
    text = document([op("aten::mm", 1_000, 2_000)], **told)
    session = profile_of(text).session

    assert (session.host_name, session.rank, session.world_size, session.tool_name) == ("node7", 3, 8, "rblnpb.convert")
    assert session.process_id == next(event["pid"] for event in json.loads(text)["traceEvents"] if event.get("cat") == "cpu_op")
    assert 0 < session.started_real_ns < session.ended_real_ns


@pytest.mark.parametrize(
    "told", [{}, {"host_name": 7, "distributedInfo": {"rank": -1, "world_size": True}}, {"distributedInfo": []}]
)
def test_what_the_trace_does_not_say_is_unknown(told: dict[str, Any]) -> None:
    session = profile_of(document([], **told)).session

    assert (session.host_name, session.rank, session.world_size, session.process_id) == ("", None, None, 0)


@pytest.mark.parametrize("emitter", [first_emitter, newer_emitter])
def test_device_rows_are_device_slices_too(emitter: Any) -> None:
    text = document([op("aten::mm", 1_000, 5_000, external_id=1), *emitter(RUN)])
    profile, timeline = profile_of(text), merge(None, read_host(io.BytesIO(text)))
    slices = profile.device_slices

    assert len(slices) == len(timeline.slices) > 0
    assert set(slices.clock_id.tolist()) == {2}
    assert slices.start_ticks.tolist() == timeline.slices.start_ns.tolist()
    assert slices.duration_ticks.tolist() == timeline.slices.duration_ns.tolist()
    assert slices.event_ordinal.tolist() == timeline.slices.event.tolist()
    assert {7, 8} >= set(slices.launch_id.tolist()) - {0}
    assert [(engine.name, engine.kind.name.lower()) for engine in profile.engines] == [
        (track.name, track.kind) for track in timeline.tracks
    ]
    assert profile.findings == ()


def kernel(start_us: float, category: str = "kernel", **more: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": category,
        "name": "k",
        "pid": 0,
        "tid": 7,
        "ts": start_us,
        "dur": 2,
        "args": {"correlation": 5},
        **more,
    }


def test_a_trace_without_a_zero_has_a_clock_of_its_own() -> None:
    profile = profile_of(json.dumps([kernel(1.5)]).encode())

    assert [(clock.clock_id, clock.nominal_hz) for clock in profile.clocks] == [(16, 10**9)]
    assert (profile.device_slices.clock_id.tolist(), profile.device_slices.start_ticks.tolist()) == ([16], [1_500])
    assert profile.device_slices.launch_id.tolist() == [5]
    assert (profile.session.started_real_ns, profile.findings) == (0, ())


def test_times_that_are_unix_times_tick_on_the_real_time_clock_though_the_trace_does_not_say_so() -> None:
    profile = profile_of(b"[%b]" % json.dumps(kernel(0)).encode().replace(b'"ts": 0', b'"ts": 1712195495519689.008'))

    assert (profile.clocks, profile.device_slices.clock_id.tolist()) == ((), [2])
    assert profile.device_slices.start_ticks.tolist() == [1_712_195_495_519_689_008]


def test_rows_before_the_zero_of_their_clock_are_events_alone() -> None:
    host = read_host(io.BytesIO(json.dumps([kernel(-5), kernel(5)]).encode()))
    profile, findings = trace_profile(merge(None, host))

    assert profile.device_slices.event_ordinal.tolist() == [1]
    assert [(finding.code, finding.count, str(finding.severity)) for finding in findings] == [("rows-before-zero", 1, "info")]


def test_rows_that_are_no_work_are_on_engines_that_do_none() -> None:
    rows = [kernel(1, category, tid=category) for category in ("kernel", "gpu_memcpy", "gpu_user_annotation", "cuda_sync")]
    profile = profile_of(json.dumps(rows).encode())

    assert {engine.name: engine.kind for engine in profile.engines} == {
        "kernel": EngineKind.COMPUTE,
        "gpu_memcpy": EngineKind.COPY,
        "gpu_user_annotation": EngineKind.WORKLOAD,
        "cuda_sync": EngineKind.SYNC,
    }


def test_beside_a_profile_the_trace_is_events_alone() -> None:
    own = Profile(Session(9), ("", "rbln:0"), devices=(Device(1, "rbln:0"),), engines=(Engine(1, 1, EngineKind.NEURAL_DMA),))
    host = read_host(io.BytesIO(document(newer_emitter(RUN))))
    both = rblnpb.read(archive_of(host, own.replace(trace_document=TraceDocument(b"old", b""))))

    assert (both.session, both.devices, len(both.device_slices)) == (own.session, own.devices, 0)
    assert given_back(archive_of(host, own)) == document(newer_emitter(RUN))


def test_progress_counts_events() -> None:
    host = read_host(io.BytesIO(KINETO))
    seen: list[tuple[int, int]] = []
    size_bytes = write_trace_archive(host, trace_profile(merge(None, host))[0], io.BytesIO(), progress=lambda *at: seen.append(at))

    assert (seen, size_bytes) == ([(2, 2)], len(KINETO))
