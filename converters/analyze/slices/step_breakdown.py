"""What the time of each step was spent on, by the convention of Kineto's TensorBoard plugin (pytorch/kineto, tb_plugin).

The plugin asks of every moment of a step what ran, and takes the first of: a kernel, a copy, a memset, a call of the device's
runtime, the data loader, an operator. Its share of kernels is what it calls the utilisation of the device.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...dialect import slice_rows
from ...results import STEP_PARTS, StepBreakdown
from ...timeline import HostTrace, Int64, Timeline
from ..intervals import union_ns

__all__ = ["step_breakdown"]

_STEP: Final = re.compile(r"ProfilerStep#[0-9]+")
_LOADER: Final = "enumerate(DataLoader)"
_CATEGORIES: Final = {
    "kernel": ("kernel",),
    "memcpy": ("memcpy", "gpu_memcpy"),
    "memset": ("memset", "gpu_memset"),
    "runtime": ("runtime", "cuda_runtime", "hip_runtime", "xpu_runtime", "privateuse1_runtime"),
    "data_loader": ("operator", "cpu_op", "user_annotation"),
    "cpu": ("operator", "cpu_op"),
}


def step_breakdown(timeline: Timeline) -> tuple[StepBreakdown, ...]:
    """The steps of a trace in their order; none where it has no `ProfilerStep#n`.

    Args:
        timeline: Of a host trace that holds device rows itself; without a host trace there are no steps.

    Example:
        >>> from rblnpb import converters
        >>> steps = converters.step_breakdown(converters.merge(None, converters.read_host("rblnpb/data/transformer_step.json.gz")))
        >>> [(step.name, sum(step.parts_ns) == step.duration_ns) for step in steps]
        [('ProfilerStep#0', True), ('ProfilerStep#1', True)]
    """
    if timeline.host is None:
        return ()
    host = timeline.host
    rows = slice_rows(host)
    # The last part is what no other covers.
    parts = [_spans(host, rows, part) for part in STEP_PARTS[:-1]]
    return tuple(
        StepBreakdown(name, start_ns, end_ns, _parts_ns(parts, start_ns, end_ns))
        for name, start_ns, end_ns in _steps(timeline, host, rows)
    )


def _steps(timeline: Timeline, host: HostTrace, rows: Int64) -> list[tuple[str, int, int]]:
    """Name, start and end of each step among the slices; they do not overlap."""
    events, slices = host.events, timeline.slices
    rows = _named(host, rows, lambda name: _STEP.fullmatch(name) is not None)
    rows = rows[order_by(events.start_ns[rows])]
    launched_ns = np.append(timeline.launches.start_ns, np.iinfo(np.int64).min)[slices.launch]
    ends_ns = slices.start_ns + slices.duration_ns
    found: list[tuple[str, int, int]] = []
    for row in rows.tolist():
        start_ns = int(events.start_ns[row])
        end_ns = start_ns + int(events.duration_ns[row])
        own = (launched_ns >= start_ns) & (launched_ns < end_ns)
        begins_ns = max(start_ns, found[-1][2]) if found else start_ns
        # A step that work of an earlier one outlasts has no time left: it ends where it begins.
        found.append((host.strings[int(events.name[row])], begins_ns, max(begins_ns, int(ends_ns[own].max(initial=end_ns)))))
    return found


def _spans(host: HostTrace, rows: Int64, part: str) -> tuple[Int64, Int64]:
    """Starts and ends of those slices that are of a part: int64[n], int64[n]."""
    events = host.events
    known = np.array([text.lower() in _CATEGORIES[part] for text in host.strings], np.bool_)
    rows = rows[known[events.category[rows]]]
    if part == "data_loader":
        rows = _named(host, rows, lambda name: name.startswith(_LOADER))
    elif part == "cpu":
        rows = _named(host, rows, lambda name: not name.startswith(_LOADER) and not _STEP.fullmatch(name))
    return events.start_ns[rows], events.start_ns[rows] + events.duration_ns[rows]


def _named(host: HostTrace, rows: Int64, is_wanted: Callable[[str], bool]) -> Int64:
    wanted = np.array([is_wanted(text) for text in host.strings], np.bool_)
    named: Int64 = rows[wanted[host.events.name[rows]]]
    return named


def _parts_ns(parts: list[tuple[Int64, Int64]], start_ns: int, end_ns: int) -> tuple[int, ...]:
    """Time of each part within a step: what it covers beyond the parts before it; last, what none covers."""
    starts, lengths = np.empty(0, np.int64), np.empty(0, np.int64)
    covered_ns = [0]
    for begins, ends in parts:
        inside = (begins < end_ns) & (ends > start_ns)
        begin, end = np.maximum(begins[inside], start_ns), np.minimum(ends[inside], end_ns)
        starts, lengths = np.concatenate((starts, begin)), np.concatenate((lengths, end - begin))
        covered_ns.append(union_ns(starts, lengths))
    covered_ns.append(end_ns - start_ns)
    return tuple(np.diff(covered_ns).tolist())
