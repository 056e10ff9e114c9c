"""What is in a file: the facts of a profile or a host trace, nested, with units in their keys."""

from __future__ import annotations

import numpy as np

from rblnpb.profile import ENGINE_NAMES, KINDS, Profile, Session

from ..dialect import device_rows, slice_rows
from ..timeline import HostTrace

__all__ = ["profile_contents", "trace_contents"]


def profile_contents(profile: Profile) -> dict[str, object]:
    """The facts of one session."""
    session = profile.session
    said: dict[str, object] = {
        "id": f"{session.session_id:016x}",
        "tool": f"{session.tool_name} {session.tool_version}".strip(),
        "npu": session.npu,
        "host_name": session.host_name,
        "process_id": session.process_id or None,
        "process_name": session.process_name,
        "rank": session.rank,
        "world_size": session.world_size,
        "started_real_ns": session.started_real_ns or None,
        "ended_real_ns": session.ended_real_ns or None,
        "is_complete": profile.is_complete,
        "drained_after_each_run": session.drained_after_each_run,
        "settings": dict(session.settings),
    }
    return {
        "format": _format(session),
        "session": said,
        "devices": [
            {"name": device.name, "chiplet_count": device.chiplet_count, "engine_count": _engine_count(profile, device.device_id)}
            for device in profile.devices
        ],
        "engines": _slice_counts(profile),
        "programs": [
            {"name": program.name, "op": program.op, "command_count": program.command_count} for program in profile.programs
        ],
        "counts": {table.label: len(profile.table(kind)) for kind, table in KINDS.items() if len(profile.table(kind))},
        "archived_trace": _archived_trace(profile),
        "dropped": {table.label: profile.dropped(kind) for kind, table in KINDS.items() if profile.dropped(kind)},
        "clocks": _clocks(profile),
        "finding_count": len(profile.findings),
    }


def _archived_trace(profile: Profile) -> dict[str, object] | None:
    """The host trace that the session archives; None when it has none."""
    frame, count = profile.trace_document, len(profile.trace_events)
    return {"name": frame.name if frame else "", "event_count": count} if frame or count else None


def _clocks(profile: Profile) -> list[dict[str, object]]:
    return [
        {
            "name": clock.name,
            "nominal_hz": clock.nominal_hz,
            "width_bits": clock.width_bits,
            "snapshot_count": sum(snapshot.clock_id == clock.clock_id for snapshot in profile.clock_snapshots),
        }
        for clock in profile.clocks
    ]


def _format(session: Session) -> str:
    """Whose format it is: a schema of ours, or the vendor's, which has none that is known."""
    major, minor = session.schema_version
    if (major, minor) != (0, 0):
        return f"rblnpb profile, schema {major}.{minor}"
    return "vendor profile (Perfetto track events)" if session.tool_name else "profile of no known schema"


def _engine_count(profile: Profile, device_id: int) -> int:
    return sum(engine.device_id == device_id for engine in profile.engines)


def _slice_counts(profile: Profile) -> dict[str, int]:
    """Device slices by the name of their engine's kind, in order of the engine's id."""
    names = {engine.engine_id: ENGINE_NAMES[engine.kind] for engine in profile.engines}
    ids, counts = np.unique(profile.device_slices.engine_id, return_counts=True)
    found: dict[str, int] = {}
    for engine_id, count in zip(ids.tolist(), counts.tolist(), strict=True):
        name = names.get(engine_id, "unknown")
        found[name] = found.get(name, 0) + count
    return found


def trace_contents(host: HostTrace) -> dict[str, object]:
    """The facts of a host trace."""
    events = host.events
    categories, counts = np.unique(events.category, return_counts=True)
    timed = slice_rows(host)
    start_ns, end_ns = events.start_ns[timed], events.start_ns[timed] + events.duration_ns[timed]
    phases, phase_counts = np.unique(events.phase, return_counts=True)
    devices = device_rows(host)
    return {
        "format": "host trace (Chrome trace event JSON, as torch.profiler exports it)",
        "host_name": host.metadata.get("host_name"),
        "has_base_time": host.has_base_time,
        "base_time_ns": host.base_time_ns if host.has_base_time else None,
        "first_ns": int(start_ns.min()) if len(timed) else None,
        "last_ns": int(end_ns.max()) if len(timed) else None,
        "threads": [
            {"pid": track.pid, "tid": track.tid, "name": host.thread_names.get(track, "")}
            for track in host.tracks
            if track in host.thread_names
        ],
        "counts": {
            "events": len(events),
            "by_phase": {chr(phase): count for phase, count in zip(phases.tolist(), phase_counts.tolist(), strict=True)},
            "by_category": {
                host.strings[category] or "(none)": count
                for category, count in zip(categories.tolist(), counts.tolist(), strict=True)
            },
            "device_rows": len(devices),
        },
        "metadata": {key: value for key, value in host.metadata.items() if isinstance(value, (str, int, float, bool))},
        "finding_count": len(host.findings),
    }
