"""Good files made bad: bytes flipped, cut, doubled and swapped, with checksums that fit again or not."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator

import rblnpb
from rblnpb.columns import DeviceSlices
from rblnpb.container import payload, scan
from rblnpb.errors import RblnpbError
from tests.support.profiles import CODECS, encode, full, tiny

__all__ = ["good_files", "mutated", "read_every_way"]

_INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)


def good_files() -> list[bytes]:
    """One file of every codec with all that the schema can say, and one of two sessions."""
    other = tiny(session=rblnpb.Session(9))
    return [*(encode(full(), codec) for codec in CODECS), encode(tiny(), "raw") + encode(other, "zlib")]


def mutated(data: bytes, seed: int) -> bytes:
    """The file with one to four faults; the same seed gives the same faults. Every second one has checksums that fit."""
    draw = random.Random(seed)
    return _broken_bodies(data, draw) if seed % 2 else _broken(data, draw)


def _broken(data: bytes, draw: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(out) + 1)
        size = min(draw.choice((1, 2, 8, 100)), len(out) - at)
        fault = draw.randrange(6)
        if fault == 0 and at < len(out):
            out[at] ^= 1 << draw.randrange(8)
        elif fault == 1 and at < len(out):
            out[at] = draw.choice(_INTERESTING)
        elif fault == 2:
            del out[at : at + size]
        elif fault == 3:
            out[at:at] = out[at : at + size]
        elif fault == 4:
            out[at:at] = draw.randbytes(size)
        else:
            del out[at:]
    return bytes(out)


def _broken_bodies(data: bytes, draw: random.Random) -> bytes:
    """Faults inside one body: a checksum alone would keep all of them from the code that decodes."""
    frames = scan(data).frames
    chosen = draw.randrange(len(frames))
    parts = []
    for row, frame in enumerate(frames):
        content = data[frame.start : frame.end]
        if row == chosen:
            content = _broken(content, draw)
        parts.append(payload(frame.session_id, frame.sequence, frame.body, content))
        assert zlib.crc32(content) == scan(parts[-1]).frames[0].crc32
    return b"".join(parts)


def _read_chunks(data: bytes) -> None:
    with rblnpb.open_profile(data) as file:
        for chunk in file.chunks():
            if chunk.records is not None:
                assert len(chunk.records) == chunk.head.count


def _read_stored(data: bytes) -> None:
    with rblnpb.open_profile(data) as file:
        for session_id in file.session_ids:
            whole = file.profile(session_id)
            profile, stored = file.profile_and_slices(session_id)
            assert profile.findings == whole.findings
            assert profile.replace(device_slices=whole.device_slices).equals(whole)
            assert DeviceSlices.concat([block for _, block in stored.blocks()]).equals(whole.device_slices)
            assert stored.take(slice(None)).equals(whole.device_slices)


def _write_again(data: bytes) -> None:
    for profile in rblnpb.read_all(data):
        rblnpb.check(profile)
        again = rblnpb.read(encode(profile))
        assert again.device_slices.equals(profile.device_slices)
        assert again.strings[: len(profile.strings)] == profile.strings


def read_every_way(data: bytes) -> Iterator[str]:
    """Read bytes in every way; gives the class of each of our errors. Any other error escapes."""
    for way in (_read_chunks, _read_stored, _write_again, rblnpb.read, lambda source: rblnpb.read(source, strict=True)):
        error: RblnpbError | None = None
        try:
            way(data)
        except RblnpbError as raised:
            error = raised
        if error is not None:
            assert "\n" not in str(error), "an error is one line"
            yield type(error).__name__
