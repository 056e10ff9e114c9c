"""Busy and idle time: of all devices, of each, of their engines, and inside the calls of programs.

Busy is the union of slices of work; a span reaches from the first start to the last end of them; idle is the rest of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.row_order import order_by

from ...dialect import host_window
from ...results import DeviceOccupancy, EngineOccupancy, KindOccupancy, Occupancies, Occupancy, ProgramOccupancy
from ...timeline import Bool, Int64, Timeline
from ..grouping import numbered
from ..intervals import LaneTimes, halves, lane_times, whole_sums
from ..slices.program_groups import program_groups

__all__ = ["Calls", "OrderedWork", "device_calls", "device_occupancy", "ordered_work", "program_occupancy"]


@dataclass(frozen=True, eq=False)
class OrderedWork:
    """Slices of work of a timeline, in order of start; of those that start together, those with a launch that is known come first.

    Attributes:
        row: int64[n]; row of `Timeline.slices`.
        start_ns, end_ns: int64[n]; trace clock.
        track: int64[n]; row of `Timeline.tracks`.
        device: int64[n]; row of `devices`.
        launch: int64[n]; row of `Timeline.launches`; -1 = none is known.
        devices: Names of the devices that have tracks, in order of tracks.
    """

    row: Int64
    start_ns: Int64
    end_ns: Int64
    track: Int64
    device: Int64
    launch: Int64
    devices: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.row)


def ordered_work(timeline: Timeline) -> OrderedWork:
    """The work of a timeline."""
    slices = timeline.slices
    rows = np.flatnonzero(timeline.is_work()).astype(np.int64)
    is_launched = slices.launch[rows] >= 0
    if not is_launched.all():
        rows = np.concatenate((rows[is_launched], rows[~is_launched]))
    rows = rows[order_by(slices.start_ns[rows])]
    start_ns, track = slices.start_ns[rows], slices.track[rows].astype(np.int64)
    device = _devices_of_tracks(timeline)[track]
    devices = tuple(dict.fromkeys(track.device for track in timeline.tracks))
    return OrderedWork(rows, start_ns, start_ns + slices.duration_ns[rows], track, device, slices.launch[rows], devices)


def _devices_of_tracks(timeline: Timeline) -> Int64:
    """int64[tracks + 1]; row of `OrderedWork.devices` for each track, and one more, so that no row can be asked for."""
    devices = {device: at for at, device in enumerate(dict.fromkeys(track.device for track in timeline.tracks))}
    return np.array([*(devices[track.device] for track in timeline.tracks), 0], np.int64)


def device_occupancy(timeline: Timeline, work: OrderedWork | None = None) -> Occupancies:
    """Busy and idle time of the device side of a timeline.

    `launched_in_window` leaves out what was launched before the trace began: of a trace's own rows those that neither a launch nor
    an op of it leads to, of a profile joined with a trace those launched outside the time that the trace covers.

    Args:
        timeline: Any.
        work: Its work, where it is there already.
    """
    work = ordered_work(timeline) if work is None else work
    is_launched = _is_launched_in_window(timeline, work)
    none = np.zeros(len(work), np.int64)
    by_device = _times(work, work.device, len(work.devices))
    launched = _times(work, work.device, len(work.devices), is_launched)
    (everything,) = _occupancies(by_device if len(work.devices) == 1 else _times(work, none, 1))
    (in_window,) = _occupancies(launched if len(work.devices) == 1 else _times(work, none, 1, is_launched))
    devices = tuple(
        DeviceOccupancy(name, one, other, first_ns, last_ns, 0, 0, 0, None, ())
        for name, one, other, first_ns, last_ns in zip(
            work.devices,
            _occupancies(by_device),
            _occupancies(launched),
            by_device.first_ns.tolist(),
            by_device.last_ns.tolist(),
            strict=True,
        )
    )
    kinds, engines = _engines(timeline, work)
    return Occupancies(everything, in_window, tuple(one for one in devices if one.all.slice_count), kinds, engines)


def _is_launched_in_window(timeline: Timeline, work: OrderedWork) -> Bool:
    """bool[n]; which slices of work were launched within what the trace shows."""
    slices = timeline.slices
    is_known = work.launch >= 0
    window = None if timeline.host is None else host_window(timeline.host)
    if window is None:
        return is_known
    start_ns = timeline.launches.start_ns
    is_inside = np.append((start_ns >= window[0]) & (start_ns < window[1]), False)[work.launch]
    # What the trace itself shows of a launch, a call or the op alone, is in the trace, whatever its profiler calls its window.
    is_own = slices.event[work.row] >= 0
    return np.where(is_own, is_known | (slices.host_row[work.row] >= 0), is_inside)


def _engines(timeline: Timeline, work: OrderedWork) -> tuple[tuple[KindOccupancy, ...], tuple[EngineOccupancy, ...]]:
    tracks = timeline.tracks
    by_track = _times(work, work.track, len(tracks))
    engines = tuple(
        EngineOccupancy(track.device, track.name, track.kind, one)
        for track, one in zip(tracks, _occupancies(by_track), strict=True)
        if one.slice_count
    )
    pairs = {pair: at for at, pair in enumerate(dict.fromkeys((track.device, track.kind) for track in tracks))}
    of_track = np.array([pairs[track.device, track.kind] for track in tracks], np.int64)
    by_kind = _times(work, of_track[work.track] if len(work) else work.track, len(pairs))
    counts = {pair: sum((engine.device, engine.kind) == pair for engine in engines) for pair in pairs}
    kinds = tuple(
        KindOccupancy(*pair, counts[pair], one) for pair, one in zip(pairs, _occupancies(by_kind), strict=True) if one.slice_count
    )
    return kinds, engines


def _times(work: OrderedWork, lane: Int64, lane_count: int, mask: Bool | None = None) -> LaneTimes:
    start_ns, end_ns = work.start_ns, work.end_ns
    if mask is not None and not mask.all():
        lane, start_ns, end_ns = lane[mask], start_ns[mask], end_ns[mask]
    if lane_count > 1:
        order = order_by(lane)
        lane, start_ns, end_ns = lane[order], start_ns[order], end_ns[order]
    return lane_times(lane, start_ns, end_ns, lane_count)


def _occupancies(times: LaneTimes) -> list[Occupancy]:
    columns = (times.slice_count, times.busy_ns, times.idle_ns, times.span_ns)
    rows = zip(*(column.tolist() for column in columns), times.sums_ns(), strict=True)
    return [Occupancy(*row) for row in rows]


@dataclass(frozen=True, eq=False)
class Calls:
    """Calls on devices: all slices of one launch on one device, or of one turn of a runtime instance where no launch is known.

    Attributes:
        of_work: int64[n]; call of each row of `OrderedWork`; -1 = it tells of none.
        device: int64[k]; row of `OrderedWork.devices`.
        begun_ns: int64[k]; trace clock; start of its first slice, of work or not.
        program: int64[k]; row of `programs`.
        programs: Name of the program, as `program_groups` tells it, and of the compiled graph that it belongs to; empty = none or
            not known.
        times: Of each call; k rows.
    """

    of_work: Int64
    device: Int64
    begun_ns: Int64
    program: Int64
    programs: tuple[tuple[str, str], ...]
    times: LaneTimes

    def __len__(self) -> int:
        return len(self.device)


def device_calls(timeline: Timeline, work: OrderedWork) -> Calls:
    """The calls that the work of a timeline belongs to."""
    slices = timeline.slices
    others = np.flatnonzero(~timeline.is_work())
    device = np.concatenate((work.device, _devices_of_tracks(timeline)[slices.track[others]]))
    call = _call_numbers(timeline, np.concatenate((work.row, others)))
    code = np.where(call >= 0, call * max(len(work.devices), 1) + device, -1)
    of_all, of_others = np.split(code, [len(work)])
    own = np.flatnonzero(of_all >= 0)
    distinct, of_own = numbered(of_all[own])
    of_work = np.full(len(work), -1, np.int64)
    of_work[own] = of_own
    first = np.empty(len(distinct), np.int64)
    first[of_own[::-1]] = own[::-1]
    order = order_by(of_own)
    rows = own[order]
    times = lane_times(of_own[order], work.start_ns[rows], work.end_ns[rows], len(distinct))
    begun_ns = times.first_ns.copy()
    place = np.searchsorted(distinct, of_others)
    is_there = np.append(distinct, -2)[place] == of_others
    np.minimum.at(begun_ns, place[is_there], slices.start_ns[others[is_there]])
    groups = program_groups(timeline)
    programs = tuple((str(name), str(graph)) for name, graph in zip(groups.keys["name"], groups.keys["compile_id"], strict=True))
    program = groups.group[np.searchsorted(groups.rows, work.row[first])]
    return Calls(of_work, work.device[first], begun_ns, program, programs, times)


def _call_numbers(timeline: Timeline, rows: Int64) -> Int64:
    """int64[n]; the same number for slices of one launch, or of one turn of one runtime instance; -1 where neither is told."""
    launch = timeline.slices.launch[rows]
    names = timeline.slices.names
    instance, sequence = names.instance[rows].astype(np.int64), names.sequence[rows]
    is_turn = (launch < 0) & (sequence >= 0) & (instance > 0)
    _, which = numbered(instance[is_turn])
    turns, turn = numbered(sequence[is_turn])
    # Turns are numbered behind the launches.
    call = launch.copy()
    call[is_turn] = which * len(turns) + turn + len(timeline.launches)
    return call


def program_occupancy(work: OrderedWork, calls: Calls) -> tuple[ProgramOccupancy, ...]:
    """The calls of each program on each device, summed; the program that idles longest inside its calls comes first."""
    times = calls.times
    codes, group = numbered(calls.program * max(len(work.devices), 1) + calls.device)
    ones = np.ones(len(calls), np.int64)
    columns = (ones, times.slice_count, *halves(times.busy_ns), *halves(times.span_ns), *times.sum_halves)
    sums = np.zeros((len(columns), len(codes)), np.int64)
    for own, column in zip(sums, columns, strict=True):
        np.add.at(own, group, column)
    counts = zip(codes.tolist(), *sums[:2].tolist(), *(whole_sums(sums[row : row + 2]) for row in (2, 4, 6)), strict=True)
    found = []
    for code, count, slice_count, busy_ns, span_ns, sum_ns in counts:
        program, device = divmod(code, max(len(work.devices), 1))
        name, compile_id = calls.programs[program]
        occupancy = Occupancy(slice_count, busy_ns, span_ns - busy_ns, span_ns, sum_ns)
        found.append(ProgramOccupancy(work.devices[device], name, compile_id, count, occupancy))
    return tuple(sorted(found, key=lambda one: -one.all.idle_ns))
