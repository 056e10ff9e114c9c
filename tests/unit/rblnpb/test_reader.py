"""Reading: what is whole is given, what is not is named, what is no profile is called what it looks like."""

from __future__ import annotations

import errno
import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb import codec
from rblnpb.columns import Counters, Dependencies, DeviceSlices, HostSlices, Launches, Table, TraceEvents
from rblnpb.container import frame, payload, varint
from rblnpb.errors import CheckError, FormatError, MergeError, NotAProfileError, Severity, TruncatedError, VersionError
from rblnpb.profile import KINDS, Loss, LossReason, Profile, Session, TraceDocument
from rblnpb.signatures import is_profile
from tests.support.profiles import CODECS, SESSION_ID, altered, codes, encode, full, packets, payloads, stream, tiny

DISPLAY = frame(b"\x40\x05\x5a\x03abc")  # a timestamp, and an event of Perfetto's


def kept(data: bytes, *rows: int) -> bytes:
    """A file with these packets of another, in this order."""
    parts = packets(data)
    return b"".join(parts[row] for row in rows)


def set_header(**values: Any) -> bytes:
    def change(header: Any) -> None:
        for name, value in values.items():
            setattr(header, name, value)

    return altered(encode(tiny()), "header", change)


# --- inputs of every form ------------------------------------------------------------------------------------------


def test_a_name_a_path_bytes_and_a_stream_are_inputs(tmp_path: Path) -> None:
    data = encode(full())
    path = tmp_path / "a.pb"
    path.write_bytes(data)

    inputs: list[Any] = [str(path), path, data, io.BytesIO(data)]

    assert all(rblnpb.read(source).equals(full()) for source in inputs)


def test_a_good_file_has_no_finding_and_is_complete() -> None:
    profile = rblnpb.read(encode(tiny()))

    assert (profile.findings, profile.is_complete) == ((), True)


def test_the_file_is_not_held_open_by_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    path.write_bytes(encode(full(), "raw"))
    profile = rblnpb.read(path)
    path.write_bytes(b"")

    assert profile.equals(full())


def test_only_the_beginning_tells_a_profile() -> None:
    data = encode(full())

    assert is_profile(data[:300])
    assert not any(map(is_profile, (b"", b"\x0a", DISPLAY, data[1:300], data[:20])))


# --- inputs that are none ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "it is an empty file"),
        (b"hello, world\n", "text"),
        (b"\nhello, world\n", "text"),
        (json.dumps({"traceEvents": []}).encode(), "JSON (a trace? it is read as the host trace)"),
        (b"[1]", "JSON"),
        (gzip.compress(b"{}", mtime=0), "gzip-compressed data"),
        (DISPLAY * 3, "a Perfetto trace without records of ours"),
        (b"\x0a\x0d\x08\x01\x12\x09/host:CPU\x12\x00", "an XPlane (.xplane.pb)"),
        (b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x04\x0a\x02\x01\x02", "a pprof profile"),
        (b"\x00" + random.Random(5).randbytes(400), "no format that this package knows"),
    ],
)
def test_what_is_no_profile_is_told_in_one_line_with_advice(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)

    with pytest.raises(NotAProfileError) as raised:
        rblnpb.read(path)

    text = str(raised.value)
    assert text.startswith(f"cannot read {path}: it is ")
    assert what in text
    assert "\n" not in text
    assert ";" in text or "--host" in text


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as raised:
        rblnpb.read(tmp_path / "a.pb")

    assert str(raised.value) == (
        f"cannot read {tmp_path / 'a.pb'}: there is no such file; a recording leaves rbln_*.pb in RBLN_PROFILER_DIR"
    )


def test_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as raised:
        rblnpb.read(tmp_path)

    assert str(raised.value) == f"cannot read {tmp_path}: it is a folder; name the file in it"


def test_a_file_that_may_not_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(FormatError) as raised:
        rblnpb.read(tmp_path / "a.pb")

    assert str(raised.value) == f"cannot read {tmp_path / 'a.pb'}: permission denied"


def test_a_name_that_no_file_can_have_is_told() -> None:
    with pytest.raises(FormatError, match="null"):
        rblnpb.read("a\0b")


