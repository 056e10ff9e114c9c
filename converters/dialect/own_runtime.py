"""Rows of the traces that we write ourselves: slices of the runtime on the host, beside the threads that they are of.

A launch is no row of such a trace. Where the runtime recorded that it was submitted, that call stands for it: it begins when the
launch was made, and both it and the rows of the device have the launch's id.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ..timeline import Bool, HostTrace, Int64
from .categories import OWN_FRAME, OWN_RUNTIME, has_category
from .host_rows import slice_rows

__all__ = ["frame_mask", "runtime_rows", "runtime_tids", "submission_mask"]

_HOST_LANE: Final = "host"
_SUBMISSION: Final = "submit"
"""Not a call of a maker's: one of the few activities that our records know, as merging spells it."""

_ROW: Final = re.compile(r"runtime (-?[0-9]{1,18})(?: \([0-9]+\))?")
"""What our sinks call the rows of a thread; those after the first, for slices that cross, are counted."""


def runtime_rows(host: HostTrace) -> Int64:
    """Rows of what a runtime of ours did on the host, ascending."""
    return slice_rows(host, OWN_RUNTIME)


def submission_mask(host: HostTrace, rows: Int64) -> Bool:
    """bool[n]; which of some rows of a runtime of ours stand for launches: those that submit one and tell its id."""
    is_named = np.array([text == _SUBMISSION for text in host.strings], np.bool_)
    mask: Bool = is_named[host.events.name[rows]] & (host.events.launch_id[rows] != 0)
    return mask


def frame_mask(host: HostTrace, rows: Int64) -> Bool:
    """bool[n]; which of some rows of devices are frames of ours, called as the program that ran.

    Commands that the host computes have the same category, and rows of their own.
    """
    is_host = np.array([host.thread_names.get(track, "").lower().startswith(_HOST_LANE) for track in host.tracks], np.bool_)
    mask = has_category(host, OWN_FRAME)[host.events.category[rows]]
    mask[mask] = ~is_host[host.events.track[rows[mask]]]
    return mask


def runtime_tids(host: HostTrace) -> dict[int, int]:
    """Native thread by row of `HostTrace.tracks`, where the row is called as that of a runtime's thread."""
    matches = ((row, _ROW.fullmatch(host.thread_names.get(track, ""))) for row, track in enumerate(host.tracks))
    return {row: int(match[1]) for row, match in matches if match}
