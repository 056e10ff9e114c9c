"""One tensor under two devices: the same memory, strides and type, labelled as host or as device.

A DLPack capsule names the device of its tensor in two 32-bit numbers. Rewriting them moves nothing, and gives a plain torch.Tensor
with a real storage (3 µs). Tensor subclasses were tried and refused: they put rows of their own into host traces, and an inference
mode hands them operators in other pieces than a real backend gets.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import torch

__all__ = ["DEVICE_TYPE", "to_device", "to_host"]

DEVICE_TYPE: Final = "rbln"

# DLTensor begins with a pointer; DLDevice{device_type, device_id} follows.
_TYPE_OFFSET: Final = ctypes.sizeof(ctypes.c_void_p)
_INDEX_OFFSET: Final = _TYPE_OFFSET + 4
_CPU: Final = 1
_EXTENSION: Final = 12

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def to_host(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a tensor of the CPU."""
    return _labelled(tensor, _CPU)


def to_device(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a tensor of the simulated device. Lazily conjugated or negated values are worked out first."""
    return _labelled(tensor.resolve_conj().resolve_neg() if tensor.is_conj() or tensor.is_neg() else tensor, _EXTENSION)


def _labelled(tensor: torch.Tensor, device_type: int) -> Any:
    capsule = torch._C._to_dlpack(tensor)  # noqa: SLF001 -- the public exporter hands out a shape of capsule that cannot be rewritten
    address = _pointer_of(capsule, b"dltensor")
    ctypes.c_int32.from_address(address + _TYPE_OFFSET).value = device_type
    ctypes.c_int32.from_address(address + _INDEX_OFFSET).value = 0
    return torch._C._from_dlpack(capsule)  # noqa: SLF001