def test_a_stream_that_uses_our_field_for_another_format_is_refused() -> None:
    with pytest.raises(NotAProfileError, match="its header says 'other', not 'rblnpb'"):
        rblnpb.read(set_header(magic="other"))


def test_a_stream_without_its_beginning_is_refused() -> None:
    data = encode(tiny())

    for part in (kept(data, 1, 2, 3), data.replace(SESSION_ID.to_bytes(8, "little"), bytes(8))):
        with pytest.raises(FormatError, match="none of its packets is a header that can be read"):
            rblnpb.read(part)


def test_a_newer_major_version_is_refused_by_name() -> None:
    with pytest.raises(VersionError) as raised:
        rblnpb.read(set_header(schema_major=2, schema_minor=3))

    assert raised.value.reason == "schema 2.3 wrote it and this version reads up to 1.0: install a newer rblnpb"


def test_a_newer_major_version_behind_an_older_one_is_refused_too() -> None:
    other = altered(encode(tiny(session=Session(9))), "header", lambda header: setattr(header, "schema_major", 2))

    with pytest.raises(VersionError, match=r"schema 2\.0 wrote it"):
        rblnpb.read_all(encode(tiny()) + other)


def test_a_newer_minor_version_is_read_and_told() -> None:
    profile = rblnpb.read(set_header(schema_minor=9))

    assert codes(profile) == ["newer-schema"]
    assert profile.device_slices.equals(tiny().device_slices)
    assert profile.session.schema_version == (1, 9)


@pytest.mark.parametrize("size", [1, 2, 4, 6, 20, 100])
def test_a_file_that_ends_in_its_first_packet_is_truncated(size: int) -> None:
    with pytest.raises(TruncatedError) as raised:
        rblnpb.read(encode(full())[:size])

    assert raised.value.reason == f"it ends inside its first packet, after {size:,} bytes: nothing of it can be read"


# --- what is not whole ---------------------------------------------------------------------------------------------


def test_a_cut_file_reads_up_to_its_last_whole_packet() -> None:
    data = encode(tiny())
    profile = rblnpb.read(data[:-3])

    assert codes(profile) == ["truncated", "not-ended"]
    assert profile.replace(is_complete=True, findings=()).equals(tiny())
    closing = len(packets(data)[-1])
    assert profile.findings[0].message == (
        f"the last {closing - 3} of {len(data) - 3} bytes are no whole packet "
        f"(the input ends 3 bytes before its last packet does): read up to byte {len(data) - closing}"
    )


def test_behind_a_length_that_is_wrong_everything_is_read() -> None:
    parts = packets(encode(tiny()))
    parts[3] = parts[3][:1] + bytes([parts[3][1] ^ 0x40]) + parts[3][2:]
    at = sum(map(len, parts[:3]))

    profile = rblnpb.read(b"".join(parts))

    assert codes(profile) == ["damaged-stream"]
    assert profile.findings[0].where == f"byte {at}"
    assert profile.equals(tiny())
    with pytest.raises(CheckError, match="a packet is damaged at byte"):
        rblnpb.read(b"".join(parts), strict=True)


def test_bytes_between_packets_are_counted_and_many_such_places_are_named_together() -> None:
    profile = rblnpb.read(b"junk!".join(packets(encode(full()))))

    assert profile.equals(full())
    named = [finding for finding in profile.findings if finding.code == "damaged-stream"]
    assert [finding.count for finding in named] == [5] * 8 + [5 * (len(packets(encode(full()))) - 9)]
    assert named[0].message.endswith(
        "(a packet begins with byte 0x0a, not 0x6a): 5 bytes were passed over up to the next payload that is whole"
    )


def test_a_first_packet_with_a_wrong_length_is_read() -> None:
    data = encode(tiny())

    for wrong in (b"\x0a\x01" + data[2:], b"\x0b" + data[1:], b"\x0a\xff\xff\x7f" + data[2:]):
        assert rblnpb.read(wrong).equals(tiny())


def test_a_packet_that_stands_twice_is_read_once() -> None:
    profile = rblnpb.read(kept(encode(tiny()), 0, 1, 2, 3, 4, 4, 3, 5))

    assert codes(profile) == ["packets-out-of-order", "repeated-packet"]
    assert profile.equals(tiny())


