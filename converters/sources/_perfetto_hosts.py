"""Which events of a Perfetto trace are the host's: a profile has no place for them, and as work of a device they would be wrong.

The vendor's files hold devices alone, whose engines are threads of processes as the host's threads are: a number of a process or a
thread tells nothing. So the trace has to say it: by categories of events, by what it calls a process and the engines in it, by the
main thread that a process of the host has, whose number is the process's. In a trace that shows nothing of the host in any of these
ways, all is a device's.

A process may be called after the device that it works for: "RBLN1 launcher" is a device where nothing but its name tells, and a
program where it has a main thread. A name with no more words than a device's is stronger than a main thread, which may have the
number of its process by chance in a file of the vendor's; so is an engine's name on that thread.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.naming import device_ordinal
from rblnpb.profile import EngineKind

from ._perfetto_categories import Category
from ._perfetto_events import EventReader
from ._perfetto_tracks import VENDOR_KINDS, Group, TrackBook, kind_of

__all__ = ["HostTable", "host_table"]

HostTable = npt.NDArray[np.bool_]
"""bool[tracks, categories]; whether an event on a track of an EventReader, with a category of it, is the host's."""

_CPU: Final = "CPU"
"""What torch labels processes of the host with."""

_WORD: Final = re.compile(r"[^\W_]+")
_WORDS_OF_DEVICES: Final = frozenset(
    {"rbln", "npu", "device", "dev", "card", "chiplet", "rebellions", "atom", "rebel", "max", "quad"}
)
"""What names of devices consist of, beside numbers and words with a number in them, as models have."""


def host_table(events: EventReader) -> HostTable:
    """Which events are the host's, by track and category.

    Args:
        events: All events of a file.
    """
    tracks, categories = events.tracks, list(events.categories.values())
    groups = [tracks.group(key) for key in events.track_keys]
    members: dict[Group, list[Hashable]] = {group: [] for group in groups}
    for key in tracks:
        members.setdefault(tracks.group(key), []).append(key)
    said: dict[Group, set[Category]] = {group: set() for group in members}
    for track, category in set(zip(events.track, events.category, strict=True)):
        said[groups[track]].add(categories[category])
    starts = [group for group, keys in members.items() if any(_begins_program(tracks, key) for key in keys)]
    programs = {one for group in starts for one in (group, group.other())}
    told = {group: _is_hosts(tracks, group, keys, said[group], is_program=group in programs) for group, keys in members.items()}
    # In files of the vendor's what nothing tells is a device's. Where categories tell devices and host apart, or a host is seen,
    # it is the host's: not all that a host does has a sign.
    otherwise = True in told.values() or any(one.is_hosts or one.is_devices for some in said.values() for one in some)
    of_track = [
        next((found for one in (group, group.other()) if (found := told.get(one)) is not None), otherwise) for group in groups
    ]
    always, never = (np.array([getattr(one, name) for one in categories], np.bool_) for name in ("is_hosts", "is_devices"))
    return (np.array(of_track, np.bool_).reshape(-1, 1) | always) & ~never


def _begins_program(tracks: TrackBook, key: Hashable) -> bool:
    return tracks.is_main_thread(key) and kind_of(tracks.name_of(key)) is EngineKind.UNKNOWN


def _is_bare(name: str) -> bool:
    """Whether a name has no more words than a device's has.

    >>> _is_bare("RBLN-CA25 NPU 0"), _is_bare("rbln:1"), _is_bare("RBLN1 launcher")
    (True, True, False)
    """
    return all(word in _WORDS_OF_DEVICES or any(map(str.isdigit, word)) for word in _WORD.findall(name.casefold()))


def _is_hosts(tracks: TrackBook, group: Group, keys: list[Hashable], said: set[Category], *, is_program: bool) -> bool | None:
    """Whether a group of tracks is the host's, by the surest sign that there is; None where nothing tells."""
    labels = tracks.labels(group)
    kinds = {kind_of(tracks.name_of(key)) for key in keys} - {EngineKind.UNKNOWN}
    if _CPU in labels or any(category.makes_host for category in said):
        return True
    if kinds & VENDOR_KINDS or any(category.is_devices or category.kind in VENDOR_KINDS for category in said):
        return False
    # A thread is called as a program likes: "npu0-worker" is no device.
    names = labels if group.is_thread else [*labels, *map(tracks.name_of, keys)]
    loose = {label for label in labels if not _is_bare(label)} if is_program else set()
    if any(device_ordinal(name) is not None for name in names if name not in loose):
        return False
    if any(tracks.is_main_thread(key) for key in keys):
        return True
    # The other kinds have names that any program may use.
    return False if kinds else None
