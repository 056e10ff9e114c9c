"""The device side of a host trace: which of its rows are a device's, and which of the host's stand for launches.

A category alone does not always tell: `privateuse1_driver` is a wait in the vendor's first emitter and a collective in its newer
one, and `privateuse1_runtime` stands for markers on host threads as well as for rows of a device. Both emitters are told apart by
the marker that they put on the launching thread, or by the lanes of the device (RBLN-SW/torch-rbln, `rbln_kineto_emitter`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT

from ..timeline import Bool, HostTrace, Int32, Int64
from .ascend import task_kinds, task_mask
from .categories import ANNOTATIONS, DEVICE_KINDS, KINDS, OPS, SHARED_KINDS, VENDOR, WORKING_KINDS, has_category, kind_codes
from .host_rows import host_pids, pids_of, slice_mask

__all__ = ["DeviceRows", "device_rows"]

_NEWER_MARKER: Final = "rbln launch"
_NEWER_LANE: Final = "collective"
"""The newer emitter has a lane for collectives, under the category that stood for waits."""


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """What a host trace holds of devices; three groups of rows of its events, each ascending.

    Attributes:
        rows: int64[n]; slices of devices.
        kind: int32[n]; row of `kinds`.
        is_work: bool[n]; whether each is busy time.
        kinds: Names of kinds, such as "compute".
        markers: int64[m]; rows of the vendor on host threads, one a launch, joined by launch id. Instants, which have no
            duration, stand for a launch as well as slices.
        calls: int64[k]; calls on host threads that launch work, joined by correlation id.
    """

    rows: Int64
    kind: Int32
    is_work: Bool
    kinds: tuple[str, ...]
    markers: Int64
    calls: Int64

    def __len__(self) -> int:
        return len(self.rows)


def device_rows(host: HostTrace) -> DeviceRows:
    """The device side of a host trace, as its dialect writes it."""
    events = host.events
    slices = _candidates(host)
    category = events.category[slices]
    shared = kind_codes(host, SHARED_KINDS)[category]
    kind = np.maximum(np.maximum(kind_codes(host, DEVICE_KINDS)[category], shared), task_kinds(host, slices))
    is_hosts, is_devices = _sides(host, slices[(kind >= 0) & (shared < 0)])
    on_host = (shared >= 0) & is_hosts[events.track[slices]]
    is_device = (kind >= 0) & ~on_host
    is_called = ~is_device & ~is_devices[events.track[slices]] & (events.correlation_id[slices] != 0)
    is_called &= ~has_category(host, *OPS, *ANNOTATIONS)[category]
    markers = np.union1d(slices[on_host & (events.launch_id[slices] != 0)], _instant_markers(host, is_hosts))
    rows, kind = slices[is_device], kind[is_device]
    is_driver = has_category(host, "privateuse1_driver")[events.category[rows]]
    kind = np.where(is_driver & _is_collective(host, rows, markers), KINDS.index("collective"), kind).astype(np.int32)
    return DeviceRows(
        rows=rows,
        kind=kind,
        is_work=kind < WORKING_KINDS,
        kinds=KINDS,
        markers=markers,
        # Which categories launch work grows with every maker; that a call has a correlation id is what they have in common.
        calls=slices[is_called],
    )


def _candidates(host: HostTrace) -> Int64:
    """Rows of slices that may be a device's, or launch work, as a category, a process or an id says: few of a host's are."""
    events = host.events
    mask = task_mask(host)
    for kinds in (DEVICE_KINDS, SHARED_KINDS):
        mask |= (kind_codes(host, kinds) >= 0)[events.category]
    mask |= events.correlation_id != 0
    mask &= slice_mask(host)
    return np.flatnonzero(mask).astype(np.int64, copy=False)


def _instant_markers(host: HostTrace, is_hosts: Bool) -> Int64:
    """Instants of the vendor's categories with a launch id, on threads of the host: int64[k], ascending.

    torch lists a slice of these categories as an event on the CPU, an instant never: so writers of launches that must not change
    torch's table use instants.
    """
    events = host.events
    rows = host.rows("i", *VENDOR)
    is_marker = (events.launch_id[rows] != 0) & (events.start_ns[rows] != ABSENT) & is_hosts[events.track[rows]]
    marked: Int64 = rows[is_marker]
    return marked


def _sides(host: HostTrace, rows: Int64) -> tuple[Bool, Bool]:
    """bool[tracks], twice; whether each is of a process of the host, and whether it is of one that only a device has.

    Args:
        host: The trace.
        rows: int64[k]; rows of categories that are a device's wherever they stand. Where nothing says which process is the
            host's, it is one without any of these.
    """
    devices = pids_of(host, rows)
    hosts = host_pids(host, devices)
    devices -= hosts
    is_devices = np.array([track.pid in devices for track in host.tracks], np.bool_)
    if not hosts and devices:
        return ~is_devices, is_devices
    return np.array([track.pid in hosts for track in host.tracks], np.bool_), is_devices


def _is_collective(host: HostTrace, rows: Int64, markers: Int64) -> Bool:
    """bool[n]; whether driver rows of a device are collectives: told by any marker of the newer emitter, or by the row's lane."""
    if any(host.strings[name] == _NEWER_MARKER for name in np.unique(host.events.name[markers]).tolist()):
        return np.ones(len(rows), np.bool_)
    is_lane = np.array([host.thread_names.get(track) == _NEWER_LANE for track in host.tracks], np.bool_)
    return is_lane[host.events.track[rows]] if len(rows) else np.zeros(0, np.bool_)