def test_packets_in_another_order_are_read_in_theirs() -> None:
    profile = rblnpb.read(kept(encode(tiny()), 0, 4, 2, 3, 1, 5))

    assert codes(profile) == ["packets-out-of-order"]
    assert profile.equals(tiny())


def test_a_packet_that_is_gone_is_named() -> None:
    profile = rblnpb.read(kept(encode(tiny()), 0, 1, 2, 4, 5))

    assert codes(profile) == [
        "missing-packet",
        "total-differs",
    ]
    assert [finding.severity for finding in profile.findings] == [Severity.ERROR] * 2
    assert len(profile.launches) == 0
    assert profile.device_slices.equals(tiny().device_slices)


def test_losses_that_only_the_totals_tell_of_are_losses_too() -> None:
    losses = (Loss(17, LossReason.BUFFER_FULL, 3), Loss(17, LossReason.INVALID, 2), Loss(16, LossReason.AFTER_END, 1))
    more = {16: 0, 17: 4, 18: 9}

    def count_more(closing: Any) -> None:
        closing.totals.add(kind=18)
        for total in closing.totals:
            total.dropped += more[total.kind]

    profile = rblnpb.read(altered(encode(tiny(losses=losses)), "closing", count_more))

    assert profile.losses == (*losses, Loss(17, LossReason.UNKNOWN, 4), Loss(18, LossReason.UNKNOWN, 9))
    assert [profile.dropped(kind) for kind in (16, 17, 18)] == [1, 9, 9]
    assert codes(profile) == ["dropped-records"] * 5
    assert rblnpb.read(encode(profile)).losses == profile.losses


def test_definitions_that_are_gone_leave_records_without_names() -> None:
    profile = rblnpb.read(kept(encode(tiny()), 0, 2, 3, 4, 5))

    assert codes(profile)[0] == "missing-packet"
    assert "dangling-reference" in codes(profile)
    assert profile.device_slices.equals(tiny().device_slices.replace(engine_id=np.zeros(3), name_strindex=np.zeros(3)))


def test_a_damaged_packet_is_left_out_and_is_not_called_missing_too() -> None:
    data = encode(tiny(), "raw")
    damaged = data.replace(np.array([250, 300, 50], "<u4").tobytes(), np.array([250, 301, 50], "<u4").tobytes())

    profile = rblnpb.read(damaged)

    assert codes(profile) == ["damaged-packet", "total-differs"]
    assert len(profile.device_slices) == 0


def test_a_damaged_header_is_not_believed() -> None:
    profile = rblnpb.read(encode(tiny()).replace(b"rblnpb", b"rblnpc"))

    assert codes(profile) == ["damaged-packet", "no-header"]
    assert profile.device_slices.equals(tiny().device_slices)


def test_a_header_that_is_no_message_costs_itself_alone() -> None:
    rest = packets(encode(tiny()))[1:]

    profile = rblnpb.read(b"".join([payload(SESSION_ID, 0, 8, b"\x0a\x7f"), *rest]))

    assert codes(profile) == ["unreadable-packet", "no-header"]
    assert profile.device_slices.equals(tiny().device_slices)


def test_a_buffer_that_was_damaged_and_written_again_is_read() -> None:
    whole = packets(encode(tiny()))
    damaged = bytearray(whole[4])
    damaged[-1] ^= 1

    profile = rblnpb.read(b"".join([*whole[:4], bytes(damaged), *whole[4:]]))

    assert codes(profile) == ["damaged-packet"]
    assert profile.equals(tiny())


def test_two_writers_with_one_session_id_are_named_and_both_are_read() -> None:
    other = tiny(session=Session(SESSION_ID, process_id=5), launches=tiny().launches.replace(launch_id=np.array([9])))

    profile = rblnpb.read(encode(tiny()) + encode(other))

    assert "two-writers" in codes(profile)
    assert profile.launches.launch_id.tolist() == [7, 9]


def test_packets_behind_a_payload_that_is_no_message_are_read() -> None:
    parts = packets(encode(tiny()))
    broken = frame(b"\xc2\xc5\x03\x03\x09\x00\x00")

    profile = rblnpb.read(b"".join([*parts[:3], broken, *parts[3:]]))

    assert codes(profile) == ["unreadable-packet"]
    assert profile.equals(tiny())


