"""One timeline of two that show the same device work: the device side of a host trace, and that of a profile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT

from ..timeline import JOIN_RULES, AlignedLaunches, AlignedSlices, Int32, Int64, SliceDependencies, SliceNames, Timeline, Track
from .correlate import launch_by_id
from .group_rows import ranges

__all__ = ["Links", "OneRecord", "launches_behind", "links_of", "union_timeline"]

_RULE: Final = {name: row for row, name in enumerate(JOIN_RULES)}

Number = TypeVar("Number", np.int32, np.int64)


@dataclass(frozen=True, eq=False)
class OneRecord:
    """Which rows of two tables are one record; both columns have the same length k, and no row stands in one twice.

    Attributes:
        profile: int64[k]; rows of the slices, or of the frames, of the profile's timeline.
        trace: int64[k]; rows of the slices of the trace's timeline.
    """

    profile: Int64
    trace: Int64


def union_timeline(base: Timeline, trace: Timeline, slices: OneRecord, frames: OneRecord, calls: tuple[Int64, Int64]) -> Timeline:
    """The records of both timelines, those of both files once.

    Args:
        base: Of the profile, whose clock the pairs place; without launches.
        trace: Of the host trace alone.
        slices, frames: What is in both.
        calls: int64[n], int64[m]; call of each of the profile's slices and frames; -1 = not known. What runs in one call was
            launched together.

    Returns:
        A timeline with the findings of the profile. Its slices are the rows of the trace, in their order and with their times,
        then those that the profile alone has.
    """
    of_call = _call_launches(trace, slices, frames, calls)
    profile_row = np.full(len(trace.slices), -1, np.int64)
    profile_row[slices.trace] = slices.profile
    shown = np.delete(np.arange(len(trace.slices)), frames.trace)
    alone = np.delete(np.arange(len(base.slices)), slices.profile)
    tracks, track_row = _extra_tracks(base, trace, shown[profile_row[shown] < 0])
    made = _Union(base, trace, track_row)
    none = np.full(len(alone), -1, np.int64)
    links = links_of(base.slices, base, trace, np.append(of_call, -1)[calls[0]])
    both = made.slices(base.slices, np.append(profile_row[shown], alone), np.append(shown, none), links)
    trace_row = np.full(len(base.frames), -1, np.int64)
    trace_row[frames.profile] = frames.trace
    links = links_of(base.frames, base, trace, np.append(of_call, -1)[calls[1]])
    place = np.empty(len(base.slices), np.int64)
    place[slices.profile] = np.searchsorted(shown, slices.trace)
    place[alone] = len(shown) + np.arange(len(alone))
    return replace(
        base,
        slices=both,
        frames=made.slices(base.frames, np.arange(len(base.frames)), trace_row, links),
        launches=launches_behind(trace.launches, base.strings),
        dependencies=SliceDependencies(place[base.dependencies.predecessor], place[base.dependencies.successor]),
        tracks=tracks,
        strings=(*base.strings, *trace.strings[1:]),
        counts=(*base.counts, *trace.counts),
    )


def launches_behind(launches: AlignedLaunches, strings: tuple[str, ...]) -> AlignedLaunches:
    """The launches, once their table of texts stands behind this one, without its row 0, which both have."""
    shift = len(strings) - 1
    return replace(launches, name=_shifted(launches.name, shift), compile_id=_shifted(launches.compile_id, shift))


def _shifted(rows: npt.NDArray[Number], shift: int) -> npt.NDArray[Number]:
    """Rows of a table of texts that now stands behind another one; row 0 stays none."""
    return np.where(rows > 0, rows + shift, 0).astype(rows.dtype)


def _extra_tracks(base: Timeline, trace: Timeline, rows: Int64) -> tuple[tuple[Track, ...], Int32]:
    """The tracks of the profile and those of the trace that these slices of the trace are on, and where the latter are."""
    used = np.unique(trace.slices.track[rows])
    row_of = np.full(len(trace.tracks) + 1, -1, np.int32)
    row_of[used] = len(base.tracks) + np.arange(len(used), dtype=np.int32)
    extra = (replace(trace.tracks[row], order=len(base.tracks) + place) for place, row in enumerate(used.tolist()))
    return (*base.tracks, *extra), row_of


def _call_launches(trace: Timeline, slices: OneRecord, frames: OneRecord, calls: tuple[Int64, Int64]) -> Int64:
    """int64[k]; the launch that all pairs of each call have, row of the trace's launches; -1 = they have none, or several."""
    call = np.concatenate((calls[0][slices.profile], calls[1][frames.profile]))
    launch = trace.slices.launch[np.concatenate((slices.trace, frames.trace))]
    known = (call >= 0) & (launch >= 0)
    count = 1 + max((int(column.max(initial=-1)) for column in calls), default=-1)
    least, most = ranges(call[known], launch[known], count)
    return np.where(least == most, most, -1)


