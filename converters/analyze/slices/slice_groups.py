"""Which slices of work belong together: by stage, layer, family or engine.

Every slice of work is in exactly one group, so that the groups of any sort add up to all device time; what a slice does not tell
puts it into a group that says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.naming import family, parse
from rblnpb.profile import ENGINE_NAMES, EngineKind

from ...timeline import Int64, SliceNames, Timeline, Track
from ..grouping import numbered

__all__ = [
    "UNKNOWN",
    "SliceGroups",
    "chiplet",
    "engine_groups",
    "family_groups",
    "kind_name",
    "layer_groups",
    "named_groups",
    "stage_groups",
    "work_rows",
]

UNKNOWN: Final = "(unknown)"
"""Name of the group of slices that do not tell what is asked."""


@dataclass(frozen=True, eq=False)
class SliceGroups:
    """All slices of work, each in one of k groups.

    Attributes:
        rows: int64[n]; rows of `Timeline.slices` that do work, ascending.
        group: int64[n]; number of the group of each, from 0.
        keys: What the groups are called: columns of k values, "name" the first; None = not known.
    """

    rows: Int64
    group: Int64
    keys: dict[str, tuple[object, ...]]

    def __len__(self) -> int:
        return len(self.keys["name"])


def work_rows(timeline: Timeline) -> Int64:
    """int64[n]; rows of `timeline.slices` that are busy time, ascending."""
    return np.flatnonzero(timeline.is_work())


def named_groups(rows: Int64, group: Int64, columns: dict[str, Sequence[object]]) -> SliceGroups:
    """Groups by what they are called: those of equal keys become one; numbers count in order of first mention in `columns`."""
    keys = list(zip(*columns.values(), strict=True))
    place = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    joined = np.array([place[key] for key in keys], np.int64)
    return SliceGroups(rows, joined[group], {name: tuple(key[at] for key in place) for at, name in enumerate(columns)})


def layer_groups(timeline: Timeline) -> SliceGroups:
    """Slices by layer, the tensor-level op that the compiler made them of, over all engines."""
    rows = work_rows(timeline)
    layers, group = _layers(timeline.slices.names, rows)
    return named_groups(rows, group, {"name": layers})


def family_groups(timeline: Timeline) -> SliceGroups:
    """Slices by sort of layer: `linear_0` and `linear_7` are one family."""
    rows = work_rows(timeline)
    layers, group = _layers(timeline.slices.names, rows)
    return named_groups(rows, group, {"name": [layer if layer == UNKNOWN else family(layer) for layer in layers]})


def stage_groups(timeline: Timeline) -> SliceGroups:
    """Slices by program stage: the layer, apart for each kind of engine that worked on it.

    A stage such as `mm` is fed and computed by several engines at once; one sum over them would say neither how long it computed
    nor how long it moved data.
    """
    rows = work_rows(timeline)
    layers, layer = _layers(timeline.slices.names, rows)
    engines = [kind_name(track.kind) for track in timeline.tracks]
    distinct, group = numbered(layer * len(engines) + timeline.slices.track[rows])
    pairs = [divmod(code, len(engines)) for code in distinct.tolist()]
    return named_groups(rows, group, {"name": [layers[at] for at, _ in pairs], "engine": [engines[at] for _, at in pairs]})


def engine_groups(timeline: Timeline) -> SliceGroups:
    """Slices by the engine that ran them."""
    rows = work_rows(timeline)
    distinct, group = numbered(timeline.slices.track[rows].astype(np.int64))
    tracks = [timeline.tracks[row] for row in distinct.tolist()]
    keys = {
        "name": tuple(track.name for track in tracks),
        "device": tuple(track.device for track in tracks),
        "kind": tuple(track.kind for track in tracks),
        "chiplet": tuple(chiplet(track) for track in tracks),
    }
    return SliceGroups(rows, group, keys)


def _layers(names: SliceNames, rows: Int64) -> tuple[list[str], Int64]:
    """The layers of slices, and which of them each is of: int64[n]. A name that is no layer's stands for itself, whole."""
    texts = len(names.strings)
    stage, whole = names.stage[rows].astype(np.int64), names.override[rows].astype(np.int64)
    distinct, group = numbered(np.where(stage > 0, stage, texts + whole))
    layers = [names.strings[code] if code < texts else _layer(names.strings[code - texts]) for code in distinct.tolist()]
    return layers, group


def _layer(name: str) -> str:
    parts = parse(name)
    # What merely ends in a number need not be a layer with a command.
    return (name if parts is None or parts.sequence is None else parts.layer) or UNKNOWN


_CHIPLET: Final = re.compile(r"\(chiplet ([0-9]{1,9})\)")


def chiplet(track: Track) -> int | None:
    """The chiplet that a track is of; None where it is of the device as a whole, or does not say."""
    found = _CHIPLET.search(track.name)
    return None if found is None else int(found[1])


_KIND_NAMES: Final = {kind.name.lower(): ENGINE_NAMES[kind] for kind in EngineKind}


def kind_name(kind: str) -> str:
    """The vendor's spelling of a kind of engine; the kind itself where it has none."""
    return _KIND_NAMES.get(kind, kind)