def test_a_body_that_is_no_message_is_left_out() -> None:
    parts = packets(encode(tiny()))
    broken = payload(SESSION_ID, 6, 12, b"\x0a\x7f")

    profile = rblnpb.read(b"".join([*parts, broken]))

    assert codes(profile) == ["unreadable-packet"]
    assert "a losses packet at byte" in profile.findings[0].message


def test_display_packets_are_passed_over() -> None:
    parts = packets(encode(tiny()))

    profile = rblnpb.read(DISPLAY.join([b"", *parts, b""]))

    assert profile.findings == ()
    assert profile.equals(tiny())


def test_a_missing_chunk_does_not_move_what_dependencies_mean() -> None:
    """Ordinals count the records of the session, rows those that are there."""
    one = DeviceSlices.of(3, clock_id=16, start_ticks=np.array([1, 2, 3]))
    two = one.replace(clock_id=np.full(3, 1), start_ticks=np.array([4, 5, 6]))
    profile = tiny(
        device_slices=DeviceSlices.concat([one, two, one]),
        dependencies=Dependencies.of(predecessor_ordinal=np.array([0, 2, 6, 7]), successor_ordinal=np.array([6, 4, 7, 8])),
    )
    data = encode(profile)

    read = rblnpb.read(kept(data, 0, 1, 2, 3, 4, 6, 7, 8))

    assert read.device_slices.start_ticks.tolist() == [1, 2, 3, 1, 2, 3]
    assert read.dependencies.predecessor_ordinal.tolist() == [0, 3, 4]
    assert read.dependencies.successor_ordinal.tolist() == [3, 4, 5]
    assert ("dangling-reference", 1) in [(finding.code, finding.count) for finding in read.findings]


# --- several sessions ----------------------------------------------------------------------------------------------


def test_files_put_together_are_refused_by_read_and_given_by_read_all() -> None:
    data = encode(tiny()) + encode(tiny(session=Session(9)))

    with pytest.raises(MergeError) as raised:
        rblnpb.read(data)
    assert str(raised.value) == (
        "cannot read <bytes> as one profile: it holds 2 sessions (0123456789abcdef, 0000000000000009), as files put together do; "
        "rblnpb.read_all gives them all"
    )
    profiles = rblnpb.read_all(data)
    assert [profile.session.session_id for profile in profiles] == [SESSION_ID, 9]
    assert [codes(profile) for profile in profiles] == [["several-sessions"]] * 2
    assert {profile.findings[0].severity for profile in profiles} == {Severity.WARNING}


def test_sessions_whose_packets_alternate_are_taken_apart() -> None:
    one, other = packets(encode(tiny())), packets(encode(tiny(session=Session(9))))
    data = b"".join(packet for pair in zip(one, other, strict=True) for packet in pair)

    profiles = rblnpb.read_all(data)

    assert all(profile.equals(tiny(session=profile.session)) for profile in profiles)


def test_many_sessions_take_time_in_proportion() -> None:
    data = b"".join(encode(Profile(Session(n))) for n in range(1, 3_001))

    assert len(rblnpb.read_all(data)) == 3_000


# --- strictness ----------------------------------------------------------------------------------------------------


def test_strict_raises_on_a_warning_and_gives_all_that_are_serious() -> None:
    with pytest.raises(CheckError) as raised:
        rblnpb.read(kept(encode(tiny()), 0, 1, 3, 4), strict=True)

    assert [finding.code for finding in raised.value.findings] == ["missing-packet", "unplaced-clock", "not-ended"]


def test_strict_does_not_mind_what_is_only_worth_knowing() -> None:
    assert codes(rblnpb.read(set_header(schema_minor=9), strict=True)) == ["newer-schema"]


# --- what this version does not know -------------------------------------------------------------------------------


def test_a_body_that_is_not_known_is_passed_over_and_counted() -> None:
    *parts, closing = payloads(encode(tiny()))
    closing.sequence = 7
    unknown = [payload(SESSION_ID, sequence, 15, b"new") for sequence in (5, 6)]

    profile = rblnpb.read(b"".join([stream(parts), *unknown, stream([closing])]))

    assert [finding.message for finding in profile.findings] == ["2 packets of body 15 are not known to this version: passed over"]
    assert profile.equals(tiny())


