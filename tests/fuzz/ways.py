"""Ways to read some bytes, for every reader of the package: each gives what it met, and anything but our own errors escapes."""

from __future__ import annotations

import io
import itertools
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import rblnpb
from rblnpb import codec, naming
from rblnpb.columns import DeviceSlices
from rblnpb.container import scan
from rblnpb.converters.pipeline.archives import merge
from rblnpb.converters.pipeline.output import write_chrome_trace, write_perfetto_trace
from rblnpb.converters.pipeline.windows import parse_window
from rblnpb.converters.sources._perfetto_names import name_columns
from rblnpb.converters.sources.archive import archived_trace
from rblnpb.converters.sources.explain_dump import read_explain_dump
from rblnpb.converters.sources.kineto import read_host
from rblnpb.errors import FormatError, RblnpbError
from rblnpb.strings import StringTable
from tests.support.archives import archive_of
from tests.support.profiles import encode

__all__ = [
    "archived_ways",
    "chunk_ways",
    "container_ways",
    "converted_ways",
    "explain_ways",
    "host_converted_ways",
    "host_ways",
    "name_ways",
    "profile_ways",
    "seen",
    "window_ways",
]

LIMITS = rblnpb.Limits(record_bytes=64 << 20, text_bytes=16 << 20)
"""Of files that are read: honest ones of these tests take a thousandth."""

Way = Callable[[bytes], object]


def seen(ways: Iterable[Way], data: bytes) -> Iterator[str]:
    """Read bytes in every way; gives the class of each of our errors. Any other error escapes."""
    for way in ways:
        error: RblnpbError | None = None
        try:
            way(data)
        except RblnpbError as raised:
            error = raised
        if error is not None:
            text = str(error)
            assert "\n" not in text, "an error is one line"
            yield type(error).__name__
            # What makes one input unlike another: what was said of it, without numbers and quotations.
            said = str(getattr(error, "reason", text))[:200]
            yield re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|[0-9a-f,.]*[0-9][0-9a-f,.]*", "", said)[:100]


# --- the envelope --------------------------------------------------------------------------------------------------


def _walk(data: bytes) -> None:
    found = scan(data)
    assert 0 <= found.end <= found.size == len(data)
    frames = [frame for frame in found.frames if frame.body]
    assert all(frame.offset < frame.start <= frame.end <= frame.offset + frame.size <= len(data) for frame in frames)
    assert all(one.end <= other.start for one, other in itertools.pairwise(frames))


container_ways: tuple[Way, ...] = (_walk, lambda data: rblnpb.open_profile(data, limits=LIMITS).close())


# --- chunks --------------------------------------------------------------------------------------------------------


def _decode_chunk(data: bytes) -> None:
    try:
        head, records = codec.decode_chunk(data, 0, len(data), text_bytes=LIMITS.text_bytes)
    except codec.CodecError as error:
        # As readers do.
        raise FormatError("<bytes>", str(error)) from error
    bare = codec.chunk_head(data, 0, len(data))
    assert replace(head, unknown_columns=(), unknown_fields=()) == replace(bare, unknown_fields=())
    if records is None:
        return
    assert len(records) == head.count
    for name in ("raw", "zlib"):
        try:
            encoded = codec.encode_chunk(records, head.clock_id & 0xFFFF_FFFF, head.first_ordinal, name)
        except codec.CodecError:
            # What no writer may write: launch ids beyond their limit, samples that are no numbers.
            continue
        again = codec.decode_chunk(encoded, 0, len(encoded))[1]
        assert again is not None
        assert again.equals(records)


chunk_ways: tuple[Way, ...] = (_decode_chunk,)


# --- profiles ------------------------------------------------------------------------------------------------------


def _read_chunks(data: bytes) -> None:
    with rblnpb.open_profile(data, limits=LIMITS) as file:
        for chunk in file.chunks():
            if chunk.records is not None:
                assert len(chunk.records) == chunk.head.count


def _read_stored(data: bytes) -> None:
    with rblnpb.open_profile(data, limits=LIMITS) as file:
        for session_id in file.session_ids:
            whole = file.profile(session_id)
            profile, stored = file.profile_and_slices(session_id)
            assert profile.findings == whole.findings
            assert profile.replace(device_slices=whole.device_slices).equals(whole)
            assert DeviceSlices.concat([block for _, block in stored.blocks()]).equals(whole.device_slices)
            assert stored.take(slice(None)).equals(whole.device_slices)


