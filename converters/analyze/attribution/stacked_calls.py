"""The calls of a host trace as stacks, with the frames of the forward pass above what runs backward."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...nesting import nearest
from ...results import FRAME_KINDS, Frame
from ...timeline import Bool, HostTrace, Int64
from ..host.host_calls import MODULE, OP, PYTHON, HostCalls, is_within, read_calls
from .forward_ops import forward_ops
from .stacks import Stacks, distinct_stacks

__all__ = ["KEPT", "StackedCalls", "stack_calls"]

KEPT: Final = {"op": (OP,), "module": (MODULE,), "python": (PYTHON,), "all": tuple(range(len(FRAME_KINDS)))}
"""Kinds of frames that stacks are made of, below the thread, for each thing to ask by."""

_FORWARD: Final[dict[str, tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]]] = {
    "op": (),
    "module": (((MODULE,), (MODULE,)),),
    "python": (((PYTHON, MODULE), (PYTHON,)),),
    "all": (((PYTHON, MODULE), (PYTHON, MODULE)), ((MODULE,), (MODULE,))),
}
"""For each thing to ask by: kinds of frames around an op of the backward pass; where it has none of them, kinds that it gets from
its op of the forward pass. The first that applies does. A module is a call of Python too."""


@dataclass(frozen=True, eq=False)
class StackedCalls:
    """The calls of a trace, and their stacks.

    Attributes:
        by: A key of `KEPT`: what the stacks are made of.
        calls: The calls.
        call_of_event: int64[events + 1]; the call that each event of the trace is; -1 = none, and at the end.
        frames: Distinct frames; the first are those of threads.
        thread_count: How many threads there are.
        own: Stacks of frames that were open on the thread of the call; `of_row` is int64[calls].
        stacks: The same with what is told by the forward pass.
        forward: int64[calls]; row of `calls`: the op of the forward pass that the outermost linked op around each call belongs to;
            -1 = none.
    """

    by: str
    calls: HostCalls
    call_of_event: Int64
    frames: tuple[Frame, ...]
    thread_count: int
    own: Stacks
    stacks: Stacks
    forward: Int64


@dataclass(frozen=True, eq=False)
class _Tree:
    """Threads, then the calls on them, then what was put in between; all columns have the same length n."""

    parent: Int64
    frame: Int64
    is_kept: Bool


def stack_calls(host: HostTrace | None, by: str) -> StackedCalls:
    """The stacks of all calls of a trace, each below its thread.

    An op of a backward pass around which there is nothing of what is asked for stands below the frames around its op of the
    forward pass; those stand below what is really around it.

    Args:
        host: The trace; without one there are no calls.
        by: A key of `KEPT`.
    """
    if host is None:
        return _no_calls(by)
    calls = read_calls(host, with_annotations=by == "all")
    tracks, thread = np.unique(calls.track, return_inverse=True)
    first = len(tracks)
    parent = np.concatenate((np.full(first, -1, np.int64), np.where(calls.parent >= 0, calls.parent + first, thread)))
    frame = np.concatenate((np.arange(first), calls.frame + first))
    tree = _Tree(parent, frame, _threads_and(calls, first, KEPT[by]))
    own = distinct_stacks(tree.parent, tree.frame, tree.is_kept)
    link = forward_ops(host, calls)
    is_outermost = (link >= 0) & (np.append(nearest(calls.parent, link >= 0), -1)[calls.parent] < 0)
    linked = _with_forward(tree, calls, by, np.flatnonzero(is_outermost), link)
    stacks = own if linked is tree else distinct_stacks(linked.parent, linked.frame, linked.is_kept)
    around = nearest(calls.parent, is_outermost)
    call_of_event = np.full(len(host.events) + 1, -1, np.int64)
    call_of_event[calls.event] = np.arange(len(calls))
    of_calls = slice(first, first + len(calls))
    return StackedCalls(
        by=by,
        calls=calls,
        call_of_event=call_of_event,
        frames=(*_thread_frames(host, tracks), *calls.frames),
        thread_count=first,
        own=replace(own, of_row=own.of_row[of_calls]),
        stacks=replace(stacks, of_row=stacks.of_row[of_calls]),
        forward=np.where(around >= 0, np.append(link, -1)[around], -1),
    )


def _no_calls(by: str) -> StackedCalls:
    nothing = np.empty(0, np.int64)
    calls = HostCalls(nothing, nothing, nothing, nothing, nothing, nothing, nothing, (), 0)
    stacks = Stacks(nothing, nothing, nothing)
    return StackedCalls(by, calls, np.full(1, -1, np.int64), (), 0, stacks, stacks, nothing)


def _threads_and(calls: HostCalls, thread_count: int, kinds: tuple[int, ...]) -> Bool:
    return np.concatenate((np.ones(thread_count, np.bool_), np.isin(calls.kind, kinds)))


def _thread_frames(host: HostTrace, tracks: Int64) -> list[Frame]:
    """What each thread is called; ids are added where that is no name of one thread."""
    used = [host.tracks[row] for row in tracks.tolist()]
    names = [host.thread_names.get(track) or f"thread {track.tid}" for track in used]
    count = Counter(names)
    return [
        Frame(name if count[name] == 1 else f"{name} (process {track.pid}, thread {track.tid})", "thread")
        for name, track in zip(names, used, strict=True)
    ]


def _with_forward(tree: _Tree, calls: HostCalls, by: str, asking: Int64, link: Int64) -> _Tree:
    """The tree with rows more, which stand between linked ops and their callers; itself where there is nothing to put.

    Args:
        tree: Threads and calls.
        calls: The calls.
        by: A key of `KEPT`.
        asking: int64[k]; calls that are linked, the outermost ones.
        link: int64[calls]; row of `calls` of the op of the forward pass.
    """
    first = len(tree.parent) - len(calls)
    result = tree
    for lacking, kinds in _FORWARD[by]:
        is_lacking = ~is_within(calls, *lacking)[asking]
        rows, asking = asking[is_lacking], asking[~is_lacking]
        if not len(rows):
            continue
        paths = distinct_stacks(tree.parent, tree.frame, _threads_and(calls, first, kinds))
        path = paths.of_row[link[rows] + first]
        between = _copies(paths, tree.parent[rows + first], path, len(result.parent))
        parent = np.concatenate((result.parent, between.parent))
        parent[rows + first] = between.of_row
        is_kept = np.concatenate((result.is_kept, np.ones(len(between), np.bool_)))
        result = _Tree(parent, np.concatenate((result.frame, between.frame)), is_kept)
    return result


def _copies(paths: Stacks, owner: Int64, path: Int64, first: int) -> Stacks:
    """Copies of paths, without their threads, below rows that own them; an owner that wants a path twice has it once.

    Args:
        paths: Stacks, each below a thread.
        owner: int64[k]; rows of the tree.
        path: int64[k]; the stack to copy below each owner.
        first: Row of the tree that the first copied frame will be.

    Returns:
        New rows of the tree; `of_row` is int64[k], the innermost frame of each copy, or the owner where the path is only a thread.
    """
    count = len(paths)
    is_below = paths.parent >= 0
    asked = owner * count + path
    found = [np.unique(asked[is_below[path]])]
    while len(found[-1]):
        above = found[-1] - found[-1] % count + paths.parent[found[-1] % count]
        found.append(np.unique(above[is_below[above % count]]))
    keys = np.unique(np.concatenate(found))
    above = paths.parent[keys % count]
    parent = np.where(is_below[above], first + np.searchsorted(keys, keys - keys % count + above), keys // count)
    innermost = np.where(is_below[path], first + np.searchsorted(keys, asked), owner)
    return Stacks(parent, paths.frame[keys % count], innermost)