def test_a_kind_that_is_not_known_is_passed_over_and_its_records_counted() -> None:
    *parts, closing = payloads(encode(tiny()))
    closing.sequence = 6
    unknown = payload(SESSION_ID, 5, 11, b"\x08\x2a\xc2\x01\x00")  # 42 records of kind 24

    profile = rblnpb.read(b"".join([stream(parts), unknown, stream([closing])]))

    assert codes(profile) == ["unknown-field"]
    assert profile.findings[0].message == "42 records of kind 24 are not known to this version: passed over"
    assert profile.findings[0].count == 42


def test_a_column_that_is_not_known_is_passed_over_and_named() -> None:
    def add_column(chunk: Any) -> None:
        if chunk.HasField("launches"):
            chunk.launches.MergeFromString(b"\xfa\x01\x02\x08\x01")  # field 31, bytes

    profile = rblnpb.read(altered(encode(tiny()), "chunk", add_column))

    assert [finding.message for finding in profile.findings] == [
        "1 column 31 of launches is not known to this version: passed over"
    ]
    assert profile.launches.equals(tiny().launches)


def test_a_field_that_is_not_known_is_named_by_its_message() -> None:
    def add_field(definitions: Any) -> None:
        definitions.devices[0].MergeFromString(b"\xc0\x3e\x01")
        definitions.engines[0].MergeFromString(b"\xc0\x3e\x01\xc8\x3e\x01")

    profile = rblnpb.read(altered(encode(tiny()), "definitions", add_field))

    assert [finding.message for finding in profile.findings] == [
        "1 field of Device is not known to this version: passed over",
        "2 fields of Engine are not known to this version: passed over",
    ]
    assert profile.equals(tiny())


def test_values_of_enums_that_are_not_known_are_counted_by_name() -> None:
    def change(definitions: Any) -> None:
        definitions.engines[0].kind = 99
        definitions.clocks[0].kind = -5
        definitions.programs[0].commands[0].engine_kind = 98
        definitions.programs[0].commands[1].engine_kind = -1

    data = altered(encode(full(), "raw"), "definitions", change)
    data = altered(data, "losses", lambda losses: setattr(losses.losses[0], "reason", 77))
    data = altered(data, "header", lambda header: setattr(header.session, "name_style", 66))

    def new_activity(chunk: Any) -> None:
        if chunk.HasField("host_slices"):
            chunk.host_slices.activity.u8 = b"\x07\x07\x01"

    profile = rblnpb.read(altered(data, "chunk", new_activity))

    named = [finding.message.split(" is ")[0] for finding in profile.findings if finding.code == "unknown-value"]
    assert named == [
        "ClockKind -5",
        "EngineKind -1",
        "EngineKind 98",
        "EngineKind 99",
        "HostActivity 7",
        "LossReason 77",
        "NameStyle 66",
    ]
    assert (profile.engines[0].kind, profile.clocks[0].kind, profile.losses[0].reason, profile.session.name_style) == (0, 0, 0, 0)
    assert profile.commands.engine_kind.tolist() == [0, 98, 0]
    assert profile.host_slices.activity.tolist() == [7, 7, 1]


def test_names_that_refer_to_no_string_are_empty_and_counted() -> None:
    def change(definitions: Any) -> None:
        definitions.devices[0].name_strindex = 999
        definitions.engines[0].name_strindex = 999

    profile = rblnpb.read(altered(encode(tiny()), "definitions", change))

    assert codes(profile) == ["dangling-definition"]
    assert profile.findings[0].count == 2
    assert (profile.devices[0].name, profile.engines[0].name) == ("", "")


def test_samples_that_are_not_finite_are_left_out_and_counted() -> None:
    def change(chunk: Any) -> None:
        if chunk.HasField("counters"):
            chunk.counters.value.f64[0] = float("nan")

    profile = rblnpb.read(altered(encode(full(), "raw"), "chunk", change))

    assert (profile.findings[0].code, profile.findings[0].count) == ("not-finite", 1)
    assert profile.counters.equals(full().counters.take(slice(1, 2)))


