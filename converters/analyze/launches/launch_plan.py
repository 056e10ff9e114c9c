"""Which ops of a host trace would have launched work on a device: the leaves that compute.

One table decides. Views and metadata changes touch no data, factories that only reserve memory launch nothing, waits read what is
there already, and some operators do nothing but call others when there is something to do. Every other operator computes, and
launches one program unless an operator that computes is inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...dialect import op_rows
from ...nesting import nest
from ...timeline import HostTrace, Int64

__all__ = ["PlannedLaunches", "planned_launches"]

_VIEWS: Final = """
alias as_strided chunk conj detach detach_ diagonal expand expand_as flatten imag lift_fresh movedim mT moveaxis narrow permute
ravel real reshape resize_ resize_as_ select set_ slice split split_with_sizes squeeze squeeze_ swapaxes t t_ transpose transpose_
unbind unflatten unfold unsafe_chunk unsafe_split unsqueeze unsqueeze_ view view_as view_as_complex view_as_real _conj _neg_view
_reshape_alias _unsafe_view
"""
_FACTORIES: Final = """
empty empty_like empty_permuted empty_quantized empty_strided new_empty new_empty_strided scalar_tensor _efficientzerotensor
"""
_WAITS: Final = """
_local_scalar_dense equal is_nonzero is_pinned is_set_to item numel record_stream result_type size stride sym_size sym_stride
_has_compatible_shallow_copy_type _nested_tensor_size
"""
_CALLERS: Final = """
to contiguous type_as resolve_conj resolve_neg dropout feature_dropout alpha_dropout broadcast_tensors meshgrid atleast_1d
atleast_2d atleast_3d cpu cuda pad
"""
_LAUNCHES_NOTHING: Final = frozenset(f"aten::{name}" for name in (_VIEWS + _FACTORIES + _WAITS + _CALLERS).split())
_NO_OPERATORS: Final = ("autograd::", "torch::autograd::", "profiler::", "c10d::", "gloo:", "nccl:")
"""Names with these beginnings are records of the framework about itself."""


def _launches(name: str) -> bool:
    return "::" in name and not name.startswith(_NO_OPERATORS) and name not in _LAUNCHES_NOTHING


@dataclass(frozen=True, eq=False)
class PlannedLaunches:
    """Launches to be, in order of time; all columns have the same length n.

    Attributes:
        time_ns: int64[n]; trace clock; while the op runs and nothing inside it does.
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
    """A launch for each operator that computes and contains no other that does, from its thread, while it runs itself."""
    numbers = [
        (track.pid, track.tid) if isinstance(track.pid, int) and isinstance(track.tid, int) else None for track in host.tracks
    ]
    is_native = np.array([pair is not None for pair in numbers], np.bool_)
    events = host.events
    rows = op_rows(host)
    rows = rows[is_native[events.track[rows]] & (events.duration_ns[rows] > 0)]
    order = order_by(events.start_ns[rows], -events.duration_ns[rows])
    rows = rows[order]
    start_ns, end_ns = events.start_ns[rows], events.start_ns[rows] + events.duration_ns[rows]
    lane = events.track[rows].astype(np.int64)
    computing = np.flatnonzero(np.array([_launches(text) for text in host.strings], np.bool_)[events.name[rows]])
    around = nest(lane[computing], start_ns[computing], end_ns[computing])
    is_leaf = np.ones(len(computing), np.bool_)
    is_leaf[around[around >= 0]] = False
    chosen = computing[is_leaf]
    tracks = [numbers[track] for track in lane[chosen].tolist()]
    return PlannedLaunches(
        time_ns=_own_moments(nest(lane, start_ns, end_ns), start_ns, end_ns)[chosen],
        pid=np.array([pair[0] for pair in tracks if pair], np.int64),
        tid=np.array([pair[1] for pair in tracks if pair], np.int64),
        ops=tuple(host.strings[name] for name in events.name[rows[chosen]].tolist()),
        thread_names={track.tid: name for track, name in host.thread_names.items() if isinstance(track.tid, int)},
    )


def _own_moments(caller: Int64, start_ns: Int64, end_ns: Int64) -> Int64:
    """A moment of each op at which no op inside it runs: after the last one, or a quarter in where there is none.

    Where the last one ends with the op itself the moment is the op's start, which may be the start of the first one too.
    """
    inside = np.flatnonzero(caller >= 0)
    quiet_from = start_ns.copy()
    np.maximum.at(quiet_from, caller[inside], end_ns[inside])
    quiet_from = np.where(quiet_from < end_ns, quiet_from, start_ns)
    calls = np.zeros(len(caller), np.bool_)
    calls[caller[inside]] = True
    moment: Int64 = np.where(calls & (quiet_from == start_ns), start_ns, quiet_from + (end_ns - quiet_from) // 4)
    return moment
