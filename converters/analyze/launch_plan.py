"""Which ops of a host trace would have launched work on a device: the leaves that compute.

One table decides. Views and metadata changes touch no data, factories that only reserve memory launch nothing, waits read what is
there already; every other operator without an operator inside is taken to launch one program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..dialect import op_rows
from ..nesting import nest
from ..timeline import HostTrace, Int64

__all__ = ["PlannedLaunches", "planned_launches"]

_VIEWS: Final = """
alias as_strided chunk conj detach detach_ diagonal expand expand_as flatten imag lift_fresh movedim mT moveaxis narrow permute
ravel real reshape resize_ resize_as_ select set_ slice split split_with_sizes squeeze squeeze_ swapaxes t t_ transpose transpose_
unbind unfold unsafe_chunk unsafe_split unsqueeze unsqueeze_ view view_as view_as_complex view_as_real _conj _neg_view
_reshape_alias _unsafe_view
"""
_FACTORIES: Final = """
empty empty_like empty_permuted empty_quantized empty_strided new_empty new_empty_strided scalar_tensor _efficientzerotensor
"""
_WAITS: Final = """
_local_scalar_dense equal is_nonzero is_pinned is_set_to item numel record_stream result_type size stride sym_size sym_stride
_has_compatible_shallow_copy_type _nested_tensor_size
"""
_LAUNCHES_NOTHING: Final = frozenset(f"aten::{name}" for name in (_VIEWS + _FACTORIES + _WAITS).split())
_NO_OPERATORS: Final = ("autograd::", "profiler::", "c10d::", "gloo:", "nccl:")
"""Names with these beginnings are records of the framework about itself."""


def _launches(name: str) -> bool:
    return "::" in name and not name.startswith(_NO_OPERATORS) and name not in _LAUNCHES_NOTHING


@dataclass(frozen=True, eq=False)
class PlannedLaunches:
    """Launches to be, in order of time; all columns have the same length n.

    Attributes:
        time_ns: int64[n]; trace clock; a quarter into the op, when its arguments are looked at.
        pid, tid: int64[n]; native ids of the op's thread.
        ops: n operator names.
        thread_names: Names of the threads that the trace names, by native thread id.
    """

    time_ns: Int64
    pid: Int64
    tid: Int64
    ops: tuple[str, ...]
    thread_names: dict[int, str]

    def __len__(self) -> int:
        return len(self.time_ns)


def planned_launches(host: HostTrace) -> PlannedLaunches:
    """A launch for each operator that computes and contains no other operator, from its thread at its time."""
    events = host.events
    rows = op_rows(host)
    numbers = [
        (track.pid, track.tid) if isinstance(track.pid, int) and isinstance(track.tid, int) else None for track in host.tracks
    ]
    is_native = np.array([pair is not None for pair in numbers], np.bool_)
    rows = rows[is_native[events.track[rows]] & (events.duration_ns[rows] > 0)] if len(rows) else rows
    start_ns, duration_ns = events.start_ns[rows], events.duration_ns[rows]
    order = np.lexsort((-duration_ns, start_ns))
    rows, start_ns, duration_ns = rows[order], start_ns[order], duration_ns[order]
    caller = nest(events.track[rows].astype(np.int64), start_ns, start_ns + duration_ns)
    is_leaf = np.ones(len(rows), np.bool_)
    is_leaf[caller[caller >= 0]] = False
    computes = np.array([_launches(text) for text in host.strings], np.bool_)
    chosen = np.flatnonzero(is_leaf & computes[events.name[rows]])
    tracks = [numbers[track] for track in events.track[rows[chosen]].tolist()]
    return PlannedLaunches(
        time_ns=start_ns[chosen] + duration_ns[chosen] // 4,
        pid=np.array([pair[0] for pair in tracks if pair], np.int64),
        tid=np.array([pair[1] for pair in tracks if pair], np.int64),
        ops=tuple(host.strings[name] for name in events.name[rows[chosen]].tolist()),
        thread_names={track.tid: name for track, name in host.thread_names.items() if isinstance(track.tid, int)},
    )
