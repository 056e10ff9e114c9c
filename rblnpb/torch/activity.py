"""What a profile says the device did in a profiling window, in real time, as torch.profiler's events need it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rblnpb.clock import HOST_REALTIME, clock_maps
from rblnpb.columns import ABSENT, DeviceSlices
from rblnpb.naming import render
from rblnpb.profile import DMA_ENGINE_KINDS, ENGINE_NAMES, WORKING_KINDS, Engine, Profile
from rblnpb.record_times import spans_by_clock

__all__ = ["Activity", "DeviceEvent", "Lane", "Launch", "device_activity", "owners"]


@dataclass(frozen=True)
class Launch:
    """A submission by a thread of the host; Unix ns."""

    launch_id: int
    time_ns: int
    process_id: int
    thread_id: int


@dataclass(frozen=True)
class Lane:
    """A row of the device: an engine. `is_dma`: it moves data."""

    number: int
    name: str
    category: str
    is_dma: bool

    @property
    def torch_category(self) -> str:
        """Kineto's word for what the engine does."""
        return "gpu_memcpy" if self.is_dma else "kernel"


@dataclass(frozen=True)
class DeviceEvent:
    """One command that an engine worked on. `launch`: place in `Activity.launches`; -1 = none is known."""

    name: str
    start_ns: int
    end_ns: int
    lane: int
    launch: int


@dataclass(frozen=True)
class Activity:
    """The device in one window. `events` stand in record order, and `DeviceEvent.lane` is a place in `lanes`."""

    device: str = "rbln:0"
    npu: str = ""
    lanes: tuple[Lane, ...] = ()
    launches: tuple[Launch, ...] = ()
    events: tuple[DeviceEvent, ...] = ()

    @property
    def label(self) -> str:
        """What the device is, for people."""
        return f"RBLN NPU 0 (simulated {self.npu})"

    @functools.cached_property
    def first_events(self) -> frozenset[int]:
        """Places of the events with which the device begins each launch."""
        first: dict[int, int] = {}
        for place, event in enumerate(self.events):
            if event.launch >= 0 and (event.launch not in first or event.start_ns < self.events[first[event.launch]].start_ns):
                first[event.launch] = place
        return frozenset(first.values())


def device_activity(profile: Profile) -> Activity:
    """The work of the device; waits, frames and rows of the host are left out, as torch counts none of them as device time.

    Device ticks become nanoseconds of the host's monotonic clock by the readings of the device's clock, and those real time by the
    reading with the smallest bracket: the way in which files are joined, so that both give the same numbers.

    Args:
        profile: Of a window, with a reading of real time.
    """
    engines = sorted(profile.engines, key=lambda engine: (engine.device_id, engine.display_order, engine.engine_id))
    working = [engine for engine in engines if engine.kind in WORKING_KINDS]
    table = profile.device_slices
    table = table.take(np.isin(table.engine_id, [engine.engine_id for engine in working]))
    readings = [snapshot for snapshot in profile.clock_snapshots if snapshot.clock_id == HOST_REALTIME]
    best = min(readings, key=lambda snapshot: snapshot.uncertainty_ns)
    offset_ns = best.value_ticks - best.monotonic_ns
    start_ns, duration_ns = np.zeros((2, len(table)), np.int64)
    for own, start, duration in spans_by_clock(table, clock_maps(profile.clocks, profile.clock_snapshots)):
        start_ns[own], duration_ns[own] = start, duration
    launches = profile.launches
    columns = (launches.launch_id, launches.start_ns + offset_ns, launches.process_id, launches.thread_id)
    place = {launch_id: row for row, launch_id in enumerate(launches.launch_id.tolist())}
    lane = {engine.engine_id: row for row, engine in enumerate(working)}
    begin_ns = start_ns + offset_ns
    rows = zip(
        _names(profile, table),
        begin_ns.tolist(),
        (begin_ns + duration_ns).tolist(),
        [lane[engine_id] for engine_id in table.engine_id.tolist()],
        [place.get(launch_id, -1) for launch_id in table.launch_id.tolist()],
        strict=True,
    )
    return Activity(
        device=profile.devices[0].name if profile.devices else "rbln:0",
        npu=profile.session.npu,
        lanes=tuple(map(_lane, working)),
        launches=tuple(Launch(*row) for row in zip(*(column.tolist() for column in columns), strict=True)),
        events=tuple(DeviceEvent(*row) for row in rows),
    )


def _names(profile: Profile, table: DeviceSlices) -> list[str]:
    commands, command = profile.commands, table.command_row
    layers = np.array([text.encode() for text in profile.strings], np.bytes_)
    names = render(
        profile.session.name_style,
        layer=layers[commands.layer_strindex[command]],
        command=commands.command_index[command],
        instance=table.instance,
        sequence=np.where(table.sequence == ABSENT, -1, table.sequence),
        workload=np.where(table.workload == ABSENT, -1, table.workload),
    )
    return [name.decode() for name in names.tolist()]


def _lane(engine: Engine) -> Lane:
    category = engine.name or ENGINE_NAMES[engine.kind]
    name = category if engine.chiplet is None else f"{category} (chiplet {engine.chiplet})"
    return Lane(engine.display_order, name, category, engine.kind in DMA_ENGINE_KINDS)


def owners(activity: Activity, ops: Sequence[tuple[int, int, int, int]]) -> tuple[int, ...]:
    """For each launch the innermost operator that its thread was in: it is the one that the profiler would have linked.

    Args:
        activity: Of the window.
        ops: (native thread id, start, end, id) of the window's operators; Unix ns, the end not included, in order of recording.

    Returns:
        Ids by launch, 0 = none.
    """
    launching = sorted(range(len(activity.launches)), key=lambda place: activity.launches[place].time_ns)
    threads = {launch.thread_id for launch in activity.launches}
    by_thread: dict[int, list[tuple[int, int, int]]] = {thread: [] for thread in threads}
    for thread, start_ns, end_ns, op_id in ops:
        if thread in threads:
            by_thread[thread].append((start_ns, end_ns, op_id))
    found = [0] * len(activity.launches)
    for thread, own in by_thread.items():
        own.sort(key=lambda op: (op[0], -op[1]))
        open_ops: list[tuple[int, int, int]] = []
        upcoming = 0
        for place in launching:
            launch = activity.launches[place]
            if launch.thread_id != thread:
                continue
            while upcoming < len(own) and own[upcoming][0] <= launch.time_ns:
                open_ops.append(own[upcoming])
                upcoming += 1
            open_ops = [op for op in open_ops if op[1] > launch.time_ns]
            found[place] = open_ops[-1][2] if open_ops else 0
    return tuple(found)
