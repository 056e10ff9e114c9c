"""A profile of which nothing but what is public can be read: the same records, with other names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

import numpy as np

from rblnpb.clock import HOST_REALTIME, ClockKind, ClockSnapshot
from rblnpb.columns import Counters, DeviceSlices, Overheads, TraceEvents, UInt32, UInt64, WorkloadSlices, frozen
from rblnpb.profile import Profile, Program, Session
from rblnpb.strings import StringTable

from ..host_trace import UNIX_NS
from ._redacted_names import RedactedNames

__all__ = ["redacted_profile"]

_SECOND_NS: Final = 10**9
_UNIX_S: Final = UNIX_NS // _SECOND_NS
_TABLES = TypeVar("_TABLES", DeviceSlices, WorkloadSlices)


def redacted_profile(profile: Profile, names: RedactedNames, *, shift_s: int = 0) -> Profile:
    """A profile without what is not public in it, and without the host trace that it may archive.

    Args:
        profile: The profile.
        names: What stands for names.
        shift_s: Whole seconds that every Unix time is moved back.

    Returns:
        The same records, definitions and times in the clocks of host and device; strings that nothing refers to are gone.
    """
    texts = _Texts(profile.strings)
    clocks = _RealClocks(profile, shift_s)
    return profile.replace(
        session=_session(profile.session, names, clocks),
        clocks=tuple(replace(clock, name=names.value(clock.name)) for clock in profile.clocks),
        devices=tuple(replace(device, name=names.device(device.name)) for device in profile.devices),
        engines=tuple(replace(engine, name=names.track(engine.name)) for engine in profile.engines),
        programs=tuple(_program(program, names) for program in profile.programs),
        commands=replace(profile.commands, layer_strindex=texts.renamed(profile.commands.layer_strindex, names.layer)),
        threads=tuple((thread_id, names.track(name)) for thread_id, name in profile.threads),
        clock_snapshots=tuple(map(clocks.snapshot, profile.clock_snapshots)),
        device_slices=clocks.moved(_slices(profile.device_slices, names, texts)),
        workload_slices=clocks.moved(profile.workload_slices),
        overheads=_overheads(profile.overheads, names, texts),
        counters=clocks.moved_counters(_counters(profile.counters, names, texts)),
        trace_events=TraceEvents.empty(),
        trace_document=None,
        # The last one: what was referred to is known by now.
        strings=texts.rows(),
    )


class _Texts:
    """The strings of the new profile, as columns that refer to the old ones are renamed."""

    def __init__(self, strings: tuple[str, ...]) -> None:
        self._old = strings
        self._new = StringTable()

    def renamed(self, column: UInt32, rename: Callable[[str], str]) -> UInt32:
        """uint32[n]; rows of the new strings for rows of the old ones."""
        used, place = np.unique(column, return_inverse=True)
        rows = [self._new.intern(rename(self._old[row])) if row else 0 for row in used.tolist()]
        renamed: UInt32 = frozen(np.array(rows, np.uint32)[place] if rows else column)
        return renamed

    def rows(self) -> tuple[str, ...]:
        return self._new.rows()


class _RealClocks:
    """Clocks of a profile that show Unix time, and what is moved in them."""

    def __init__(self, profile: Profile, shift_s: int) -> None:
        others = {clock.clock_id: clock.nominal_hz for clock in profile.clocks if clock.kind is ClockKind.HOST_REALTIME}
        self._rates_hz = {HOST_REALTIME: _SECOND_NS} | others
        self._shift_s = shift_s

    def ticks(self, clock_id: int, ticks: int) -> int:
        """A time of a clock; what is no Unix time, such as 0, stays."""
        rate_hz = self._rates_hz.get(clock_id, 0)
        return ticks - self._shift_s * rate_hz if rate_hz and ticks >= _UNIX_S * rate_hz else ticks

    def time(self, time_ns: int) -> int:
        """A Unix time."""
        return self.ticks(HOST_REALTIME, time_ns)

    def snapshot(self, snapshot: ClockSnapshot) -> ClockSnapshot:
        """A reading of a clock."""
        return replace(snapshot, value_ticks=self.ticks(snapshot.clock_id, snapshot.value_ticks))

    def moved(self, table: _TABLES) -> _TABLES:
        """Slices."""
        return table.replace(start_ticks=self._column(table.clock_id, table.start_ticks))

    def moved_counters(self, counters: Counters) -> Counters:
        """Samples."""
        return counters.replace(time_ticks=self._column(counters.clock_id, counters.time_ticks))

    def _column(self, clock_id: UInt32, ticks: UInt64) -> UInt64:
        moved = ticks.copy()
        for clock, rate_hz in self._rates_hz.items():
            is_moved = (clock_id == clock) & (ticks >= _UNIX_S * rate_hz) & (rate_hz > 0)
            moved[is_moved] -= np.uint64(self._shift_s * rate_hz)
        return moved


def _session(session: Session, names: RedactedNames, clocks: _RealClocks) -> Session:
    tool_name, tool_version = names.tool(session.tool_name, session.tool_version)
    return replace(
        session,
        session_id=names.number(f"session {session.session_id}", (1 << 64) - 1) + 1,
        started_real_ns=clocks.time(session.started_real_ns),
        ended_real_ns=clocks.time(session.ended_real_ns),
        host_name=names.of("host", session.host_name),
        boot_id=names.of("boot", session.boot_id),
        process_name=names.track(session.process_name),
        tool_name=tool_name,
        tool_version=tool_version,
        settings=tuple(names.setting(name, value) for name, value in session.settings),
        npu=names.device(session.npu),
    )


def _program(program: Program, names: RedactedNames) -> Program:
    return replace(program, name=names.layer(program.name), op=names.op(program.op), compile_id=names.graph(program.compile_id))


def _slices(slices: DeviceSlices, names: RedactedNames, texts: _Texts) -> DeviceSlices:
    return slices.replace(
        name_strindex=texts.renamed(slices.name_strindex, names.row),
        stage_strindex=texts.renamed(slices.stage_strindex, names.layer),
    )


def _overheads(overheads: Overheads, names: RedactedNames, texts: _Texts) -> Overheads:
    return overheads.replace(
        op_strindex=texts.renamed(overheads.op_strindex, names.op),
        reason_strindex=texts.renamed(overheads.reason_strindex, names.value),
        place_strindex=texts.renamed(overheads.place_strindex, names.site),
    )


def _counters(counters: Counters, names: RedactedNames, texts: _Texts) -> Counters:
    return counters.replace(name_strindex=texts.renamed(counters.name_strindex, names.value))
