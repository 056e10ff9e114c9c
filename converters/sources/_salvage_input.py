"""What can be inflated of a document whose gzip data is damaged: everything up to the first byte that makes no sense.

The frame around the deflate data is read here and not by the library, which gives nothing of a last piece whose checksum
differs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from rblnpb.signatures import GZIP_MAGIC

from ._document import DocumentPass, InputDocument
from ._salvage_report import Tally

_PIECE_BYTES: Final = 1 << 12
"""Stored bytes inflated at once, and at most so much text at once: with a fault, what comes of one piece is lost."""
_TRAILER_BYTES: Final = 8
_FIXED_BYTES: Final = 10
_LONGEST_HEADER_BYTES: Final = 1 << 20
_HAS_CHECKSUM, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT = 2, 4, 8, 16


class LenientPass(DocumentPass):
    """One reading of a document whose gzip data may be damaged; what is lost of it is told by the tally."""

    def __init__(self, document: InputDocument, tally: Tally) -> None:
        super().__init__(document)
        self._tally = tally

    def _inflated(self, first: bytes, stored: Iterator[bytes]) -> Iterator[bytes]:
        source = _Bytes(first, stored)
        while source.at_least(2).startswith(GZIP_MAGIC):
            if not _skip_header(source):
                self._tally.add("cut-gzip", self.text_bytes)
                return
            checksum, size = 0, 0
            inflating = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
            while not inflating.eof:
                piece = source.take(_PIECE_BYTES)
                if not piece:
                    self._tally.add("cut-gzip", self.text_bytes)
                    return
                try:
                    text = inflating.decompress(piece, _PIECE_BYTES)
                except zlib.error as error:
                    self._tally.add("damaged-gzip", self.text_bytes, reason=str(error))
                    return
                source.give_back(inflating.unused_data if inflating.eof else inflating.unconsumed_tail)
                checksum, size = zlib.crc32(text, checksum), size + len(text)
                self._require_honest(text, source.held_bytes)
                if text:
                    yield text
            if not self._has_sound_trailer(source, checksum, size):
                return
        self._count_rest(source)

    def _has_sound_trailer(self, source: _Bytes, checksum: int, size: int) -> bool:
        trailer = source.take(_TRAILER_BYTES)
        if len(trailer) < _TRAILER_BYTES:
            self._tally.add("cut-gzip", self.text_bytes)
            return False
        if trailer != (checksum | (size & 0xFFFFFFFF) << 32).to_bytes(_TRAILER_BYTES, "little"):
            self._tally.add("gzip-checksum", self.text_bytes)
        source.skip_zeros()
        return True

    def _count_rest(self, source: _Bytes) -> None:
        count = 0
        while piece := source.take(_PIECE_BYTES):
            count += len(piece)
        if count:
            self._tally.add("bytes-after-gzip", self.text_bytes, size_bytes=count)


class _Bytes:
    """Stored bytes, taken in pieces."""

    def __init__(self, first: bytes, rest: Iterator[bytes]) -> None:
        self._held = first
        self._rest = rest

    @property
    def held_bytes(self) -> int:
        """Bytes that were read and not yet taken."""
        return len(self._held)

    def at_least(self, count: int) -> bytes:
        """What is held, and more of it while it is less than that."""
        while len(self._held) < count and (more := next(self._rest, b"")):
            self._held += more
        return self._held

    def take(self, count: int) -> bytes:
        """The next bytes: so many of them, or all that are left."""
        held = self.at_least(count)
        self._held = held[count:]
        return held[:count]

    def give_back(self, unused: bytes) -> None:
        """Bytes that were taken and not needed."""
        self._held = unused + self._held

    def skip_zeros(self) -> None:
        """Zeros fill up the block of a tape."""
        while not (held := self.at_least(1).lstrip(b"\0")) and self._held:
            self._held = b""
        self._held = held


def _skip_header(source: _Bytes) -> bool:
    """Go behind the header of a gzip member; False when it is not all there."""
    fixed = source.take(_FIXED_BYTES)
    if len(fixed) < _FIXED_BYTES:
        return False
    flags = fixed[3]
    if flags & _HAS_EXTRA:
        size = int.from_bytes(source.take(2), "little")
        if len(source.take(size)) < size:
            return False
    for flag in (_HAS_NAME, _HAS_COMMENT):
        if flags & flag:
            held = source.at_least(1)
            while (end := held.find(b"\0")) < 0 and len(held) < _LONGEST_HEADER_BYTES:
                more = source.at_least(len(held) + 1)
                if len(more) == len(held):
                    return False
                held = more
            source.take(end + 1)
    return not flags & _HAS_CHECKSUM or len(source.take(2)) == 2
