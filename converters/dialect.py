"""What the categories of a host trace mean: which rows are ops, which are calls of a runtime, which are work of a device.

A category alone does not always tell: `privateuse1_driver` is a wait in the vendor's first emitter and a collective in its newer
one, and `privateuse1_runtime` stands for markers on host threads as well as for rows of a device. Both emitters are told apart by
the marker that they put on the launching thread, or by the lanes of the device (RBLN-SW/torch-rbln, `rbln_kineto_emitter`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT

from .timeline import Bool, HostTrace, Int32, Int64

__all__ = [
    "ANNOTATIONS",
    "LAUNCHED",
    "OPS",
    "DeviceRows",
    "device_rows",
    "host_window",
    "linked_rows",
    "op_rows",
    "owner_rows",
    "slice_rows",
]

OPS: Final = ("cpu_op", "Operator")
"""Categories of operators: the only rows that own a launch. Capitals: torch up to 1.10."""

ANNOTATIONS: Final = ("user_annotation", "python_function")
"""Categories of ranges that somebody named, or a tracer saw: a launch may lie in one, none owns one."""

LAUNCHED: Final = frozenset({"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"})
"""Categories of device work whose "External id" is that of the op which launched it; on every other row it is the row's own."""

_WORK: Final = ("compute", "copy", "collective")
_KINDS: Final = (*_WORK, "sync", "annotation", "host")

_DEVICE_KINDS: Final = {
    "kernel": "compute",
    "Kernel": "compute",
    "gpu_memcpy": "copy",
    "Memcpy": "copy",
    "gpu_memset": "copy",
    "Memset": "copy",
    "mtia_ccp_events": "compute",
    "mtia_workloadd": "compute",
    "hpu_op": "compute",
    "cuda_sync": "sync",
    "gpu_user_annotation": "annotation",
    "rbln_sync": "sync",
    "rbln_workload": "host",
}
"""Category to kind, for rows that are a device's in every dialect; the last two are of merged traces that we write."""

_VENDOR_KINDS: Final = {"privateuse1_runtime": "host", "privateuse1_driver": "sync"}
"""Category to kind where the vendor's first emitter shows it in a process of a device; in a process of the host it is a call."""

_NEWER_MARKER: Final = "rbln launch"
_NEWER_LANE: Final = "collective"
"""The newer emitter has a lane for collectives, under the category that stood for waits."""


def slice_rows(host: HostTrace, *categories: str) -> Int64:
    """Rows of complete slices ("X" with a start and a duration that is not negative) of these categories, ascending."""
    rows = host.rows("X", *categories)
    events = host.events
    timed: Int64 = rows[(events.start_ns[rows] != ABSENT) & (events.duration_ns[rows] >= 0)]
    return timed


def op_rows(host: HostTrace) -> Int64:
    """Rows of operators, ascending: what may own a launch."""
    return slice_rows(host, *OPS)


def host_window(host: HostTrace) -> tuple[int, int] | None:
    """First and last time that the host trace covers, trace clock: its profiler's own span, else that of its slices."""
    rows = slice_rows(host, "Trace")
    if not len(rows):
        rows = slice_rows(host, *OPS, *ANNOTATIONS)
    if not len(rows):
        rows = slice_rows(host)
    if not len(rows):
        return None
    start_ns = host.events.start_ns[rows]
    return int(start_ns.min()), int((start_ns + host.events.duration_ns[rows]).max())


def owner_rows(host: HostTrace, owners: Int64, external_id: Int64) -> Int64:
    """The row that has each of these ids for its own.

    Args:
        host: The trace.
        owners: int64[k]; rows of `host.events` that may own an id.
        external_id: int64[n]; 0 = unknown, which nothing owns.

    Returns:
        int64[n]; rows of `host.events`, the first in the file where several have one id; -1 = none has it.
    """
    own = host.events.external_id[owners]
    candidates = owners[own > 0]
    own = own[own > 0]
    by_id = np.argsort(own, kind="stable")
    place = np.searchsorted(own[by_id], external_id, side="left")
    found = np.concatenate((candidates[by_id], np.array([-1], np.int64)))[place]
    is_it = (found >= 0) & (host.events.external_id[found] == external_id) & (external_id > 0)
    return np.where(is_it, found, -1)


