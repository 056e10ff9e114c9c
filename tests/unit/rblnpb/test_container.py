"""The envelope: what is walked, what is passed over, where a walk ends."""

from __future__ import annotations

import zlib

import pytest

from rblnpb.container import WireError, fields, frame, payload, scan, varint
from rblnpb.v1 import stream_pb2

DISPLAY = frame(b"\x40\x05\x5a\x03abc")  # a timestamp, and an event of Perfetto's


def walked(data: bytes) -> list[tuple[int, int, bytes]]:
    return [(number, value, data[first:last]) for number, value, first, last in fields(data, 0, len(data))]


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**32, 2**63, 2**64 - 1])
def test_a_number_is_encoded_as_protobuf_encodes_it(number: int) -> None:
    assert walked(b"\x08" + varint(number)) == [(1, number, b"")]
    assert stream_pb2.KindTotal(written=number).SerializeToString() == (b"\x10" + varint(number) if number else b"")


def test_fields_of_every_wire_type_are_walked() -> None:
    data = b"\x08\x96\x01" + b"\x11" + (7).to_bytes(8, "little") + b"\x1a\x02hi" + b"\x25" + (9).to_bytes(4, "little")

    assert walked(data) == [(1, 150, b""), (2, 7, b""), (3, 0, b"hi"), (4, 9, b"")]


def test_of_a_number_of_seventy_bits_64_count_as_in_protobuf() -> None:
    assert walked(b"\x08" + b"\xff" * 9 + b"\x7f") == [(1, 2**64 - 1, b"")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x08", "at byte 1: the input ends inside a number"),
        (b"\x08\x80", "at byte 1: the input ends inside a number"),
        (b"\x08" + b"\x80" * 10 + b"\x01", "at byte 1: a number has more than ten bytes"),
        (b"\x00\x01", "at byte 0: a field has number 0"),
        (b"\x1a\x05hi", "at byte 0: field 3 reaches 3 bytes beyond its message"),
        (b"\x11\x00", "at byte 0: field 2 reaches 7 bytes beyond its message"),
        (b"\x0b\x0c", "at byte 0: field 1 has wire type 3, which this format does not use"),
    ],
)
def test_bytes_that_are_no_message_say_where(data: bytes, message: str) -> None:
    with pytest.raises(WireError) as raised:
        walked(data)

    assert str(raised.value) == message


def test_a_packet_is_what_protobuf_reads() -> None:
    content = stream_pb2.Header(magic="rblnpb", schema_minor=1).SerializeToString()
    (packet,) = stream_pb2.Stream.FromString(payload(2**64 - 1, 300, 8, content)).packet

    assert packet.payload == stream_pb2.Payload(
        session_id=2**64 - 1, sequence=300, body_crc32=zlib.crc32(content), header=stream_pb2.Header(magic="rblnpb", schema_minor=1)
    )


def test_a_walk_gives_the_place_of_every_payload_and_counts_what_is_perfettos() -> None:
    first, second = payload(7, 0, 8, b"one"), payload(7, 1, 12, b"")
    data = first + DISPLAY + second

    result = scan(data)

    assert [(found.offset, found.size, found.session_id, found.sequence, found.body) for found in result.frames] == [
        (0, len(first), 7, 0, 8),
        (len(first) + len(DISPLAY), len(second), 7, 1, 12),
    ]
    assert [data[found.start : found.end] for found in result.frames] == [b"one", b""]
    assert all(found.is_intact(data) for found in result.frames)
    assert (result.display_packet_count, result.unreadable, result.end, result.reason) == (1, (), len(data), "")


def test_a_payload_is_found_behind_other_fields_of_its_packet() -> None:
    ours = payload(7, 0, 8, b"")
    content = stream_pb2.Stream.FromString(ours).packet[0].SerializeToString()

    assert [found.session_id for found in scan(frame(b"\x40\x05" + content)).frames] == [7]


def test_a_display_packet_that_happens_to_hold_the_bytes_of_our_tag_is_none_of_ours() -> None:
    assert scan(frame(b"\x5a\x05a\xc2\xc5\x03b")).display_packet_count == 1


def test_a_display_packet_that_is_no_message_is_perfettos_to_judge() -> None:
    assert scan(frame(b"\x0b\xc2\xc5\x03\x00")).display_packet_count == 1


def test_a_checksum_that_is_not_there_is_not_checked() -> None:
    packet = frame(stream_pb2.Packet(payload=stream_pb2.Payload(session_id=7, header=stream_pb2.Header())).SerializeToString())
    (found,) = scan(packet).frames

    assert (found.crc32, found.is_intact(packet)) == (None, True)


def test_a_body_that_was_changed_is_not_intact() -> None:
    data = payload(7, 0, 8, b"body").replace(b"body", b"bodY")

    assert not scan(data).frames[0].is_intact(data)


def test_a_cut_ends_the_walk_at_the_last_whole_packet() -> None:
    first = payload(7, 0, 8, b"one")
    result = scan(first + first[:-1])

    assert (len(result.frames), result.end, result.reason) == (1, len(first), "the input ends 1 bytes before its last packet does")


