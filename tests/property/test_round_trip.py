"""What is written is what is read: for every profile, every codec, every parser, every order of interning, every cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rblnpb
from rblnpb.columns import ABSENT, Table, TextArray
from rblnpb.container import BODY_NAMES
from rblnpb.profile import KINDS, Profile
from rblnpb.v1 import columns_pb2, stream_pb2
from tests.support.profiles import CODECS, body_of, codes, encode, full, packets, payloads
from tests.support.strategies import profiles

FEW = settings(max_examples=60)


def generated_columns(message: Any, table: type[Table], count: int) -> dict[str, list[int | float]]:
    """Columns of numbers as protobuf's generated code reads raw chunks, by the rules of the schema's comments alone."""
    columns: dict[str, list[int | float]] = {}
    for name, (dtype, nullable) in table.schema().items():
        if dtype is None or name == "clock_id":
            continue
        if not message.HasField(name):
            columns[name] = [ABSENT if nullable else 0] * count
            continue
        column = getattr(message, name)
        values: list[Any]
        if column.HasField("constant"):
            # A double's constant is its bits.
            values = [np.uint64(column.constant).view(np.float64) if dtype.kind == "f" else column.constant] * count
            bits = 64
        else:
            values = list(column.u8 or column.u32 or column.u64 or column.f64)
            bits = 8 if column.u8 else 32 if column.u32 else 64
        if name in table.signed_columns():
            values = [value - (1 << bits) if value >> bits - 1 else value for value in values]
        if column.HasField("validity"):
            has_value = [column.validity.bits[i // 8] >> i % 8 & 1 for i in range(count)]
            values = [value if valid else ABSENT for value, valid in zip(values, has_value, strict=True)]
        columns[name] = values
    return columns


def assert_generated_code_reads_raw_columns(data: bytes) -> None:
    chunks = [body_of(payload) for payload in payloads(data) if payload.WhichOneof("body") == "chunk"]
    with rblnpb.open_profile(data) as file:
        for message, chunk in zip(chunks, file.chunks(), strict=True):
            assert chunk.records is not None
            kind = message.WhichOneof("records")
            ours = {name: column for name, column in chunk.records.columns().items() if not isinstance(column, TextArray)}
            ours.pop("clock_id", None)
            assert kind == chunk.records.label
            columns = generated_columns(getattr(message, kind), KINDS[chunk.head.kind], message.count)
            assert columns == {name: column.tolist() for name, column in ours.items()}


def assert_protobuf_parses_a_stream_without_unknown_fields(data: bytes, profile: Profile) -> None:
    whole = stream_pb2.Stream.FromString(data)
    known = stream_pb2.Stream.FromString(data)
    known.DiscardUnknownFields()
    assert known == whole
    assert [payload.sequence for payload in payloads(data)] == list(range(len(whole.packet)))
    assert {payload.session_id for payload in payloads(data)} == {profile.session.session_id}


def assert_chunks_hold_the_same_records(files: list[bytes]) -> None:
    decoded = []
    for data in files:
        with rblnpb.open_profile(data) as file:
            decoded.append([(chunk.head, chunk.records) for chunk in file.chunks()])
    for others in decoded[1:]:
        for (head, records), (other_head, other_records) in zip(decoded[0], others, strict=True):
            assert head == other_head
            assert records is not None
            assert records.equals(other_records)


@given(profiles())
def test_every_codec_writes_the_same_bytes_again_and_they_are_what_was_written_for_every_parser(profile: Profile) -> None:
    # One property of many parts: to make the profile takes longer than all of them.
    files = {codec: encode(profile, codec) for codec in CODECS}
    for codec, data in files.items():
        read = rblnpb.read(data)
        assert read.equals(profile)
        assert encode(read, codec) == encode(profile, codec) == data
        assert_protobuf_parses_a_stream_without_unknown_fields(data, profile)
    assert_chunks_hold_the_same_records([*files.values()])
    assert_generated_code_reads_raw_columns(files["raw"])


def resolved(profile: Profile) -> dict[str, list[Any]]:
    """The records with their strings in place of rows."""
    texts: dict[str, list[Any]] = {}
    for kind in KINDS:
        for name, column in profile.table(kind).columns().items():
            if name.endswith("_strindex"):
                texts[f"{kind}.{name}"] = [profile.strings[row] for row in column.tolist()]
    texts["commands"] = [profile.strings[row] for row in profile.commands.layer_strindex.tolist()]
    names = (profile.clocks, profile.devices, profile.engines, profile.programs)
    texts["names"] = [row.name for rows in names for row in rows]
    return texts


@given(profiles(), st.randoms(use_true_random=False))
def test_the_order_of_interning_changes_no_record(profile: Profile, random: Any) -> None:
    order = list(range(1, len(profile.strings)))
    random.shuffle(order)
    row_of = np.zeros(len(profile.strings), np.uint32)
    row_of[order] = np.arange(1, len(profile.strings))
    changes: dict[str, Any] = {"strings": ("", *(profile.strings[row] for row in order))}
    for kind in KINDS:
        table = profile.table(kind)
        moved = {name: row_of[column] for name, column in table.columns().items() if name.endswith("_strindex")}
        changes[table.label] = table.replace(**moved)
    changes["commands"] = type(profile.commands)(
        **{**vars(profile.commands), "layer_strindex": row_of[profile.commands.layer_strindex]}
    )

    assert resolved(rblnpb.read(encode(profile.replace(**changes)))) == resolved(rblnpb.read(encode(profile)))


def is_prefix(part: Profile, whole: Profile) -> bool:
    return all(
        part.table(kind).equals(whole.table(kind).take(slice(0, len(part.table(kind)))))
        or part.table(kind).equals(type(whole.table(kind)).empty())
        for kind in KINDS
    )


def test_a_file_cut_at_any_byte_reads_up_to_the_cut_and_says_so() -> None:
    data, whole = encode(full(), "raw"), full()
    ends = np.cumsum([len(packet) for packet in packets(data)]).tolist()
    assert ends[-1] == len(data)

    for size in range(1, len(data)):
        cut = data[:size]
        if size < ends[0]:
            with pytest.raises(rblnpb.FormatError) as raised:
                rblnpb.read(cut)
            assert type(raised.value).__name__ == "TruncatedError", size
            continue
        part = rblnpb.read(cut)
        assert not part.is_complete
        assert ("truncated" in codes(part)) == (size not in ends)
        assert "not-ended" in codes(part)
        assert is_prefix(part, whole), size
        expected = sum(end <= size for end in ends)
        with rblnpb.open_profile(cut) as file:
            assert len(file.scan.frames) == expected


@FEW
@given(profiles(), st.data())
def test_no_cut_yields_a_record_that_was_not_written(profile: Profile, data: st.DataObject) -> None:
    whole = encode(profile, data.draw(st.sampled_from(CODECS)))
    size = data.draw(st.integers(0, len(whole) - 1))

    try:
        part = rblnpb.read(whole[:size])
    except rblnpb.FormatError:
        assert size < len(packets(whole)[0])
    else:
        assert is_prefix(part, profile)
        assert not part.is_complete or not profile.is_complete


@FEW
@given(profiles(), profiles())
def test_files_put_together_are_refused_by_read_and_given_whole_by_read_all(first: Profile, second: Profile) -> None:
    if first.session.session_id == second.session.session_id:
        return
    data = encode(first) + encode(second)

    with pytest.raises(rblnpb.MergeError, match="2 sessions"):
        rblnpb.read(data)
    one, other = rblnpb.read_all(data)
    assert one.equals(first)
    assert other.equals(second)


@given(profiles(), st.data())
def test_a_flipped_byte_in_a_body_is_named_and_nothing_else_is_lost(profile: Profile, data: st.DataObject) -> None:
    whole = encode(profile)
    with rblnpb.open_profile(whole) as file:
        frames = [frame for frame in file.scan.frames if frame.end > frame.start]
    frame = data.draw(st.sampled_from(frames))
    at = data.draw(st.integers(frame.start, frame.end - 1))
    flipped = bytearray(whole)
    flipped[at] ^= data.draw(st.integers(1, 255))

    (read,) = rblnpb.read_all(bytes(flipped))

    named = [finding for finding in read.findings if finding.code == "damaged-packet"]
    assert [finding.where for finding in named] == [f"byte {frame.offset}"]
    if BODY_NAMES[frame.body] == "chunk":
        intact = [kind for kind in KINDS if not rblnpb.read(whole).table(kind).equals(read.table(kind))]
        assert len(intact) <= 2  # the kind itself, and dependencies on lost slices


def test_every_body_has_a_name_in_the_schema() -> None:
    oneof = stream_pb2.Payload.DESCRIPTOR.oneofs_by_name["body"]

    assert {field.number: field.name for field in oneof.fields} == BODY_NAMES


def test_every_kind_has_a_table() -> None:
    oneof = columns_pb2.Chunk.DESCRIPTOR.oneofs_by_name["records"]

    assert {field.number: field.name for field in oneof.fields} == {kind: table.label for kind, table in KINDS.items()}
