"""`torch.rbln`: what torch asks of the module of a device. There is one device, index 0, and it has always caught up."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.library import Library
from torch.utils import backend_registration

from rblnpb.torch.aliases import DEVICE_TYPE
from rblnpb.torch.explain import RBLNExplain, explain_steady
from rblnpb.torch.explain_diff import RBLNDiff
from rblnpb.torch.session import DeviceSession

__all__ = ["RblnModule", "register"]


class RblnModule:
    """The module of the simulated device, under the names that torch's own device modules have."""

    def __init__(self, session: DeviceSession, kernels: Sequence[Library]) -> None:
        """The module.

        Args:
            session: What the device runs.
            kernels: Kept here because torch takes kernels back when their library goes away; this module stays.
        """
        self._session = session
        self._kernels = kernels
        self.RBLNExplain = self.RBLNProfile = RBLNExplain
        self.RBLNDiff = RBLNDiff
        self.profile = self.explain

    def explain(self, with_stack: bool = False, *, trace: bool | None = None) -> RBLNExplain:  # noqa: FBT001, FBT002 -- the vendor's
        """A region that counts what the device did that nobody asked for: a `with` block, or between `start()` and `stop()`.

        Args:
            with_stack: Keep the line of the program that first led to each thing.
            trace: The older name of `with_stack`.
        """
        return RBLNExplain(self._session.counts, self._session.memory, time.monotonic_ns, with_stack, trace=trace)

    def explain_steady(
        self,
        fn: Callable[[], Any],
        *,
        warmup: int = 2,
        return_cold: bool = False,
        as_diff: bool = False,
        with_stack: bool = False,
        trace: bool | None = None,
    ) -> RBLNExplain | tuple[RBLNExplain, RBLNExplain] | RBLNDiff:
        """A region around the first call of a function and one around a later one; see `explain.explain_steady`."""
        region = functools.partial(self.explain, with_stack, trace=trace)
        return explain_steady(region, fn, warmup=warmup, return_cold=return_cold, as_diff=as_diff)

    def memory_allocated(self, _device: Any = None) -> int:
        """Bytes that tensors of the device hold."""
        return self._session.memory.current_bytes

    def max_memory_allocated(self, _device: Any = None) -> int:
        """Most bytes that tensors held at once since the start or `reset_peak_memory_stats`."""
        return self._session.memory.peak_bytes

    memory_reserved = memory_allocated
    max_memory_reserved = max_memory_allocated

    def memory_stats(self, _device: Any = None) -> dict[str, int]:
        """The four figures under torch's keys."""
        held = {"current": self.memory_allocated(), "peak": self.max_memory_allocated()}
        return {f"{kind}_bytes.all.{what}": value for kind in ("allocated", "reserved") for what, value in held.items()}

    def reset_peak_memory_stats(self, _device: Any = None) -> None:
        """Take what is held now as the most."""
        self._session.memory.reset_peak()

    def empty_cache(self) -> None:
        """Give back memory that is kept for later use: none is."""

    @property
    def session(self) -> DeviceSession:
        """What the device of this process runs."""
        return self._session

    def is_available(self) -> bool:
        """Whether there is a device: always."""
        return True

    def is_initialized(self) -> bool:
        """Whether the device was brought up: always."""
        return True

    def device_count(self) -> int:
        """Number of devices."""
        return 1

    def current_device(self) -> int:
        """Index of the device that `device="rbln"` means."""
        return 0

    def set_device(self, device: Any) -> None:
        """Choose the device: the only one.

        Raises:
            RuntimeError: Another one is asked for.
        """
        index = device if isinstance(device, int) else torch.device(device).index
        if index not in (0, None):
            raise RuntimeError(f"there is one simulated device, {DEVICE_TYPE}:0, and no index {index}")

    def get_device_name(self, _device: Any = None) -> str:
        """Name of the device."""
        return f"simulated {self._session.npu}"

    def synchronize(self, _device: Any = None) -> None:
        """Wait until the device has done all that was submitted."""
        self._session.synchronize()

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """Types that autocast may use."""
        return [torch.float16, torch.bfloat16]

    def manual_seed(self, seed: int) -> None:
        """Seed the generator: random numbers of the device are the CPU's, which torch.manual_seed has seeded already."""

    def manual_seed_all(self, seed: int) -> None:
        """As `manual_seed`."""

    def get_rng_state(self, _device: Any = None) -> torch.Tensor:
        """State of the generator, which is the CPU's."""
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, _device: Any = None) -> None:
        """Set the state of the generator, which is the CPU's."""
        torch.set_rng_state(state)

    def _is_in_bad_fork(self) -> bool:
        return False


def register(session: DeviceSession, kernels: Sequence[Library]) -> None:
    """Give torch's place for a device of a third party the name `rbln`, and its methods and module to tensors and torch."""
    backend_registration._setup_privateuseone_for_python_backend(  # noqa: SLF001 -- the documented way of 2.13, still marked private
        DEVICE_TYPE, backend_module=RblnModule(session, kernels)
    )
