"""One file of the vendor's, read and not yet joined with others."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from rblnpb.naming import device_ordinal

from ._perfetto_clocks import BOOTTIME, DEFAULT, FileClock
from ._perfetto_events import EventReader
from ._perfetto_hosts import HostTable
from ._perfetto_packets import Packets
from ._perfetto_slices import FileSamples, FileSlices

__all__ = ["VendorFile"]


@dataclass(frozen=True, eq=False)
class VendorFile:
    """One file.

    Attributes:
        packets, events: What it holds, and what of it could not be read.
        is_hosts: Which of the events are the host's, and have no place in a profile.
        slices, samples: What all others make.
        ordinal: Ordinal of the file in its recording, as its name says; None = it does not.
    """

    packets: Packets
    events: EventReader
    is_hosts: HostTable
    slices: FileSlices
    samples: FileSamples
    ordinal: int | None

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self.packets.name

    @property
    def host_count(self) -> int:
        """How many slices and samples of the host it holds, and events that make no whole slice."""
        return self.slices.host_count + self.samples.host_count + self.slices.host_part_count

    def device_tracks(self) -> list[Hashable]:
        """Keys of tracks of events that are not the host's, as far as nothing but the track tells."""
        return [key for key, is_host in zip(self.events.track_keys, self.is_hosts[:, 0].tolist(), strict=True) if not is_host]

    def device_ordinals(self) -> frozenset[int]:
        """Which devices of its host the file names."""
        tracks = self.events.tracks
        found = (device_ordinal(tracks.place(key).device) for key in self.device_tracks())
        return frozenset(one for one in found if one is not None)

    def span_ns(self) -> tuple[int, int] | None:
        """First begin and last end of its slices, whatever their clocks; None where there are none."""
        if not len(self.slices):
            return None
        ends = self.slices.start + self.slices.duration
        return int(self.slices.start.min()), int(np.max(ends))

    def clock_of(self, number: int | tuple[int, int], place: int, *, has_own_zero: bool) -> FileClock:
        """A clock of the file as one that other files may share.

        Args:
            number: As the EventReader has it.
            place: Which of the files this one is.
            has_own_zero: Whether the default clock of each file counts from a zero of its own.
        """
        if isinstance(number, tuple):
            return (place, *number)
        if number == DEFAULT and any(BOOTTIME in reading for reading in self.events.snapshots):
            # Perfetto's own meaning of a time without a clock, once the file says how boot time stands to others.
            return (-1, -1, BOOTTIME)
        return (place if number == DEFAULT and has_own_zero else -1, -1, number)
