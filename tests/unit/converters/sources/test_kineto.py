"""Host traces by hand: what each odd thing in a file becomes, and what is said of a file that is none."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.host_trace import CORE_COLUMNS
from rblnpb.converters.sources._event_array import CutSizes, split_events
from rblnpb.converters.sources._json_errors import JsonSyntaxError
from rblnpb.converters.sources.kineto import read_host, read_mended
from rblnpb.converters.timeline import HostTrace, HostTrack
from rblnpb.errors import CheckError, Finding, FormatError, NotAProfileError, Severity, TruncatedError, UsageError
from tests.support.json_events import SlowEvent, events_of, slow_events
from tests.support.shared_traces import ROOT

# Two events as Kineto prints them, between what it prints around them.
KINETO = b""" {
    "schemaVersion": 1,
    "deviceProperties": [],
    "baseTimeNanoseconds": 1000000,
    "traceEvents": [
    
  {
    "ph": "X",
    "cat": "cpu_op",
    "name": "aten::mm",
    "pid": 7,
    "tid": 8,
    "ts": 1.500,
    "dur": 2.250
    ,
    "args": {
      "External id": 3,"Record function id": 0, "Sequence number": 9, "Ev Idx": 4
    }
  },
  {
    "ph": "i",
    
    "s": "g",
    "name": "Record Window End",
    "pid": "",
    "tid": "",
    "ts": 4.000
    
  }
  ],"traceName": "trace.json" }"""  # noqa: W293  as Kineto writes it


def read(document: bytes, **options: Any) -> HostTrace:
    return read_host(io.BytesIO(document), **options)


def read_event(text: str) -> SlowEvent:
    """The one event of a trace, written as JSON."""
    (event,) = events_of(read(f'{{"traceEvents": [{text}]}}'.encode()))
    return event


def codes(trace: HostTrace) -> list[tuple[str, int, str]]:
    """The findings, without those that say that the file has no zero."""
    return [(finding.code, finding.count, finding.where) for finding in trace.findings if finding.code != "no-base-time"]


def test_a_trace_of_kineto_is_read_whole() -> None:
    trace = read(KINETO)

    assert events_of(trace) == [
        SlowEvent(
            phase=ord("X"),
            category="cpu_op",
            name="aten::mm",
            pid=7,
            tid=8,
            start_ns=1_001_500,
            duration_ns=2_250,
            external_id=3,
            correlation_id=0,
            launch_id=0,
            event_index=4,
            sequence_number=9,
            size_bytes=ABSENT,
            device_type=-1,
            input_dims="",
            concrete_inputs="",
            flow_id="",
            offset=KINETO.index(b'{\n    "ph": "X"'),
            length=KINETO.index(b"},\n  {") + 1 - KINETO.index(b'{\n    "ph": "X"'),
        ),
        SlowEvent(
            phase=ord("i"),
            category="",
            name="Record Window End",
            pid="",
            tid="",
            start_ns=1_004_000,
            duration_ns=ABSENT,
            external_id=0,
            correlation_id=0,
            launch_id=0,
            event_index=-1,
            sequence_number=-1,
            size_bytes=ABSENT,
            device_type=-1,
            input_dims="",
            concrete_inputs="",
            flow_id="",
            offset=KINETO.index(b'{\n    "ph": "i"'),
            length=KINETO.index(b"}\n  ]") + 1 - KINETO.index(b'{\n    "ph": "i"'),
        ),
    ]
    assert trace.strings == ("", "cpu_op", "aten::mm", "Record Window End")
    assert trace.tracks == (HostTrack(7, 8), HostTrack("", ""))
    assert (trace.base_time_ns, trace.has_base_time) == (1_000_000, True)
    assert trace.head == KINETO[: KINETO.index(b"[\n    \n") + 1]
    assert trace.tail == b'],"traceName": "trace.json" }'
    assert trace.metadata == {
        "schemaVersion": 1,
        "deviceProperties": [],
        "baseTimeNanoseconds": 1_000_000,
        "traceName": "trace.json",
    }
    assert b"".join(trace.document.blocks()) == KINETO
    assert trace.findings == ()


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        lambda text: gzip.compress(text[:300]) + gzip.compress(b"") + gzip.compress(text[300:]),
        lambda text: gzip.compress(text) + bytes(1000),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: gzip.compress(b"\xef\xbb\xbf" + text),
        lambda text: b"\n\t " + text + b"\n\n",
    ],
    ids=["gzip", "several members", "padded with zeros", "byte order mark", "byte order mark in gzip", "white space"],
)
def test_the_wrapping_changes_nothing_but_places(pack: Callable[[bytes], bytes]) -> None:
    trace = read(pack(KINETO))

    assert [event.start_ns for event in events_of(trace)] == [1_001_500, 1_004_000]
    document = b"".join(trace.document.blocks())
    assert [
        document[event.offset : event.offset + event.length][:1] + document[event.offset + event.length - 1 :][:1]
        for event in events_of(trace)
    ] == [b"{}", b"{}"]
    assert codes(trace) == []


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz", "trace"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_content_and_not_the_name_tells_the_kind(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / name
    path.write_bytes(pack(KINETO))

    assert len(read_host(path).events) == len(read_host(str(path)).events) == 2


def test_bytes_after_the_gzip_data_are_reported() -> None:
    trace = read(gzip.compress(KINETO) + b"\0\0garbage")

    assert len(trace.events) == 2
    assert trace.findings == (
        Finding(Severity.WARNING, "bytes-after-gzip", "7 bytes after the gzip data: no gzip data, ignored", 7),
    )


def test_a_bare_array_is_a_trace_without_metadata() -> None:
    trace = read(b'[{"ph": "X", "name": "a", "ts": 1, "dur": 2}]')

    assert (trace.head, trace.tail, trace.metadata, trace.has_base_time) == (b"[", b"]", {}, False)
    assert trace.events.start_ns.tolist() == [1000]
    assert [finding.code for finding in trace.findings] == ["no-base-time"]


@pytest.mark.parametrize(
    "document",
    [
        b'{"baseTimeNanoseconds": 5, "traceEvents": [{"ph": "X", "ts": 1}]}',
        b'{"traceEvents": [{"ph": "X", "ts": 1}], "baseTimeNanoseconds": 5}',
        b'{"nested": {"traceEvents": [7]}, "traceEvents" : [{"ph": "X", "ts": 1}], "baseTimeNanoseconds": "5"}',
    ],
)
def test_the_zero_of_the_file_may_stand_before_or_after_the_events(document: bytes) -> None:
    trace = read(document)

    assert (trace.base_time_ns, trace.has_base_time, trace.events.start_ns.tolist()) == (5, True, [1005])


def test_a_zero_that_is_no_time_is_reported_and_left_out() -> None:
    trace = read(b'{"baseTimeNanoseconds": "soon", "traceEvents": [{"ph": "i", "ts": 1}]}')

    assert (trace.base_time_ns, trace.has_base_time, trace.events.start_ns.tolist()) == (0, False, [1000])
    assert codes(trace) == [("odd-base-time", 1, "")]


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        ("0", 0),
        ("12", 12_000),
        ("1.5", 1_500),
        ("1712195495519689.008", 1_712_195_495_519_689_008),
        ('"1712195495519689.008"', 1_712_195_495_519_689_008),
        ("1.6921085481321545e+15", 1_692_108_548_132_154_500),
        ("1E3", 1_000_000),
        ("-3.25", -3_250),
        ("0.0005", 0),
        ("0.0015", 2),
        ("0.0025", 2),
        ("0.00250000000000000000000000000000000001", 3),
        ("4398046511104.0006", 4_398_046_511_104_001),
        ("9223372036854775.807", 2**63 - 1),
        ("null", ABSENT),
    ],
)
def test_times_are_whole_nanoseconds_of_their_decimal_text(text: str, expected_ns: int) -> None:
    event = read_event(f'{{"ph": "X", "ts": {text}, "dur": {text}}}')

    assert (event.start_ns, event.duration_ns) == (expected_ns, expected_ns)


@pytest.mark.parametrize("text", ["1e400", "9223372036854775.808", "-1e30", '"soon"', '"NaN"', "true", "[1]", '"1e999999999999"'])
def test_what_is_no_time_is_absent_and_counted(text: str) -> None:
    trace = read(f'{{"traceEvents": [{{"ph": "X", "ts": {text}, "dur": 1}}]}}'.encode())

    assert trace.events.start_ns.tolist() == [ABSENT]
    assert codes(trace) == [("odd-time", 1, "ts")]


def test_a_start_that_does_not_fit_with_the_zero_of_the_file_is_absent_and_counted() -> None:
    trace = read(b'{"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [{"ph": "i", "ts": 8e15}, {"ph": "i", "ts": 1}]}')

    assert trace.events.start_ns.tolist() == [ABSENT, 1_790_857_026_000_001_000]
    assert codes(trace) == [("odd-time", 1, "ts")]


@pytest.mark.parametrize(
    ("key", "column", "absent"),
    [
        ("External id", "external_id", 0),
        ("external id", "external_id", 0),
        ("correlation", "correlation_id", 0),
        ("launch_id", "launch_id", 0),
        ("Ev Idx", "event_index", -1),
        ("Sequence number", "sequence_number", -1),
        ("Bytes", "size_bytes", ABSENT),
        ("Device Type", "device_type", -1),
    ],
)
@pytest.mark.parametrize(
    ("text", "expected"),
    [("5", 5), ('"5"', 5), ("5.0", 5), ("null", None), ("5.5", None), ("18446744073709551615", None), ('"x"', None), ("[]", None)],
)
def test_a_number_of_args_may_be_written_in_any_way(key: str, column: str, absent: int, text: str, expected: int | None) -> None:
    trace = read(f'{{"traceEvents": [{{"ph": "i", "args": {{"{key}": {text}}}}}]}}'.encode())

    assert getattr(trace.events, column).tolist() == [absent if expected is None else expected]
    assert codes(trace) == ([("odd-number", 1, key)] if expected is None and text != "null" else [])


def test_a_device_type_beyond_its_column_is_absent_and_counted() -> None:
    trace = read(b'{"traceEvents": [{"ph": "i", "args": {"Device Type": 2147483648}}]}')

    assert trace.events.device_type.tolist() == [-1]
    assert codes(trace) == [("odd-number", 1, "Device Type")]


def test_the_newer_spelling_of_a_key_wins() -> None:
    event = read_event(
        '{"ph": "X", "ts": 1, "dur": 1, "args": {"external id": 1, "External id": 2, "Input dims": [1], "Input Dims": [2]}}'
    )

    assert (event.external_id, event.input_dims) == (2, "[2]")


def test_shapes_and_flow_ids_are_kept_as_their_text() -> None:
    event = read_event('{"ph": "s", "id": "0x1f", "args": {"Input Dims": [[2,  3], []], "Concrete Inputs": ["", "[1]"]}}')

    assert (event.flow_id, event.input_dims, event.concrete_inputs) == ('"0x1f"', "[[2,  3], []]", '["", "[1]"]')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7),
        ("-7", -7),
        ('"7"', "7"),
        ('""', ""),
        ("null", None),
        ("7.0", 7),
        ("7.5", "7.5"),
        ("true", "true"),
        ("1" * 30, int("1" * 30)),
    ],
)
def test_a_process_or_thread_may_have_any_name(text: str, expected: int | str | None) -> None:
    event = read_event(f'{{"ph": "i", "pid": {text}, "tid": {text}}}')

    assert (event.pid, event.tid) == (expected, expected)


def test_threads_of_equal_text_and_number_are_two() -> None:
    trace = read(b'[{"ph": "i", "tid": 1}, {"ph": "i", "tid": "1"}, {"ph": "i"}, {"ph": "i", "tid": 1}]')

    assert trace.tracks == (HostTrack(None, 1), HostTrack(None, "1"), HostTrack(None, None))
    assert trace.events.track.tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [('"é"', "é", 0), ("null", "", 0), ('""', "", 0), ("7", "", 1), ('{"a": 1}', "", 1)],
)
def test_a_name_that_is_no_text_is_left_out_and_counted(text: str, name: str, count: int) -> None:
    trace = read(f'[{{"ph": "i", "name": {text}}}]'.encode())

    assert events_of_names(trace) == [name]
    assert codes(trace) == [("odd-text", 1, "name")] * count


@pytest.mark.parametrize(
    "text",
    [
        '{"ph": "s", "name": "<>"}',
        '{"ph": "s", "id": "<>"}',
        '{"ph": "X", "args": {"Input Dims": ["<>"]}}',
        '{"ph": "X", "args": null, "cat": "<>"}',
    ],
)
def test_bytes_that_are_no_text_are_replaced_and_counted(text: str) -> None:
    document = f'[{text}, {{"ph": "i", "name": "c"}}]'.encode()
    trace = read(document.replace(b"<>", b"\xff\xfe"))

    mended = slow_events(document.replace(b"<>", "\ufffd\ufffd".encode()))
    assert [replace(event, offset=0, length=0) for event in events_of(trace)] == [
        replace(event, offset=0, length=0) for event in mended
    ]
    assert codes(trace)[0] == ("odd-characters", 1, "")
    assert b"".join(trace.document.blocks()) == document.replace(b"<>", b"\xff\xfe")


@pytest.mark.parametrize(
    ("text", "name"),
    [("\\ud800x", "\ufffdx"), ("\\udc00\\ud800", "\ufffd\ufffd"), ("\\ud83d\\ude00\\ud83d", "\U0001f600\ufffd")],
)
def test_half_of_a_surrogate_pair_is_replaced_and_counted(text: str, name: str) -> None:
    trace = read(f'[{{"ph": "i", "name": "{text}"}}, {{"ph": "i", "name": "a", "args": {{"Call stack": "{text}"}}}}]'.encode())

    assert events_of_names(trace) == [name, "a"]
    assert codes(trace) == [("odd-characters", 2, "")]


def test_text_around_the_events_that_is_no_text_is_replaced_and_reported() -> None:
    trace = read(b'{"a": "\xff", "b": "\\ud800", "traceEvents": [{"ph": "i"}]}')

    assert trace.metadata == {"a": "\ufffd", "b": "\ufffd"}
    assert codes(trace) == [("odd-characters", 1, "metadata")]


def test_text_that_no_column_is_of_is_watched_too() -> None:
    trace = read_host(io.BytesIO(b'[{"ph": "i", "args": {"a": "\xff"}}]'), columns=())

    assert codes(trace) == [("odd-characters", 1, "")]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (b'[{"ph": "i", "name": "\xff\xfe"}]', '[{"ph": "i", "name": "\ufffd\ufffd"}]'.encode()),
        (
            b'{"a": "\xff", "b": "\\ud800", "traceEvents": [{"ph": "i"}]}',
            '{"a": "\ufffd", "b": "\\ufffd", "traceEvents": [{"ph": "i"}]}'.encode(),
        ),
    ],
)
def test_a_text_that_is_no_unicode_is_mended_and_counted_for_whoever_asks(text: bytes, meant: bytes) -> None:
    trace = read_mended(io.BytesIO(text))

    assert b"".join(trace.document.blocks()) == meant
    assert codes(trace) == [("odd-characters", 2, "")]


def events_of_names(trace: HostTrace) -> list[str]:
    return [trace.strings[row] for row in trace.events.name]


def test_the_last_of_equal_keys_counts() -> None:
    event = read_event('{"ph": "i", "name": "a", "name": "b", "args": {"Bytes": 1}, "args": {"Bytes": 2}}')

    assert (event.name, event.size_bytes) == ("b", 2)


def test_an_empty_object_is_an_event_that_says_nothing() -> None:
    trace = read(b'[{"ph": "i"}, {}]')

    assert trace.events.phase.tolist() == [ord("i"), 0]
    assert codes(trace) == [("empty-event", 1, "")]


def test_a_phase_that_is_no_letter_is_none() -> None:
    trace = read('[{"ph": "i"}, {"ph": "XX", "ts": 1}, {"ph": "é", "name": "a"}, {"ph": "Z"}]'.encode())

    assert trace.events.phase.tolist() == [ord("i"), 0, 0, ord("Z")]
    assert codes(trace) == [("odd-text", 2, "ph"), ("no-phase", 2, "")]


def test_elements_that_are_no_events_are_left_out_and_counted() -> None:
    trace = read(b'{"traceEvents": [null, {"ph": "i", "ts": 1}, 7, "},{", [{"ph": "X"}]]}')

    assert events_of(trace) == slow_events(b'{"traceEvents": [null, {"ph": "i", "ts": 1}, 7, "},{", [{"ph": "X"}]]}')
    assert codes(trace) == [("not-an-event", 4, "")]


@pytest.mark.parametrize(("text", "count"), [("null", 0), ('""', 1), ("[]", 1), ("7", 1)])
def test_args_that_are_no_object_are_absent_and_counted(text: str, count: int) -> None:
    trace = read(f'[{{"ph": "X", "ts": 1, "dur": 1, "args": {text}}}]'.encode())

    assert trace.events.external_id.tolist() == [0]
    assert codes(trace) == [("odd-args", 1, "")] * count


def test_a_duration_that_is_negative_or_missing_is_kept_and_counted() -> None:
    trace = read(b'[{"ph": "X", "ts": 1, "dur": -1}, {"ph": "X", "ts": 1}]')

    assert trace.events.duration_ns.tolist() == [-1000, ABSENT]
    assert codes(trace) == [("negative-duration", 1, ""), ("no-duration", 1, "")]


def test_metadata_events_name_threads_and_processes() -> None:
    def metadata(kind: str, pid: object, tid: object, **args: object) -> dict[str, object]:
        return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}

    trace = read(
        json.dumps(
            [
                metadata("process_name", 7, 0, name="python"),
                metadata("process_labels", 7, 0, labels="CPU"),
                metadata("thread_name", 7, 8, name="first"),
                metadata("thread_name", 7, 8, name="main"),
                metadata("thread_name", "Spans", "x", name="spans"),
                metadata("process_name", 9, 0, name=None),
                metadata("thread_sort_index", 7, 8, sort_index=1),
            ]
        ).encode()
    )

    assert trace.process_names == {7: "python"}
    assert trace.process_labels == {7: "CPU"}
    assert trace.thread_names == {HostTrack(7, 8): "main", HostTrack("Spans", "x"): "spans"}
    assert trace.events.start_ns.tolist() == [ABSENT] * 7
    assert codes(trace) == []


def test_a_session_without_events_is_a_trace() -> None:
    trace = read(b'{"traceEvents": [ ]}')

    assert (len(trace.events), trace.head, trace.tail) == (0, b'{"traceEvents": [', b"]}")
    assert codes(trace) == [("no-events", 1, "")]


def test_a_second_array_of_events_is_reported() -> None:
    trace = read(b'{"traceEvents": [{"ph": "i"}], "traceEvents": [{"ph": "i"}]}')

    assert len(trace.events) == 1
    assert codes(trace) == [("several-event-arrays", 1, "")]


def test_an_event_larger_than_every_block_is_one_event() -> None:
    name = "x" * 3_000_000
    document = json.dumps([{"ph": "i", "name": "a"}, {"ph": "i", "name": name}, {"ph": "i", "name": "b"}]).encode()

    assert events_of(read(document)) == slow_events(document)


def test_a_quote_too_many_is_found_without_reading_to_the_end() -> None:
    events = ",\n  ".join(json.dumps({"ph": "i", "name": f"event {number}", "ts": number}, indent=1) for number in range(60_000))
    broken = events.replace('"event 15000"', '"event "15000"')
    progress: list[int] = []

    with pytest.raises(FormatError, match="expecting ',' delimiter") as refusal:
        read(f"[{broken}]".encode(), strict=True, progress=lambda done, total: progress.append(done))

    assert refusal.value.offset == 1 + broken.index('15000"')
    assert progress[-1] < 0.9 * len(broken)


def test_an_event_longer_than_its_length_can_tell_is_refused() -> None:
    document = b'[{"name": "a"}, {"name": "' + b"x" * 300 + b'"}]'
    blocks = [document[at : at + 10] for at in range(0, len(document), 10)]

    with pytest.raises(JsonSyntaxError, match="an event is longer than 200 bytes") as caught:
        split_events(iter(blocks), lambda _: True, "pieces", CutSizes(step_bytes=10, longest_bytes=200))
    assert caught.value.offset == document.index(b' {"name": "xx')


def test_a_column_of_one_value_takes_no_memory() -> None:
    event = b'{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1.000, "args": {"External id": 7}}'

    events = read(b"[" + b", ".join([event] * 5) + b"]").events

    spread = {name for name, column in events.columns().items() if column.strides != (0,)}
    assert spread == {"start_ns", "duration_ns", "external_id", "offset", "length"}
    assert (events.category.tolist(), events.context.tolist()) == ([1] * 5, [0] * 5)


def test_only_what_is_asked_for_is_read() -> None:
    event = b'{"ph": "X", "name": "a", "ts": 1, "id": 7, "args": {"External id": "x", "Bytes": "y", "Input Dims": [[2]]}}'

    trace = read(b"[" + event + b"]", columns={"external_id"})

    assert trace.events.columns().keys() == CORE_COLUMNS | {"external_id"}
    assert trace.strings == ("", "a")
    assert codes(trace) == [("odd-number", 1, "External id"), ("no-duration", 1, "")]


def test_a_column_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no column 'dims'; there are binding_point, category, "):
        read(KINETO, columns={"dims"})


def test_strict_raises_what_would_be_a_finding() -> None:
    document = b'[{"ph": "X", "ts": "soon", "dur": 1}]'

    with pytest.raises(CheckError, match=r'"ts" of 1 event is no time .*\[odd-time\]'):
        read(document, strict=True)
    assert len(read(KINETO, strict=True).events) == 2


def test_a_pipe_by_its_path_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(KINETO),))
    writer.start()
    trace = read_host(path)
    writer.join()

    assert len(trace.events) == 2
    assert b"".join(trace.document.blocks()) == KINETO


def test_gzip_is_read_without_isal(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(KINETO) + gzip.compress(b" ") + b"rest")
    script = (
        "import sys; sys.modules['isal'] = None\n"
        "from rblnpb.converters.sources.kineto import read_host\n"
        f"trace = read_host({str(path)!r})\n"
        "print(len(trace.events), [finding.code for finding in trace.findings])\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)

    assert run.stdout == "2 ['bytes-after-gzip']\n"


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(KINETO))
    seen: list[tuple[int, int]] = []

    read_host(path, progress=lambda done, total: seen.append((done, total)))

    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_stream_is_kept_until_the_trace_is_gone() -> None:
    stream = io.BytesIO(KINETO)
    trace = read_host(stream)
    stream.close()

    assert b"".join(trace.document.blocks()) == b"".join(trace.document.blocks()) == KINETO


@pytest.mark.parametrize(
    ("document", "kind", "message"),
    [
        (b"", NotAProfileError, "cannot read <bytes>: it is empty; did the profiled program end before it exported the trace?"),
        (b" \n ", NotAProfileError, "cannot read <bytes>: it is empty; did the profiled program end before it exported the trace?"),
        (
            b"Name  Calls\n",
            NotAProfileError,
            (
                "cannot read <bytes>: expected a trace in JSON; it looks like text; a profile is the rbln_*.pb that a recording "
                "leaves, a trace what prof.export_chrome_trace(path) writes"
            ),
        ),
        (
            b'{"a": 1, "b": {"traceEvents": []}}',
            NotAProfileError,
            (
                "cannot read <bytes>: it is JSON, but no trace: its keys are 'a', 'b', and a trace has \"traceEvents\"; "
                "torch.profiler writes one by prof.export_chrome_trace(path)"
            ),
        ),
        (
            b"{}",
            NotAProfileError,
            (
                'cannot read <bytes>: it is JSON, but no trace: the object is empty, and a trace has "traceEvents"; '
                "torch.profiler writes one by prof.export_chrome_trace(path)"
            ),
        ),
        (
            b'{"traceEvents": {}}',
            NotAProfileError,
            'cannot read <bytes>: it is JSON, but no trace: its "traceEvents" is no array',
        ),
        (
            b'[{"name": "a"}, {"name": "b"}]',
            NotAProfileError,
            (
                'cannot read <bytes>: it is JSON, but no trace: no element of its array is an event with a phase ("ph"); '
                "torch.profiler writes traces by prof.export_chrome_trace(path)"
            ),
        ),
        (
            b"\n\x84\x01\xc2\xc3\x03\x10" + bytes(100),
            NotAProfileError,
            (
                "cannot read <bytes>: expected a trace in JSON; it looks like protobuf of some other format; a profile is the "
                "rbln_*.pb that a recording leaves, a trace what prof.export_chrome_trace(path) writes"
            ),
        ),
        (
            b"\n{\xc2\xc3\x03\x10" + bytes(100),
            NotAProfileError,
            (
                "cannot read <bytes>: expected a trace in JSON; it looks like protobuf of some other format; a profile is the "
                "rbln_*.pb that a recording leaves, a trace what prof.export_chrome_trace(path) writes"
            ),
        ),
        (
            b"SQLite format 3\0",
            NotAProfileError,
            (
                "cannot read <bytes>: expected a trace in JSON; it looks like an SQLite database, as Nsight Systems writes; a "
                "profile is the rbln_*.pb that a recording leaves, a trace what prof.export_chrome_trace(path) writes"
            ),
        ),
        (
            b"\x01\x02\0\x03",
            NotAProfileError,
            (
                "cannot read <bytes>: expected a trace in JSON; it looks like no format that this package knows; a profile is the "
                "rbln_*.pb that a recording leaves, a trace what prof.export_chrome_trace(path) writes"
            ),
        ),
        (
            b'{"traceEvents": [\n{"ph": "i", "name": "a"b"}]}',
            FormatError,
            (
                "cannot read <bytes> at byte 41 (line 2, column 24): the JSON is broken: expecting ',' delimiter; "
                "Kineto writes a quote in the name of an event as it is"
            ),
        ),
        (
            b'{"traceEvents": [{"ph": "i"},\n\n {"ph": "X", "dur": NaN}]}',
            FormatError,
            (
                "cannot read <bytes> at byte 51 (line 3, column 21): the JSON is broken: NaN is no JSON number; "
                "Kineto writes a quote in the name of an event as it is"
            ),
        ),
        (
            '{"traceEvents": [{"ph": "i", "name": "é漢"}, ]}'.encode(),
            FormatError,
            (
                "cannot read <bytes> at byte 47 (line 1, column 45): the JSON is broken: expecting value; "
                "Kineto writes a quote in the name of an event as it is"
            ),
        ),
        (
            b'{"traceEvents": [{"ph": "i"}]} {"traceEvents": []}',
            FormatError,
            (
                "cannot read <bytes> at byte 31 (line 1, column 32): the JSON is broken: "
                "more text follows the end of the document; Kineto writes a quote in the name of an event as it is"
            ),
        ),
        (
            b'{"traceEvents": [{"ph": "i", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}",
            FormatError,
            (
                "cannot read <bytes> at byte 17 (line 1, column 18): the JSON is broken: objects or arrays are nested too deep; "
                "Kineto writes a quote in the name of an event as it is"
            ),
        ),
        (
            b'{"traceEvents": [}',
            FormatError,
            (
                "cannot read <bytes> at byte 17 (line 1, column 18): the JSON is broken: expecting value; "
                "Kineto writes a quote in the name of an event as it is"
            ),
        ),
        (
            b'{"traceEvents": [{"ph": "i"}}',
            FormatError,
            (
                "cannot read <bytes> at byte 28 (line 1, column 29): the JSON is broken: expecting value; "
                "Kineto writes a quote in the name of an event as it is"
            ),
        ),
        (
            b'{"traceEvents": [{"ph": "i"} {"ph": "i"}]}',
            FormatError,
            (
                "cannot read <bytes> at byte 29 (line 1, column 30): the JSON is broken: expected a comma; "
                "Kineto writes a quote in the name of an event as it is"
            ),
        ),
        (
            b'{"traceEvents": [{"ph": "i"}, {"ph": "X", "na',
            TruncatedError,
            (
                "cannot read <bytes> at byte 42 (line 1, column 43): the JSON ends early, after 1 whole event; "
                "was the profiled program stopped while it exported, or the file copied in part?"
            ),
        ),
        (
            b'{"schemaVersion": 1, "traceEv',
            TruncatedError,
            (
                "cannot read <bytes> at byte 21 (line 1, column 22): the JSON ends early, after 0 whole events; "
                "was the profiled program stopped while it exported, or the file copied in part?"
            ),
        ),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line_where_that_is_asked_for(
    document: bytes, kind: type[FormatError], message: str
) -> None:
    with pytest.raises(kind) as refusal:
        read(document, strict=True)

    assert type(refusal.value) is kind
    assert str(refusal.value) == message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone.json"

    with pytest.raises(FormatError) as refusal:
        read_host(path)

    assert str(refusal.value) == f"cannot read {path}: no such file or directory; check the path and its permissions"


def test_a_directory_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="it is a directory; name the trace file in it"):
        read_host(tmp_path)


@pytest.mark.parametrize("document", [KINETO, b'[{"ph":"X","ts":1.5e-3,"a":[true,null,"\\u00e9\\n"],"b":-1},{"ph":"f"}]'])
def test_a_file_cut_anywhere_is_known_for_cut(document: bytes) -> None:
    for size in range(len(document) - len(document.lstrip()) + 1, len(document)):
        with pytest.raises(TruncatedError, match="the JSON ends early"):
            read(document[:size], strict=True)


def test_gzip_data_cut_anywhere_is_known_for_cut() -> None:
    packed = gzip.compress(KINETO)
    for size in range(2, len(packed)):
        with pytest.raises(TruncatedError, match="the gzip data ends early"):
            read(packed[:size], strict=True)


def test_gzip_data_with_a_wrong_byte_anywhere_is_refused_in_our_words_or_read() -> None:
    packed = gzip.compress(KINETO, mtime=0)
    for position in range(2, len(packed)):
        broken = bytearray(packed)
        broken[position] ^= 0x55
        with contextlib.suppress(FormatError):
            # What can be read has a wrong byte where the file says when and where it was packed.
            assert len(read(bytes(broken), strict=True).events) == 2


def test_truncated_gzip_data_says_how_much_was_whole() -> None:
    document = json.dumps([{"ph": "X", "name": f"event {number}", "ts": number, "dur": 1} for number in range(20_000)]).encode()
    packed = gzip.compress(document)

    with pytest.raises(TruncatedError, match=r"the gzip data ends early, after \d{1,2},\d{3} whole events") as refusal:
        read(packed[:-1000], strict=True)

    assert 900_000 < refusal.value.offset < len(document)
    assert refusal.value.place == f"line 1, column {refusal.value.offset + 1}"


def test_numbers_in_a_list_before_the_events_are_no_damage() -> None:
    text = b'{"distributedInfo": {"ranks": [0, 1, 2,3], "of": [null,true, false]}, "traceEvents": [{"ph": "X", "ts": 1, "dur": 2}]}'
    host = read_host(io.BytesIO(text), strict=True)
    assert (len(host.events), host.metadata["distributedInfo"]) == (1, {"ranks": [0, 1, 2, 3], "of": [None, True, False]})


def test_a_copy_of_a_stream_that_finds_no_room_names_the_folder_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    monkeypatch.setattr("tempfile.tempdir", "/somewhere")
    with pytest.raises(FormatError, match=r"a copy of it cannot be kept in /somewhere \(No space left on device\); set TMPDIR"):
        read_host(io.BytesIO(b"[]"))


def test_a_stream_that_breaks_off_is_what_cannot_be_read() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(FormatError, match="input/output error"):
        read_host(Broken())
