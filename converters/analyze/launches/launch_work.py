"""What each launch set going: its first and its last work on a device, and what was in its way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rblnpb.row_order import order_by

from ...timeline import Int64, Timeline

__all__ = ["LaunchWork", "launch_work"]


@dataclass(frozen=True, eq=False)
class LaunchWork:
    """Launches of which some work is known, in order of submission; all columns have the same length n.

    Attributes:
        launch: int64[n]; row of `Timeline.launches`.
        submitted_ns: int64[n]; trace clock, ascending.
        start_ns, end_ns: int64[n]; least start and greatest end of its work, trace clock.
        device: int64[n]; row of `devices`: where its first record of work ran.
        devices: Names of devices that work, in the order of the tracks.
        slices_without_launch: Slices of work that name no launch that is known.
    """

    launch: Int64
    submitted_ns: Int64
    start_ns: Int64
    end_ns: Int64
    device: Int64
    devices: tuple[str, ...]
    slices_without_launch: int

    def __len__(self) -> int:
        return len(self.launch)

    def by_device(self) -> Iterator[tuple[str, Int64]]:
        """Each device that was launched on, and the rows of its launches in order of submission."""
        for row, name in enumerate(self.devices):
            own = np.flatnonzero(self.device == row)
            if len(own):
                yield name, own

    def difference_ns(self) -> Int64:
        """int64[n]; from the submission to the first work; below 0 where the records say that it came earlier."""
        return self.start_ns - self.submitted_ns

    def waiting_ns(self) -> Int64:
        """int64[n]; how long the first work waited after its submission until the work of earlier launches was over.

        Earlier are launches on the same device that were submitted before. Where work of theirs goes on when it starts, as on a
        device that runs several at a time, the wait ends there.
        """
        waited = np.zeros(len(self), np.int64)
        for _, own in self.by_device():
            busy_until_ns = np.maximum.accumulate(self.end_ns[own])[:-1]
            start_ns, submitted_ns = self.start_ns[own][1:], self.submitted_ns[own][1:]
            waited[own[1:]] = np.maximum(np.minimum(busy_until_ns, start_ns) - submitted_ns, 0)
        return waited


def launch_work(timeline: Timeline) -> LaunchWork:
    """The launches of a timeline that have work, with the times of that work."""
    slices, launches = timeline.slices, timeline.launches
    is_work = timeline.is_work()
    rows = np.flatnonzero(is_work & (slices.launch >= 0))
    launch, start_ns = slices.launch[rows], slices.start_ns[rows]
    first_ns = np.full(len(launches), np.iinfo(np.int64).max)
    last_ns = np.full(len(launches), np.iinfo(np.int64).min)
    np.minimum.at(first_ns, launch, start_ns)
    np.maximum.at(last_ns, launch, start_ns + slices.duration_ns[rows])
    names = list(dict.fromkeys(track.device for track in timeline.tracks if track.is_work))
    of_track = np.array([names.index(track.device) if track.is_work else -1 for track in timeline.tracks], np.int64)
    device = np.full(len(launches), -1, np.int64)
    # Of several values for one place the last one stays: backwards, that of the first record.
    device[launch[::-1]] = of_track[slices.track[rows[::-1]]]
    working = np.flatnonzero(device >= 0)
    working = working[order_by(launches.start_ns[working])]
    return LaunchWork(
        launch=working,
        submitted_ns=launches.start_ns[working],
        start_ns=first_ns[working],
        end_ns=last_ns[working],
        device=device[working],
        devices=tuple(names),
        slices_without_launch=int(is_work.sum()) - len(rows),
    )
