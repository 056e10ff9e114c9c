"""The host's time by what it was spent on, for each thread and in all."""

from __future__ import annotations

import numpy as np

from ...dialect import host_window
from ...results import HostShare, HostSplit
from ...timeline import HostTrace
from ..intervals import halves, whole_sums
from .host_classes import CLASSES, HostClasses

__all__ = ["host_split"]


def host_split(host: HostTrace, classes: HostClasses) -> HostSplit:
    """The split of a host trace, whose parts are its self time without a rest.

    Args:
        host: The trace.
        classes: Of its rows.
    """
    sums = np.zeros((2, len(host.tracks) * len(CLASSES)), np.int64)
    for row_class, part_ns in classes.by_class():
        key = classes.stack.track * len(CLASSES) + row_class
        for own, half in zip(sums, halves(part_ns), strict=True):
            np.add.at(own, key, half)
    whole = whole_sums(sums)
    by_track = [whole[at : at + len(CLASSES)] for at in range(0, len(whole), len(CLASSES))]
    threads = [
        HostShare(track.pid, track.tid, host.thread_names.get(track, ""), sum(parts), dict(zip(CLASSES, parts, strict=True)))
        for track, parts in zip(host.tracks, by_track, strict=True)
        if any(parts)
    ]
    window = host_window(host)
    by_class = {name: sum(share.by_class[name] for share in threads) for name in CLASSES}
    return HostSplit(
        window_ns=0 if window is None else window[1] - window[0],
        total_ns=sum(by_class.values()),
        by_class=by_class,
        threads=tuple(sorted(threads, key=lambda share: -share.total_ns)),
    )
