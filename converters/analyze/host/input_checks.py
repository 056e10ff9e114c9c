"""Scans of inputs for NaN and infinity that the dispatcher makes ahead of an operator, told apart from those of the program.

    aten::mm                     the operator that the program called
      aten::to                   its input, copied to the host for the scan
      aten::isinf                )
      aten::isnan                ) the scan
      aten::mm                   the operator itself

A scan is an `aten::isinf` and an `aten::isnan` (with the `abs`, `ne` and others in them) that follow one another as direct calls of
one operator. Such a pair is nobody's handwriting: what a program or a module calls itself lies in no operator, and no operator of
torch makes this pair. A copy right ahead of the pair was made for it. Autograd's frames and compiled regions, in which code of the
program runs, are cpu_op rows too, and own no scan.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...timeline import Bool, Int64
from .host_stack import HostStack

__all__ = ["COPIES", "InputChecks", "input_checks"]

COPIES: Final = ("aten::to", "aten::_to_copy", "aten::copy_", "aten::_copy_from", "aten::_copy_from_and_resize")
"""Operators that copy a tensor, from the one that a program calls down to the one that a device implements."""

_INFINITY, _NAN = "aten::isinf", "aten::isnan"
_OPERATOR: Final = re.compile(r"(?!autograd::)\w+::\w+")


@dataclass(frozen=True, eq=False)
class InputChecks:
    """Scans of inputs.

    Attributes:
        roots: int64[k]; rows of the stack: the outermost rows of all scans, copies for them included, ascending.
        scanned_for: int64[m]; one a scan: row of the stack of the operator ahead of which it was made, ascending.
    """

    roots: Int64
    scanned_for: Int64


def input_checks(stack: HostStack) -> InputChecks:
    """The scans in a host trace."""
    infinity, nan = stack.named(_INFINITY), stack.named(_NAN)
    if not infinity.any() or not nan.any():
        nothing = np.empty(0, np.int64)
        return InputChecks(nothing, nothing)
    operators = np.array([_OPERATOR.fullmatch(text) is not None for text in stack.names], np.bool_)[stack.name]
    ops = np.flatnonzero(stack.is_op & (stack.op_parent >= 0))
    ops = ops[operators[stack.op_parent[ops]]]
    # Calls of one operator side by side, in their order.
    ops = ops[order_by(stack.op_parent[ops])]
    caller = stack.op_parent[ops]
    follows = np.append(False, caller[1:] == caller[:-1])
    half = np.where(infinity[ops], 1, np.where(nan[ops], 2, 0))
    begins = _pairs(half, follows)
    has_copy = follows[begins] & stack.named(*COPIES)[ops[begins - 1]]
    roots = np.concatenate((ops[begins], ops[begins + 1], ops[begins[has_copy] - 1]))
    return InputChecks(np.sort(roots), np.sort(caller[begins]))


def _pairs(half: Int64, follows: Bool) -> Int64:
    """Places at which a pair of different halves begins; of pairs that share a half, from left to right, the first one counts.

    Args:
        half: int64[n]; 1 or 2 for the two halves, 0 for anything else.
        follows: bool[n]; whether each is called by the operator that called the one before it.
    """
    could_begin = np.append((half[:-1] > 0) & (half[1:] > 0) & (half[1:] != half[:-1]) & follows[1:], False)
    place = np.arange(len(half))
    is_first = could_begin & ~np.append(False, could_begin[:-1])
    since_first = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return np.flatnonzero(could_begin & (since_first % 2 == 0))
