"""What every event cost, alone and with what it called: times, memory and operations, exact and as torch rounds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...nesting import nest
from ...timeline import Bool, Int64
from .call_tree import CallTree, Number, levels, merge_same_name, sum_below
from .torch_events import TorchEvents

__all__ = ["EventCosts", "add_up", "measure"]

Columns = dict[str, Any]
"""Numeric columns by the name that they have in `KeyAverages`; int64 where it ends in `_ns` or `_bytes`, float64 in `_us`."""


@dataclass(frozen=True, eq=False)
class EventCosts:
    """The events that are left once calls of one name are merged; all columns have the same length k.

    Attributes:
        events: The whole list that they are of.
        rows: int64[k]; places in `events`, ascending.
        is_top_level: bool[k]; nothing called it.
        costs: Columns[k].
    """

    events: TorchEvents
    rows: Int64
    is_top_level: Bool
    costs: Columns


def measure(events: TorchEvents, start_ns: int) -> EventCosts:
    """Nests the events and works out what each cost.

    Args:
        events: torch's list.
        start_ns: The moment from which torch counts its microseconds; clock of `events`.

    Returns:
        Costs of every event that is a row of torch's list after merging.
    """
    nested = np.flatnonzero(~events.is_device & ~events.is_async)
    caller = nest(events.lane[nested], events.start_ns[nested], events.end_ns[nested])
    tree = merge_same_name(caller, events.name[nested])
    elapsed_ns = events.end_ns - events.start_ns
    elapsed_us = (events.end_ns - start_ns) / 1000 - (events.start_ns - start_ns) / 1000
    costs: Columns = {"flops": events.flops}
    for unit, elapsed in (("ns", elapsed_ns), ("us", elapsed_us)):
        costs[f"cpu_time_total_{unit}"] = np.where(events.is_device, 0, elapsed)
        costs[f"device_time_total_{unit}"] = np.where(events.is_device, elapsed, 0)
    _add_device_time(costs, events, nested, tree)
    costs |= {"cpu_memory_bytes": events.cpu_bytes, "device_memory_bytes": events.device_bytes}
    for column in ("cpu_time_total_ns", "cpu_time_total_us", "cpu_memory_bytes", "device_memory_bytes"):
        costs[f"self_{column}"] = _without_calls(costs[column], nested, tree)
    is_kept, is_top_level = np.ones(len(events), np.bool_), np.ones(len(events), np.bool_)
    is_kept[nested], is_top_level[nested] = tree.is_kept, tree.parent < 0
    rows = np.flatnonzero(is_kept).astype(np.int64)
    # One column after the other: all of them are not held twice.
    return EventCosts(events, rows, is_top_level[rows], {name: costs.pop(name)[rows] for name in list(costs)})


def add_up(values: npt.NDArray[Number], group: Int64, groups: int) -> npt.NDArray[Number]:
    """The sum of each group, added one after the other in row order from zero on.

    Args:
        values: Numbers[n].
        group: int64[n]; below `groups`.
        groups: How many there are.

    Returns:
        Numbers[groups]; floats have the digits of this very order.
    """
    sums = np.zeros(groups, values.dtype)
    np.add.at(sums, group, values)
    return sums


def _without_calls(values: npt.NDArray[Number], nested: Int64, tree: CallTree) -> npt.NDArray[Number]:
    """What of each event's value its direct calls do not have; 0 for events outside of the tree."""
    called = np.flatnonzero(tree.is_kept & (tree.parent >= 0))
    alone = np.zeros_like(values)
    alone[nested] = values[nested] - add_up(values[nested[called]], tree.parent[called], len(nested))
    return alone


def _add_device_time(costs: Columns, events: TorchEvents, nested: Int64, tree: CallTree) -> None:
    """Completes the device times: an op's own is that of the work it launched, its total that of its calls besides."""
    place = np.full(len(events) + 1, -1, np.int64)
    place[nested] = np.arange(len(nested))
    launcher = place[events.launcher]
    launched = np.flatnonzero(launcher >= 0)
    deepest_first = levels(np.where(tree.is_kept, tree.parent, -1)) if len(launched) else ()
    for unit in ("ns", "us"):
        total = costs[f"device_time_total_{unit}"]
        own = add_up(total[launched], launcher[launched], len(nested))[tree.carrier]
        below = sum_below(tree.parent, deepest_first, own)
        alone = total.copy()
        # In floats this difference need not be `own` again, and torch prints the difference.
        total[nested], alone[nested] = own + below, (own + below) - below
        costs[f"self_device_time_total_{unit}"] = alone
