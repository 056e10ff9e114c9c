"""Slices of devices in the trace clock: their places, their names by parts, and what led each to the op that caused it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import row_blocks
from rblnpb.naming import NameStyle, render

from .host_trace import Int32, Int64

__all__ = ["JOINED_RULES", "JOIN_RULES", "AlignedSlices", "DeferredSlices", "Rows", "SliceNames"]

Rows = npt.NDArray[Any] | slice
"""Some rows of a table: an index array, a mask or a slice."""


@dataclass(frozen=True, eq=False)
class SliceNames:
    """Names of slices by their parts: a million calls of one program need no million strings.

    Attributes:
        style: How a name is put together, see `rblnpb.naming`.
        strings: Texts that the columns refer to; row 0 is "".
        stage: int32[n]; row of `strings`: the layer name without the command index; 0 = unknown.
        command: int32[n]; ordinal of the command in its layer.
        instance: int32[n]; runtime instance, from 1; 0 = unknown.
        sequence: int64[n]; ordinal of the call on its instance; -1 = none.
        workload: int64[n]; ordinal of the runtime call in the call; -1 = none.
        override: int32[n]; row of `strings`: the whole name, where the parts do not make it; 0 = by parts.
    """

    style: NameStyle
    strings: tuple[str, ...]
    stage: Int32
    command: Int32
    instance: Int32
    sequence: Int64
    workload: Int64
    override: Int32

    def __len__(self) -> int:
        return len(self.stage)

    def take(self, rows: Rows) -> SliceNames:
        """The names of these rows (index array, mask or slice), in that order."""
        columns = ("stage", "command", "instance", "sequence", "workload", "override")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def text_rows(self) -> Int64:
        """int64[k], ascending; rows of `strings` that names use; 0 is among them."""
        used = np.zeros(len(self.strings), np.bool_)
        used[0] = True
        # To count is faster than to mark; blocks are no shorter than the counts, of which each has its own.
        for rows in row_blocks(len(self), max(1 << 16, len(used))):
            used |= np.bincount(self.stage[rows], minlength=len(used)) > 0
        # Few profiles have any, and to look for one is a tenth of the work.
        if self.override.any():
            used[self.override] = True
        return np.flatnonzero(used).astype(np.int64)

    def render(self) -> npt.NDArray[np.bytes_]:
        """S[n]; every name as UTF-8 bytes, in row order. Each is as wide as the longest: sinks take blocks of bounded size."""
        layer_rows, layer = np.unique(self.stage, return_inverse=True)
        layers = np.array([self.strings[row].encode() for row in layer_rows.tolist()] or [b""], dtype=np.bytes_)
        names = render(
            self.style,
            layer=layers[layer],
            command=self.command,
            instance=self.instance,
            sequence=self.sequence,
            workload=self.workload,
        )
        whole_rows, whole = np.unique(self.override, return_inverse=True)
        if len(whole_rows) and whole_rows[-1] > 0:
            wholes = np.array([self.strings[row].encode() for row in whole_rows.tolist()], dtype=np.bytes_)
            names = np.where(self.override > 0, wholes[whole], names)
        return names


@dataclass(frozen=True, eq=False)
class AlignedSlices:
    """Device-side slices in the trace clock, one row each; all columns have the same length n.

    Attributes:
        start_ns: int64[n]; trace clock.
        duration_ns: int64[n]; not negative.
        track: int32[n]; row of `Timeline.tracks`.
        names: What each is called, by its parts; see `SliceNames`.
        launch: int64[n]; row of `Timeline.launches`; -1 = none is known.
        host_row: int64[n]; row of `Timeline.host.events`: the op that caused it, by every rule; -1 = unattributed.
        rule: int32[n]; row of `JOIN_RULES`: which rule led to that op, or why none did.
        event: int64[n]; row of `Timeline.host.events` when the slice came out of the host trace and is shown there
            already; -1 for slices of a profile.
        arguments: int64[n, k] for the k names of `Timeline.argument_names`; ABSENT = the record does not have it.
    """

    start_ns: Int64
    duration_ns: Int64
    track: Int32
    names: SliceNames
    launch: Int64
    host_row: Int64
    rule: Int32
    event: Int64
    arguments: Int64

    def __len__(self) -> int:
        return len(self.start_ns)

    def take(self, rows: Rows) -> AlignedSlices:
        """These slices (index array, mask or slice), in that order. Of many slices take one block at a time."""
        columns: dict[str, Any] = {one.name: getattr(self, one.name)[rows] for one in fields(self) if one.name != "names"}
        return AlignedSlices(**columns, names=self.names.take(rows))

    def host_rows(self, rows: Rows) -> Int64:
        """`host_row` of these slices."""
        found: Int64 = self.host_row[rows]
        return found

    @property
    def strings(self) -> tuple[str, ...]:
        """Texts that the names refer to; row 0 is ""."""
        return self.names.strings

    def text_rows(self) -> Int64:
        """See `SliceNames.text_rows`; it may name rows that no slice uses any more."""
        return self.names.text_rows()


class DeferredSlices(AlignedSlices):
    """Slices that hold their places in the timeline, and read the rest where it stands: for more records than memory holds.

    They are what they stand for: every column of `AlignedSlices` is there. But `names` and `arguments` are read whole, at each
    use; `take` reads only what the rows need.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # one argument a column
        self,
        start_ns: Int64,
        duration_ns: Int64,
        track: Int32,
        launch: Int64,
        rule: Int32,
        owners: Int64,
        read: Callable[[Rows], tuple[SliceNames, Int64]],
        strings: tuple[str, ...],
        used_rows: Int64,
    ) -> None:
        """Hold the places.

        Args:
            start_ns, duration_ns, track, launch, rule: As of `AlignedSlices`.
            owners: int64[launches]; `AlignedLaunches.host_row`: a slice is on the op of its launch.
            read: Gives names and arguments of some rows.
            strings: What the names refer to.
            used_rows: See `AlignedSlices.text_rows`.
        """
        event = np.broadcast_to(np.int64(-1), len(start_ns))
        # The class is frozen, and the columns that are read have no value to be set.
        vars(self).update(start_ns=start_ns, duration_ns=duration_ns, track=track, launch=launch, rule=rule, event=event)
        vars(self).update(_owners=np.append(owners, -1), _read=read, _strings=strings, _used_rows=used_rows)

    def __getattr__(self, name: str) -> Any:
        held = vars(self)
        if name == "host_row":
            return held["_owners"][held["launch"]]
        if name in {"names", "arguments"}:
            return held["_read"](slice(None))[name == "arguments"]
        raise AttributeError(name)

    def take(self, rows: Rows) -> AlignedSlices:
        """See `AlignedSlices.take`; what the rows need is read."""
        names, arguments = self._read(rows)
        launch = self.launch[rows]
        own = (self.start_ns[rows], self.duration_ns[rows], self.track[rows])
        return AlignedSlices(*own, names, launch, self._owners[launch], self.rule[rows], self.event[rows], arguments)

    def host_rows(self, rows: Rows) -> Int64:
        """See `AlignedSlices.host_rows`."""
        found: Int64 = self._owners[self.launch[rows]]
        return found

    @property
    def strings(self) -> tuple[str, ...]:
        """See `AlignedSlices.strings`."""
        strings: tuple[str, ...] = self._strings
        return strings

    def text_rows(self) -> Int64:
        """See `AlignedSlices.text_rows`."""
        used: Int64 = self._used_rows
        return used


JOIN_RULES: Final = (
    "launch-id",
    "correlation",
    "external-id",
    "flow",
    "containment",
    "paired",
    "no-host-trace",
    "no-link",
    "launch-not-recorded",
    "launch-on-no-op",
)
"""How a slice came to the op that caused it, in the order in which the rules are tried; the last four say why it came to none:
there are no ops; the record names no launch; the launch that it names is not in the files (it was submitted before the window,
or lost); the launch is known and lies in no op."""

JOINED_RULES: Final = 6
"""How many of `JOIN_RULES`, from the front, lead to an op."""
