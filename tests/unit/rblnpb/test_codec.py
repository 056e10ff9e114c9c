"""Messages and columns: forms, widths, transforms, presence; and what is refused, each with its reason."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.codec import CodecError, Tables, Unknowns, chunk_head, decode_chunk, encode_chunk, parse
from rblnpb.columns import ABSENT, Counters, DeviceSlices, HostSlices, Launches, Table, TextArray, TraceEvents
from rblnpb.profile import KINDS, EngineKind
from rblnpb.v1 import columns_pb2, session_pb2
from tests.support.profiles import CODECS
from tests.support.strategies import columns_of


def decoded(data: bytes) -> Table:
    head, table = decode_chunk(data, 0, len(data))
    assert table is not None
    assert len(table) == head.count
    return table


def encoded(table: Table, codec: str = "raw") -> columns_pb2.Chunk:
    return columns_pb2.Chunk.FromString(encode_chunk(table, 0, 0, codec))


def launches(count: int, **columns: Any) -> bytes:
    """A chunk of launches whose columns are encoded messages."""
    return columns_pb2.Chunk(count=count, launches=columns_pb2.LaunchColumns(**columns)).SerializeToString()


def form(**values: Any) -> columns_pb2.Column:
    return columns_pb2.Column(**values)


def packed(data: bytes, *transforms: int, value_width: int = 4, stored_width: int = 4, codec: int = 0, first_value: int = 0) -> Any:
    return form(
        packed=columns_pb2.PackedValues(
            codec=codec,  # type: ignore[arg-type]  # numbers that the schema does not have are what is tested
            transforms=transforms,  # type: ignore[arg-type]
            value_width=value_width,
            stored_width=stored_width,
            first_value=first_value,
            data=data,
        )
    )


# --- writing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("top", "name"), [(255, "u8"), (256, "u32"), (2**32 - 1, "u32"), (2**32, "u64"), (2**63, "u64"), (2**64 - 1, "u64")]
)
def test_a_column_takes_the_narrowest_form_that_holds_every_value(top: int, name: str) -> None:
    table = DeviceSlices.of(start_ticks=np.array([0, top], np.uint64))
    column = encoded(table).device_slices.start_ticks

    assert [field.name for field, _ in column.ListFields()] == [name]
    assert list(getattr(column, name)) == [0, top]
    assert decoded(encode_chunk(table, 0, 0, "raw")).equals(table)


@pytest.mark.parametrize(
    ("low", "high", "name"),
    [(-128, 127, "u8"), (-129, 0, "u32"), (0, 128, "u32"), (-(2**31), 2**31 - 1, "u32"), (0, 2**31, "u64"), (-(2**63), 0, "u64")],
)
def test_a_signed_column_is_twos_complement_at_its_width(low: int, high: int, name: str) -> None:
    table = Launches.of(start_ns=np.array([low, high]))
    column = encoded(table).launches.start_ns
    bits = {"u8": 8, "u32": 32, "u64": 64}[name]

    assert [field.name for field, _ in column.ListFields()] == [name]
    assert list(getattr(column, name)) == [low % 2**bits, high % 2**bits]
    assert decoded(encode_chunk(table, 0, 0, "raw")).equals(table)


def test_a_column_of_int64_that_is_not_signed_uses_all_its_bits() -> None:
    table = Launches.of(sequence=np.array([0, 200]), thread_id=np.array([0, 2**32 - 1]))
    columns = encoded(table).launches

    assert (columns.sequence.u8, list(columns.thread_id.u32)) == (b"\x00\xc8", [0, 2**32 - 1])
    assert decoded(encode_chunk(table, 0, 0, "raw")).equals(table)


@pytest.mark.parametrize(("value", "bits"), [(7, 7), (-1, 2**64 - 1), (-(2**63), 2**63)])
def test_one_value_for_all_stands_once(value: int, bits: int) -> None:
    table = Launches.of(3, start_ns=value)

    assert encoded(table).launches.start_ns == form(constant=bits)
    assert decoded(encode_chunk(table, 0, 0, "zstd")).equals(table)


def test_a_column_of_zeros_is_left_out() -> None:
    assert encoded(Launches.of(3)).launches == columns_pb2.LaunchColumns()


NULLABLE = [(kind, name) for kind, table in KINDS.items() for name, (_, nullable) in table.schema().items() if nullable]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("values", [[0, 0], [ABSENT, ABSENT], [0, ABSENT], [ABSENT, 0], [5, ABSENT], [5, 5], [0, 5]])
@pytest.mark.parametrize(("kind", "name"), NULLABLE)
def test_zero_and_absent_are_two_things_in_every_nullable_column(kind: int, name: str, values: list[int], codec: str) -> None:
    table = KINDS[kind].of(2, **{name: np.array(values)})

    assert getattr(decoded(encode_chunk(table, 0, 0, codec)), name).tolist() == values


def test_a_column_that_is_recorded_nowhere_is_left_out_and_one_of_zeros_is_not() -> None:
    columns = encoded(HostSlices.of(2, size_bytes=ABSENT)).host_slices
    zeros = encoded(HostSlices.of(2, size_bytes=0)).host_slices

    assert not columns.HasField("size_bytes")
    assert zeros.size_bytes == form(constant=0)


def test_doubles_keep_their_bits() -> None:
    values = np.array([-0.0, 0.1, 1.7e308, 5e-324])
    (column,) = (encoded(Counters.of(value=values)).counters.value,)

    assert np.array(column.f64).tobytes() == values.tobytes()
    for codec in CODECS:
        table = decoded(encode_chunk(Counters.of(value=values), 0, 0, codec))
        assert isinstance(table, Counters)
        assert table.value.tobytes() == values.tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_double_that_is_not_finite_is_not_written(value: float) -> None:
    with pytest.raises(CodecError, match="counters: column value: it holds what is no finite number"):
        encode_chunk(Counters.of(value=np.array([0.5, value])), 0, 0, "raw")


def test_ordinal_and_clock_stand_once_in_a_chunk() -> None:
    data = encode_chunk(DeviceSlices.of(2, clock_id=16), 16, 65_536, "raw")

    assert columns_pb2.Chunk.FromString(data) == columns_pb2.Chunk(
        count=2, clock_id=16, first_ordinal=65_536, device_slices=columns_pb2.DeviceSliceColumns()
    )
    assert decoded(data).equals(DeviceSlices.of(2, clock_id=16))


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 70_000])
@pytest.mark.parametrize("codec", CODECS)
def test_texts_of_every_length_come_back(size: int, codec: str) -> None:
    table = TraceEvents.of(arguments=TextArray.of([b"", b"x" * size, b"yy"]))

    assert decoded(encode_chunk(table, 0, 0, codec)).equals(table)


columns = st.integers(1, 40).flatmap(
    lambda count: st.tuples(
        columns_of(np.dtype(np.uint64), count, nullable=False, signed=False),
        columns_of(np.dtype(np.int64), count, nullable=False, signed=True),
        columns_of(np.dtype(np.int64), count, nullable=True, signed=True),
    )
)


@given(columns, st.sampled_from(CODECS))
def test_columns_come_back_from_every_codec(values: tuple[Any, Any, Any], codec: str) -> None:
    table = TraceEvents.of(start_ns=values[2])
    other = Launches.of(start_ns=values[1])
    ticks = DeviceSlices.of(start_ticks=values[0])

    assert decoded(encode_chunk(table, 0, 0, codec)).equals(table)
    assert decoded(encode_chunk(other, 0, 0, codec)).equals(other)
    assert decoded(encode_chunk(ticks, 0, 0, codec)).equals(ticks)


# --- reading what others wrote -------------------------------------------------------------------------------------


def slow_delta_zigzag(values: list[int], first_value: int, width: int) -> bytes:
    """The transform as its comment in the schema states it, one number at a time."""
    stored, before = b"", first_value
    for value in values:
        difference = (value - before) % 2**64
        signed = difference - 2**64 if difference >= 2**63 else difference
        stored += (((signed << 1) ^ (signed >> 63)) % 2**64).to_bytes(width, "little")
        before = value
    return stored


def slow_byte_shuffle(data: bytes, width: int) -> bytes:
    return bytes(data[i * width + k] for k in range(width) for i in range(len(data) // width))


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9), st.integers(0, 2**64 - 1), st.permutations((0, 1, 2)))
def test_transforms_are_undone_from_last_to_first(values: list[int], first_value: int, transforms: list[int]) -> None:
    data = b"".join(value.to_bytes(8, "little") for value in values)
    for transform in transforms:
        if transform == columns_pb2.TRANSFORM_DELTA_ZIGZAG:
            numbers = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
            data = slow_delta_zigzag(numbers, first_value, 8)
        elif transform == columns_pb2.TRANSFORM_BYTE_SHUFFLE:
            data = slow_byte_shuffle(data, 8)
    column = packed(data, *transforms, value_width=8, stored_width=8, first_value=first_value)

    table = decoded(launches(len(values), launch_id=column))

    assert isinstance(table, Launches)
    assert table.launch_id.tolist() == values


def test_differences_may_be_stored_narrower_than_values() -> None:
    values = [2**40, 2**40 - 3, 2**40 + 100]
    column = packed(slow_delta_zigzag(values, 2**40, 1), 1, value_width=8, stored_width=1, first_value=2**40)

    assert decoded(launches(3, launch_id=column)).columns()["launch_id"].tolist() == values


def test_differences_wrap_modulo_2_to_the_64() -> None:
    values = [2**64 - 1, 0, 2**63]
    column = packed(slow_delta_zigzag(values, 0, 8), 1, value_width=8, stored_width=8)

    assert decoded(launches(3, launch_id=column)).columns()["launch_id"].tolist() == values


def test_validity_bits_are_read_from_the_lowest() -> None:
    validity = columns_pb2.Validity(bits=b"\x05\x01")
    column = form(u8=bytes(range(9)), validity=validity)
    data = columns_pb2.Chunk(count=9, host_slices=columns_pb2.HostSliceColumns(size_bytes=column)).SerializeToString()

    table = decoded(data)

    assert isinstance(table, HostSlices)
    assert table.size_bytes.tolist() == [0, ABSENT, 2, *[ABSENT] * 5, 8]


def test_validity_of_a_column_that_is_not_nullable_changes_nothing() -> None:
    column = form(u8=b"\x01\x02", validity=columns_pb2.Validity(bits=b"\x01"))

    assert decoded(launches(2, launch_id=column)).columns()["launch_id"].tolist() == [1, 2]


def test_a_wider_form_than_needed_is_read() -> None:
    assert decoded(launches(2, program_id=form(u64=[1, 2]))).columns()["program_id"].tolist() == [1, 2]


def test_a_zlib_stream_of_any_level_and_a_zstd_frame_with_a_size_are_read() -> None:
    raw = bytes([1, 0, 0, 0, 2, 0, 0, 0])
    for codec, data in ((2, zlib.compress(raw, 9)), (2, zlib.compress(raw, 0)), (1, zstandard.ZstdCompressor(19).compress(raw))):
        column = packed(data, codec=codec)
        assert decoded(launches(2, program_id=column)).columns()["program_id"].tolist() == [1, 2]


def test_an_unknown_field_beside_a_known_form_is_passed_over() -> None:
    column = form(u8=b"\x01\x02")
    column.MergeFromString(b"\xc0\x3e\x01")

    assert decoded(launches(2, launch_id=column)).columns()["launch_id"].tolist() == [1, 2]


def test_a_chunk_of_an_unknown_kind_has_a_head_and_no_table() -> None:
    head, table = decode_chunk(b"\x08\x05\xc2\x01\x03abc", 0, 8)

    assert (head.kind, head.count, table) == (24, 5, None)


# --- what is refused -----------------------------------------------------------------------------------------------

UNSIZED = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(8))
TWO = bytes(8)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (form(), "it has no form that this version knows"),
        (form(validity=columns_pb2.Validity(bits=b"\x03")), "it has no form that this version knows"),
        (form(u8=b"\x01"), "1 bytes instead of 2 records x 1"),
        (form(u32=[1]), "4 bytes instead of 2 records x 4"),
        (form(u64=[1, 2, 3]), "24 bytes instead of 2 records x 8"),
        (form(f64=[1.0, 2.0]), "it is of integers and stands in form 4"),
        (form(u8=b"\x01\x02", u32=[1, 2]), "it is given twice, or in two forms or segments"),
        (form(u8=b"\x01\x02", constant=7), "it is given twice, or in two forms or segments"),
        (form(u64=[1, 2**32]), "it holds 4294967296, its limit is 4294967295"),
        (form(constant=2**32), "it holds 4294967296, its limit is 4294967295"),
        (form(u8=b"\x01\x02", validity=columns_pb2.Validity(bits=b"")), "0 bytes instead of 1 once decompressed"),
        (packed(TWO, codec=9), "codec 9 is not known to this version"),
        (packed(TWO, 9), "transform 9 is not known to this version"),
        (packed(TWO, 2, 2), r"transforms \[2, 2\] repeat one"),
        (packed(TWO, *[1] * 100), "repeat one"),
        (packed(TWO, value_width=2), r"widths are 1, 4 or 8 bytes \(8 for doubles\), not 2 and 4"),
        (packed(TWO, stored_width=0), "widths are 1, 4 or 8 bytes"),
        (packed(b"\x00" * 16, stored_width=8), "stored in 8 bytes instead of 4, and no difference explains it"),
        (packed(TWO[:7]), "7 bytes instead of 8 once decompressed"),
        (packed(zlib.compress(TWO), codec=1), "its zstd frame is damaged"),
        (packed(b"", codec=1), "its zstd frame is damaged"),
        (packed(zstandard.compress(bytes(9)), codec=1), "its zstd frame holds 9 bytes instead of 8"),
        (packed(UNSIZED, codec=1), "its zstd frame holds -1 bytes instead of 8"),
        (packed(zstandard.compress(TWO)[:-2], codec=1), "its zstd frame is damaged"),
        (packed(zstandard.compress(TWO), codec=2), "its zlib stream is damaged"),
        (packed(zlib.compress(bytes(9)), codec=2), "9 bytes instead of 8 once decompressed"),
        (packed(zlib.compress(bytes(10**6)), codec=2), "9 bytes instead of 8 once decompressed"),
        (packed(zlib.compress(TWO)[:-1], codec=2), "its zlib stream ends early"),
    ],
)
def test_a_column_that_contradicts_the_schema_is_refused_with_its_reason(column: columns_pb2.Column, reason: str) -> None:
    with pytest.raises(CodecError, match=f"column program_id: .*{reason}"):
        decoded(launches(2, program_id=column))


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (form(u8=b"\x01\x02"), "it is of doubles and stands in form 1"),
        (form(u32=[1, 2]), "it is of doubles and stands in form 2"),
        (form(u64=[1, 2]), "it is of doubles and stands in form 3"),
        (packed(b"\x01\x02", value_width=1, stored_width=1), "widths are 1, 4 or 8 bytes"),
    ],
)
def test_a_column_of_doubles_has_one_raw_form(column: columns_pb2.Column, reason: str) -> None:
    data = columns_pb2.Chunk(count=2, counters=columns_pb2.CounterColumns(value=column)).SerializeToString()

    with pytest.raises(CodecError, match=f"column value: {reason}"):
        decoded(data)


def test_a_number_that_no_signed_64_bits_hold_is_refused_where_the_table_has_them() -> None:
    with pytest.raises(CodecError, match="column thread_id: it holds 9223372036854775808, its limit is 9223372036854775807"):
        decoded(launches(2, thread_id=form(u64=[1, 2**63])))


def test_a_column_in_two_segments_is_refused() -> None:
    """Protobuf would join them, a view of one would miss the other."""
    column = b"\x12\x04\x01\x00\x00\x00" * 2
    data = b"\x08\x01" + b"\x82\x01\x0e" + b"\x12\x0c" + column

    assert list(columns_pb2.Chunk.FromString(data).launches.program_id.u32) == [1, 1]
    with pytest.raises(CodecError, match="two forms or segments"):
        decoded(data)


def test_a_column_that_is_not_packed_is_refused() -> None:
    unpacked = b"\x15\x01\x00\x00\x00" * 2
    data = b"\x08\x02" + b"\x82\x01\x0c" + b"\x12\x0a" + unpacked

    assert list(columns_pb2.Chunk.FromString(data).launches.program_id.u32) == [1, 1]
    with pytest.raises(CodecError, match="0 bytes instead of 2 records x 4"):
        decoded(data)


def test_a_column_that_stands_twice_is_refused() -> None:
    column = b"\x12\x03\x0a\x01\x01"

    with pytest.raises(CodecError, match="column program_id: it stands twice"):
        decoded(b"\x08\x01\x82\x01\x0a" + column * 2)


@pytest.mark.parametrize("count", [0, 65_537, 2**64 - 1])
def test_a_chunk_holds_1_to_65536_records(count: int) -> None:
    data = b"\x08" + (
        b"\xff" * 9 + b"\x01" if count == 2**64 - 1 else columns_pb2.Chunk(count=count).SerializeToString()[1:] or b"\x00"
    )

    with pytest.raises(CodecError, match=f"a chunk holds 1 to 65,536 records, this one says {count:,}"):
        decoded(data + b"\x82\x01\x00")


@pytest.mark.parametrize("data", [b"\x08", b"\x82\x01\x05\x00", b"\x08\x01\x82\x01\x01\x0f"])
def test_a_chunk_that_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(CodecError, match="at byte"):
        decoded(data)


def test_the_head_of_a_chunk_that_is_no_message_is_refused() -> None:
    with pytest.raises(CodecError, match="at byte 0"):
        chunk_head(b"\x82\x01\x05\x00", 0, 4)


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        (form(constant=2**63 - 1), "its strings have 9,223,372,036,854,775,807 bytes or more"),
        (form(u64=[2**62] * 4), "its strings have 4,611,686,018,427,387,904 bytes or more"),
        (form(constant=2**29), "its strings have 2,147,483,648 bytes or more"),
        (form(constant=2**63), "it holds 9223372036854775808"),
        (form(constant=3), "8 bytes instead of 12 once decompressed"),
    ],
)
def test_lengths_of_texts_are_checked_before_they_are_believed(sizes: columns_pb2.Column, reason: str) -> None:
    text = columns_pb2.TextColumn(size_bytes=sizes, text=bytes(8))
    data = columns_pb2.Chunk(count=4, trace_events=columns_pb2.TraceEventColumns(arguments=text)).SerializeToString()

    with pytest.raises(CodecError, match=f"column arguments: {reason}"):
        decoded(data)


def test_bytes_that_are_no_message_of_a_body_are_refused() -> None:
    with pytest.raises(CodecError, match="it is no header message"):
        parse("header", b"\x0a\x7f")


def test_a_packed_column_that_is_no_message_is_refused() -> None:
    with pytest.raises(CodecError, match="column program_id: its PackedValues is no message"):
        decoded(b"\x08\x01\x82\x01\x06\x12\x04\x2a\x02\x32\x7f")


def test_a_text_that_is_no_utf8_is_refused() -> None:
    with pytest.raises(CodecError, match="it is no definitions message"):
        parse("definitions", b"\x08\x01\x12\x01\xff")


# --- definitions ---------------------------------------------------------------------------------------------------


def tables(*messages: session_pb2.Definitions) -> Tables:
    made = Tables(Unknowns())
    for message in messages:
        made.add(message)
    return made


def test_rows_of_a_lost_packet_are_empty_and_the_others_keep_their_index() -> None:
    made = tables(
        session_pb2.Definitions(first_strindex=3, strings=["c"]), session_pb2.Definitions(first_strindex=1, strings=["a"])
    )

    assert made.strings == ["", "a", "", "c"]


def test_commands_of_a_lost_packet_are_of_no_program() -> None:
    command = session_pb2.Command(engine_kind=session_pb2.ENGINE_KIND_NEURAL_ENGINE_CLUSTERS, predecessors=[0])
    program = session_pb2.Program(program_id=5, first_command_index=3, commands=[command])
    commands = tables(session_pb2.Definitions(programs=[program])).commands()

    assert commands.program_id.tolist() == [0, 0, 0, 5]
    assert commands.engine_kind.tolist() == [0, 0, 0, int(EngineKind.NEURAL_ENGINE_CLUSTERS)]
    assert commands.predecessors(3) == (3,)


COMMAND = session_pb2.Command()


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (session_pb2.Definitions(strings=["a"]), "its strings begin at row 0 of a table of 1"),
        (session_pb2.Definitions(first_strindex=2**21, strings=["a"]), "its strings begin at row 2,097,152 of a table of 1"),
        (
            session_pb2.Definitions(clocks=[session_pb2.Clock(clock_id=16, width_bits=65)]),
            "clock 16 is 65 bits wide; 1 to 64 are possible",
        ),
        (session_pb2.Definitions(programs=[session_pb2.Program(commands=[COMMAND])]), "program 0: its commands begin at row 0"),
        (
            session_pb2.Definitions(programs=[session_pb2.Program(first_command_index=2**31, commands=[COMMAND])]),
            "program 0: its commands begin at row 2,147,483,648",
        ),
        (
            session_pb2.Definitions(
                programs=[session_pb2.Program(first_command_index=1, commands=[session_pb2.Command(predecessors=[1])])]
            ),
            "program 0: a predecessor of command 0 is none of its commands",
        ),
        (
            session_pb2.Definitions(
                programs=[session_pb2.Program(first_command_index=1, commands=[session_pb2.Command(size_bytes=2**63)])]
            ),
            "program 0: command 0 moves 9,223,372,036,854,775,808 bytes",
        ),
    ],
)
def test_an_impossible_row_is_refused_and_nothing_of_its_message_is_taken(message: session_pb2.Definitions, reason: str) -> None:
    message.devices.add(device_id=1)
    made = Tables(Unknowns())

    with pytest.raises(CodecError) as raised:
        made.add(message)

    assert str(raised.value) == reason
    assert (made.strings, made.clocks, made.devices, made.programs) == ([""], [], [], [])


def test_a_few_bytes_cannot_ask_for_many_rows() -> None:
    made = Tables(Unknowns())
    for row in range(1, 4):
        made.add(session_pb2.Definitions(first_strindex=row * 300_000, strings=["a"]))

    with pytest.raises(CodecError, match="its strings begin at row 1,200,000"):
        made.add(session_pb2.Definitions(first_strindex=1_200_000, strings=["a"]))


def test_a_column_of_one_value_is_decoded_to_that_value_held_once() -> None:
    table = DeviceSlices.of(1_000, clock_id=16, launch_id=7)
    data = encode_chunk(table, 16, 0, "zstd")

    decoded = decode_chunk(data, 0, len(data))[1]

    assert decoded is not None
    assert decoded.equals(table)
    assert {name for name, column in decoded.columns().items() if column.strides == (0,)} == set(DeviceSlices.schema())


def test_of_one_column_alone_the_others_are_as_if_they_were_absent() -> None:
    data = encode_chunk(DeviceSlices.of(clock_id=16, launch_id=np.array([7, 8]), start_ticks=np.array([1, 2])), 16, 0, "raw")

    assert DeviceSlices.of(clock_id=16, launch_id=np.array([7, 8])).equals(decode_chunk(data, 0, len(data), only="launch_id")[1])
