"""The host's side of a trace: its slices, its operators, its processes, the time that it covers."""

from __future__ import annotations

from typing import Final

import numpy as np

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT

from ..timeline import Bool, HostTrace, Id, Int64
from .categories import ANNOTATIONS, OPS

__all__ = ["annotation_rows", "host_pids", "host_window", "op_rows", "pids_of", "slice_mask", "slice_rows"]

_RANGES: Final = ("ProfilerStep#", "enumerate(DataLoader)#", "Optimizer.step#", "Optimizer.zero_grad#")
"""How ranges begin that torch itself annotates; until 1.10 it wrote them as operators. As every annotation, they own no launch."""


def slice_rows(host: HostTrace, *categories: str) -> Int64:
    """Rows of complete slices ("X" with a start and a duration that is not negative) of these categories, ascending."""
    return _rows(slice_mask(host, *categories))


def op_rows(host: HostTrace) -> Int64:
    """Rows of operators, ascending: what may own a launch."""
    return _rows(slice_mask(host, *OPS) & ~_is_range(host))


def annotation_rows(host: HostTrace) -> Int64:
    """Rows of ranges that somebody named, or a tracer saw, ascending."""
    return _rows(slice_mask(host, *ANNOTATIONS) | (slice_mask(host, *OPS) & _is_range(host)))


def slice_mask(host: HostTrace, *categories: str) -> Bool:
    """bool[n]; which events `slice_rows` gives the rows of."""
    events = host.events
    mask = host.mask("X", *categories)
    mask &= events.start_ns != ABSENT
    mask &= events.duration_ns >= 0
    return mask


def _rows(mask: Bool) -> Int64:
    return np.flatnonzero(mask).astype(np.int64, copy=False)


def _is_range(host: HostTrace) -> Bool:
    """bool[n]; whether each event has the name of a range that torch annotates."""
    name = host.events.name
    is_name = np.zeros(len(host.strings), np.bool_)
    is_name[[row for row, text in host.used(name) if text.startswith(_RANGES)]] = True
    return is_name[name]


def host_window(host: HostTrace) -> tuple[int, int] | None:
    """First and last time that the host trace covers, trace clock: its profiler's own span, else that of its slices."""
    events = host.events
    for categories in (("Trace",), (*OPS, *ANNOTATIONS), ()):
        mask = slice_mask(host, *categories)
        if not mask.any():
            continue
        edges = []
        for block in row_blocks(len(mask)):
            rows = np.flatnonzero(mask[block]) + block.start
            if len(rows):
                start_ns = events.start_ns[rows]
                edges.append((int(start_ns.min()), int((start_ns + events.duration_ns[rows]).max())))
        return min(start for start, _ in edges), max(end for _, end in edges)
    return None


def host_pids(host: HostTrace, devices: set[Id]) -> set[Id]:
    """Processes that run operators or annotations, or that are labelled as the host's.

    Args:
        host: The trace.
        devices: Processes with rows of a device. Kineto writes Python functions whose thread it does not know into process 0, which
            is that of the first device: there they make no host.
    """
    by_rows, by_stacks = (_pids_of_slices(host, *names) for names in ((*OPS, "user_annotation"), ("python_function",)))
    return by_rows | (by_stacks - devices) | {pid for pid, label in host.process_labels.items() if label == "CPU"}


def pids_of(host: HostTrace, rows: Int64) -> set[Id]:
    """The processes of some rows of a trace."""
    return {host.tracks[track].pid for track in np.unique(host.events.track[rows]).tolist()}


def _pids_of_slices(host: HostTrace, *categories: str) -> set[Id]:
    """As `pids_of` all slices of some categories, which nearly all events may be."""
    mask, is_there = slice_mask(host, *categories), np.zeros(len(host.tracks), np.bool_)
    for block in row_blocks(len(mask)):
        is_there[host.events.track[block][mask[block]]] = True
    return {host.tracks[track].pid for track in np.flatnonzero(is_there).tolist()}