# --- chunks one by one ---------------------------------------------------------------------------------------------


def test_chunks_come_in_the_order_of_the_file_of_all_kinds_or_of_one() -> None:
    with rblnpb.open_profile(encode(full())) as file:
        assert [chunk.head.kind for chunk in file.chunks()] == list(KINDS)
        (slices,) = file.chunks(DeviceSlices)

    assert slices.records is not None
    assert slices.records.equals(full().device_slices)


def test_raw_columns_are_read_only_views_of_the_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    start = np.arange(2**32, 2**32 + 4_000, 4, dtype=np.uint64)
    path.write_bytes(encode(tiny(counters=Counters.of(clock_id=16, time_ticks=start, value=np.arange(1_000) / 3)), "raw"))

    with rblnpb.open_profile(path) as file:
        (chunk,) = file.chunks(Counters)
        records: Any = chunk.records
        whole = np.frombuffer(file.data, np.uint8)
        for column in (records.time_ticks, records.value):
            assert np.shares_memory(column, whole)
            assert not column.flags.writeable
        assert records.time_ticks.tolist() == start.tolist()


def test_a_view_that_is_kept_outlives_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    path.write_bytes(encode(tiny(counters=Counters.of(clock_id=16, time_ticks=np.array([2**40, 2**41]))), "raw"))

    with rblnpb.open_profile(path) as file:
        (chunk,) = file.chunks(Counters)

    records: Any = chunk.records
    assert records.time_ticks.tolist() == [2**40, 2**41]


@pytest.mark.parametrize("codec", CODECS)
def test_a_chunk_that_contradicts_itself_is_named_with_its_place(codec: str) -> None:
    data = altered(encode(tiny(), codec), "chunk", lambda chunk: setattr(chunk, "count", 9))

    with rblnpb.open_profile(data) as file, pytest.raises(FormatError) as raised:
        list(file.chunks(DeviceSlices))

    assert "(chunk): column " in str(raised.value)
    assert "instead of" in str(raised.value)


def test_a_chunk_that_contradicts_itself_is_left_out_by_read() -> None:
    def change(chunk: Any) -> None:
        if chunk.HasField("device_slices"):
            chunk.count = 9

    profile = rblnpb.read(altered(encode(tiny(), "raw"), "chunk", change))

    assert codes(profile) == ["unreadable-packet", "total-differs"]
    assert "column start_ticks: 12 bytes instead of 9 records x 4" in profile.findings[0].message


def test_a_launch_id_that_its_limit_excludes_is_read_as_0_and_counted() -> None:
    def change(chunk: Any) -> None:
        if chunk.HasField("device_slices"):
            chunk.device_slices.launch_id.CopyFrom(type(chunk.device_slices.launch_id)(u64=[7, 2**63, 2**63 - 1]))

    profile = rblnpb.read(altered(encode(tiny()), "chunk", change))

    assert profile.device_slices.launch_id.tolist() == [7, 0, 2**63 - 1]
    assert [(finding.code, finding.count, finding.where) for finding in profile.findings if finding.severity == Severity.ERROR] == [
        ("impossible-value", 1, "device_slices.launch_id")
    ]


# --- windows -------------------------------------------------------------------------------------------------------


def ten_seconds() -> Profile:
    """A slice, a host slice and a launch each second, a chunk a slice; each slice waits for the one before it."""
    start_ns = np.arange(10) * 10**9
    return tiny(
        launches=Launches.of(launch_id=1 + np.arange(10), start_ns=start_ns - 5 * 10**8),
        device_slices=DeviceSlices.of(
            clock_id=np.tile([16, 1], 5),
            start_ticks=np.where(np.arange(10) % 2, start_ns, np.maximum(start_ns - 1_010, 0)),
            duration_ticks=10**8,
            launch_id=1 + np.arange(10),
        ),
        host_slices=HostSlices.of(start_ns=start_ns, duration_ns=10**8),
        dependencies=Dependencies.of(predecessor_ordinal=np.arange(9), successor_ordinal=1 + np.arange(9)),
    )


SECONDS_3_TO_5 = (3 * 10**9, 5 * 10**9)


