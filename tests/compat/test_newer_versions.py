"""Files as a newer version of the format would write them: what is known is read, what is new is named, nothing is nonsense."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rblnpb
from rblnpb.columns import DeviceSlices
from rblnpb.container import SCHEMA_VERSION, payload, varint
from rblnpb.converters.sources.archive import archived_trace
from rblnpb.errors import CheckError, FormatError, VersionError
from rblnpb.profile import KINDS, EngineKind, Profile
from rblnpb.v1 import columns_pb2, session_pb2, stream_pb2
from tests.support.archives import archive
from tests.support.format_specimens import everything
from tests.support.profiles import altered, codes, encode, packets, payloads, stream, tiny

OWN = ".".join(map(str, SCHEMA_VERSION))
MINOR_99 = 99
GREATEST = (1 << 29) - 1
"""Number of a field."""
NUMBERS = {"Payload": 7, "Chunk": 15}
"""Of new fields where greater ones mean bodies and kinds."""


def new_fields(name: str) -> bytes:
    """Four new fields of a message: a number, bytes, and two of fixed width."""
    tags = [varint(NUMBERS.get(name, GREATEST) << 3 | wire) for wire in (0, 2, 1, 5)]
    return b"".join(tag + content for tag, content in zip(tags, (b"\x07", b"\x02ab", bytes(8), bytes(4)), strict=True))


def newer(data: bytes) -> bytes:
    """The same file, said to be of minor version 99."""
    return altered(data, "header", lambda header: setattr(header, "schema_minor", MINOR_99))


def walked(message: Any) -> Iterator[Any]:
    """A message and those in it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if hasattr(value, "add") else (value,):
                yield from walked(inner)


def extended(data: bytes, name: str) -> tuple[bytes, int]:
    """The file with four new fields in each message of a name, and how many there are."""
    parts, count = payloads(data), 0
    for part in parts:
        for message in list(walked(part)):
            if message.DESCRIPTOR.name == name:
                message.MergeFromString(new_fields(name))
                count += 1
    return stream(parts), count


def without_findings(profile: Profile) -> Profile:
    return profile.replace(findings=())


MESSAGES = sorted(
    {
        message.DESCRIPTOR.name
        for codec in ("raw", "zlib")
        for part in payloads(encode(everything(), codec))
        for message in walked(part)
    }
)


NAMES = {field.message_type.name: field.name for field in columns_pb2.Chunk.DESCRIPTOR.fields if field.message_type}
"""Of messages that are kinds of records: what they are called."""


def test_every_message_of_the_schema_is_extended_here() -> None:
    schema = {name for module in (columns_pb2, session_pb2, stream_pb2) for name in module.DESCRIPTOR.message_types_by_name}

    # A packet's other fields are Perfetto's, and a stream is nothing but packets.
    assert schema - set(MESSAGES) == {"Packet", "Stream"}


@pytest.mark.parametrize("codec", ["raw", "zlib"])
@pytest.mark.parametrize("name", MESSAGES)
def test_new_fields_of_a_message_are_passed_over_and_named(name: str, codec: str) -> None:
    data, count = extended(newer(encode(everything(), codec)), name)
    before = rblnpb.read(newer(encode(everything(), codec)))
    if not count:
        assert (name, codec) == ("PackedValues", "raw")
        return

    profile = rblnpb.read(data)

    assert without_findings(profile).equals(without_findings(before))
    new = [finding for finding in profile.findings if finding not in before.findings]
    assert {finding.code for finding in new} == {"unknown-field"}
    assert all(NAMES.get(name, name) in finding.message for finding in new)
    assert sum(finding.count for finding in new) == 4 * count
    with pytest.raises(CheckError):
        rblnpb.read(data, strict=True)


# --- what else a newer version may add -----------------------------------------------------------------------------


def with_more(data: bytes, *more: Callable[[int, int], bytes]) -> bytes:
    """The file with further packets before its last one; each is told session and ordinal."""
    *parts, closing = payloads(data)
    session_id, sequence = closing.session_id, closing.sequence
    closing.sequence += len(more)
    return stream(parts) + b"".join(make(session_id, sequence + row) for row, make in enumerate(more)) + stream([closing])


def messages(profile: Profile, code: str) -> list[str]:
    return [finding.message for finding in profile.findings if finding.code == code]


