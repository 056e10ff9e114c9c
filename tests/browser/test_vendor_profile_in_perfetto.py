"""Files of the vendor are read as Perfetto itself reads them: its trace processor is the judge."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.merging import merge
from rblnpb.converters.sources.vendor_pb import read_vendor_profile
from rblnpb.converters.timeline import AlignedSlices, Timeline
from tests.browser.viewers import perfetto_query
from tests.support.vendor_profiles import GENERATIONS, Layout, Slice, encode, perfetto, run, vendor_file

pytestmark = pytest.mark.browser

SLICES = """
select s.ts as ts, s.dur as dur, s.name as name, t.name as thread
from slice s join thread_track tt on s.track_id = tt.id join thread t using (utid) where s.dur >= 0
"""
ARGUMENTS = """
select count(*) as told
from slice s join args a on s.arg_set_id = a.arg_set_id and a.key = 'debug.Slice Arguments'
"""
FLOWS = """
select o.name as a, i.name as b, o.ts as ts
from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id
"""

Row = tuple[Any, ...]


def theirs(answer: list[dict[str, Any]]) -> list[Row]:
    return sorted(tuple(row.values()) for row in answer)


def ours(timeline: Timeline) -> list[Row]:
    return sorted([*_shown(timeline, timeline.slices), *_shown(timeline, timeline.frames)])


def _shown(timeline: Timeline, slices: AlignedSlices) -> list[Row]:
    names = [name.decode() for name in slices.names.render().tolist()]
    rows = [timeline.tracks[row].name for row in slices.track.tolist()]
    return list(zip(slices.start_ns.tolist(), slices.duration_ns.tolist(), names, rows, strict=True))


def flows(timeline: Timeline) -> list[Row]:
    names = [name.decode() for name in timeline.slices.names.render().tolist()]
    pairs = zip(timeline.dependencies.predecessor.tolist(), timeline.dependencies.successor.tolist(), strict=True)
    return sorted((names[before], names[after], int(timeline.slices.start_ns[before])) for before, after in pairs)


CHIPLETS = [replace(one, chiplet=number % 4) for number, one in enumerate(run("multi", 4))]
TOUCHING = [
    Slice("later", "Task DMA", 20, 30),
    Slice("outer", "Task DMA", 0, 20),
    Slice("inner", "Task DMA", 5, 20),
    Slice("empty", "Neural DMA", 7, 7),
    Slice("endless", "Neural DMA", 50, None),
]
WHOLE = [Slice(f"{at}_mm_0", "Task DMA", at * 1_000_000, at * 1_000_000 + 500_000) for at in range(9)]
FILES = {
    **{generation: vendor_file(run(generation)) for generation in GENERATIONS},
    "interned": vendor_file(run("multi"), Layout(is_interned=True, annotation="interned")),
    "defaults": vendor_file(run("multi"), Layout(is_interned=True, has_defaults=True, in_order=True)),
    "sequences": vendor_file(run("multi"), Layout(is_interned=True, sequences=3)),
    "compressed": vendor_file(run("multi"), Layout(bundle=7)),
    "chiplets": vendor_file(CHIPLETS),
    "shuffled": vendor_file(run("multi", 5)[::-1]),
    "touching": vendor_file(TOUCHING),
    "chrome": vendor_file(WHOLE, Layout(is_complete_event=True)),
    "clock": vendor_file(run("multi"), Layout(clock=64, boot_ns=7_000_000)),
    "differences": vendor_file(run("multi"), Layout(clock=64, is_delta=True, unit_ns=100, boot_ns=7_000_000, in_order=True)),
}


@pytest.mark.parametrize("name", FILES)
def test_slices_arguments_and_flows_are_those_of_perfetto(name: str) -> None:
    slices, told, arrows = perfetto_query(FILES[name], SLICES, ARGUMENTS, FLOWS)
    profile = read_vendor_profile(io.BytesIO(FILES[name]))
    timeline = merge(profile)
    assert ours(timeline) == theirs(slices)
    assert flows(timeline) == theirs(arrows)
    is_told = (profile.device_slices.size_bytes != ABSENT) | (profile.device_slices.compute_cycles != ABSENT)
    assert [{"told": int(is_told.sum())}] == told


def test_what_a_lost_packet_leaves_open_is_left_out_as_by_perfetto() -> None:
    packets = list(perfetto.Trace.FromString(FILES["interned"]).packet)
    packets[len(packets) // 2].previous_packet_dropped = 1
    data = encode(packets)
    (slices,) = perfetto_query(data, SLICES)
    profile = read_vendor_profile(io.BytesIO(data))
    assert ours(merge(profile)) == theirs(slices)
    assert {finding.code for finding in profile.findings} >= {"lost-state", "dropped-records"}
