"""Whatever bytes are read, nothing but our own errors comes out, and what comes out can be written and read again."""

from __future__ import annotations

import contextlib
import random
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.container import scan
from rblnpb.v1 import columns_pb2
from tests.fuzz.mutations import exchanged, good_files
from tests.fuzz.odd_messages import odd_profile, with_odd_fields
from tests.fuzz.targets import TARGETS, replayed

FILES = good_files()
REPLAYED = [(name, path) for name, path in replayed()]
LONGEST_SECONDS = 5.0
"""Of the processor, for one small input: hundreds of times what one takes."""


def read_in_time(target: str, data: bytes) -> list[str]:
    began = time.process_time()
    said = TARGETS[target].read(data)
    assert time.process_time() - began < LONGEST_SECONDS
    return said


@pytest.mark.parametrize(
    ("target", "count", "met"),
    [
        ("container", 300, {"FormatError", "TruncatedError", "NotAProfileError"}),
        ("chunk", 400, {"FormatError"}),
        ("profile", 30, {"CheckError", "FormatError"}),
        ("window", 8, set()),
        ("archive", 20, {"FormatError"}),
        ("converted", 10, set()),
        ("host", 40, {"FormatError", "TruncatedError"}),
        ("host-converted", 15, {"FormatError"}),
        ("explain", 200, {"FormatError"}),
        ("names", 1000, {"UsageError"}),
        ("vendor", 15, {"CheckError"}),
    ],
)
def test_a_changed_input_is_read_or_ends_in_one_of_our_errors(target: str, count: int, met: set[str]) -> None:
    seeds, draw = TARGETS[target].seeds(), random.Random(target)

    said = {text for _ in range(count) for text in read_in_time(target, TARGETS[target].mutate(draw.choice(seeds), draw))}

    # That the faults are of many kinds is part of the test.
    assert met <= said


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_to_begin_with_are_good_ones(target: str) -> None:
    for data in TARGETS[target].seeds():
        # Two sessions cannot be read as one, a name is no window, and what was recorded by hand has findings.
        assert set(TARGETS[target].read(data)) & {"FormatError", "NotAProfileError", "TruncatedError"} == set()


@given(st.binary(max_size=200))
@settings(max_examples=30)
def test_any_bytes_are_a_profile_of_nobody(data: bytes) -> None:
    assert read_in_time("profile", data) != []


@given(st.binary(max_size=60), st.integers(0, len(FILES[0])))
@settings(max_examples=15)
def test_any_bytes_inside_a_file_end_in_a_profile_or_in_one_of_our_errors(inserted: bytes, at: int) -> None:
    # What fails here is an exception of somebody else's that escapes.
    read_in_time("profile", FILES[0][:at] + inserted + FILES[0][at:])


@given(st.binary(max_size=120))
@settings(max_examples=15)
def test_any_bytes_in_a_packet_end_in_one_of_our_errors(data: bytes) -> None:
    read_in_time("vendor", b"\x0a" + bytes([len(data)]) + data)


@pytest.mark.parametrize(("target", "path"), REPLAYED, ids=[f"{name}/{path.stem}" for name, path in REPLAYED])
def test_bytes_that_once_broke_a_reader_do_not_again(target: str, path: Path) -> None:
    read_in_time(target, path.read_bytes())


# --- what changes inputs -------------------------------------------------------------------------------------------


def test_odd_messages_have_checksums_that_fit() -> None:
    """Else all of this would stop at the first check."""
    draw = random.Random(1)
    made = [odd_profile(data, draw) for data in FILES for _ in range(10)]

    assert len(set(made) - set(FILES)) > 40
    assert all(frame.is_intact(data) for data in made for frame in scan(data).frames)


def test_what_is_compressed_is_changed_inside() -> None:
    plain, made, draw = bytes(range(64)), set(), random.Random(1)
    for _ in range(50):
        message = columns_pb2.PackedValues(codec=columns_pb2.CODEC_ZLIB, data=zlib.compress(plain))
        with_odd_fields(message, draw)
        if message.codec == columns_pb2.CODEC_ZLIB and message.data:
            with contextlib.suppress(zlib.error):
                made.add(zlib.decompress(message.data))

    assert len([data for data in made if len(data) == len(plain)]) > 10


def test_tokens_are_exchanged_as_wholes() -> None:
    draw = random.Random(2)

    made = {exchanged(b'{"a": 12}', draw, (b"null",)) for _ in range(200)}

    assert b'{"a": null}' in made
    assert b"{null: 12}" in made
    assert all(b"1" not in text.replace(b"12", b"") for text in made)
