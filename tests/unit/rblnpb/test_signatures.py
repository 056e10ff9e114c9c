"""What an input is, told by its first bytes alone."""

from __future__ import annotations

import gzip

import pytest

from rblnpb.container import frame, payload
from rblnpb.signatures import is_json, is_perfetto, is_profile, looks_like

DISPLAY = frame(b"\x40\x05\x5a\x03abc")  # a timestamp, and an event of Perfetto's
OURS = payload(7, 0, 8, b"\x0a\x06rblnpb")
PPROF = b"\x0a\x04\x08\x01\x10\x02\x12\x00"
XPLANE = b"\x0a\x0d\x08\x01\x12\x09/host:CPU"


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"", "an empty file"),
        (b"hello\nworld\n", "text"),
        (b"\nhello", "text"),
        (b"[2026-11-29] started", "text"),
        ("größe".encode(), "text"),
        (b'{"traceEvents": []}', "JSON"),
        (b"\xef\xbb\xbf \n[{}]", "JSON"),
        (gzip.compress(b"x", mtime=0), "gzip-compressed data"),
        (b"PK\x03\x04\x14\x00", "a zip archive"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd-compressed data"),
        (b"\xfd7zXZ\x00", "xz-compressed data"),
        (b"BZh91AY", "bzip2-compressed data"),
        (b"SQLite format 3\0\x10", "an SQLite database"),
        (b"\x7fELF\x02\x01", "a program or shared library"),
        (b"<!doctype html>", "HTML or XML"),
        (b"\xff\xfe[\0", "text in UTF-16"),
        (bytes(range(256)), "no format that this package knows"),
        (b"\x0a" + b"\x80" * 11, "no format that this package knows"),
        (b"\x0a\x03\x0b\x01\x00", "no format that this package knows"),
        (OURS, "a device profile of rblnpb"),
        (DISPLAY, "a Perfetto trace without records of ours"),
        (PPROF, "a pprof profile"),
        (XPLANE, "an XPlane (.xplane.pb)"),
        (b"\x0a\x03\x0a\x01\x00", "protobuf of some other format"),
    ],
)
def test_an_input_is_called_what_it_looks_like(head: bytes, what: str) -> None:
    assert looks_like(head).startswith(what)


@pytest.mark.parametrize("head", [b"", b"text", b"{", b"\x1f\x8b", b"PK\x03\x04", b"\x00\x01", OURS, DISPLAY, PPROF, XPLANE])
def test_every_answer_says_what_to_do(head: bytes) -> None:
    advice = looks_like(head).partition(";")[2] or looks_like(head).partition("(")[2]

    assert len(advice) > 10


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (DISPLAY, "perfetto"),
        (frame(b"\x50\x01" + b"\xe2\x03\x02\x08\x05"), "perfetto"),  # a sequence, and a track
        (frame(b"\x92\x03\xe8\x07" + bytes(1000))[:300], "perfetto"),  # a bundle that is longer than what was looked at
        (frame(b"\x1a\x00" + DISPLAY), "protobuf"),
        (OURS, "profile"),
        # A line feed is the tag of a first packet, and white space before JSON; `{` is a length of 123 bytes then.
        (b'\n{"traceEvents": []}', "json"),
        (b'\n[{"ph": "X"}]', "json"),
        (frame(b"\x40\x05\x5a\x77" + bytes(119)), "perfetto"),
        (PPROF, "protobuf"),
        (XPLANE, "protobuf"),
        (b"\x0a", "protobuf"),
    ],
)
def test_formats_that_begin_alike_are_told_apart(head: bytes, expected: str) -> None:
    found = {"profile": is_profile(head), "perfetto": is_perfetto(head), "json": is_json(head)}

    assert [name for name, is_it in found.items() if is_it] == ([] if expected == "protobuf" else [expected])
