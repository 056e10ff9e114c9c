"""Tracks of a Perfetto trace as devices, chiplets and engines.

The vendor publishes no schema; public are the names of its tracks. In the files that people describe a track is a thread and its
name tells the engine (docs.rbln.ai, software/profiler/perfetto; rebel-semin/rbln-skills); newer documentation speaks of tracks of
chiplets. So a track is told by the names from itself up to its root: a thread in a process, or any depth of plain tracks.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rblnpb.naming import device_ordinal
from rblnpb.profile import ENGINE_NAMES, EngineKind

from ._perfetto_text import as_text

__all__ = ["CounterTrack", "TrackBook", "TrackPlace", "kind_of"]

_CHIPLET: Final = re.compile(r"[\s,(\[/:#_-]*\bchiplet[\s:#_-]*(\d{1,9})\b[)\]]?", re.IGNORECASE)
_TRAILING_ID: Final = re.compile(r"[\s#:(\[]*\d+[)\]]*$")
_MOST_ANCESTORS: Final = 32

_KINDS: Final = {
    **{name.casefold(): kind for kind, name in ENGINE_NAMES.items() if kind is not EngineKind.UNKNOWN},
    "neural engine cluster": EngineKind.NEURAL_ENGINE_CLUSTERS,
    "workload": EngineKind.WORKLOAD,
    "workloads": EngineKind.WORKLOAD,
    "device workloads": EngineKind.WORKLOAD,
    "ccl": EngineKind.COLLECTIVE,
}


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


@dataclass
class _Described:
    """What descriptors said of a track; empty where they said nothing."""

    name: str = ""
    parent: Hashable = None
    pid: int | None = None
    counter: CounterTrack | None = None


class TrackBook:
    """The tracks of one file, while it is read: what describes a track may stand behind its first event."""

    def __init__(self) -> None:
        self._tracks: dict[Hashable, _Described] = {}
        self._processes: dict[int, str] = {}

    def describe(self, descriptor: Any) -> None:
        """Take a TrackDescriptor; of two with one uuid, what the later one says counts."""
        track = self._tracks.setdefault(descriptor.uuid, _Described())
        name = descriptor.name or descriptor.static_name or descriptor.atrace_name
        if descriptor.HasField("thread"):
            track.pid = descriptor.thread.pid
            name = descriptor.thread.thread_name or name
        if descriptor.HasField("process"):
            self.name_process(descriptor.process)
            track.pid = descriptor.process.pid
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
        track = self._tracks.setdefault(key, _Described(pid=pid))
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
        for _ in range(_MOST_ANCESTORS):
            track = self._tracks.get(key)
            if track is None:
                break
            if track.name:
                yield track.name
            pid = track.pid if pid is None else pid
            is_process = track.name == self._processes.get(track.pid or 0, None) and track.pid is not None
            if track.parent is None:
                break
            key = track.parent
        if pid is not None and not is_process and pid in self._processes:
            yield self._processes[pid]


def _bare(name: str) -> str:
    """A name without the chiplet in it."""
    return _CHIPLET.sub("", name).strip()


def _process_name(process: Any) -> str:
    return as_text(getattr(process, "process_name", "") or next(iter(process.cmdline), ""))


_UNITS: Final = {1: "ns", 2: "count", 3: "bytes"}


def _counter(descriptor: Any) -> CounterTrack:
    unit = as_text(descriptor.unit_name) or _UNITS.get(descriptor.unit, "")
    return CounterTrack(unit, descriptor.unit_multiplier or 1, descriptor.is_incremental)
