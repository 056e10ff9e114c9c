"""Ways to read some bytes as profiles of the vendor. Apart from the others: they need Perfetto's bindings."""

from __future__ import annotations

import io
import random
from dataclasses import replace

from google.protobuf.message import DecodeError

import rblnpb
from rblnpb.converters.merging import merge
from rblnpb.converters.sources.vendor_pb import read_vendor_profile
from rblnpb.invariants import contradictions
from tests.fuzz.mutations import broken
from tests.fuzz.odd_messages import with_odd_fields
from tests.support.vendor_profiles import Layout, Slice, encode, host_rows, launched, perfetto, run, trace_rows, vendor_file
from tests.support.vendor_traces import host_trace

__all__ = ["FILES", "odd_packets", "vendor_ways"]

SLICES = [*run("multi"), Slice("x", "uDMA", 0, None, annotations={"launch_id": 3, "tile": [1, {"a": 2}]}, categories=("Host",))]
FILES = [
    vendor_file(SLICES),
    vendor_file(SLICES, Layout(is_interned=True, annotation="dict", has_defaults=True, sequences=2, clock=64, boot_ns=5)),
    vendor_file(SLICES, Layout(annotation="nested", tracks="chiplets", bundle=9)),
    vendor_file(run("newer"), Layout(clock=64, is_delta=True, unit_ns=100, in_order=True, boot_ns=9)),
    vendor_file([Slice("0_mm_0", "Task DMA", 1_000_000, 5_000_000)], Layout(is_complete_event=True)),
    vendor_file([*run("multi"), *(replace(one, device="python", track="main", categories=("cpu_op",)) for one in run("legacy"))]),
]
HOST = host_trace([*host_rows([500, 10_500, 20_500]), *trace_rows(launched(run("multi")), lambda at: at)])


def odd_packets(data: bytes, draw: random.Random) -> bytes:
    """A trace of which one to three packets say something odd; other bytes just broken."""
    trace = perfetto.Trace()
    try:
        trace.ParseFromString(data)
    except DecodeError:
        return broken(data, draw)
    if not trace.packet:
        return broken(data, draw)
    for _ in range(draw.randint(1, 3)):
        with_odd_fields(draw.choice(trace.packet), draw)
    return encode(trace.packet)


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


vendor_ways = (_show, _join, _write, _strict)