def test_a_window_holds_what_overlaps_it_and_the_launches_of_that() -> None:
    profile = rblnpb.read(encode(ten_seconds()), window=SECONDS_3_TO_5)

    assert profile.device_slices.equals(ten_seconds().device_slices.take(slice(3, 5)))
    assert profile.host_slices.start_ns.tolist() == [3 * 10**9, 4 * 10**9]
    assert profile.launches.launch_id.tolist() == [4, 5, 6]  # the first before the window, the last in it, its slice beyond
    assert profile.dependencies.equals(Dependencies.of(1, predecessor_ordinal=0, successor_ordinal=1))
    assert profile.engines == ten_seconds().engines
    assert profile.clock_snapshots == ten_seconds().clock_snapshots
    assert [str(finding) for finding in profile.findings] == [
        (
            "info: read were records from 3,000,000,000 to 5,000,000,000 ns of the host's monotonic clock and the launches of "
            "these: counts are of this window alone [window]"
        )
    ]


def test_only_chunks_that_may_overlap_a_window_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(ten_seconds())
    decoded: list[int] = []
    decode = codec.decode_chunk

    def counting(data: Any, start: int, end: int, **options: Any) -> Any:
        decoded.append(start)
        return decode(data, start, end, **options)

    monkeypatch.setattr(codec, "decode_chunk", counting)
    rblnpb.read(data, window=SECONDS_3_TO_5)
    by_index = len(decoded)
    decoded.clear()
    rblnpb.read(b"".join(packets(data)[:-1]), window=SECONDS_3_TO_5)

    # Three of slices, of which the last begins where the window ends; launches, host slices and dependencies are one chunk each.
    assert (by_index, len(decoded)) == (6, 13)


def test_damage_is_found_in_the_chunks_of_a_window_alone() -> None:
    parts = packets(encode(ten_seconds()))
    broken = [part[:-1] + bytes([part[-1] ^ 1]) if row in {6, 7} else part for row, part in enumerate(parts)]  # slices 2 and 3

    profile = rblnpb.read(b"".join(broken), window=SECONDS_3_TO_5)

    assert [finding.code for finding in profile.findings] == ["damaged-packet", "window"]
    assert profile.device_slices.equals(ten_seconds().device_slices.take(slice(4, 5)))


def test_an_empty_window_holds_no_record_and_one_that_ends_before_it_starts_is_refused() -> None:
    data = encode(ten_seconds())

    assert [len(rblnpb.read(data, window=(3 * 10**9, 3 * 10**9)).table(kind)) for kind in KINDS] == [0] * len(KINDS)
    with pytest.raises(ValueError, match="a window ends after it starts: 5 to 3 ns"):
        rblnpb.read(data, window=(5, 3))


def test_the_bounds_of_a_file_are_those_of_its_records() -> None:
    data = encode(ten_seconds())

    for part in (data, b"".join(packets(data)[:-1]), altered(data, "closing", lambda closing: closing.ClearField("index"))):
        with rblnpb.open_profile(part) as file:
            assert file.bounds_ns() == (-5 * 10**8, 9 * 10**9 + 10**8)
    with rblnpb.open_profile(encode(Profile(Session(7)))) as file:
        assert file.bounds_ns() is None


# --- limits --------------------------------------------------------------------------------------------------------


def test_many_tiny_chunks_that_claim_many_records_are_refused_before_memory_is_taken() -> None:
    header = packets(encode(tiny()))[0]
    claim = b"\x08\x80\x80\x04\x8a\x01\x00"  # 65,536 device slices, every column absent
    data = header + b"".join(payload(SESSION_ID, row, 11, claim) for row in range(1, 1_000))

    with pytest.raises(FormatError, match="it is made to fill the memory"):
        rblnpb.read(data)
    with rblnpb.open_profile(data) as file:
        assert sum(chunk.head.count for chunk in file.chunks(DeviceSlices)) == 999 * 65_536


def test_sessions_of_a_file_share_what_it_may_claim() -> None:
    # A chunk of 65,536 device slices takes 88 bytes each, so one fits and two do not.
    limits = rblnpb.Limits(record_bytes=8_000_000)
    claim = b"\x08\x80\x80\x04\x8a\x01\x00"
    one, other = (packets(encode(tiny(session=Session(n))))[0] + payload(n, 1, 11, claim) for n in (1, 2))

    assert len(rblnpb.read(one, limits=limits).device_slices) == 65_536
    with pytest.raises(FormatError, match="its chunks claim more than 8,000,000 bytes of records"):
        rblnpb.read_all(one + other, limits=limits)


