"""How much memory the tensors of the device hold, now and at most."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from rblnpb.process_lock import ProcessLock

__all__ = ["DeviceMemory"]


class DeviceMemory:
    """Counts the storages of device tensors from when they are made until torch lets go of them.

    The memory is the host's, so what is reserved is what is held: nothing is kept for later use.
    """

    def __init__(self) -> None:
        # Storages go away whenever Python frees something, also while this thread is in here.
        self._lock = ProcessLock()
        self._held: dict[int, weakref.ref[Any]] = {}
        self.current_bytes = 0
        self.peak_bytes = 0

    def hold(self, tensors: Iterable[Any]) -> None:
        """Count the storages of new device tensors; memory that is counted already is not counted again."""
        for tensor in tensors:
            storage = tensor.untyped_storage()
            size_bytes = storage.nbytes()
            if size_bytes:
                self._hold(storage, storage.data_ptr(), size_bytes)

    def _hold(self, storage: Any, address: int, size_bytes: int) -> None:
        def release(_: object) -> None:
            with self._lock:
                self._held.pop(address, None)
                self.current_bytes -= size_bytes

        with self._lock:
            if address in self._held:
                return
            self._held[address] = weakref.ref(storage, release)
            self.current_bytes += size_bytes
            self.peak_bytes = max(self.peak_bytes, self.current_bytes)

    def reset_peak(self) -> None:
        """Take what is held now as the most."""
        with self._lock:
            self.peak_bytes = self.current_bytes