def linked_rows(host: HostTrace, rows: Int64, owners: Int64) -> Int64:
    """The row that each device row names itself, by its "External id" where its category means that.

    Kineto of 2022 and 2023 wrote a row's own correlation id where no op was linked; ops count from 1 too, so that some have it.

    Args:
        host: The trace.
        rows: int64[n]; rows of devices.
        owners: int64[k]; rows that may be named: operators alone, or, as torch does it, annotations too.

    Returns:
        int64[n]; rows of `host.events`; -1 = none.
    """
    events = host.events
    is_launched = _has_category(host, *LAUNCHED)[events.category[rows]]
    is_own = events.external_id[rows] == events.correlation_id[rows]
    return owner_rows(host, owners, np.where(is_launched & ~is_own, events.external_id[rows], 0))


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
    slices = slice_rows(host)
    category = events.category[slices]
    kind = _codes(host, {**_DEVICE_KINDS, **_VENDOR_KINDS})[category]
    is_vendor = (_codes(host, _VENDOR_KINDS) >= 0)[category]
    on_host = is_vendor & _host_tracks(host)[events.track[slices]]
    is_device = (kind >= 0) & ~on_host
    is_called = on_host | (kind < 0) & ~_has_category(host, *OPS, *ANNOTATIONS)[category]
    markers = np.union1d(slices[on_host & (events.launch_id[slices] != 0)], _instant_markers(host))
    rows, kind = slices[is_device], kind[is_device]
    is_driver = _has_category(host, "privateuse1_driver")[events.category[rows]]
    kind = np.where(is_driver & _is_collective(host, rows, markers), _KINDS.index("collective"), kind).astype(np.int32)
    return DeviceRows(
        rows=rows,
        kind=kind,
        is_work=kind < len(_WORK),
        kinds=_KINDS,
        markers=markers,
        # Which categories launch work grows with every maker; that a call has a correlation id is what they have in common.
        calls=slices[is_called & (events.correlation_id[slices] != 0)],
    )


def _instant_markers(host: HostTrace) -> Int64:
    """Instants of the vendor's categories with a launch id, on threads of the host: int64[k], ascending.

    torch lists a slice of these categories as an event on the CPU, an instant never: so writers of launches that must not change
    torch's table use instants.
    """
    events = host.events
    rows = host.rows("i", *_VENDOR_KINDS)
    is_marker = (events.launch_id[rows] != 0) & (events.start_ns[rows] != ABSENT) & _host_tracks(host)[events.track[rows]]
    marked: Int64 = rows[is_marker]
    return marked


def _codes(host: HostTrace, kinds: dict[str, str]) -> Int32:
    """int32[strings]; for each text, as a category: row of `_KINDS`, -1 = none."""
    return np.array([_KINDS.index(kinds[text]) if text in kinds else -1 for text in host.strings], np.int32)


def _has_category(host: HostTrace, *categories: str) -> Bool:
    """bool[strings]; whether each text is one of these categories."""
    return np.array([text in categories for text in host.strings], np.bool_)


def _host_tracks(host: HostTrace) -> Bool:
    """bool[tracks]; whether each is of a process that runs operators or annotations, or that is labelled as the host's."""
    pids = {host.tracks[track].pid for track in np.unique(host.events.track[slice_rows(host, *OPS, *ANNOTATIONS)]).tolist()}
    pids |= {pid for pid, label in host.process_labels.items() if label == "CPU"}
    return np.array([track.pid in pids for track in host.tracks], np.bool_)


def _is_collective(host: HostTrace, rows: Int64, markers: Int64) -> Bool:
    """bool[n]; whether driver rows of a device are collectives: told by any marker of the newer emitter, or by the row's lane."""
    if any(host.strings[name] == _NEWER_MARKER for name in np.unique(host.events.name[markers]).tolist()):
        return np.ones(len(rows), np.bool_)
    is_lane = np.array([host.thread_names.get(track) == _NEWER_LANE for track in host.tracks], np.bool_)
    return is_lane[host.events.track[rows]] if len(rows) else np.zeros(0, np.bool_)
