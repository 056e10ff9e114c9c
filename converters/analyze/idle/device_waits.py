"""What a device is recorded to have waited for within a program: synchronisation, and commands that the host computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.strings import StringTable

from ...results import CAUSES, STEPS
from ...timeline import Bool, Int64, Timeline
from ..grouping import numbered
from .coverage import Coverage
from .host_activity import interned

__all__ = ["DeviceWaits", "device_waits"]

_DEPENDENCY, _HOST = (list(CAUSES).index(name) for name in ("dependency", "waiting-for-host"))
_HOST_COMMAND: Final = list(STEPS).index("host-command")

_SYNC_KINDS: Final = ("device_sync", "sync")
_HOST_KIND: Final = "host"
_HOST_SIDE: Final = ("cuda_sync", "cuda_event", "xpu_sync")
"""Categories of waits that are shown on a device while it is the host that waits."""


@dataclass(frozen=True, eq=False)
class DeviceWaits:
    """Slices that are waits, and what for; the columns have one row each.

    Attributes:
        coverage: Which of them is innermost, by row of `OrderedWork.devices`.
        cause: int64[n]; place in `results.CAUSES`.
        step: int64[n]; place in `results.STEPS`; -1 = none.
        name: int64[n]; row of the table of names.
    """

    coverage: Coverage
    cause: Int64
    step: Int64
    name: Int64


def device_waits(timeline: Timeline, devices: tuple[str, ...], names: StringTable) -> DeviceWaits:
    """The waits of a timeline.

    Args:
        timeline: Any.
        devices: As `OrderedWork.devices`.
        names: Gets the names of engines, and of commands of the host.
    """
    slices, tracks = timeline.slices, timeline.tracks
    is_sync = np.array([*(track.kind in _SYNC_KINDS and not track.is_work for track in tracks), False], np.bool_)[slices.track]
    # Other rows that are shown as the host's may be frames around the work itself.
    is_host = np.array([*(track.kind == _HOST_KIND and track.name.lower() == "host" for track in tracks), False], np.bool_)
    rows = np.flatnonzero((is_sync & ~_is_host_side(timeline)) | is_host[slices.track])
    track = slices.track[rows].astype(np.int64)
    start_ns = slices.start_ns[rows]
    lanes = np.array([devices.index(one.device) for one in tracks], np.int64)
    coverage = Coverage.of(lanes[track] if len(rows) else track, start_ns, start_ns + slices.duration_ns[rows])
    host = is_host[track]
    engine = interned(names, tuple(one.name for one in tracks), track)
    name = np.where(host, _stages(timeline, rows, names), engine)
    return DeviceWaits(coverage, np.where(host, _HOST, _DEPENDENCY), np.where(host, _HOST_COMMAND, -1), name)


def _is_host_side(timeline: Timeline) -> Bool:
    """bool[slices]; rows of a host trace that say when the host waited."""
    host, event = timeline.host, timeline.slices.event
    if host is None or not len(host.events):
        return np.zeros(len(event), np.bool_)
    is_one = np.array([text in _HOST_SIDE for text in host.strings], np.bool_)
    return (event >= 0) & is_one[host.events.category[event]]


def _stages(timeline: Timeline, rows: Int64, names: StringTable) -> Int64:
    """int64[n]; the layer of each slice, in the table of names; its whole name where it tells no layer."""
    parts = timeline.slices.names
    stage, whole = parts.stage[rows].astype(np.int64), parts.override[rows].astype(np.int64)
    distinct, of_row = numbered(np.where(stage > 0, stage, whole))
    texts = np.array([names.intern(parts.strings[row]) for row in distinct.tolist()], np.int64)
    return texts[of_row] if len(rows) else of_row
