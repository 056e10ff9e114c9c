"""Good inputs made bad: bytes flipped, cut, doubled and swapped, with checksums that fit or not; tokens of a text exchanged."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import rblnpb
from rblnpb.container import payload, scan
from tests.support.profiles import CODECS, encode, full, tiny

__all__ = ["broken", "exchanged", "good_files", "mutated"]

_INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+.0-9eE]+|\w+|[\[\]{},:]', re.S)
"""What JSON is made of, and names and windows well enough."""


def good_files() -> list[bytes]:
    """One file of every codec with all that the schema can say, and one of two sessions."""
    other = tiny(session=rblnpb.Session(9))
    return [*(encode(full(), codec) for codec in CODECS), encode(tiny(), "raw") + encode(other, "zlib")]


def mutated(data: bytes, seed: int) -> bytes:
    """The file with one to four faults; the same seed gives the same faults. Every second one has checksums that fit."""
    draw = random.Random(seed)
    return _broken_bodies(data, draw) if seed % 2 else broken(data, draw)


def broken(data: bytes, draw: random.Random) -> bytes:
    """One to four faults anywhere in some bytes."""
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
    frames = [frame for frame in scan(data).frames if frame.body]
    if not frames:
        return broken(data, draw)
    chosen = draw.choice(frames)
    parts = []
    for frame in frames:
        content = data[frame.start : frame.end]
        content = broken(content, draw) if frame is chosen else content
        parts.append(payload(frame.session_id, frame.sequence, frame.body, content))
    return b"".join(parts)


def exchanged(data: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    """A text in which one to three tokens are gone, doubled, or others: of the text itself, or of a list."""
    for _ in range(draw.randint(1, 3)):
        places = [match.span() for match in _TOKEN.finditer(data)]
        if not places:
            return draw.choice(tokens)
        first, last = draw.choice(places)
        start, end = draw.choice(places)
        new = (b"", data[first:last] * 2, data[start:end], data[min(first, start) : max(last, end)], draw.choice(tokens))
        data = data[:first] + draw.choice(new) + data[last:]
    return data
