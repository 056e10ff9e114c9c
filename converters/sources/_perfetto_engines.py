"""Devices and engines of a recording, from the tracks of its files: a track of one name is the same engine in every file."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from rblnpb.columns import Int64
from rblnpb.naming import device_ordinal
from rblnpb.profile import ENGINE_NAMES, WORKING_KINDS, Device, Engine, EngineKind

from ._perfetto_categories import Category
from ._perfetto_file import VendorFile
from ._perfetto_tracks import TrackPlace

__all__ = ["EngineBook"]


class EngineBook:
    """Engines and devices, numbered from 1 in the order in which files first use them."""

    def __init__(self) -> None:
        self._engines: dict[tuple[TrackPlace, int], int] = {}
        self._devices: dict[str, int] = {}

    def of_slices(self, file: VendorFile) -> Int64:
        """int64[n]; engine of each slice of a file. Where no name of a track tells the kind, a category of the slice does."""
        slices = file.slices
        pairs, of_slice = np.unique(np.stack((slices.track, slices.category)), axis=1, return_inverse=True)
        keys, categories = list(file.events.track_keys), list(file.events.categories.values())
        seen: Counter[TrackPlace] = Counter()
        numbers: dict[tuple[int, TrackPlace], int] = {}
        found: list[int] = []
        for track, category in pairs.T.tolist():
            place = _placed(file.events.tracks.place(keys[track]), categories[category])
            if (track, place) not in numbers:
                # Two tracks of one name in one file are two engines.
                numbers[track, place] = self.engine(place, seen[place])
                seen[place] += 1
            found.append(numbers[track, place])
        return np.array(found, np.int64)[of_slice.reshape(-1)]

    def engine(self, place: TrackPlace, nth: int = 0) -> int:
        """Id of an engine; of those that are called the same, the nth."""
        self.device(place.device)
        return self._engines.setdefault((place, nth), len(self._engines) + 1)

    def device(self, name: str) -> int:
        """Id of a device."""
        return self._devices.setdefault(name, len(self._devices) + 1)

    def kinds(self) -> Int64:
        """int64[m + 1]; number of the kind of each engine, by its id; 0 for id 0."""
        return np.array([0, *(int(place.kind) for place, _ in self._engines)], np.int64)

    def engines(self) -> tuple[Engine, ...]:
        """The engines, in the order of their ids."""
        return tuple(
            Engine(number, self._devices[place.device], place.kind, _name(place), place.chiplet, display_order=number)
            for (place, _), number in self._engines.items()
        )

    def devices(self, clock_id: int) -> tuple[Device, ...]:
        """The devices, in the order of their ids, all on one clock; 0 = on several."""
        chiplets: dict[str, int] = {}
        for place, _ in self._engines:
            if place.chiplet is not None:
                chiplets[place.device] = max(chiplets.get(place.device, 0), place.chiplet + 1)
        found = []
        for name, number in self._devices.items():
            ordinal = device_ordinal(name)
            found.append(Device(number, name, number - 1 if ordinal is None else ordinal, chiplets.get(name, 0), clock_id))
        return tuple(found)

    def has_known(self) -> bool:
        """Whether any engine is one that the vendor's profiler has."""
        return any(place.kind is not EngineKind.UNKNOWN for place, _ in self._engines)


def _placed(place: TrackPlace, category: Category) -> TrackPlace:
    """The place of slices of a category on a track."""
    # On a stream is whatever was put there, and a frame around work may stand on the track of the work.
    is_open = place.kind in (EngineKind.UNKNOWN, EngineKind.STREAM) or (category.is_frame and place.kind in WORKING_KINDS)
    return replace(place, kind=category.kind) if is_open and category.kind is not EngineKind.UNKNOWN else place


def _name(place: TrackPlace) -> str:
    """The name that the file gives; empty where it is the one that the kind has anyway."""
    return "" if place.name == ENGINE_NAMES[place.kind] else place.name
