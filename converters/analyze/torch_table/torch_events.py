"""The rows of a host trace as torch's own list of events: what counts, under which name, where and in which order.

The trace holds the slices; torch's list also has memory records that no event was running for, knows the thread of a
runtime call by the op it is linked to, and drops some names. Reading is this module; arithmetic is `key_averages.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding, Severity
from rblnpb.row_order import order_by
from rblnpb.wording import counted

from ...dialect import owner_rows
from ...timeline import Bool, HostTrace, Int64
from ..grouping import first_rows, numbered
from .device_links import DeviceLinks
from .flops import COUNTED_OPERATORS, count_flops, flat_shapes_text
from .memory import memory_use
from .torch_rows import (
    ANNOTATION,
    DEVICE,
    MEMORY_RECORD,
    OP,
    OUT_OF_MEMORY,
    RUNTIME,
    is_async_name,
    kind_table,
    main_tracks,
    shown_name,
    timed_rows,
    without_overload,
)

__all__ = ["TorchEvents", "read_events", "record_rows"]

_CPU_MEMORY: Final = (0, 2, 5)
_DEVICE_MEMORY: Final = (1, 6, 12, 20)
"""torch's DeviceType numbers: CPU, MKLDNN, IDEEP; CUDA, HIP, XPU, PrivateUse1."""

_FILE_TIE: Final = 2**59
_DEVICE_TIE: Final = 2**60
_MEMORY_TIE: Final = 2**61
_OUT_OF_MEMORY_TIE: Final = 2**62
"""Order among events of equal times: by "Ev Idx"; then rows without one, as in the file; then devices; then records."""

_COLUMNS: Final = (
    *("name", "kind", "start_ns", "end_ns", "lane", "tie", "host_row"),
    *("is_async", "is_annotation", "cpu_bytes", "device_bytes", "flops", "shapes"),
)

_Part = dict[str, Int64]


@dataclass(frozen=True, eq=False)
class TorchEvents:
    """Events in torch's order: start ascending, then end descending, then as recorded; all columns have length n.

    Attributes:
        name: int64[n]; row of `names`.
        kind: int64[n]; row of `torch_rows.KINDS`.
        start_ns, end_ns: int64[n]; clock of the host trace.
        lane: int64[n]; the thread, as far as nesting goes; -1 on devices.
        launcher: int64[n]; of device work: place in this list of the op that it belongs to; -1 = none, and always on
            the CPU.
        is_async: bool[n]; neither calls nor is called, as far as torch can tell.
        is_device: bool[n]; runs on a device.
        is_annotation: bool[n]; a range that somebody named.
        cpu_bytes, device_bytes: int64[n]; memory use while it ran, calls included.
        flops: int64[n]; 0 where none were counted.
        shapes: int64[n]; row of `shape_texts`.
        names: Names as the table shows them.
        shape_texts: Input shapes as the table shows them.
        findings: What was left out, and why.
    """

    name: Int64
    kind: Int64
    start_ns: Int64
    end_ns: Int64
    lane: Int64
    launcher: Int64
    is_async: Bool
    is_device: Bool
    is_annotation: Bool
    cpu_bytes: Int64
    device_bytes: Int64
    flops: Int64
    shapes: Int64
    names: tuple[str, ...]
    shape_texts: tuple[str, ...]
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.name)


def read_events(host: HostTrace, device: DeviceLinks, *, with_flops: bool, with_shapes: bool) -> TorchEvents:
    """Makes torch's list of events of a host trace and the device work that goes with it.

    Args:
        host: The trace.
        device: Device work, in the clock of the trace.
        with_flops: Whether to count operations; `flops` is 0 otherwise.
        with_shapes: Whether to tell input shapes; `[]` everywhere otherwise.

    Returns:
        The list, ready for nesting.
    """
    names = _Numbers()
    shapes = _Numbers()
    shapes.number("[]")
    slices = _host_part(host, names, device)
    work = _device_part(device, names)
    memory = _record_part(host, MEMORY_RECORD, names, _MEMORY_TIE)
    failures = _record_part(host, OUT_OF_MEMORY, names, _OUT_OF_MEMORY_TIE)
    use = memory_use(slices["start_ns"], slices["end_ns"], memory["start_ns"], memory["cpu_bytes"], memory["device_bytes"])
    unclaimed = {column: values[~use.is_claimed] for column, values in memory.items()}
    slices |= {"cpu_bytes": use.cpu_bytes, "device_bytes": use.device_bytes}
    if with_flops:
        slices["flops"] = _flops(host, slices["host_row"])
    if with_shapes:
        slices["shapes"] = _shapes(host, slices["host_row"], shapes)
    columns = _in_order(slices, work, unclaimed, failures)
    launcher, stray = _launchers(columns, len(host.events))
    return TorchEvents(
        **{column: columns[column] for column in ("name", "kind", "start_ns", "end_ns", "lane")},
        launcher=launcher,
        is_async=columns["is_async"].astype(np.bool_),
        is_device=columns["lane"] < 0,
        is_annotation=columns["is_annotation"].astype(np.bool_),
        **{column: columns[column] for column in ("cpu_bytes", "device_bytes", "flops", "shapes")},
        names=tuple(names.rows),
        shape_texts=tuple(shapes.rows),
        findings=(*_timeless(host), *stray),
    )


