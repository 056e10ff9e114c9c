"""torch's `key_averages()` from a trace: one row per name, with the numbers that torch's own table prints.

Every sum exists twice. Exact nanoseconds are for everything that is computed further. Float microseconds replay what
torch does (relative to the start of the trace, added in the order of events), because its table shows the result of
exactly these roundings; only the text table reads them. (From Python 3.12 on, `sum` corrects its roundings, so there torch
itself may print another last digit where the exact value lies right between two.)

The rows of ops, without the ranges that torch itself annotates, are also what Kineto's TensorBoard plugin calls operators.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rblnpb.row_order import order_by

from ...results import KeyAverages
from ...timeline import HostTrace, Int64
from ..grouping import first_rows, numbered
from .device_links import DeviceLinks, device_name, recorded_links
from .event_costs import Columns, EventCosts, add_up, measure
from .torch_events import TorchEvents, read_events, record_rows
from .torch_rows import KINDS, MEMORY_RECORD, timed_rows

__all__ = [
    "DeviceLinks",
    "device_name",
    "event_rows",
    "key_averages",
    "recorded_links",
]


def key_averages(
    host: HostTrace,
    device: DeviceLinks | None = None,
    *,
    group_by_input_shape: bool = False,
    device_name: str | None = None,
) -> KeyAverages:
    """Sums the events of a trace by name, as `torch.profiler` does.

    Args:
        host: The trace.
        device: Device work and the ops that it belongs to, in the clock of the trace; None: what the trace itself holds.
        group_by_input_shape: Whether calls with different input shapes are rows of their own.
        device_name: What the table calls the device; None: what the trace tells, see `device_links.device_name`.

    Returns:
        Rows in order of first appearance.
    """
    found = _costs(host, device, with_shapes=group_by_input_shape)
    events, rows = found.events, found.rows
    code = (events.shapes * len(events.names) + events.name) * 4 + events.is_device * 2 + events.is_annotation
    codes, group = numbered(code[rows])
    first = first_rows(group, len(codes))
    by_appearance = order_by(first)
    place = np.empty_like(by_appearance)
    place[by_appearance] = np.arange(len(first))
    group = place[group]
    sums = {name: add_up(values, group, len(first)) for name, values in found.costs.items()}
    sums["count"] = np.bincount(group, minlength=len(first)).astype(np.int64)
    table = _table(host, found, first[by_appearance], sums, device_name)
    return table if group_by_input_shape else replace(table, input_shapes=("",) * len(table))


def event_rows(host: HostTrace, device: DeviceLinks | None = None, *, device_name: str | None = None) -> KeyAverages:
    """The single events that `key_averages` sums up, in order, as a table of the same form: `prof.events()` of torch.

    Args:
        host: The trace.
        device: As for `key_averages`.
        device_name: As for `key_averages`.

    Returns:
        One row per event, `count` 1.
    """
    found = _costs(host, device, with_shapes=True)
    every = np.arange(len(found.rows), dtype=np.int64)
    return _table(host, found, every, {**found.costs, "count": np.ones_like(every)}, device_name)


def _costs(host: HostTrace, device: DeviceLinks | None, *, with_shapes: bool) -> EventCosts:
    links = recorded_links(host) if device is None else device
    events = read_events(host, links, with_flops=_has_flops(host), with_shapes=with_shapes)
    return measure(events, _trace_start_ns(host, events))


def _trace_start_ns(host: HostTrace, events: TorchEvents) -> int:
    """The moment that torch counts from: the start of the session's own slice, or of the first event without one."""
    for row in timed_rows(host, np.array([0 if text == "Trace" else -1 for text in host.strings], np.int32)).tolist():
        if host.strings[host.events.name[row]] == "PyTorch Profiler (0)":
            return int(host.events.start_ns[row])
    return int(events.start_ns[0]) if len(events) else 0


def _has_memory(host: HostTrace) -> bool:
    """Told by the metadata, which one of torch's two exporters leaves out; then by the records themselves."""
    return bool(host.metadata.get("profile_memory")) or len(record_rows(host, MEMORY_RECORD)) > 0


def _has_flops(host: HostTrace) -> bool:
    return bool(host.metadata.get("with_flops"))


def _table(host: HostTrace, found: EventCosts, first: Int64, numbers: Columns, called: str | None) -> KeyAverages:
    events = found.events
    rows = found.rows[first]
    table = KeyAverages(
        name=tuple(events.names[row] for row in events.name[rows].tolist()),
        kind=tuple(KINDS[row] for row in events.kind[rows].tolist()),
        **numbers,
        input_shapes=tuple(events.shape_texts[row] for row in events.shapes[rows].tolist()),
        is_device=events.is_device[rows],
        is_annotation=events.is_annotation[rows],
        is_async=events.is_async[rows],
        is_top_level=found.is_top_level[first],
        device_name=device_name(host) if called is None else called,
        profile_memory=_has_memory(host),
        with_flops=_has_flops(host),
        findings=events.findings,
    )
    for column in vars(table).values():
        if isinstance(column, np.ndarray):
            column.setflags(write=False)
    return table
