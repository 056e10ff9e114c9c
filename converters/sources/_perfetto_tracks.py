"""Tracks of a Perfetto trace as devices, chiplets and engines.

The vendor publishes no schema; public are the names of its tracks. In the files that people describe a track is a thread and its
name tells the engine (docs.rbln.ai, software/profiler/perfetto; rebel-semin/rbln-skills); newer documentation speaks of tracks of
chiplets. So a track is told by the names from itself up to its root: a thread in a process, or any depth of plain tracks.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from rblnpb.naming import device_ordinal
from rblnpb.profile import DMA_ENGINE_KINDS, ENGINE_NAMES, EngineKind

from ._perfetto_text import as_text

__all__ = ["VENDOR_KINDS", "CounterTrack", "Group", "TrackBook", "TrackPlace", "kind_of"]

_CHIPLET: Final = re.compile(r"[\s,(\[/:#_-]*\bchiplet[\s:#_-]*(\d{1,9})\b[)\]]?", re.IGNORECASE)
_TRAILING_ID: Final = re.compile(r"[\s#:(\[]*\d+[)\]]*$")
_MOST_ANCESTORS: Final = 32
_LAST_PID: Final = 1 << 22
"""The greatest number of a process or thread that Linux gives."""

_KINDS: Final = {
    **{name.casefold(): kind for kind, name in ENGINE_NAMES.items() if kind is not EngineKind.UNKNOWN},
    "neural engine cluster": EngineKind.NEURAL_ENGINE_CLUSTERS,
    "workload": EngineKind.WORKLOAD,
    "workloads": EngineKind.WORKLOAD,
    "device workloads": EngineKind.WORKLOAD,
    "ccl": EngineKind.COLLECTIVE,
}

VENDOR_KINDS: Final = DMA_ENGINE_KINDS | {
    EngineKind.NEURAL_ENGINE_CLUSTERS,
    EngineKind.DEVICE_SYNC,
    EngineKind.GENERAL_COMPUTE_ENGINE,
}
"""Kinds whose names nothing but an NPU has; a thread of any program may be called "copy" or "Host"."""


def kind_of(name: str) -> EngineKind:
    """What a track of this name does; a number behind it is an internal id of the vendor's profiler and says nothing.

    >>> kind_of("Neural DMA 3").name, kind_of("Task DMA #2").name, kind_of("Device HDMA (chiplet 1)").name, kind_of("uDMA").name
    ('NEURAL_DMA', 'TASK_DMA', 'DEVICE_HDMA', 'UNKNOWN')
    """
    words = _CHIPLET.sub("", name).replace("_", " ").replace("-", " ").casefold()
    words = " ".join(_TRAILING_ID.sub("", words.strip()).split())
    return _KINDS.get(words, EngineKind.UNKNOWN)


@dataclass(frozen=True)
class TrackPlace:
    """Where a track belongs.

    Attributes:
        device: Name of its device; empty where nothing names one.
        name: Of the engine, as the file spells it, without the chiplet; empty where it says no more than that.
        kind: What the engine does.
        chiplet: Which chiplet it is on; None = the device as a whole, or not said.
    """

    device: str
    name: str
    kind: EngineKind
    chiplet: int | None


@dataclass(frozen=True)
class CounterTrack:
    """How samples of a track are to be read: what each is multiplied with, and whether it is added to the one before."""

    unit: str
    multiplier: int
    is_incremental: bool


@dataclass(frozen=True)
class Group:
    """Tracks that belong together: the threads of a process, or the other tracks in it.

    Attributes:
        root: Number of the process, else the track that is above all of them.
        is_process: Which of both it is.
        is_thread: Whether they are threads, or below threads.
    """

    root: Hashable
    is_process: bool
    is_thread: bool

    def other(self) -> Group:
        """The other tracks of the same process."""
        return replace(self, is_thread=not self.is_thread)


@dataclass
class _Described:
    """What descriptors said of a track; empty where they said nothing."""

    name: str = ""
    parent: Hashable = None
    pid: int | None = None
    tid: int | None = None
    counter: CounterTrack | None = None


class TrackBook:
    """The tracks of one file, while it is read: what describes a track may stand behind its first event."""

    def __init__(self) -> None:
        self._tracks: dict[Hashable, _Described] = {}
        self._processes: dict[int, str] = {}
        self._labels: dict[int, list[str]] = {}

    def __iter__(self) -> Iterator[Hashable]:
        """Keys of the tracks that are described."""
        return iter(self._tracks)

    def describe(self, descriptor: Any) -> None:
        """Take a TrackDescriptor; of two with one uuid, what the later one says counts."""
        track = self._tracks.setdefault(descriptor.uuid, _Described())
        name = descriptor.name or descriptor.static_name or descriptor.atrace_name
        if descriptor.HasField("thread"):
            track.pid, track.tid = descriptor.thread.pid, descriptor.thread.tid
            name = descriptor.thread.thread_name or name
        if descriptor.HasField("process"):
            self.name_process(descriptor.process)
            track.pid = descriptor.process.pid
            self._labels.setdefault(track.pid, []).extend(map(as_text, descriptor.process.process_labels))
            name = _process_name(descriptor.process) or name
        if descriptor.HasField("counter"):
            track.counter = _counter(descriptor.counter)
        track.name = as_text(name) or track.name
        track.parent = descriptor.parent_uuid or track.parent

    def name_process(self, process: Any) -> None:
        """Take a ProcessDescriptor, or a process of a ProcessTree."""
        if name := _process_name(process):
            self._processes[process.pid] = name

    def name_thread(self, pid: int, tid: int, name: str) -> Hashable:
        """Take a thread that no track describes; the key of the track that events on it have."""
        key = (pid, tid)
        track = self._tracks.setdefault(key, _Described(pid=pid, tid=tid))
        track.name = as_text(name) or track.name
        return key

    def is_described(self, key: Hashable) -> bool:
        """Whether anything says what this track is."""
        return key in self._tracks

    def has_engine(self) -> bool:
        """Whether any track is called like an engine of the vendor's."""
        return any(kind_of(track.name) is not EngineKind.UNKNOWN for track in self._tracks.values())

    def name_of(self, key: Hashable) -> str:
        """What the file calls the track; empty where it does not."""
        return self._tracks[key].name if key in self._tracks else ""

    def is_main_thread(self, key: Hashable) -> bool:
        """Whether the track is the thread that a process of the host begins with: it has the number of the process."""
        track = self._tracks.get(key)
        return track is not None and track.tid is not None and track.tid == track.pid and 0 < track.tid <= _LAST_PID

    def group(self, key: Hashable) -> Group:
        """The tracks that a track belongs to."""
        above = list(self._above(key))
        pid = next((track.pid for _, track in above if track.pid is not None), None)
        root = above[-1][0] if above else key
        return Group(root if pid is None else pid, pid is not None, any(track.tid is not None for _, track in above))

    def labels(self, group: Group) -> list[str]:
        """What the process of a group is called and labelled; nothing where there is no process."""
        if not group.is_process or not isinstance(group.root, int):
            return []
        return [self._processes.get(group.root, ""), *self._labels.get(group.root, ())]

    def counter_of(self, key: Hashable) -> CounterTrack:
        """How samples of the track are to be read."""
        found = self._tracks[key].counter if key in self._tracks else None
        return found or CounterTrack("", 1, is_incremental=False)

    def place(self, key: Hashable) -> TrackPlace:
        """Where a track belongs, from its own name and those above it."""
        chain = list(self._chain(key)) or [""]
        kinds = [kind_of(text) for text in chain]
        at = next((row for row, kind in enumerate(kinds) if kind is not EngineKind.UNKNOWN), 0)
        chiplets = [match for text in chain if (match := _CHIPLET.search(text))]
        other = [text for text, kind in zip(chain, kinds, strict=True) if kind is EngineKind.UNKNOWN and _bare(text)]
        above = other[-1] if other and other[-1] is not chain[0] else ""
        device = next((text for text in other if device_ordinal(text) is not None), above)
        name = _bare(chain[0])
        if at:
            # The track only numbers what the one above it names.
            name = f"{_bare(chain[at])} {name}".rstrip() if name.isdecimal() or not name else name
        return TrackPlace(_bare(device), name, kinds[at], int(chiplets[0][1]) if chiplets else None)

    def _chain(self, key: Hashable) -> Iterator[str]:
        """Names from a track up to its root, the process of its thread last."""
        pid: int | None = None
        is_process = False
        for _, track in self._above(key):
            if track.name:
                yield track.name
            pid = track.pid if pid is None else pid
            is_process = track.name == self._processes.get(track.pid or 0, None) and track.pid is not None
        if pid is not None and not is_process and pid in self._processes:
            yield self._processes[pid]

    def _above(self, key: Hashable) -> Iterator[tuple[Hashable, _Described]]:
        """A track and those above it, up to the first that is not described."""
        for _ in range(_MOST_ANCESTORS):
            track = self._tracks.get(key)
            if track is None:
                return
            yield key, track
            if track.parent is None:
                return
            key = track.parent


def _bare(name: str) -> str:
    """A name without the chiplet in it."""
    return _CHIPLET.sub("", name).strip()


def _process_name(process: Any) -> str:
    return as_text(getattr(process, "process_name", "") or next(iter(process.cmdline), ""))


_UNITS: Final = {1: "ns", 2: "count", 3: "bytes"}


def _counter(descriptor: Any) -> CounterTrack:
    unit = as_text(descriptor.unit_name) or _UNITS.get(descriptor.unit, "")
    return CounterTrack(unit, descriptor.unit_multiplier or 1, descriptor.is_incremental)
