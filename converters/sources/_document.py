"""An input as a stream of decompressed bytes that can be read again, whatever it came from.

Gzip is told by its first bytes, never by a name. What can be opened again is opened again for every pass; what cannot (a
pipe, standard input) is copied to a temporary file first.
"""

from __future__ import annotations

import os
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, Final

from rblnpb.errors import FormatError, TruncatedError
from rblnpb.signatures import GZIP_MAGIC

from .text_limits import DEFAULT_TEXT_LIMITS, TextLimits

try:  # four times as fast as zlib at inflating, same interface
    from isal import isal_zlib as inflate
except ImportError:  # a platform without its wheel
    import zlib as inflate  # type: ignore[no-redef]

BLOCK_BYTES: Final = 1 << 17
"""Bytes read at once, and at most inflated at once."""


@dataclass(frozen=True)
class InputDocument:
    """A file, or a copy of a stream, as the `Document` of a trace.

    Attributes:
        name: What messages call it: the path as given, `<stdin>`, `<bytes>`.
        path: What every pass opens anew; empty when there is a spool.
        spool: The copy of a stream; its file has no name and ends with this object.
        size_bytes: Bytes as stored, compressed or not; what progress counts against.
        limits: How much its text may ask for.
    """

    name: str
    path: str
    spool: BinaryIO | None
    size_bytes: int
    limits: TextLimits = DEFAULT_TEXT_LIMITS

    @property
    def is_packed(self) -> bool:
        """Whether it is gzip data.

        Raises:
            FormatError: It cannot be opened or read.
        """
        return next(_stored_blocks(self, 0), b"").startswith(GZIP_MAGIC)

    def blocks(self) -> Iterator[bytes]:
        """The decompressed document, from its first byte to its last.

        Raises:
            FormatError: It cannot be opened or read, or its gzip data is damaged.
            TruncatedError: Its gzip data ends early.
        """
        return iter(DocumentPass(self))


def open_document(source: str | os.PathLike[str] | BinaryIO, limits: TextLimits = DEFAULT_TEXT_LIMITS) -> InputDocument:
    """Make a document of a path or of an open binary stream, which is read to its end.

    Raises:
        FormatError: There is no such file, it is a directory, or it cannot be read.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _spooled(source, _stream_name(source), limits)
    path = os.fspath(source)
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise FormatError(path, "it is a directory; name the trace file in it")
    if stat.S_ISREG(status.st_mode):
        return InputDocument(path, path, None, status.st_size, limits)
    try:
        with open(path, "rb") as stream:
            return _spooled(stream, path, limits)
    except OSError as error:
        raise _unreadable(path, error) from error


def inflated_head(head: bytes) -> bytes:
    """The first text of an input that begins with these bytes; empty when they are damaged gzip data."""
    if not head.startswith(GZIP_MAGIC):
        return head
    try:
        return bytes(inflate.decompressobj(wbits=31).decompress(head, BLOCK_BYTES))
    except Exception:  # noqa: BLE001  zlib.error or isal's own, which share no base class
        return b""


class DocumentPass:
    """One reading of a document: iterate it once for its blocks; it keeps count of what went by.

    Attributes:
        stored_bytes: Read so far of what is stored.
        text_bytes: Given out so far.
        ignored_bytes: Stored bytes after the last gzip member that are no gzip member.
    """

    def __init__(self, document: InputDocument, start: int = 0) -> None:
        """Begin at this byte of what is stored; of gzip data, at the first."""
        self._document = document
        self.stored_bytes = start
        self.text_bytes = 0
        self.ignored_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        stored = self._stored()
        first = next(stored, b"")
        blocks = self._inflated(first, stored) if first.startswith(GZIP_MAGIC) else self._plain(first, stored)
        for block in blocks:
            self.text_bytes += len(block)
            yield block

    def _stored(self) -> Iterator[bytes]:
        for block in _stored_blocks(self._document, self.stored_bytes):
            self.stored_bytes += len(block)
            yield block

    def _plain(self, first: bytes, stored: Iterator[bytes]) -> Iterator[bytes]:
        if first:
            yield first
        yield from stored

    def _inflated(self, first: bytes, stored: Iterator[bytes]) -> Iterator[bytes]:
        rest = first
        while rest.startswith(GZIP_MAGIC):
            member = inflate.decompressobj(wbits=31)
            while not member.eof:
                if not rest and not (rest := next(stored, b"")):
                    raise self._cut()
                try:
                    text = member.decompress(rest, BLOCK_BYTES)
                except Exception as error:  # zlib.error or isal's own, which share no base class
                    raise self._damaged(error) from error
                rest = member.unused_data if member.eof else member.unconsumed_tail
                if text:
                    self._require_honest(text, len(rest))
                    yield text
            # Another member may follow, and zeros, which fill up a block of a tape.
            while len(rest := rest.lstrip(b"\0")) < len(GZIP_MAGIC) and (more := next(stored, b"")):
                rest += more
        self.ignored_bytes = len(rest) + sum(map(len, stored))

    def _require_honest(self, text: bytes, held_bytes: int) -> None:
        # What was read and not yet inflated would make a bomb look honest.
        self._document.limits.require_honest(self._document.name, self.text_bytes + len(text), self.stored_bytes - held_bytes)

    def _cut(self) -> TruncatedError:
        return TruncatedError(self._document.name, "the gzip data ends early", offset=self.text_bytes)

    def _damaged(self, error: Exception) -> FormatError:
        reason = f"the gzip data is damaged ({error}); copy the file again, or profile again"
        return FormatError(self._document.name, reason, offset=self.text_bytes)


def _stored_blocks(document: InputDocument, at: int) -> Iterator[bytes]:
    """The bytes of a document as they are stored, from a place on.

    Raises:
        FormatError: It cannot be opened or read.
    """
    try:
        # A spool has one position for all passes, so each block is sought anew.
        stream = document.spool or open(document.path, "rb", buffering=0)  # noqa: SIM115  closed below unless it is the spool
        try:
            while True:
                stream.seek(at)
                block = stream.read(BLOCK_BYTES)
                if not block:
                    return
                at += len(block)
                yield block
        finally:
            if stream is not document.spool:
                stream.close()
    except OSError as error:
        raise _unreadable(document.name, error) from error


def _spooled(stream: BinaryIO, name: str, limits: TextLimits) -> InputDocument:
    """A document of a copy of a stream: it has to be read more than once."""
    try:
        spool = tempfile.TemporaryFile(prefix="rblnpb-")  # noqa: SIM115  lives as long as the document
    except OSError as error:
        raise _no_room(name, error) from error
    try:
        for block in iter(partial(stream.read, BLOCK_BYTES), b""):
            try:
                spool.write(block)
                spool.flush()
            except OSError as error:
                raise _no_room(name, error) from error
    except (OSError, ValueError) as error:
        with suppress(OSError):
            spool.close()
        raise error if isinstance(error, FormatError) else _unreadable(name, error) from error
    document = InputDocument(name, "", spool, spool.tell(), limits)
    weakref.finalize(document, spool.close)
    return document


def _no_room(name: str, error: OSError) -> FormatError:
    reason = f"a copy of it cannot be kept in {tempfile.gettempdir()} ({error.strerror or error}); set TMPDIR to a folder with room"
    return FormatError(name, reason)


def _stream_name(stream: BinaryIO) -> str:
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "<bytes>"


def _unreadable(name: str, error: OSError | ValueError) -> FormatError:
    reason = getattr(error, "strerror", None) or str(error)
    return FormatError(name, f"{reason[:1].lower()}{reason[1:]}; check the path and its permissions")