def test_a_newer_minor_version_alone_is_worth_knowing_and_no_more() -> None:
    profile = rblnpb.read(newer(encode(tiny())), strict=True)

    assert [str(finding) for finding in profile.findings] == [
        f"info: a newer schema ({SCHEMA_VERSION[0]}.99) wrote it; what only that knows was passed over [newer-schema]"
    ]
    assert profile.session.schema_version == (SCHEMA_VERSION[0], 99)
    assert without_findings(profile).replace(session=tiny().session).equals(tiny())


def test_new_bodies_and_kinds_are_passed_over_and_their_packets_and_records_counted() -> None:
    data = with_more(
        newer(encode(tiny())),
        lambda session_id, sequence: payload(session_id, sequence, 15, b"new"),
        lambda session_id, sequence: payload(session_id, sequence, 2_000, b""),
        lambda session_id, sequence: payload(session_id, sequence, 11, b"\x08\x2a\x10\x10\xc2\x01\x00"),  # 42 of kind 24
        lambda session_id, sequence: payload(session_id, sequence, 11, b"\x08\x01\xe2\x3f\x03abc"),  # 1 of kind 1020
    )

    profile = rblnpb.read(data)

    assert messages(profile, "unknown-field") == [
        "1 packet of body 15 is not known to this version: passed over",
        "1 packet of body 2000 is not known to this version: passed over",
        "1 record of kind 1020 is not known to this version: passed over",
        "42 records of kind 24 are not known to this version: passed over",
    ]
    assert codes(profile) == ["unknown-field"] * 4 + ["newer-schema"]
    assert without_findings(profile).replace(session=tiny().session).equals(tiny())
    with pytest.raises(CheckError, match="not known to this version"):
        rblnpb.read(data, strict=True)
    with rblnpb.open_profile(data) as file:
        assert [(chunk.head.kind, chunk.records is None) for chunk in file.chunks()] == [
            *((kind, False) for kind in KINDS if kind in (16, 17)),
            (24, True),
            (1020, True),
        ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_column_of_a_kind_is_passed_over_and_named(kind: int) -> None:
    label = KINDS[kind].label

    def add_column(chunk: Any) -> None:
        if chunk.WhichOneof("records") == label:
            getattr(chunk, label).MergeFromString(b"\xfa\x01\x02\x08\x01")  # field 31

    profile = rblnpb.read(altered(newer(encode(everything())), "chunk", add_column))

    assert messages(profile, "unknown-field") == [f"1 column 31 of {label} is not known to this version: passed over"]
    assert getattr(profile, label).equals(getattr(everything(), label))


def test_new_values_of_enums_are_named_with_their_numbers() -> None:
    def define(definitions: Any) -> None:
        definitions.engines[3].kind = definitions.programs[0].commands[3].engine_kind = 99
        definitions.clocks[0].kind = 98

    def record(chunk: Any) -> None:
        for label, column in (("host_slices", "activity"), ("overheads", "overhead")):
            if chunk.WhichOneof("records") == label:
                getattr(getattr(chunk, label), column).CopyFrom(columns_pb2.Column(u8=b"\x01\x61\x02\x61\x61\x03"))

    data = altered(newer(encode(everything(), "raw")), "definitions", define)
    data = altered(altered(data, "chunk", record), "losses", lambda losses: setattr(losses.losses[0], "reason", 96))

    profile = rblnpb.read(altered(data, "header", lambda header: setattr(header.session, "name_style", 95)))

    assert messages(profile, "unknown-value") == [
        f"{value} is not known to this version: it has no name"
        for value in ("ClockKind 98", "EngineKind 99", "HostActivity 97", "LossReason 96", "NameStyle 95", "OverheadKind 97")
    ]
    assert [finding.count for finding in profile.findings if finding.code == "unknown-value"] == [1, 2, 3, 1, 1, 3]
    # Where records hold it the number stays, and so do all others.
    assert profile.host_slices.activity.tolist() == profile.overheads.overhead.tolist() == [1, 97, 2, 97, 97, 3]
    assert (profile.commands.engine_kind[4], profile.engines[3].kind) == (99, EngineKind.UNKNOWN)
    assert profile.device_slices.equals(everything().device_slices)
    with pytest.raises(CheckError):
        rblnpb.read(data, strict=True)


def new_codec(columns: Any) -> None:
    columns.start_ticks.packed.codec = 7


def new_transform(columns: Any) -> None:
    columns.start_ticks.packed.transforms.append(9)


def new_form(columns: Any) -> None:
    columns.start_ticks.Clear()
    columns.start_ticks.MergeFromString(b"\x42\x01\x00")  # field 8


def new_codec_of_validity(columns: Any) -> None:
    columns.sequence.validity.codec = 7


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (new_codec, "column start_ticks: codec 7 is not known to this version"),
        (new_transform, "column start_ticks: transform 9 is not known to this version"),
        (new_form, "column start_ticks: it has no form that this version knows: [8]"),
        (new_codec_of_validity, "column sequence: codec 7 is not known to this version"),
    ],
)
def test_a_chunk_stored_in_a_new_way_is_left_out_and_the_others_are_read(change: Callable[[Any], None], reason: str) -> None:
    def in_slices(chunk: Any) -> None:
        if chunk.WhichOneof("records") == "device_slices":
            change(chunk.device_slices)

    data = altered(newer(encode(everything(), "zlib")), "chunk", in_slices)

    profile = rblnpb.read(data)

    assert [message.partition(": ")[2] for message in messages(profile, "unreadable-packet")] == [reason]
    assert messages(profile, "total-differs") == ["0 device_slices were read, the closing packet says 6"]
    assert len(profile.device_slices) == 0
    assert profile.host_slices.equals(everything().host_slices)
    with rblnpb.open_profile(data) as file, pytest.raises(FormatError) as raised:
        list(file.chunks(DeviceSlices))
    assert str(raised.value).endswith(f" (chunk): {reason}")


