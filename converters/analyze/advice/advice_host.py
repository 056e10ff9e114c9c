"""Advice on what a host trace shows: scans of inputs, and waits and small copies that repeat.

nan-inf-checks: scans of inputs for NaN and infinity that the dispatcher makes ahead of operators. Cost: their time and that of the
    copies made for them: what TORCH_RBLN_DEPLOY=ON saves at most.
synchronise-in-loop: 8 calls or more of one name that wait for the device, from one operator or from none. Cost: their time.
small-downloads: `aten::_local_scalar_dense`, which is `.item()`, 8 times or more on tensors of a device. Cost: its time.

The last two read what calls of a runtime in the trace itself tell; of a profile, `advice_runtime.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rblnpb.wording import counted, first_few

from ...results import Advice
from ..grouping import numbered
from ..host.host_classes import CLASSES, HostClasses
from ..intervals import exact_sum
from .advice_runtime import MANY, repeated_waits, small_downloads

__all__ = ["host_habits"]

_CHECKS, _WAIT, _DOWNLOAD = (CLASSES.index(name) for name in ("checks", "wait", "download"))
_ITEM: Final = "aten::_local_scalar_dense"


def host_habits(classes: HostClasses) -> Iterator[Advice]:
    """Advice on the rows of a host trace."""
    yield from _checks(classes)
    yield from _waits(classes)
    yield from _items(classes)


def _checks(classes: HostClasses) -> Iterator[Advice]:
    scans = classes.checks.scanned_for
    if not len(scans):
        return
    stack = classes.stack
    cost_ns = exact_sum(classes.self_ns[classes.row_class == _CHECKS])
    total_ns = exact_sum(classes.self_ns)
    names, of_scan = numbered(stack.name[scans])
    counts = np.bincount(of_scan)
    operators = len(np.unique(scans))
    often = [stack.names[names[at]] for at in np.argsort(-counts, kind="stable").tolist()]
    share = f"{100 * cost_ns / total_ns:.1f} %" if total_ns else "none"
    yield Advice(
        code="nan-inf-checks",
        title="inputs are scanned for NaN and infinity",
        side="host",
        cost_ns=cost_ns,
        count=len(scans),
        place=first_few(often),
        evidence=f"{counted(len(scans), 'scan')} ahead of {counted(operators, 'operator')}, {share} of the host's {total_ns:,} ns",
        advice="set TORCH_RBLN_DEPLOY=ON once inputs are known to be finite: it leaves the scans out",
    )


def _waits(classes: HostClasses) -> Iterator[Advice]:
    """Waits by the call's name and by the operator around it."""
    stack = classes.stack
    rows = np.flatnonzero((classes.row_class == _WAIT) & ~stack.is_op)
    place = np.append(stack.name, -1)[stack.op_parent[rows]]
    keys, group = numbered(stack.name[rows] * (len(stack.names) + 1) + place + 1)
    for at, key in enumerate(keys.tolist()):
        own = rows[group == at]
        name, caller = divmod(key, len(stack.names) + 1)
        if len(own) >= MANY:
            waited_ns = exact_sum(classes.self_ns[own])
            where = stack.names[caller - 1] if caller else stack.names[name]
            yield repeated_waits(
                waited_ns, len(own), where, f"{counted(len(own), 'call')} of {stack.names[name]}, {waited_ns:,} ns"
            )


def _items(classes: HostClasses) -> Iterator[Advice]:
    """Numbers that were read back one by one: operators in which a call copied to the host."""
    stack = classes.stack
    copies = np.flatnonzero((classes.row_class == _DOWNLOAD) & (stack.op_parent >= 0))
    owners = np.unique(stack.op_parent[copies])
    own = owners[stack.named(_ITEM)[owners]]
    if len(own) >= MANY:
        took_ns = exact_sum(stack.end_ns[own] - stack.start_ns[own])
        yield small_downloads(took_ns, len(own), _ITEM, f"{counted(len(own), 'number')} read back one by one, {took_ns:,} ns")
