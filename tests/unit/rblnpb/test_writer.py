"""Writing: what a stream holds, where chunks are cut, what is refused, what the index says."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb.clock import Clock
from rblnpb.columns import (
    CHUNK_LIMIT,
    Counters,
    DeviceSlices,
    HostSlices,
    Launches,
    Overheads,
    Table,
    TextArray,
    TraceEvents,
)
from rblnpb.container import scan
from rblnpb.errors import CheckError, OutputError
from rblnpb.profile import Device, Engine, EngineKind, Loss, LossReason, Profile, Program, Session, TraceDocument
from rblnpb.strings import StringTable
from rblnpb.v1 import stream_pb2
from rblnpb.writer import StreamWriter, write_archive
from tests.support.profiles import SESSION_ID, body_of, commands, encode, full, packets, payloads, tiny

SLICES = DeviceSlices.of(1, clock_id=17)


def closing(data: bytes) -> stream_pb2.Closing:
    message = body_of(payloads(data)[-1])
    assert isinstance(message, stream_pb2.Closing)
    return message


def test_packets_stand_in_the_order_that_a_reader_needs() -> None:
    assert [payload.WhichOneof("body") for payload in payloads(encode(full()))] == [
        "header",
        "definitions",
        "clock_snapshots",
        "trace_document",
        *["chunk"] * 8,
        "losses",
        "closing",
    ]


def test_a_profile_that_was_not_ended_has_no_closing_packet() -> None:
    assert [payload.WhichOneof("body") for payload in payloads(encode(tiny(is_complete=False)))][-1] == "chunk"


def test_the_closing_packet_holds_totals_of_each_kind_and_the_ends() -> None:
    message = closing(encode(full()))

    assert [(total.kind, total.written, total.dropped) for total in message.totals] == [
        (16, 1, 0),
        (17, 3, 3),
        (18, 2, 0),
        (19, 2, 0),
        (20, 3, 0),
        (21, 3, 0),
        (22, 2, 0),
        (23, 3, 0),
    ]
    assert (message.ended_real_ns, message.ended_monotonic_ns) == (1_790_000_000_000_020_000, 20_900)


def test_a_total_of_losses_ends_where_its_field_does() -> None:
    losses = (Loss(16, LossReason.UNKNOWN, 1 << 63), Loss(16, LossReason.UNKNOWN, 1 << 63))
    data = encode(tiny(losses=losses))

    assert [total.dropped for total in closing(data).totals if total.kind == 16] == [(1 << 64) - 1]
    assert rblnpb.read(data).losses == losses


def test_the_index_places_every_chunk_from_the_header_on() -> None:
    data = encode(full())
    sizes = [len(packet) for packet in packets(data)]
    offsets = np.cumsum([0, *sizes]).tolist()
    chunks = [row for row, payload in enumerate(payloads(data)) if payload.WhichOneof("body") == "chunk"]

    index = closing(data).index

    assert [(row.offset_bytes, row.size_bytes) for row in index] == [(offsets[row], sizes[row]) for row in chunks]
    assert [(row.kind, row.count, row.clock_id) for row in index] == [
        (16, 1, 1),
        (17, 3, 16),
        (18, 2, 16),
        (19, 2, 0),
        (20, 3, 1),
        (21, 3, 1),
        (22, 2, 16),
        (23, 3, 0),
    ]


def test_a_chunk_is_cut_where_it_is_full_and_where_the_clock_changes() -> None:
    count = CHUNK_LIMIT + 3
    clock_id = np.full(count, 16)
    clock_id[1:3] = 1
    profile = tiny(counters=Counters.of(clock_id=clock_id, name_strindex=3, time_ticks=np.arange(count)))
    data = encode(profile)

    with rblnpb.open_profile(data) as file:
        heads = [(chunk.head.count, chunk.head.clock_id, chunk.head.first_ordinal) for chunk in file.chunks(Counters)]

    assert heads == [(1, 16, 0), (2, 1, 1), (CHUNK_LIMIT, 16, 3)]
    assert rblnpb.read(data).equals(profile)


def test_a_chunk_is_full_at_65536_records() -> None:
    profile = tiny(counters=Counters.of(clock_id=16, time_ticks=np.arange(CHUNK_LIMIT + 1)))
    data = encode(profile, "raw")

    with rblnpb.open_profile(data) as file:
        assert [chunk.head.count for chunk in file.chunks(Counters)] == [CHUNK_LIMIT, 1]
    assert rblnpb.read(data).equals(profile)


def test_a_chunk_ends_before_its_texts_grow_long() -> None:
    text = b"x" * (40 << 20)
    events = TraceEvents.of(arguments=TextArray.of([text, text, b"y"]))
    data = encode(tiny(trace_events=events))

    with rblnpb.open_profile(data) as file:
        assert [chunk.head.count for chunk in file.chunks(TraceEvents)] == [1, 2]


def test_a_dangling_reference_is_refused() -> None:
    profile = tiny(device_slices=tiny().device_slices.replace(engine_id=np.array([1, 2, 1])))

    with pytest.raises(CheckError, match=r"the profile to write: error: device_slices.engine_id: 1 device_slice refers"):
        encode(profile)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"launches": Launches.of(thread_id=np.array([4, -1]))}, "launches: column thread_id: -1 is no value of it"),
        ({"host_slices": HostSlices.of(duration_ns=np.array([-5]))}, "host_slices: column duration_ns: -5 is no value of it"),
        ({"overheads": Overheads.of(size_bytes=np.array([-5, 3]))}, "overheads: column size_bytes: -5 is no value of it"),
        (
            {"launches": Launches.of(launch_id=np.array([2**63], np.uint64))},
            "launches: column launch_id: 9223372036854775808 is no",
        ),
    ],
)
def test_a_number_that_its_column_cannot_hold_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckError, match=message):
        encode(tiny(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"devices": (Device(1, "rbln:0", -1, 4, 16),)},
        {"losses": (Loss(17, LossReason.UNKNOWN, -1),)},
        {"threads": ((2**64, "a"),)},
        {"programs": (Program(2**32, "mm"),)},
        {"session": Session(SESSION_ID, process_id=-1)},
        {"clocks": (Clock(16, "rbln:0", 10**9, 0, 1),)},
    ],
)
def test_a_number_that_its_field_cannot_hold_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(CheckError, match=r"\[impossible-value\].*; read back, it would be another one$"):
        encode(tiny(**changes))


@pytest.mark.parametrize(
    ("changes", "code", "where"),
    [
        ({"programs": (Program(1, "mm", command_count=5),)}, "dangling-definition", "programs.first_command_row"),
        (
            {"programs": (Program(1, "mm", "", "", 2, 2),), "commands": commands()},
            "dangling-definition",
            "programs.first_command_row",
        ),
        ({"commands": commands()}, "dangling-definition", "commands.program_id"),
        ({"programs": (Program(9, "mm", "", "", 1, 2),), "commands": commands()}, "dangling-definition", "commands.program_id"),
        (
            {"programs": (Program(1, "mm", "", "", 1, 2),), "commands": replace(commands(), layer_strindex=np.array([0, 99, 3]))},
            "dangling-definition",
            "commands",
        ),
        (
            {"programs": (Program(1, "mm", "", "", 1, 2),), "commands": replace(commands(), predecessor_rows=np.array([9]))},
            "dangling-definition",
            "commands",
        ),
        ({"engines": (*tiny().engines, Engine(2, 9, EngineKind.HOST))}, "dangling-definition", "engines.device_id"),
        ({"devices": (*tiny().devices, *tiny().devices)}, "repeated-id", "devices"),
        ({"clocks": (), "devices": (), "engines": (), "clock_snapshots": (), "device_slices": SLICES}, "unknown-clock", ""),
    ],
)
def test_what_would_be_read_back_as_something_else_is_refused_before_a_byte_is_written(
    changes: dict[str, Any], code: str, where: str
) -> None:
    file = io.BytesIO()

    with pytest.raises(CheckError) as raised:
        rblnpb.write(tiny(**changes), file, display=True)

    assert [(finding.code, finding.where) for finding in raised.value.findings[:1]] == [(code, where)]
    assert file.getvalue() == b""


def test_a_clock_that_was_never_read_is_written_as_it_is() -> None:
    profile = tiny(clock_snapshots=())

    assert rblnpb.read(encode(profile)).equals(profile)


def display_packet_count(profile: Profile, **choices: Any) -> int:
    file = io.BytesIO()
    rblnpb.write(profile, file, **choices)
    assert rblnpb.read(file.getvalue()).session.has_display_packets == (scan(file.getvalue()).display_packet_count > 0)
    return scan(file.getvalue()).display_packet_count


def test_a_profile_has_display_packets_unless_it_is_large_or_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    # Tracks, and slices.
    assert [display_packet_count(tiny(), display=display) for display in (None, True, False)] == [2, 2, 0]

    monkeypatch.setattr("rblnpb.display.DISPLAY_LIMIT", 2)

    assert [display_packet_count(tiny(), display=display) for display in (None, True, False)] == [0, 2, 0]


def test_where_no_slice_can_be_shown_there_are_no_display_packets() -> None:
    assert display_packet_count(tiny(clock_snapshots=())) == 0
    assert display_packet_count(Profile(Session(1))) == 0


def test_a_profile_with_display_packets_is_written_again_as_it_was() -> None:
    file, again = io.BytesIO(), io.BytesIO()
    rblnpb.write(tiny(), file)
    rblnpb.write(rblnpb.read(file.getvalue()), again)

    assert again.getvalue() == file.getvalue()


def test_what_is_no_text_is_written_as_question_marks() -> None:
    """Undecodable names of files and processes have halves of surrogate pairs in Python."""
    profile = tiny(
        session=Session(SESSION_ID, process_name="a\udcff", settings=(("n\ud800", "v"),)),
        strings=("", "rbln:0", "Neural Engine Clusters", "mm\udc80"),
    )

    read = rblnpb.read(encode(profile))

    assert (read.session.process_name, read.session.settings) == ("a?", (("n?", "v"),))
    assert read.strings == ("", "rbln:0", "Neural Engine Clusters", "mm?")


def test_an_error_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(CheckError):
        rblnpb.write(tiny(launches=Launches.of(thread_id=np.array([-1]))), tmp_path / "a.pb")

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten_unless_told_to(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    rblnpb.write(tiny(), path)

    with pytest.raises(OutputError, match="exists already"):
        rblnpb.write(tiny(), path)
    rblnpb.write(full(), path, force=True)

    assert rblnpb.read(path).equals(full())


def test_an_unknown_codec_is_named() -> None:
    with pytest.raises(ValueError, match="codec 'lz4' is none of raw, none, zstd, zlib"):
        encode(tiny(), "lz4")


@pytest.mark.parametrize("session_id", [0, -1, 2**64])
def test_a_session_id_is_a_number_of_64_bits_and_not_0(session_id: int) -> None:
    with pytest.raises(ValueError, match="a session id is a number from 1"):
        encode(Profile(Session(session_id)))


def test_rows_of_strings_that_repeat_one_keep_their_place() -> None:
    """A profile that lost a packet of definitions has empty rows between the others."""
    profile = tiny(
        strings=("", "rbln:0", "", "rbln:0", "Neural Engine Clusters"),
        device_slices=tiny().device_slices.replace(name_strindex=np.array([4, 3, 2])),
    )

    assert rblnpb.read(encode(profile)).equals(profile)


class HalfWriter(io.RawIOBase):
    """A raw file that takes at most 100 bytes at once, as a pipe may."""

    def __init__(self) -> None:
        self.taken = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data[:100])
        self.taken += part
        return len(part)


def test_a_raw_file_that_takes_less_than_it_is_given_gets_it_all() -> None:
    file = HalfWriter()
    rblnpb.write(full(), file, codec="zlib", display=False)  # type: ignore[arg-type]  # a raw file has what is used of a binary one

    assert bytes(file.taken) == encode(full())


class TestStreamWriter:
    def test_strings_of_definitions_are_sent_once(self) -> None:
        file = io.BytesIO()
        writer = StreamWriter(file, Session(SESSION_ID))
        writer.define(strings=("a", "b"))
        writer.define(strings=("b", "c"), threads=((5, "a"),))
        writer.define()

        definitions = [body_of(payload) for payload in payloads(file.getvalue())[1:]]

        assert [(message.first_strindex, list(message.strings)) for message in definitions] == [(1, ["a", "b"]), (3, ["c"])]
        assert [(row.thread_id, row.name_strindex) for row in definitions[1].threads] == [(5, 1)]

    def test_what_a_call_wrote_can_be_read_whatever_comes_after(self) -> None:
        file = io.BytesIO()
        writer = StreamWriter(file, Session(SESSION_ID))
        writer.chunk(Launches.of(start_ns=np.array([5, 6])))

        profile = rblnpb.read(file.getvalue())

        assert profile.launches.start_ns.tolist() == [5, 6]
        assert not profile.is_complete

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            (Launches.empty(), "a chunk holds 1 to 65,536 records, not 0"),
            (Launches.of(CHUNK_LIMIT + 1), "a chunk holds 1 to 65,536 records, not 65,537"),
            (Counters.of(clock_id=np.array([1, 2])), "the records of a chunk are of one clock"),
            (Launches.of(process_id=np.array([-1, 0])), "launches: column process_id: -1 is no value of it"),
        ],
    )
    def test_records_that_make_no_chunk_are_refused_and_nothing_is_written(self, table: Table, message: str) -> None:
        file = io.BytesIO()
        writer = StreamWriter(file, Session(SESSION_ID))
        before = file.tell()

        with pytest.raises(ValueError, match=message):
            writer.chunk(table)

        assert file.tell() == before
        writer.close()
        assert [finding.code for finding in rblnpb.read(file.getvalue()).findings] == ["no-records"]


def test_events_that_are_made_while_they_are_written_are_read_like_any_others() -> None:
    def chunks(strings: StringTable) -> Iterator[TraceEvents]:
        for name in ("mm", "new"):
            yield TraceEvents.of(2, phase=88, name_strindex=strings.intern(name), text=TextArray.of([b"{}", b"[]"]))

    document = TraceDocument(b"[", b"]")
    buffer = io.BytesIO()
    write_archive(tiny(trace_document=document), buffer, chunks)
    profile = rblnpb.read(buffer.getvalue())

    assert profile.findings == ()
    assert [profile.strings[row] for row in profile.trace_events.name_strindex.tolist()] == ["mm", "mm", "new", "new"]
    assert profile.trace_document == document
    # A definition stands before what refers to it.
    assert [packet.WhichOneof("body") for packet in payloads(buffer.getvalue())][-4:] == [
        "chunk",
        "definitions",
        "chunk",
        "closing",
    ]
