"""Device slices where they stand: row by row what `read` gives, with little decoded at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb import codec
from rblnpb.columns import Dependencies, DeviceSlices
from rblnpb.errors import FormatError, MergeError
from rblnpb.profile import Session
from tests.support.profiles import CODECS, SESSION_ID, encode, packets, tiny

CLOCKS = (16, 1, 16, 1, 16, 1)
"""Clocks that take turns: each record of these slices is a chunk of its own."""


def alternating() -> rblnpb.Profile:
    """Six slices in six chunks; what the last two refer to is not there; the third waits for the first, the sixth for the third."""
    slices = DeviceSlices.of(
        clock_id=np.array(CLOCKS),
        engine_id=1,
        start_ticks=np.arange(100, 700, 100),
        duration_ticks=50,
        launch_id=np.array([7, 7, 0, 9, 7, 7]),
        name_strindex=3,
    )
    waits = Dependencies.of(predecessor_ordinal=np.array([0, 2]), successor_ordinal=np.array([2, 5]))
    return tiny(device_slices=slices, dependencies=waits)


def without_packet(data: bytes, row: int) -> bytes:
    return b"".join(part for at, part in enumerate(packets(data)) if at != row)


def damaged(data: bytes, row: int) -> bytes:
    parts = packets(data)
    parts[row] = parts[row][:-1] + bytes([parts[row][-1] ^ 1])
    return b"".join(parts)


FIRST_CHUNK = 4
"""Packet of the first chunk of device slices."""


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where the chunks stand that are decoded from now on."""
    starts: list[int] = []
    decode = codec.decode_chunk

    def counting(data: Any, start: int, end: int, **options: Any) -> Any:
        starts.append(start)
        return decode(data, start, end, **options)

    monkeypatch.setattr(codec, "decode_chunk", counting)
    return starts


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data,
        lambda data: without_packet(data, FIRST_CHUNK + 2),
        lambda data: without_packet(data, 1),  # what records refer to
        lambda data: damaged(data, FIRST_CHUNK + 1),
        lambda data: data[:-150],
    ],
)
def test_profile_and_stored_slices_say_together_what_read_says(codec: str, change: Callable[[bytes], bytes]) -> None:
    data = change(encode(alternating(), codec))
    whole = rblnpb.read(data)

    with rblnpb.open_profile(data) as file:
        profile, stored = file.profile_and_slices()
        blocks = list(stored.blocks())

        assert profile.findings == whole.findings
        assert len(profile.device_slices) == 0
        assert profile.replace(device_slices=whole.device_slices).equals(whole)
        assert [row for row, _ in blocks] == list(range(len(stored)))
        assert DeviceSlices.concat([block for _, block in blocks]).equals(whole.device_slices)
        assert file.profile().equals(whole)


@pytest.mark.parametrize(
    "rows",
    [slice(None), slice(1, 5), slice(5, 0, -2), slice(2, 2), [], [3], [0, 0, 5], [5, 1, 4, 1, 0], [2, 3, 4]],
)
def test_rows_are_taken_in_the_order_asked_for(rows: Any) -> None:
    table = alternating().device_slices

    with rblnpb.open_profile(encode(alternating())) as file:
        stored = file.profile_and_slices()[1]
        rows = rows if isinstance(rows, slice) else np.array(rows, np.int64)

        assert stored.take(rows).equals(table.take(rows))


@pytest.mark.parametrize(("rows", "named"), [([0, 6], "6"), ([-1, 2], "-1")])
def test_a_row_that_is_not_there_is_named(rows: list[int], named: str) -> None:
    with rblnpb.open_profile(encode(alternating())) as file:
        stored = file.profile_and_slices()[1]
        with pytest.raises(IndexError, match=f"there is no row {named} among 6 device slices"):
            stored.take(np.array(rows))


def test_only_the_chunks_in_which_rows_lie_are_decoded_and_neighbours_once(decoded: list[int]) -> None:
    with rblnpb.open_profile(encode(alternating())) as file:
        stored = file.profile_and_slices()[1]
        places = [chunk.frame.start for chunk in stored.chunks]
        decoded.clear()

        stored.take(np.array([1, 2, 2]))
        stored.take(np.array([2, 3]))

        assert decoded == [places[1], places[2], places[3]]


def test_few_decoded_chunks_are_kept(decoded: list[int]) -> None:
    with rblnpb.open_profile(encode(alternating())) as file:
        stored = file.profile_and_slices()[1]
        for row in range(6):
            stored.take(np.array([row]))
        decoded.clear()

        stored.take(np.array([5, 2]))
        assert decoded == []
        stored.take(np.array([0]))
        assert decoded == [stored.chunks[0].frame.start]


def test_slices_of_a_file_without_any() -> None:
    with rblnpb.open_profile(encode(tiny(device_slices=DeviceSlices.empty()))) as file:
        stored = file.profile_and_slices()[1]

        assert (len(stored), list(stored.blocks())) == (0, [])
        assert stored.take(slice(None)).equals(DeviceSlices.empty())


def test_one_session_of_several_is_asked_for_by_its_id() -> None:
    data = encode(alternating()) + encode(tiny(session=Session(9)))

    with rblnpb.open_profile(data) as file:
        with pytest.raises(MergeError, match="it holds 2 sessions"):
            file.profile_and_slices()
        counts = [len(file.profile_and_slices(session_id)[1]) for session_id in (SESSION_ID, 9)]
        with pytest.raises(KeyError):
            file.profile(8)

    assert counts == [6, 3]


def test_what_slices_would_take_in_memory_does_not_count_where_they_stay() -> None:
    data = encode(alternating().replace(launches=tiny().launches.take(slice(0, 0)), dependencies=Dependencies.empty()))

    with rblnpb.open_profile(data, limits=rblnpb.Limits(record_bytes=100, expansion=0)) as file:
        assert len(file.profile_and_slices()[1]) == 6
        with pytest.raises(FormatError, match="it is made to fill the memory"):
            file.profile()


def test_a_file_that_changes_while_it_is_open_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    path.write_bytes(encode(alternating(), "raw"))

    with rblnpb.open_profile(path) as file:
        stored = file.profile_and_slices()[1]
        with path.open("r+b") as other:
            other.seek(stored.chunks[2].frame.start)
            other.write(b"\x08\x07")
        with pytest.raises(FormatError, match="it changed while it was read") as raised:
            stored.take(np.array([2]))

    assert raised.value.offset == stored.chunks[2].frame.offset


def test_a_closed_file_gives_nothing() -> None:
    with rblnpb.open_profile(encode(alternating())) as file:
        stored = file.profile_and_slices()[1]

    with pytest.raises(ValueError, match="released"):
        stored.take(np.array([0]))
    assert len(stored) == 6