def test_what_is_no_packet_ends_the_walk() -> None:
    first = payload(7, 0, 8, b"one")
    result = scan(first + b"\x12\x00")

    assert (len(result.frames), result.end, result.reason) == (1, len(first), "a packet begins with byte 0x0a, not 0x12")


@pytest.mark.parametrize(
    "broken",
    [
        frame(b"\xc2\xc5\x03\x7f"),  # a payload longer than its packet
        frame(b"\xc2\xc5\x03\x02\x09\x00"),  # a session id that is cut
        payload(1, 0, 8, b"x").replace((1).to_bytes(8, "little"), bytes(8)),  # session 0
    ],
)
def test_a_whole_packet_with_a_broken_payload_costs_itself_alone(broken: bytes) -> None:
    after = payload(7, 0, 8, b"one")
    result = scan(broken + after)

    assert (result.unreadable, [found.session_id for found in result.frames], result.end) == ((0,), [7], len(broken + after))


# --- behind damage -------------------------------------------------------------------------------------------------

ONE, TWO, THREE = (payload(7, row, 12, content) for row, content in enumerate((b"one" * 9, b"two" * 9, b"three" * 9)))


def sequences(data: bytes) -> list[int]:
    return [found.sequence for found in scan(data).frames]


@pytest.mark.parametrize("at", range(len(TWO)))
@pytest.mark.parametrize("bits", [0x01, 0x80, 0xFF])
def test_a_flipped_byte_costs_one_packet_at_most(at: int, bits: int) -> None:
    broken = TWO[:at] + bytes([TWO[at] ^ bits]) + TWO[at + 1 :]

    found = scan(ONE + broken + THREE)

    places = [frame.offset for frame in found.frames]
    assert (places[0], places[-1]) == (0, len(ONE) + len(TWO))
    assert len(places) in {2, 3}
    assert found.end == found.size


@pytest.mark.parametrize(
    "head", [b"\x0b" + TWO[1:2], b"\x0a\x05", b"\x0a\x2f", b"\x0a\xff\xff\x03", b"\x0a" + b"\xff" * 11, b"", b"\x12\x00"]
)
def test_a_wrong_tag_or_length_costs_nothing_but_a_gap(head: bytes) -> None:
    data = ONE + head + TWO[2:] + THREE

    found = scan(data)

    assert sequences(data) == [0, 1, 2]
    assert len(found.gaps) == 1
    assert found.gaps[0].offset == len(ONE)
    assert found.unreadable == ()


def test_a_length_that_swallows_the_next_packets_is_seen_though_it_ends_where_one_does() -> None:
    swallowing = b"\x0a" + varint(len(TWO) - 2 + len(THREE)) + TWO[2:] + THREE
    display = b"\x0a" + varint(len(DISPLAY) - 2 + len(ONE)) + DISPLAY[2:] + ONE

    assert sequences(ONE + swallowing) == [0, 1, 2]
    assert sequences(display + TWO) == [0, 1]


def test_junk_between_packets_is_passed_over_and_counted() -> None:
    found = scan(ONE + b"junk" * 5 + TWO + b"\x0a" + THREE)

    assert [frame.sequence for frame in found.frames] == [0, 1, 2]
    assert [(gap.offset, gap.size) for gap in found.gaps] == [(len(ONE), 20), (len(ONE) + 20 + len(TWO), 1)]
    assert found.gaps[0].reason == "a packet begins with byte 0x0a, not 0x6a"


def test_what_looks_like_a_payload_and_does_not_have_its_checksum_is_none() -> None:
    bad = TWO[:-1] + b"!"

    assert sequences(ONE + b"junk" + bad + THREE) == [0, 2]
    assert sequences(ONE + b"junk" + bad) == [0]
    assert scan(ONE + b"junk" + bad).end == len(ONE)


def test_what_is_summed_up_to_find_payloads_again_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    # Heads of 24 bytes that each claim 64 KiB and do not have their checksum: all of them together are 2 GiB.
    claim = b"\xc2\xc5\x03\x92\x80\x04\x09" + b"\x01" * 8 + b"\x1d\x00\x00\x00\x00\x5a\x80\x80\x04"
    data = ONE + claim * (1 << 15)
    summed: list[int] = []
    crc32 = zlib.crc32

    def summing(part: bytes) -> int:
        summed.append(len(part))
        return crc32(part)

    monkeypatch.setattr("rblnpb.container.zlib.crc32", summing)

    found = scan(data)

    assert [frame.sequence for frame in found.frames] == [0]
    assert 1 << 16 in summed
    assert sum(summed) < 5 * len(data)


def test_a_search_ends_after_many_places_that_look_like_a_payload_and_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rblnpb.container._ATTEMPTS", 10)
    fake = b"\xc2\xc5\x03\x00\x09"

    assert sequences(ONE + fake * 9 + TWO) == [0, 1]
    assert sequences(ONE + fake * 11 + TWO) == [0]


def test_tiny_display_packets_are_counted_in_one_go() -> None:
    tiny = frame(b"") + frame(b"\x40\x05") + frame(b"\x5a\x03abc")

    found = scan(tiny * 1_000 + ONE + tiny + tiny[:-1])

    assert (found.display_packet_count, len(found.frames), found.size - found.end) == (3_005, 1, 6)