def _write_again(data: bytes) -> None:
    for profile in rblnpb.read_all(data, limits=LIMITS):
        rblnpb.check(profile)
        again = rblnpb.read(encode(profile))
        assert again.device_slices.equals(profile.device_slices)
        assert again.strings[: len(profile.strings)] == profile.strings


profile_ways: tuple[Way, ...] = (
    _read_chunks,
    _read_stored,
    _write_again,
    lambda data: rblnpb.read(data, limits=LIMITS),
    lambda data: rblnpb.read(data, strict=True, limits=LIMITS),
)


def _read_windows(data: bytes) -> None:
    with rblnpb.open_profile(data, limits=LIMITS) as file:
        for session_id in file.session_ids:
            file.bounds_ns(session_id)
            whole = file.profile(session_id)
            for window in ((0, 0), (1_100, 1_500), (-(2**63), 2**63 - 1), (2**62, 2**64)):
                profile, stored = file.profile_and_slices(session_id, window=window)
                inside = file.profile(session_id, window=window)
                assert profile.findings == inside.findings
                assert stored.take(slice(None)).equals(inside.device_slices)
                assert len(inside.device_slices) <= len(whole.device_slices)
                assert inside.strings == whole.strings


window_ways: tuple[Way, ...] = (_read_windows,)


def _give_back(data: bytes) -> None:
    profile = rblnpb.read(data, limits=LIMITS)
    host = archived_trace(profile)
    given = b"".join(host.document.blocks())
    again = archived_trace(rblnpb.read(archive_of(host)))
    assert b"".join(again.document.blocks()) == given


archived_ways: tuple[Way, ...] = (_give_back,)


def _convert(data: bytes) -> None:
    for profile in rblnpb.read_all(data, limits=LIMITS):
        timeline = merge(profile)
        write_chrome_trace(timeline, io.BytesIO())
        write_perfetto_trace(timeline, io.BytesIO())


converted_ways: tuple[Way, ...] = (_convert,)


# --- traces, dumps, names ------------------------------------------------------------------------------------------


def _read_host(data: bytes) -> None:
    host = read_host(io.BytesIO(data))
    given = b"".join(host.document.blocks())
    again = archived_trace(rblnpb.read(archive_of(host)))
    assert b"".join(again.document.blocks()) == given
    assert len(again.events) == len(host.events)


host_ways: tuple[Way, ...] = (_read_host, lambda data: read_host(io.BytesIO(data), strict=True, columns=()))


def _convert_host(data: bytes) -> None:
    timeline = merge(None, read_host(io.BytesIO(data)))
    write_chrome_trace(timeline, io.BytesIO())
    write_perfetto_trace(timeline, io.BytesIO())


host_converted_ways: tuple[Way, ...] = (_convert_host,)


def _read_dump(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "explain.json"
        path.write_bytes(data)
        counts = read_explain_dump(path)
    assert isinstance(counts.fallback_count, int)


explain_ways: tuple[Way, ...] = (_read_dump,)


def _read_name(data: bytes) -> None:
    name = data.decode("utf-8", "surrogateescape")
    parts = naming.parse(name)
    assert naming.family(name) or not name
    ordinal = naming.device_ordinal(name)
    assert ordinal is None or 0 <= ordinal < 10**9
    columns = name_columns([name], StringTable())
    assert len(columns.text) == 1
    if parts is not None:
        assert _spelled(naming.parse(_spelled(parts))) == _spelled(parts)
        assert parts.layer in name


def _spelled(parts: naming.NameParts | None) -> str:
    """A name of these parts, by the grammar alone."""
    assert parts is not None
    said = (("i", parts.instance), ("", parts.sequence), ("W", parts.workload))
    return "".join(f"{letter}{value}_" for letter, value in said if value is not None) + f"{parts.layer}_{parts.command}"


name_ways: tuple[Way, ...] = (_read_name, lambda data: parse_window(data.decode("utf-8", "replace")))
