"""Kernels that a fallback for all operators cannot stand for: memory, views and copies, and operators whose place torch has filled.

Views run the CPU's own kernels, which care about sizes and strides alone, on the device's tensors: so a view shares the storage.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch.library import Library, fallthrough_kernel

from rblnpb.profile import HostActivity
from rblnpb.torch.aliases import DEVICE_TYPE, to_device, to_host
from rblnpb.torch.attention import attention_kernels, fused_kernels
from rblnpb.torch.explain_memory import DeviceMemory
from rblnpb.torch.operators import Operators
from rblnpb.torch.recurrent import recurrent_kernels
from rblnpb.torch.session import DeviceSession

__all__ = ["register_kernels"]

_KEY: Final = "PrivateUse1"
_CPU_KEYS: Final = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)  # noqa: SLF001
_VIEWS: Final = ("as_strided", "view", "_reshape_alias", "unfold", "set_.source_Storage_storage_offset")
_FACTORIES: Final = ("empty.memory_format", "empty_strided")
_LIKE_CPU: Final = (
    *("native_layer_norm", "native_group_norm", "addr", "all.dims", "any.dims", "linalg__powsum", "_stack"),
    *("mish_backward", "silu_backward", "native_channel_shuffle"),
)
"""The CPU has kernels of its own for these, and other devices get them in single steps, with other last bits."""

_PRODUCTS: Final = ("mm", "bmm", "addmm", "baddbmm")


def register_kernels(session: DeviceSession) -> tuple[Library, ...]:
    """Give torch the kernels of the device.

    Returns:
        What holds them: torch takes them back when these go away.
    """
    operators = Operators(session)
    memory = _Memory(session)
    everything, aten = Library("_", "IMPL"), Library("aten", "IMPL")
    everything.fallback(operators.run, _KEY)
    everything.fallback(fallthrough_kernel, f"Autocast{_KEY}")
    kernels: dict[str, Callable[..., Any]] = {
        **{name: _view(_op(name)) for name in _VIEWS},
        **{name: _factory(_op(name), session.memory) for name in _FACTORIES},
        **{name: _bound(operators.run, _op(name)) for name in _LIKE_CPU},
        **{name: _bound(operators.matrix_product, _op(name)) for name in _PRODUCTS},
        "_copy_from": memory.copy_from,
        "resize_": _resize,
        "_local_scalar_dense": _scalar,
        # Values instead of lazy flags, which a relabelled tensor would lose.
        "_conj": torch.ops.aten.conj_physical.default,
        "_neg_view": torch.ops.aten.neg.default,
        **attention_kernels(operators),
        **fused_kernels(operators),
        **recurrent_kernels(operators),
        "convolution_overrideable": _Convolution(operators).forward,
        "convolution_backward_overrideable": _Convolution(operators).backward,
    }
    for name, kernel in kernels.items():
        aten.impl(name, kernel, _KEY)
    for name, kernel in attention_kernels(operators).items():
        aten.impl(name, kernel, f"Autograd{_KEY}")
    return everything, aten


def _op(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def _bound(kernel: Callable[..., Any], op: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: kernel(op, *args, **kwargs)


def _view(op: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: op.redispatch(_CPU_KEYS, *args, **kwargs)


def _factory(op: Any, memory: DeviceMemory) -> Callable[..., Any]:
    def empty(*args: Any, **kwargs: Any) -> torch.Tensor:
        kwargs.update(device=torch.device("cpu"), pin_memory=False)
        made = to_device(op.redispatch(_CPU_KEYS, *args, **kwargs))
        memory.hold((made,))
        return made

    return empty


def _scalar(tensor: torch.Tensor) -> Any:
    return torch.ops.aten._local_scalar_dense.default.redispatch(_CPU_KEYS, to_host(tensor))  # noqa: SLF001 -- an operator's name


def _resize(tensor: torch.Tensor, size: Sequence[int], *, memory_format: Any = None) -> torch.Tensor:
    """`tensor.resize_(size)`: in its memory where that suffices; else in new memory, since relabelled memory cannot grow."""
    resize_, set_ = torch.ops.aten.resize_.default, torch.ops.aten.set_.source_Storage_storage_offset
    needed_bytes = (tensor.storage_offset() + math.prod(size)) * tensor.element_size()
    if needed_bytes <= tensor.untyped_storage().nbytes():
        return resize_.redispatch(_CPU_KEYS, tensor, size, memory_format=memory_format)
    host = torch.ops.aten.empty.memory_format.redispatch(_CPU_KEYS, size, dtype=tensor.dtype, memory_format=memory_format)
    kept = tensor.numel()
    host.view(-1)[:kept].copy_(to_host(tensor).reshape(-1))
    grown = to_device(host)
    where = grown.untyped_storage(), grown.storage_offset(), grown.shape, grown.stride()
    return set_.redispatch(_CPU_KEYS, tensor, *where)


def _size_bytes(tensor: torch.Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


class _Memory:
    """Copies to, from and on the device."""

    def __init__(self, session: DeviceSession) -> None:
        self._session = session

    def copy_from(self, source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:  # noqa: ARG002, FBT001, FBT002 -- torch's signature
        """`target.copy_(source)` where one of them is on the device, or both."""
        start_ns = time.monotonic_ns()
        is_from_device, is_to_device = (tensor.device.type == DEVICE_TYPE for tensor in (source, target))
        host_source = to_host(source) if is_from_device else source
        host_target = to_host(target) if is_to_device else target
        if source.dtype == target.dtype:
            torch.ops.aten.copy_.default.redispatch(_CPU_KEYS, host_target, host_source)
        else:
            # The engines that copy do not convert: the host does, with an operator that shows.
            host_target.copy_(host_source)
        size_bytes = _size_bytes(target)
        if is_from_device and is_to_device:
            self._copied_on_device(source, target, start_ns, size_bytes)
        else:
            activity = HostActivity.COPY_OUT if is_from_device else HostActivity.COPY_IN
            self._session.copied(activity, start_ns, size_bytes)
            if is_to_device and not target.is_contiguous():
                self._session.took_detour("copy_h2d_noncontig_dst", start_ns, size_bytes)
            elif is_to_device and (source.dtype != target.dtype or not source.is_contiguous()):
                self._session.took_detour("copy_h2d_staging", start_ns, size_bytes)
        return target

    def _copied_on_device(self, source: torch.Tensor, target: torch.Tensor, start_ns: int, size_bytes: int) -> None:
        """What the engines cannot copy as one block goes through the host, which nobody asked for.

        Tensors of other types than fp16 never leave the host, since no program takes them: between them nothing crosses.
        """
        ends = {"d2h": source, "h2d": target}
        crossings = {way: _size_bytes(tensor) for way, tensor in ends.items() if tensor.dtype is torch.float16}
        if not (source.is_contiguous() and target.is_contiguous()):
            self._session.took_detour("copy_d2d_host_bounce", start_ns, size_bytes, crossings=crossings)
        elif source.dtype == target.dtype:
            self._session.called("v2v", start_ns)
        elif "d2h" in crossings:
            way, rejected = "src_device_only_real_d2h", "dtype_mismatch"
            self._session.took_detour(way, start_ns, crossings["d2h"], rejected=rejected, crossings=crossings)
        else:
            self._session.took_detour("copy_d2d_host_bounce", start_ns, size_bytes, crossings=crossings)


class _Convolution:
    """torch keeps these two names for devices of third parties, and calls them instead of its own convolutions."""

    def __init__(self, operators: Operators) -> None:
        self._operators = operators

    def forward(self, *args: Any) -> Any:
        """Input, weight, bias and geometry, as `aten::convolution` takes them."""
        own = torch.ops.aten.convolution_overrideable.default
        return self._operators.compute(own, torch.ops.aten.convolution.default, args, {}, op_name="aten::convolution")

    def backward(self, grad: torch.Tensor, *args: Any) -> Any:
        """Gradients of input, weight and bias, of those that the mask in the end asks for."""
        own, on_host = torch.ops.aten.convolution_backward_overrideable.default, torch.ops.aten.convolution_backward.default
        bias_sizes = [grad.shape[1]]

        def compute(host_grad: torch.Tensor, source: torch.Tensor, weight: torch.Tensor, *geometry: Any) -> Any:
            return on_host(host_grad, source, weight, bias_sizes, *geometry)

        return self._operators.compute(own, compute, (grad, *args), {}, op_name="aten::convolution_backward")
