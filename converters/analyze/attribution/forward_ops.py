"""The op of the forward pass that an op of the backward pass belongs to.

The backward pass runs on threads of autograd, where no Python frame and no module is open; what it works for is told by the op that
it differentiates. Torch draws a flow from one to the other ("fwdbwd"). Where there is none, the sequence number tells: autograd
counts up when an op of the forward pass leaves something to do, and gives the number to what is then done, so that the op is the
last one of its number. Numbers are counted per thread; one that several threads have tells nothing.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ...nesting import enclosing, latest, nearest
from ...timeline import Bool, HostTrace, Int64
from ..host.host_calls import OP, HostCalls

__all__ = ["forward_ops"]

_FLOW_CATEGORY: Final = "fwdbwd"
_BACKWARD_NAME: Final = re.compile(r"autograd::engine::evaluate_function: .*|(?:\w+::)*\w*Backwards?\d*", re.S)


def forward_ops(host: HostTrace, calls: HostCalls) -> Int64:
    """The op of the forward pass for every op of the backward pass that is linked, itself and not by what is around it.

    Args:
        host: The trace.
        calls: Its calls.

    Returns:
        int64[n]; for each call: row of `calls`, -1 = none.
    """
    linked = _by_flow(host, calls)
    by_sequence = _by_sequence(host, calls)
    sequence = host.events.sequence_number[calls.event]
    # An op of the engine has its node inside, and only one of both is where the flow ends.
    inside = np.flatnonzero((linked >= 0) & (calls.parent >= 0))
    around = calls.parent[inside]
    is_same = (linked[around] < 0) & (calls.kind[around] == OP) & (sequence[around] == sequence[inside]) & (sequence[inside] >= 0)
    linked[around[is_same]] = linked[inside[is_same]]
    return np.where(linked >= 0, linked, by_sequence)


def _by_flow(host: HostTrace, calls: HostCalls) -> Int64:
    linked = np.full(len(calls), -1, np.int64)
    events = host.events
    begins, ends = (host.rows(phase, _FLOW_CATEGORY) for phase in "sf")
    before = latest(
        events.flow_id[begins].astype(np.int64),
        events.start_ns[begins],
        events.flow_id[ends].astype(np.int64),
        events.start_ns[ends],
    )
    backward = _op_at(host, calls, ends[before >= 0])
    forward = _op_at(host, calls, begins[before[before >= 0]])
    is_whole = (backward >= 0) & (forward >= 0) & (backward != forward)
    linked[backward[is_whole]] = forward[is_whole]
    return linked


def _op_at(host: HostTrace, calls: HostCalls, rows: Int64) -> Int64:
    """The innermost op that is open where and when each event stands: int64[n], row of `calls` or -1."""
    events = host.events
    start_ns = events.start_ns[rows]
    tree = (calls.track, calls.start_ns, calls.end_ns, calls.parent)
    at = enclosing(*tree, events.track[rows].astype(np.int64), start_ns, start_ns + 1)
    return np.append(nearest(calls.parent, calls.kind == OP), -1)[at]


def _by_sequence(host: HostTrace, calls: HostCalls) -> Int64:
    linked = np.full(len(calls), -1, np.int64)
    sequence = host.events.sequence_number[calls.event]
    is_backward = _is_backward(calls)
    has_number = (calls.kind == OP) & (sequence >= 0)
    candidates = np.flatnonzero(has_number & (nearest(calls.parent, is_backward) < 0))
    wanting = np.flatnonzero(has_number & is_backward)
    if not len(candidates) or not len(wanting):
        return linked
    distinct, number = np.unique(sequence, return_inverse=True)
    number = _of_process(host, calls) * len(distinct) + number
    candidates = candidates[_is_of_one_thread(number[candidates], calls.track[candidates])]
    last = latest(number[candidates], calls.start_ns[candidates], number[wanting], calls.start_ns[wanting])
    linked[wanting] = np.append(candidates, -1)[last]
    return linked


def _is_backward(calls: HostCalls) -> Bool:
    """bool[n]; which ops have a name that autograd gives to what runs backward."""
    is_name = np.array(
        [frame.kind == "op" and _BACKWARD_NAME.fullmatch(frame.name) is not None for frame in calls.frames], np.bool_
    )
    return is_name[calls.frame] if len(calls) else np.zeros(0, np.bool_)


def _of_process(host: HostTrace, calls: HostCalls) -> Int64:
    """int64[n]; a number for the process of each call."""
    number: dict[object, int] = {}
    return np.array([number.setdefault(track.pid, len(number)) for track in host.tracks], np.int64)[calls.track]


def _is_of_one_thread(number: Int64, track: Int64) -> Bool:
    """bool[n]; whether all rows with the number of a row are on one thread."""
    _, of_row = np.unique(number, return_inverse=True)
    low = np.full(of_row.max(initial=-1) + 1, np.iinfo(np.int64).max)
    high = np.full(len(low), -1, np.int64)
    np.minimum.at(low, of_row, track)
    np.maximum.at(high, of_row, track)
    is_one: Bool = (low == high)[of_row]
    return is_one
