"""What a profile says of an archived host trace: whose it is, and the slices of its devices as records."""

from __future__ import annotations

from typing import Final

import numpy as np

from rblnpb._version import __version__
from rblnpb.clock import HOST_REALTIME, Clock
from rblnpb.columns import ABSENT, DeviceSlices
from rblnpb.errors import Finding, Severity
from rblnpb.profile import WORKING_KINDS, Device, Engine, EngineKind, Profile, Session
from rblnpb.strings import StringTable
from rblnpb.wording import counted

from ..dialect import host_window, op_rows
from ..host_trace import UNIX_NS
from ..timeline import HostTrace, Int32, Int64, Timeline, Track

_TRACE_CLOCK: Final = Clock(16, "trace", 10**9)
"""Clock of a trace that does not say when its zero was."""
_INT32: Final = 1 << 32


def trace_profile(trace: Timeline) -> tuple[Profile, tuple[Finding, ...]]:
    """The profile of a host trace, without its events and without a session id.

    Args:
        trace: The timeline of the host trace alone.

    Returns:
        The profile, and what of the trace's device rows it cannot hold.
    """
    host = trace.host
    assert host is not None
    strings = StringTable()
    is_unix = host.has_base_time or int(np.min(trace.slices.start_ns, initial=UNIX_NS)) >= UNIX_NS
    slices, findings = _slices(trace, host, HOST_REALTIME if is_unix else _TRACE_CLOCK.clock_id, strings)
    devices = {name: number for number, name in enumerate(dict.fromkeys(track.device for track in trace.tracks), start=1)}
    profile = Profile(
        session=_session(host, is_unix=is_unix),
        strings=strings.rows(),
        clocks=() if is_unix or not len(slices) else (_TRACE_CLOCK,),
        devices=tuple(Device(number, name, number - 1) for name, number in devices.items()),
        engines=tuple(
            Engine(number, devices[track.device], _engine_kind(track), track.name, display_order=track.order)
            for number, track in enumerate(trace.tracks, start=1)
        ),
        device_slices=slices,
    )
    return profile, findings


def _session(host: HostTrace, *, is_unix: bool) -> Session:
    window = host_window(host) if is_unix else None
    told = host.metadata.get("distributedInfo")
    job = told if isinstance(told, dict) else {}
    pids = {host.tracks[row].pid for row in np.unique(host.events.track[op_rows(host)]).tolist()}
    pid = next(iter(pids)) if len(pids) == 1 else None
    named = host.metadata.get("host_name")
    return Session(
        session_id=0,
        started_real_ns=window[0] if window else 0,
        ended_real_ns=window[1] if window else 0,
        host_name=named if isinstance(named, str) else "",
        process_id=_natural(pid) or 0,
        process_name=host.process_names.get(pid, ""),
        rank=_natural(job.get("rank")),
        world_size=_natural(job.get("world_size")),
        tool_name="rblnpb.convert",
        tool_version=__version__,
    )


def _natural(value: object) -> int | None:
    """A number that the schema has room for."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _INT32 else None


def _engine_kind(track: Track) -> EngineKind:
    kind = EngineKind.__members__.get(track.kind.upper(), EngineKind.UNKNOWN)
    if (kind in WORKING_KINDS) == track.is_work:
        return kind
    # Busy or not matters more than the name: a frame is never busy time.
    return EngineKind.UNKNOWN if track.is_work else EngineKind.WORKLOAD


def _slices(trace: Timeline, host: HostTrace, clock_id: int, strings: StringTable) -> tuple[DeviceSlices, tuple[Finding, ...]]:
    """Device rows of the trace as slices, each with the event that tells of it."""
    slices, events = trace.slices, host.events
    rows = np.flatnonzero((slices.event >= 0) & (slices.start_ns >= 0))
    left_out = int((slices.event >= 0).sum()) - len(rows)
    names, event = slices.names.take(rows), slices.event[rows]
    launch_id = np.where(events.launch_id[event] > 0, events.launch_id[event], np.maximum(events.correlation_id[event], 0))
    table = DeviceSlices.of(
        len(rows),
        clock_id=clock_id,
        engine_id=slices.track[rows] + 1,
        start_ticks=slices.start_ns[rows],
        duration_ticks=slices.duration_ns[rows],
        launch_id=launch_id,
        instance=np.maximum(names.instance, 0),
        sequence=np.where(names.sequence < 0, ABSENT, names.sequence),
        workload=np.where(names.workload < 0, ABSENT, names.workload),
        name_strindex=_interned(names.override, names.strings, strings),
        stage_strindex=_interned(names.stage, names.strings, strings),
        event_ordinal=event,
    )
    if not left_out:
        return table, ()
    beginning = counted(left_out, "device row begins", "device rows begin")
    message = f"{beginning} before the zero of the clock: in the file as events, not as device slices"
    return table, (Finding(Severity.INFO, "rows-before-zero", message, left_out, "device_slices"),)


def _interned(rows: Int32, texts: tuple[str, ...], strings: StringTable) -> Int64:
    distinct, which = np.unique(rows, return_inverse=True)
    found = np.array(strings.intern_all(texts[row] for row in distinct.tolist()), np.int64)
    return found[which] if len(rows) else found