def record_rows(host: HostTrace, name: str) -> Int64:
    """Instant records of this name that tell a moment and a size, ascending; rows of `host.events`."""
    if name not in host.strings:
        return np.empty(0, np.int64)
    events = host.events
    is_record = (events.phase == ord("i")) & (events.name == host.strings.index(name))
    return np.flatnonzero(is_record & (events.start_ns != ABSENT) & (events.size_bytes != ABSENT)).astype(np.int64)


class _Numbers:
    """Texts, numbered in the order in which they are first asked for."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.rows.setdefault(text, len(self.rows))

    def names(self, strings: tuple[str, ...], used: Int64, *, of_ops: bool) -> Int64:
        """Numbers of the names that torch shows for these rows of `strings`; -1 where it leaves them out."""
        table = np.full(len(strings), -1, np.int64)
        for row in numbered(used)[0].tolist():
            shown = shown_name(without_overload(strings[row]) if of_ops else strings[row])
            table[row] = -1 if shown is None else self.number(shown)
        return table[used]


def _part(size: int, **columns: Int64) -> _Part:
    """The given columns, and zeros for those not given."""
    return {column: columns.get(column, np.zeros(size, np.int64)) for column in _COLUMNS}


def _in_order(*parts: _Part) -> _Part:
    """Events of all parts in torch's order. The parts are empty afterwards: a column of all events is held once."""
    start_ns, end_ns, tie = (np.concatenate([part[column] for part in parts]) for column in ("start_ns", "end_ns", "tie"))
    order = order_by(start_ns, -end_ns, tie)
    del start_ns, end_ns, tie
    return {column: np.concatenate([part.pop(column) for part in parts])[order] for column in _COLUMNS}


def _host_part(host: HostTrace, names: _Numbers, device: DeviceLinks) -> _Part:
    """Events on the CPU. A category of calls that the vendor's emitter uses for work of a device too is one of them otherwise."""
    events = host.events
    kinds = kind_table(host)
    rows = timed_rows(host, kinds)
    is_devices = np.zeros(len(events) + 1, np.bool_)
    is_devices[device.event] = True
    rows = rows[~is_devices[rows]]
    name = names.names(host.strings, events.name[rows].astype(np.int64), of_ops=True)
    rows, name = rows[name >= 0], name[name >= 0]
    kind = kinds[events.category[rows]].astype(np.int64)
    is_async = np.array([is_async_name(text) for text in names.rows], np.bool_)[name]
    index = events.event_index[rows]
    return _part(
        len(rows),
        name=name,
        kind=kind,
        start_ns=events.start_ns[rows],
        end_ns=events.start_ns[rows] + events.duration_ns[rows],
        lane=_lanes(host, rows, kind, is_async),
        tie=np.where(index >= 0, index, _FILE_TIE + rows),
        host_row=rows,
        is_async=is_async.astype(np.int64),
        is_annotation=(kind == ANNOTATION).astype(np.int64),
    )


def _lanes(host: HostTrace, rows: Int64, kind: Int64, is_async: Bool) -> Int64:
    """An op is on its own thread; a runtime call on that of the op it is linked to, or else on the main one."""
    track = host.events.track[rows]
    op_rows = rows[(kind != RUNTIME) & ~is_async]
    calls = np.flatnonzero(kind == RUNTIME)
    owner = owner_rows(host, op_rows, host.events.external_id[rows[calls]])
    lane = track.astype(np.int64)
    main = main_tracks(host, host.events.track[op_rows])
    lane[calls] = np.where(owner >= 0, host.events.track[owner], main[track[calls]])
    return lane


