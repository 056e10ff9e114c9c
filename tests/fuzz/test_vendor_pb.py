"""Whatever bytes are read as a profile of the vendor, nothing but our own errors comes out, and the rest can be shown."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rblnpb
from rblnpb.converters.merging import merge
from rblnpb.converters.sources.vendor_pb import read_vendor_profile
from rblnpb.errors import RblnpbError
from rblnpb.invariants import contradictions
from tests.fuzz.mutations import mutated
from tests.support.vendor_profiles import Layout, Slice, encode, host_rows, launched, packet, perfetto, run, trace_rows, vendor_file
from tests.support.vendor_traces import host_trace

SLICES = [*run("multi"), Slice("x", "uDMA", 0, None, annotations={"launch_id": 3, "tile": [1, {"a": 2}]}, categories=("Host",))]
FILES = [
    vendor_file(SLICES),
    vendor_file(SLICES, Layout(is_interned=True, annotation="dict", has_defaults=True, sequences=2, clock=64, boot_ns=5)),
    vendor_file(SLICES, Layout(annotation="nested", tracks="chiplets", bundle=9)),
    vendor_file(run("newer"), Layout(clock=64, is_delta=True, unit_ns=100, in_order=True, boot_ns=9)),
    vendor_file([Slice("0_mm_0", "Task DMA", 1_000_000, 5_000_000)], Layout(is_complete_event=True)),
]
HOST = host_trace([*host_rows([500, 10_500, 20_500]), *trace_rows(launched(run("multi")), lambda at: at)])


def read_every_way(data: bytes) -> set[str]:
    """Names of our errors; any other escapes."""
    seen = set()
    for way in (_show, _join, _write, _strict):
        error: RblnpbError | None = None
        try:
            way(data)
        except RblnpbError as raised:
            error = raised
        if error is not None:
            assert "\n" not in str(error)
            seen.add(type(error).__name__)
    return seen


def _show(data: bytes) -> None:
    profile = read_vendor_profile(io.BytesIO(data))
    assert contradictions(profile) == ()
    merge(profile)


def _join(data: bytes) -> None:
    timeline = merge(read_vendor_profile(io.BytesIO(data)), HOST)
    assert int(timeline.dependencies.predecessor.max(initial=-1)) < len(timeline.slices)


def _write(data: bytes) -> None:
    file = io.BytesIO()
    profile = read_vendor_profile(io.BytesIO(data))
    rblnpb.write(profile, file)
    assert rblnpb.read(file.getvalue()).device_slices.equals(profile.device_slices)


def _strict(data: bytes) -> None:
    read_vendor_profile([io.BytesIO(data), io.BytesIO(FILES[0])], strict=True)


@pytest.mark.parametrize("row", range(len(FILES)))
def test_a_mutated_file_ends_in_a_profile_or_in_one_of_our_errors(row: int) -> None:
    # Odd seeds are for files with checksums.
    seen = {name for seed in range(0, 120, 2) for name in read_every_way(mutated(FILES[row], seed))}
    assert "CheckError" in seen


def _changed(message: Any, draw: random.Random) -> None:
    """Some numbers and texts of a message, and of those in it, made odd: the bytes stay well-formed."""
    for field, value in message.ListFields():
        is_repeated = not hasattr(value, "ListFields") and hasattr(value, "append")
        if field.message_type is not None:
            for inner in value if is_repeated else [value]:
                _changed(inner, draw)
        elif not is_repeated and isinstance(value, (int, float, str)) and draw.random() < 0.05:
            odd = _ODD.get(field.cpp_type)
            if odd is not None:
                setattr(message, field.name, draw.choice(odd))
        elif is_repeated and draw.random() < 0.05:
            value.extend(list(value))


_ODD: dict[int, list[Any]] = {
    1: [0, -1, 2**31 - 1],
    2: [0, -1, -(2**63), 2**63 - 1],
    3: [0, 1, 64, 2**32 - 1],
    4: [0, 1, 2**63, 2**64 - 1],
    5: [float("nan"), float("inf"), -1.0],
    9: ["", "Slice Arguments", "{", "\0", "i99999999999_0_W0_mm_0", "Device Workload 3", "Chiplet 99999999999999999999"],
}


@pytest.mark.parametrize("row", range(len(FILES)))
def test_odd_values_in_whole_packets_end_in_a_profile_or_in_one_of_our_errors(row: int) -> None:
    packets = perfetto.Trace.FromString(FILES[row])
    for seed in range(30):
        trace = perfetto.Trace()
        trace.CopyFrom(packets)
        draw = random.Random(seed)
        for one in trace.packet:
            _changed(one, draw)
        read_every_way(encode(trace.packet))


@given(st.binary(max_size=120), st.integers(0, len(FILES[1])))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_any_bytes_inside_a_file_end_in_a_profile_or_in_one_of_our_errors(inserted: bytes, at: int) -> None:
    read_every_way(FILES[1][:at] + inserted + FILES[1][at:])


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_any_bytes_in_a_packet_end_in_one_of_our_errors(data: bytes) -> None:
    read_every_way(b"\x0a" + bytes([len(data) % 128]) + data)
    read_every_way(FILES[0] + encode([packet(compressed_packets=data)]))
