"""Which records lie in a window, by section 6 of the specification, record by record with fractions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor

import numpy as np

from rblnpb.clock import HOST_MONOTONIC, ClockMap, clock_maps
from rblnpb.columns import ABSENT, Counters, Dependencies, DeviceSlices, HostSlices, Launches, Overheads, Table, WorkloadSlices
from rblnpb.profile import KINDS, Profile

__all__ = ["moments", "windowed"]


def _moment_ns(clock_map: ClockMap, ticks: int) -> int:
    """Rule 5."""
    anchors = list(zip(clock_map.anchor_ticks.tolist(), clock_map.anchor_ns.tolist(), strict=True))
    row = max((row for row, (x, _) in enumerate(anchors) if x <= ticks), default=0)
    x, y = anchors[row]
    slope = Fraction(10**9, clock_map.clock.nominal_hz or 1)
    if len(anchors) > 1:
        (x0, y0), (x1, y1) = anchors[row : row + 2] if row + 1 < len(anchors) else anchors[-2:]
        slope = Fraction(y1 - y0, x1 - x0)
    return int(y + floor((ticks - x) * slope + Fraction(1, 2)))


def _unwrapped(clock_map: ClockMap, ticks: int) -> int:
    """Rule 4."""
    width = clock_map.clock.width_bits
    if width == 64:
        return ticks - (1 << 64) if ticks >= 1 << 63 else ticks
    middle = (int(clock_map.anchor_ticks[0]) + int(clock_map.anchor_ticks[-1])) // 2
    low = middle - (1 << width - 1)
    return low + (ticks - low) % (1 << width)


def moments(table: Table, maps: Mapping[int, ClockMap]) -> list[tuple[int, int] | None]:
    """Start and end of each record in host monotonic ns; None of one that has none, or cannot be placed."""
    if isinstance(table, Launches):
        return [(start, start) for start in table.start_ns.tolist()]
    if isinstance(table, (HostSlices, Overheads)):
        spans = zip(table.start_ns.tolist(), table.duration_ns.tolist(), strict=True)
        return [(start, start + (0 if duration == ABSENT else duration)) for start, duration in spans]
    if isinstance(table, (DeviceSlices, WorkloadSlices)):
        columns = zip(table.clock_id.tolist(), table.start_ticks.tolist(), table.duration_ticks.tolist(), strict=True)
    elif isinstance(table, Counters):
        columns = zip(table.clock_id.tolist(), table.time_ticks.tolist(), [0] * len(table), strict=True)
    else:
        return [None] * len(table)
    found: list[tuple[int, int] | None] = []
    for clock_id, raw, duration in columns:
        clock_map = maps.get(clock_id)
        if clock_map is None:
            found.append(None)
            continue
        start = raw if clock_id == HOST_MONOTONIC and raw < 1 << 63 else _unwrapped(clock_map, raw)
        found.append((_moment_ns(clock_map, start), _moment_ns(clock_map, start + duration)))
    return found


def windowed(profile: Profile, start_ns: int, end_ns: int) -> Profile:
    """What a window of the profile holds; findings as they were."""
    maps = clock_maps(profile.clocks, profile.clock_snapshots)
    kept: dict[int, list[int]] = {}
    for kind in KINDS:
        kept[kind] = [
            row
            for row, span in enumerate(moments(profile.table(kind), maps))
            if span is None or (span[0] < end_ns and (span[1] > start_ns or span[0] >= start_ns))
        ]
    named: set[int] = set()
    for table in (profile.device_slices, profile.workload_slices, profile.host_slices):
        named |= set(table.launch_id[kept[table.kind]].tolist()) - {0}
    launched = [row for row, one in enumerate(profile.launches.launch_id.tolist()) if one in named]
    kept[Launches.kind] = sorted({*kept[Launches.kind], *launched})
    place = {row: at for at, row in enumerate(kept[DeviceSlices.kind])}
    ends = zip(profile.dependencies.predecessor_ordinal.tolist(), profile.dependencies.successor_ordinal.tolist(), strict=True)
    between = [(place[one], place[other]) for one, other in ends if one in place and other in place]
    tables: dict[str, Table] = {
        KINDS[kind].label: profile.table(kind).take(np.array(rows, np.int64))
        for kind, rows in kept.items()
        if kind != Dependencies.kind
    }
    tables[Dependencies.label] = Dependencies.of(
        predecessor_ordinal=np.array([one for one, _ in between], np.int64),
        successor_ordinal=np.array([other for _, other in between], np.int64),
    )
    return profile.replace(**tables)