def _device_part(device: DeviceLinks, names: _Numbers) -> _Part:
    name = names.names(device.strings, device.name.astype(np.int64), of_ops=False)
    shown = np.flatnonzero(name >= 0)
    return _part(
        len(shown),
        name=name[shown],
        kind=np.where(device.is_annotation[shown], ANNOTATION, DEVICE).astype(np.int64),
        start_ns=device.start_ns[shown],
        end_ns=device.start_ns[shown] + device.duration_ns[shown],
        lane=np.full(len(shown), -1, np.int64),
        tie=_DEVICE_TIE + shown,
        host_row=device.host_row[shown],
        is_annotation=device.is_annotation[shown].astype(np.int64),
    )


def _record_part(host: HostTrace, text: str, names: _Numbers, tie: int) -> _Part:
    events = host.events
    rows = record_rows(host, text)
    index = events.event_index[rows]
    size, device_type = events.size_bytes[rows], events.device_type[rows]
    return _part(
        len(rows),
        name=np.full(len(rows), names.number(text) if len(rows) else 0, np.int64),
        kind=np.full(len(rows), OP, np.int64),
        start_ns=events.start_ns[rows],
        end_ns=events.start_ns[rows],
        lane=events.track[rows].astype(np.int64),
        tie=tie + np.where(index >= 0, index, _FILE_TIE + rows),
        host_row=np.full(len(rows), -1, np.int64),
        cpu_bytes=np.where(np.isin(device_type, _CPU_MEMORY), size, 0),
        device_bytes=np.where(np.isin(device_type, _DEVICE_MEMORY), size, 0),
    )


def _flops(host: HostTrace, rows: Int64) -> Int64:
    texts = host.strings
    name, dims, inputs = (
        column[rows].astype(np.int64) for column in (host.events.name, host.events.input_dims, host.events.concrete_inputs)
    )
    operators = [row for row in numbered(name)[0].tolist() if without_overload(texts[row]) in COUNTED_OPERATORS]
    counted = np.flatnonzero(np.isin(name, operators))
    # One number for each distinct call, in two steps, so that no product leaves 64 bits.
    _, call = numbered(name[counted] * len(texts) + dims[counted])
    codes, call = numbered(call * len(texts) + inputs[counted])
    first = first_rows(call, len(codes))
    distinct = zip(*(column[counted[first]].tolist() for column in (name, dims, inputs)), strict=True)
    counts = [count_flops(without_overload(texts[row]), texts[shapes], texts[values]) for row, shapes, values in distinct]
    flops = np.zeros(len(rows), np.int64)
    flops[counted] = np.array(counts, np.int64)[call]
    return flops


def _shapes(host: HostTrace, rows: Int64, shapes: _Numbers) -> Int64:
    distinct, which = numbered(host.events.input_dims[rows].astype(np.int64))
    numbers = [shapes.number(flat_shapes_text(host.strings[row])) for row in distinct.tolist()]
    return np.array(numbers, np.int64)[which]


def _launchers(columns: _Part, host_length: int) -> tuple[Int64, tuple[Finding, ...]]:
    """For device work: where in the ordered list its op stands; and how much of it has an op that is not there."""
    is_device = columns["lane"] < 0
    can_launch = ~is_device & (columns["host_row"] >= 0) & (columns["is_async"] == 0)
    place = np.full(host_length + 1, -1, np.int64)
    place[columns["host_row"][can_launch]] = np.flatnonzero(can_launch)
    launcher = np.where(is_device, place[columns["host_row"]], -1)
    stray = int(np.count_nonzero(is_device & (columns["host_row"] >= 0) & (launcher < 0)))
    slices = counted(stray, "device slice belongs", "device slices belong")
    message = f"{slices} to a host row that the table does not list: no op has that time"
    return launcher, (Finding(Severity.WARNING, "launcher-not-listed", message, stray),) if stray else ()


def _timeless(host: HostTrace) -> tuple[Finding, ...]:
    events = host.events
    is_slice = (events.phase == ord("X")) & (kind_table(host)[events.category] >= 0)
    lost = int(np.count_nonzero(is_slice & ((events.start_ns == ABSENT) | (events.duration_ns == ABSENT))))
    message = f"{counted(lost, 'host row')} without start or duration: not in the table"
    return (Finding(Severity.WARNING, "host-row-without-time", message, lost),) if lost else ()