def test_what_a_small_file_may_claim_is_enough_for_honest_ones() -> None:
    table: Table = DeviceSlices.of(500_000, clock_id=16, engine_id=1, launch_id=7, duration_ticks=1)

    assert rblnpb.read(encode(tiny(device_slices=table), "zstd")).device_slices.equals(table)


def test_a_text_column_that_claims_more_than_a_gibibyte_is_left_out() -> None:
    def change(chunk: Any) -> None:
        if chunk.HasField("trace_events"):
            chunk.trace_events.arguments.size_bytes.Clear()
            chunk.trace_events.arguments.size_bytes.constant = 1 << 30

    profile = rblnpb.read(altered(encode(full()), "chunk", change))

    assert "unreadable-packet" in codes(profile)
    assert profile.trace_events.equals(TraceEvents.empty())


def test_texts_are_bounded_as_the_caller_asks() -> None:
    limits = rblnpb.Limits(text_bytes=100)
    profile = rblnpb.read(encode(full()), limits=limits)

    assert "unreadable-packet" in codes(profile)
    assert "and a chunk may hold 100" in profile.findings[0].message
    assert profile.trace_events.equals(TraceEvents.empty())
    with rblnpb.open_profile(encode(full()), limits=limits) as file, pytest.raises(FormatError, match="may hold 100"):
        list(file.chunks(TraceEvents))


def definitions_of(count: int) -> bytes:
    """A file that defines so many engines in two bytes each, and as many commands."""
    parts = packets(encode(tiny()))
    engines, programs = b"\x2a\x00" * count, b"\x32" + varint(2 * count + 2) + b"\x28\x01" + b"\x32\x00" * count
    rows = [payload(SESSION_ID, 6, 9, engines), payload(SESSION_ID, 7, 9, programs)]
    return b"".join([*parts, *rows])


def test_rows_that_a_session_defines_are_bounded_before_memory_is_taken_for_them() -> None:
    data = definitions_of(1_000)
    rows = 21  # of the tiny profile: 11 strings, a clock, a device, an engine, 3 readings; in the end 2 totals and 2 chunks

    profile = rblnpb.read(data, limits=rblnpb.Limits(definition_count=rows + 1_000))
    fewer = rblnpb.read(data, limits=rblnpb.Limits(definition_count=rows + 999))

    assert [codes(one).count("unreadable-packet") for one in (profile, fewer, rblnpb.read(data))] == [1, 2, 0]
    assert len(profile.engines) == 1_001
    assert len(rblnpb.read(data).commands) == 1_001
    message = next(one.message for one in profile.findings if one.code == "unreadable-packet")
    assert message.endswith("with it the session defines more than 1,021 rows (Limits.definition_count)")


def test_what_is_around_archived_events_is_bounded_as_texts_are() -> None:
    def change(document: Any) -> None:
        document.around.size_bytes.Clear()
        document.around.size_bytes.constant = 1 << 30

    profile = rblnpb.read(altered(encode(full()), "trace_document", change))

    assert "unreadable-packet" in codes(profile)
    assert profile.trace_document is None

    with pytest.raises(FormatError, match="claim more than 8,000,000 bytes"):
        rblnpb.read(
            encode(tiny(trace_document=TraceDocument(bytes(8_000_001), b"")), "zstd"), limits=rblnpb.Limits(record_bytes=8_000_000)
        )


class _Failing(io.RawIOBase):
    """A stream of which nothing can be read."""

    def readable(self) -> bool:
        return True

    def readall(self) -> bytes:
        raise OSError(errno.EIO, "Input/output error")


def test_a_stream_that_fails_is_an_error_of_ours() -> None:
    closed = io.BytesIO()
    closed.close()

    for source, reason in ((_Failing(), "input/output error"), (closed, "I/O operation on closed file.")):
        with pytest.raises(FormatError, match=f"^cannot read <stream>: {reason}$"):
            rblnpb.read(source)  # type: ignore[arg-type]  # a raw stream reads as any other
