"""Where an operator runs: a program of the device, the host instead of it, or no program at all. Reasons in the vendor's words."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

import torch

__all__ = ["Placing", "is_finite", "place"]


class Placing(Enum):
    """Where an operator runs; a value that is not empty is the reason why the host does what the device should."""

    PROGRAM = ""
    NO_PROGRAM = "-"
    OTHER_DTYPE = "dtype-not-fp16"
    ALL_SCALAR = "all-scalar inputs"
    NOT_FINITE = "nan/inf input"


_NO_PROGRAM: Final = frozenset(
    {
        *("copy_", "_copy_from", "_copy_from_and_resize", "clone", "fill_", "zero_", "resize_", "resize_as_", "set_", "is_set_to"),
        *("_foreach_copy_", "_foreach_zero_", "_local_scalar_dense", "record_stream", "_pin_memory", "is_pinned", "equal"),
        *("normal_", "uniform_", "random_", "exponential_", "geometric_", "log_normal_", "cauchy_"),
        *("randperm", "arange", "linspace", "logspace", "eye", "range", "tril_indices", "triu_indices", "scalar_tensor"),
    }
)
"""Operators that make, fill, move or look at tensors: nothing is computed."""


def place(name: str, inputs: Sequence[torch.Tensor]) -> Placing:
    """Where an operator runs, as far as names, types and shapes tell.

    Args:
        name: Full name, such as "aten::add".
        inputs: Its device tensors; those that it merely writes to left out.
    """
    if name.rpartition("::")[2] in _NO_PROGRAM:
        return Placing.NO_PROGRAM
    numbers = [tensor for tensor in inputs if tensor.dtype.is_floating_point or tensor.dtype.is_complex]
    if not numbers or any(tensor.dtype is not torch.float16 for tensor in numbers):
        return Placing.OTHER_DTYPE
    return Placing.ALL_SCALAR if all(tensor.dim() == 0 for tensor in inputs) else Placing.PROGRAM


def is_finite(tensors: Sequence[Any]) -> bool:
    """Whether no input of a program holds NaN or infinity. The host scans them, with operators that show in traces.

    Args:
        tensors: Arguments of an operator; what is no fp16 tensor of the device passes.
    """
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.dtype is torch.float16 and tensor.device.type != "cpu":
            held = tensor.to("cpu", torch.float32)
            if _holds(torch.isinf(held)) or _holds(torch.isnan(held)):
                return False
    return True


def _holds(flags: torch.Tensor) -> bool:
    """Whether any is set. `any` and `item` would be rows that the vendor's scan does not have, so the bytes are searched."""
    return b"\1" in ctypes.string_at(flags.data_ptr(), flags.numel())
