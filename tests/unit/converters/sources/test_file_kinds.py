"""Which reader an input is for."""

from __future__ import annotations

import gzip
import io

import pytest

import rblnpb
from rblnpb.converters.sources.file_kinds import FileKind, file_kind
from tests.support.vendor_profiles import Layout, run, vendor_file
from tests.support.vendor_traces import Launch, device_profile, document, op

TRACE = document([op("aten::mm", 1000, 2000)])
VENDOR = vendor_file(run("multi"))


def ours() -> bytes:
    file = io.BytesIO()
    rblnpb.write(device_profile((Launch(1, 1500, 2500),)), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ours(), FileKind.PROFILE),
        (VENDOR, FileKind.VENDOR_PROFILE),
        (gzip.compress(VENDOR, mtime=0), FileKind.VENDOR_PROFILE),
        (vendor_file(run("multi", 200), Layout(bundle=5000)), FileKind.VENDOR_PROFILE),
        (TRACE, FileKind.HOST_TRACE),
        (gzip.compress(TRACE, mtime=0), FileKind.HOST_TRACE),
        (b"\n\n" + TRACE, FileKind.HOST_TRACE),
        # What is damaged goes to the reader that says where.
        (b"[2026-11-29] started", FileKind.HOST_TRACE),
        (b"\x1f\x8b\x08damaged", FileKind.HOST_TRACE),
        (gzip.compress(b"plain text", mtime=0), FileKind.HOST_TRACE),
        # A profile of ours is not compressed as a whole; its own reader says so.
        (gzip.compress(ours(), mtime=0), FileKind.OTHER),
        (b"name,calls", FileKind.OTHER),
        (b"", FileKind.OTHER),
        (b"\x0a\x04\x08\x01\x10\x02\x12\x00", FileKind.OTHER),
    ],
)
def test_the_first_bytes_tell_the_kind(data: bytes, kind: FileKind) -> None:
    assert file_kind(data[:512]) is kind
