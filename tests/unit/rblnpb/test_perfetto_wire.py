"""Packets put together from columns, read back with Perfetto's official bindings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.byte_rows import Padded, join, stack
from rblnpb.container import fields, varint
from rblnpb.perfetto_wire import (
    EVENT_BEGIN,
    EVENT_END,
    bundle,
    event,
    field,
    message,
    number,
    numbers,
    process_packet,
    thread_packet,
    varint_bytes,
    varints,
)

LARGEST = 2**64 - 1


def trace(data: bytes) -> Any:
    protos = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="Perfetto's bindings are not installed"
    )
    return protos.Trace.FromString(data)


def read(data: bytes) -> int:
    """The number of the one field in a message."""
    ((_, value, _, end),) = fields(data, 0, len(data))
    assert end == len(data)
    return value


WIDTHS = (1, 2, 4, 8, 9, 10)


@given(st.lists(st.integers(0, LARGEST), min_size=1, max_size=4), st.integers(0, 5))
def test_varints_of_one_width_are_the_numbers(values: list[int], further: int) -> None:
    widths = [width for width in WIDTHS if width >= varint_bytes(max(values))]
    width = widths[min(further, len(widths) - 1)]
    table = stack(len(values), varints(np.array(values, np.uint64), width))

    assert table.shape == (len(values), width)
    assert [read(b"\x08" + row.tobytes()) for row in table] == values


@given(st.integers(0, LARGEST))
def test_a_column_of_varints_is_as_wide_as_it_has_to_be(value: int) -> None:
    assert varint_bytes(value) == min(width for width in WIDTHS if width >= len(varint(value)))


def test_numbers_that_are_all_the_same_are_the_same_bytes_in_every_row() -> None:
    assert numbers(4, np.array([300, 300])) == [number(4, 300)]
    assert numbers(4, np.array([-1, -1])) == [number(4, LARGEST)]
    assert numbers(4, np.empty(0, np.int64)) == [number(4, 0)]


@given(st.integers(0, 2**62), st.lists(st.integers(0, 2**33), min_size=1, max_size=5), st.booleans())
def test_numbers_are_those_that_were_given_however_close_they_are(base: int, offsets: list[int], is_close: bool) -> None:
    # Of close ones the upper bytes are the same in every row; their lower bits may reach beyond an upper byte.
    values = [base + (offset % 2**28 if is_close else offset) for offset in offsets]
    data = join(len(values), numbers(8, np.array(values))).tobytes()

    assert [(tag, value) for tag, value, _, _ in fields(data, 0, len(data))] == [(8, value) for value in values]


def test_the_lower_bits_of_close_times_are_cut_off_the_upper_ones() -> None:
    values = [3 * 2**28 + 5, 3 * 2**28 + 2**27, 2**60 + 2**28 - 1, 2**60 + 7]
    for pair in (values[:2], values[2:]):
        data = join(2, numbers(8, np.array(pair))).tobytes()
        assert [value for _, value, _, _ in fields(data, 0, len(data))] == pair


def test_numbers_below_zero_are_twos_complement() -> None:
    data = join(2, numbers(4, np.array([-2, 5]))).tobytes()

    assert [value for _, value, _, _ in fields(data, 0, len(data))] == [2**64 - 2, 5]


def padded(*texts: bytes) -> Padded:
    width = max(map(len, texts), default=0)
    table = np.frombuffer(b"".join(text.ljust(width, b"?") for text in texts), np.uint8)
    return Padded(table.reshape(len(texts), width), np.array(list(map(len, texts)), np.int64))


def test_a_message_knows_its_length_in_every_row() -> None:
    data = join(2, message(23, [padded(b"a", b"b" * 200)])).tobytes()

    assert [data[start:end] for _, _, start, end in fields(data, 0, len(data))] == [b"a", b"b" * 200]


def test_bundled_packets_are_one_packet() -> None:
    packet = field(1, number(8, 5))
    (bundled,) = trace(bundle(packet)).packet

    assert bundled.HasField("compressed_packets")


def test_rows_are_introduced() -> None:
    process, thread = trace(process_packet(LARGEST, 7, "p\ud800", 3) + thread_packet(1, 7, 2**31 - 1, "t", 3)).packet

    assert (process.track_descriptor.uuid, process.trusted_packet_sequence_id) == (LARGEST, 3)
    assert (process.track_descriptor.process.pid, process.track_descriptor.process.process_name) == (7, "p?")
    assert thread.track_descriptor.thread.tid == 2**31 - 1
    assert thread.track_descriptor.thread.thread_name == "t"


def test_events_of_the_largest_numbers() -> None:
    end_ns = np.array([2**63 - 1])
    track, sequence = numbers(11, np.array([LARGEST], np.uint64)), number(10, 0x7FFF_FFFF)
    columns = [
        *event(EVENT_BEGIN, end_ns - 1, track, sequence, *message(23, [padded(b"x")])),
        *event(EVENT_END, end_ns, track, sequence),
    ]
    begin, close = trace(join(1, columns).tobytes()).packet

    assert (begin.timestamp, begin.track_event.track_uuid, begin.track_event.name) == (2**63 - 2, LARGEST, "x")
    assert (close.timestamp, close.track_event.track_uuid) == (2**63 - 1, LARGEST)
    assert (begin.track_event.type, close.track_event.type) == (EVENT_BEGIN, EVENT_END)
    assert {packet.trusted_packet_sequence_id for packet in (begin, close)} == {0x7FFF_FFFF}