@dataclass(frozen=True, eq=False)
class Links:
    """What launched slices of a profile; columns as of `AlignedSlices`."""

    launch: Int64
    host_row: Int64
    rule: Int32


def links_of(slices: AlignedSlices, base: Timeline, host_side: Timeline, by_call: Int64) -> Links:
    """What launched the slices of a profile that has no launches itself.

    Args:
        slices: n slices, or frames, of the profile's timeline.
        base: That timeline.
        host_side: The timeline whose launches are meant.
        by_call: int64[n]; the launch of the call of each; -1 = not known. An id that the slice names goes before it.
    """
    launches = host_side.launches
    wanted = slices.arguments[:, base.argument_names.index("launch_id")]
    wanted = np.where(wanted == ABSENT, 0, wanted)
    by_id = launch_by_id(launches.launch_id, launches.start_ns, wanted, slices.start_ns)
    launch = np.where(by_id >= 0, by_id, by_call)
    host_row = np.append(launches.host_row, -1)[launch]
    conditions = (
        ((by_id >= 0) & (host_row >= 0), "launch-id"),
        (host_row >= 0, "paired"),
        (launch >= 0, "launch-on-no-op"),
        (wanted != 0, "launch-not-recorded"),
    )
    rule = np.select([mask for mask, _ in conditions], [_RULE[name] for _, name in conditions], _RULE["no-link"])
    return Links(launch, host_row, rule.astype(np.int32))


@dataclass(frozen=True, eq=False)
class _Union:
    """Puts rows of both timelines together."""

    base: Timeline
    trace: Timeline
    track_row: Int32

    def slices(self, own: AlignedSlices, mine: Int64, theirs: Int64, links: Links) -> AlignedSlices:
        """Slices that are a row of `own`, of the trace's slices, or of both.

        Args:
            own: Slices, or frames, of the profile.
            mine, theirs: int64[n]; rows of both; -1 = it is not there.
            links: Of `own`; a row of the trace has its own.
        """
        other = self.trace.slices
        is_mine, is_theirs = mine >= 0, theirs >= 0
        host_row = _either(is_theirs, other.host_row, theirs, links.host_row, mine)
        rule = _either(is_theirs, other.rule, theirs, links.rule, mine)
        return AlignedSlices(
            start_ns=_either(is_theirs, other.start_ns, theirs, own.start_ns, mine),
            duration_ns=_either(is_theirs, other.duration_ns, theirs, own.duration_ns, mine),
            track=_either(is_mine, own.track, mine, self.track_row[other.track], theirs),
            names=_both_names(own.names, mine, other.names, theirs),
            launch=_either(is_theirs, other.launch, theirs, links.launch, mine),
            host_row=host_row,
            rule=np.where(is_mine & is_theirs & (host_row >= 0), np.int32(_RULE["paired"]), rule),
            event=np.where(is_theirs, np.append(other.event, -1)[theirs], -1),
            arguments=self._arguments(own, mine, theirs),
        )

    def _arguments(self, own: AlignedSlices, mine: Int64, theirs: Int64) -> Int64:
        """What the profile tells, and where it does not, what the trace does."""
        names = self.base.argument_names
        arguments = np.full((len(mine), len(names)), ABSENT, np.int64)
        for column, name in enumerate(names):
            values = np.append(own.arguments[:, column], ABSENT)[mine]
            if name in self.trace.argument_names:
                said = np.append(self.trace.slices.arguments[:, self.trace.argument_names.index(name)], ABSENT)[theirs]
                values = np.where(values == ABSENT, said, values)
            arguments[:, column] = values
        return arguments


def _either(
    which: npt.NDArray[np.bool_], first: npt.NDArray[Number], first_rows: Int64, second: npt.NDArray[Number], second_rows: Int64
) -> npt.NDArray[Number]:
    """For each slice a value of the first column, or of the second; -1 is no row, and is not asked for."""
    none = np.zeros(1, first.dtype)
    return np.where(which, np.append(first, none)[first_rows], np.append(second, none)[second_rows]).astype(first.dtype)


def _both_names(own: SliceNames, mine: Int64, other: SliceNames, theirs: Int64) -> SliceNames:
    """Names as the profile has them, and those of the trace where it has none."""
    is_mine = mine >= 0
    shift = len(own.strings)
    texts = {name: _shifted(getattr(other, name), shift) for name in ("stage", "override")}
    columns = {
        name: _either(is_mine, getattr(own, name), mine, texts.get(name, getattr(other, name)), theirs)
        for name in ("stage", "command", "instance", "sequence", "workload", "override")
    }
    return SliceNames(style=own.style, strings=(*own.strings, *other.strings), **columns)
