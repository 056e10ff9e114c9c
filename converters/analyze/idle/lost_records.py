"""Where records of a device are known to be lost: what looks like idle time there may be none."""

from __future__ import annotations

import numpy as np

from rblnpb.columns import DeviceSlices

from ...timeline import AlignedLoss, Int64, Timeline
from .coverage import Coverage
from .gaps import Gaps
from .occupancy import OrderedWork

__all__ = ["device_losses", "lost_coverage", "unseen_since_ns"]


def device_losses(timeline: Timeline) -> tuple[AlignedLoss, ...]:
    """Losses of device slices, or of what may have been some."""
    return tuple(loss for loss in timeline.losses if loss.kind in (DeviceSlices.label, "unknown") and loss.count)


def lost_coverage(losses: tuple[AlignedLoss, ...], devices: tuple[str, ...]) -> Coverage:
    """The time of losses that tell it, by device; owners are their places. A loss that names no device may be of each."""
    rows = [
        (lane, loss.start_ns, loss.end_ns + 1, place)
        for place, loss in enumerate(losses)
        for lane, device in enumerate(devices)
        if loss.start_ns is not None and loss.end_ns is not None and loss.device in ("", device)
    ]
    lane, start_ns, end_ns, place = np.array(rows, np.int64).reshape(-1, 4).T
    found = Coverage.of(lane, start_ns, end_ns)
    return Coverage(found.lane, found.since_ns, np.append(place, -1)[found.owner])


def unseen_since_ns(timeline: Timeline, work: OrderedWork, gaps: Gaps) -> Int64:
    """From when on a gap may be one of records alone: the first launch in it of which no slice is there.

    A device takes its launches in their order: a launch without slices between those of the slices on both sides ran in the gap.
    Speaks of nothing but launches, so it is to be asked only where slices are known to be lost, and not when.

    Returns:
        int64[k]; trace clock; the end of the gap where there is none.
    """
    launches, slices = timeline.launches, timeline.slices
    is_seen = np.zeros(len(launches) + 1, np.bool_)
    is_seen[slices.launch] = True
    unseen_ns = np.sort(launches.start_ns[~is_seen[:-1]])
    at_ns = np.append(launches.start_ns, 0)
    after, before = work.launch[gaps.after], work.launch[gaps.before]
    since_ns = np.where(after >= 0, at_ns[after], gaps.start_ns)
    until_ns = np.where(before >= 0, at_ns[before], gaps.end_ns)
    place = np.searchsorted(unseen_ns, since_ns, side="right")
    first_ns = np.append(unseen_ns, np.iinfo(np.int64).max)[place]
    return np.where(first_ns < until_ns, np.clip(first_ns, gaps.start_ns, gaps.end_ns), gaps.end_ns)
