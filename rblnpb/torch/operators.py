"""One kernel for every operator: the CPU computes it on the device's memory, and the device is told which program that is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import torch

from rblnpb.torch.aliases import DEVICE_TYPE, to_device, to_host
from rblnpb.torch.placing import Placing, is_finite, place
from rblnpb.torch.session import DeviceSession

__all__ = ["Operators"]

_CPU: Final = torch.device("cpu")
_CPU_KEYS: Final = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)  # noqa: SLF001 -- the only name of the type
_INDEXING: Final = frozenset({"index", "_unsafe_index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put"})
"""Operators whose index tensors may be on the CPU while the data is on a device, as on any device of torch."""

Call = Callable[..., Any]


class Operators:
    """The kernels of the device that are not about memory."""

    def __init__(self, session: DeviceSession) -> None:
        """Kernels that tell a session what runs."""
        self._session = session
        self._results: dict[Any, frozenset[str]] = {}
        self._names: dict[Any, str] = {}

    def run(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """Any operator: the boxed fallback kernel."""
        return self.compute(op, op, args, kwargs)

    def compute(self, op: Any, host_call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], *, op_name: str = "") -> Any:
        """Run `host_call` for an operator.

        Args:
            op: The operator that was called.
            host_call: Computes it with tensors of the CPU in the place of the device's.
            args, kwargs: Of the call.
            op_name: Whose program runs, when not that of `op`.

        Raises:
            RuntimeError: Tensors of both devices are mixed.
        """
        loan = _Loan(op)
        results = self._results_of(op) if kwargs else ()
        host_args = loan.lend(args)
        host_kwargs = {name: loan.lend_result(value) if name in results else loan.lend(value) for name, value in kwargs.items()}
        loan.require_one_device()
        name: str = op_name or op._schema.name  # noqa: SLF001 -- the name that profiles show
        placing = place(name, loan.inputs)
        if placing is Placing.PROGRAM and self._session.is_checking and not is_finite(args):
            placing = Placing.NOT_FINITE
        if placing is Placing.PROGRAM:
            self._session.compiled(op_name or self._name_of(op), tuple((tensor.shape, tensor.dtype) for tensor in loan.inputs))
            self._session.launch(name)
        start_ns = time.monotonic_ns()
        result = host_call(*host_args, **host_kwargs)
        if placing not in (Placing.PROGRAM, Placing.NO_PROGRAM):
            self._session.fell_back(op_name or self._name_of(op), placing.value, start_ns)
        loan.settle()
        result = loan.give_back(result)
        self._session.memory.hold(loan.made)
        return result

    def untold(self, host_call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask the CPU something about device tensors; the device has no part in it."""
        loan = _Loan(host_call)
        return host_call(*loan.lend(args), **{name: loan.lend(value) for name, value in kwargs.items()})

    def _name_of(self, op: Any) -> str:
        known = self._names.get(op)
        if known is None:
            known = self._names[op] = _full_name(op)
        return known

    def _results_of(self, op: Any) -> frozenset[str]:
        """Names of the arguments that an operator merely writes to."""
        known = self._results.get(op)
        if known is None:
            written = (given for given in op._schema.arguments if given.kwarg_only and given.alias_info)  # noqa: SLF001
            known = self._results[op] = frozenset(given.name for given in written if given.alias_info.is_write)
        return known

    def matrix_product(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """`mm` and its like: halves are multiplied in float32, since the CPU takes a hundred times longer in halves."""
        return self.compute(op, lambda *host_args, **rest: _in_float32(op, host_args, rest), args, kwargs)


def _in_float32(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not all(arg.dtype is torch.float16 for arg in args if isinstance(arg, torch.Tensor)):
        return op(*args, **kwargs)
    wide = [_converted(arg, torch.float32) if isinstance(arg, torch.Tensor) else arg for arg in args]
    return _converted(op(*wide, **kwargs), torch.float16)


def _converted(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A copy of another type that leaves no row in a trace: the device would not have made it."""
    empty, copy_ = torch.ops.aten.empty_like.default, torch.ops.aten.copy_.default
    return copy_.redispatch(_CPU_KEYS, empty.redispatch(_CPU_KEYS, tensor, dtype=dtype), tensor)


def _full_name(op: Any) -> str:
    """With the overload, as the vendor's reports of fallbacks have it: "aten::sub.out"."""
    overload = op._overloadname  # noqa: SLF001 -- no public way
    name: str = op._schema.name  # noqa: SLF001
    return name if overload == "default" else f"{name}.{overload}"


class _Loan:
    """Device tensors lent to a call on the CPU, and given back."""

    def __init__(self, op: Any) -> None:
        self._op = op
        self._lent: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._has_host_tensor = False
        self.inputs: list[torch.Tensor] = []
        self.made: list[torch.Tensor] = []

    def lend(self, value: Any) -> Any:
        """A value with the CPU in place of the device everywhere."""
        if isinstance(value, torch.Tensor):
            if value.device.type == DEVICE_TYPE:
                self.inputs.append(value)
                return self._alias(value)
            self._has_host_tensor |= value.dim() > 0
            return value
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.lend, value))
        return _CPU if isinstance(value, torch.device) and value.type == DEVICE_TYPE else value

    def lend_result(self, value: Any) -> Any:
        """As `lend`, for what is only written. What is empty will be resized, which borrowed memory cannot be."""
        if isinstance(value, torch.Tensor) and value.numel() == 0 and value.device.type == DEVICE_TYPE:
            empty = torch.ops.aten.empty.memory_format
            alias: torch.Tensor = empty.redispatch(_CPU_KEYS, [0], dtype=value.dtype, device=_CPU)
            self._lent.append((value, alias))
            return alias
        count = len(self.inputs)
        lent = self.lend(value)
        del self.inputs[count:]
        return lent

    def require_one_device(self) -> None:
        """Refuse operands on both sides, as every device of torch does.

        Raises:
            RuntimeError: There are some.
        """
        name = self._op._schema.name.rpartition("::")[2]  # noqa: SLF001
        if self._lent and self._has_host_tensor and name not in _INDEXING:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {DEVICE_TYPE}:0 and cpu! "
                f"(when calling {_full_name(self._op)})"
            )

    def settle(self) -> None:
        """Give a device tensor whose alias was resized the new memory."""
        for tensor, alias in self._lent:
            if alias.shape != tensor.shape or alias.data_ptr() != tensor.data_ptr():
                grown = self._make(alias)
                where = grown.untyped_storage(), grown.storage_offset(), grown.shape, grown.stride()
                torch.ops.aten.set_.source_Storage_storage_offset.redispatch(_CPU_KEYS, tensor, *where)

    def give_back(self, value: Any) -> Any:
        """A result with the device in place of the CPU; what was lent comes back as itself."""
        if isinstance(value, torch.Tensor):
            own = next((tensor for tensor, alias in self._lent if alias is value), None)
            return self._make(value) if own is None else own
        return type(value)(map(self.give_back, value)) if isinstance(value, (list, tuple)) else value

    def _make(self, value: torch.Tensor) -> torch.Tensor:
        made = to_device(value)
        self.made.append(made)
        return made

    def _alias(self, tensor: torch.Tensor) -> torch.Tensor:
        for known, alias in self._lent:
            if known is tensor:
                return alias
        alias = to_host(tensor)
        self._lent.append((tensor, alias))
        return alias