def test_text_stored_in_a_new_way_is_left_out_with_its_chunk() -> None:
    def change(chunk: Any) -> None:
        if chunk.WhichOneof("records") == "trace_events":
            chunk.trace_events.arguments.codec = 7

    profile = rblnpb.read(altered(newer(encode(everything(), "zlib")), "chunk", change))

    assert "column arguments: codec 7 is not known to this version" in messages(profile, "unreadable-packet")[0]
    assert profile.device_slices.equals(everything().device_slices)


def test_a_layout_with_new_marks_is_refused_by_name() -> None:
    profile = rblnpb.read(archive(b'{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2}]}'))
    strings = tuple(text.replace("\x1as", "\x1aZ") for text in profile.strings)

    assert strings != profile.strings
    with pytest.raises(FormatError, match="a newer version wrote it"):
        archived_trace(profile.replace(strings=strings))


@pytest.mark.parametrize(("major", "minor"), [(SCHEMA_VERSION[0] + 1, 0), (SCHEMA_VERSION[0] + 7, 9), (2**32 - 1, 0)])
def test_a_newer_major_version_is_refused_by_name_by_every_reader(major: int, minor: int) -> None:
    data = newer(encode(tiny(session=rblnpb.Session(9))))
    data = altered(data, "header", lambda header: setattr(header, "schema_major", major))
    data = altered(data, "header", lambda header: setattr(header, "schema_minor", minor))

    for read in (rblnpb.read, rblnpb.read_all, rblnpb.open_profile):
        for source in (data, encode(tiny()) + data, b"".join(reversed(packets(data)))):
            with pytest.raises(VersionError) as raised:
                read(source)
            assert (
                raised.value.reason == f"schema {major}.{minor} wrote it and this version reads up to {OWN}: install a newer rblnpb"
            )


def test_all_that_is_new_at_once_leaves_what_is_known() -> None:
    data = newer(encode(everything(), "zstd"))
    before = rblnpb.read(data)
    for name in MESSAGES:
        data, _ = extended(data, name)
    data = with_more(data, lambda session_id, sequence: payload(session_id, sequence, 15, b"new"))

    profile = rblnpb.read(data)
    with rblnpb.open_profile(data) as file:
        _, slices = file.profile_and_slices()
        stored = slices.take(slice(None))
        bounds = file.bounds_ns()
        window = file.profile(window=bounds)

    assert without_findings(profile).equals(without_findings(before))
    assert stored.equals(before.device_slices)
    assert window.host_slices.equals(before.host_slices.take(before.host_slices.start_ns < (bounds or (0, 0))[1]))
    assert {"unknown-field", "newer-schema"} <= set(codes(profile))
    assert not {"unreadable-packet", "damaged-packet", "total-differs"} & set(codes(profile))
