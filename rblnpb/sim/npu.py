"""The devices that are simulated: which engines they have, how fast those are, and what their clock is like.

The public facts are the engines' names, that a Rebel100 has four chiplets and an ATOM one, and that only the former has the
General Compute Engine. Speeds are round figures of the right order, for shapes that look right; nothing may depend on one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rblnpb.errors import UsageError
from rblnpb.profile import ENGINE_NAMES, Engine, EngineKind

__all__ = ["ATOM", "NPUS", "REBEL100", "Npu", "npu_of"]


@dataclass(frozen=True)
class Npu:
    """One kind of NPU.

    Attributes:
        name: As a session names it.
        chiplet_count: Chiplets of one device.
        chiplet_kinds: Engines that every chiplet has.
        device_kinds: Engines that a device has once.
        clock_hz: Nominal rate of the device clock.
        core_hz: Rate at which compute engines count cycles.
        host_bytes_per_us, memory_bytes_per_us, scratchpad_bytes_per_us, device_bytes_per_us: Speed of one External HDMA, Task DMA,
            Neural DMA and Device HDMA engine.
    """

    name: str
    chiplet_count: int
    chiplet_kinds: tuple[EngineKind, ...]
    device_kinds: tuple[EngineKind, ...]
    clock_hz: int
    core_hz: int
    host_bytes_per_us: int
    memory_bytes_per_us: int
    scratchpad_bytes_per_us: int
    device_bytes_per_us: int

    @property
    def compute_kind(self) -> EngineKind:
        """Engine for vector work: the General Compute Engine where there is one."""
        general = EngineKind.GENERAL_COMPUTE_ENGINE
        return general if general in self.chiplet_kinds else EngineKind.NEURAL_ENGINE_CLUSTERS

    def engines(self, device_id: int) -> tuple[Engine, ...]:
        """Engines of a device in display order, with ids from 1: rows of the whole device first, then chiplet by chiplet."""
        places: list[tuple[EngineKind, int | None]] = [(kind, None) for kind in self.device_kinds]
        places += [(kind, chiplet) for chiplet in range(self.chiplet_count) for kind in self.chiplet_kinds]
        return tuple(
            Engine(order + 1, device_id, kind, ENGINE_NAMES[kind], chiplet, order) for order, (kind, chiplet) in enumerate(places)
        )

    def bytes_per_us(self, kind: EngineKind) -> int:
        """Speed of a DMA engine of this kind; 0 for engines that move nothing."""
        return {
            EngineKind.EXTERNAL_HDMA: self.host_bytes_per_us,
            EngineKind.TASK_DMA: self.memory_bytes_per_us,
            EngineKind.NEURAL_DMA: self.scratchpad_bytes_per_us,
            EngineKind.DEVICE_HDMA: self.device_bytes_per_us,
        }.get(kind, 0)


_DEVICE_KINDS: Final = (
    EngineKind.HOST,
    EngineKind.WORKLOAD,
    EngineKind.EXTERNAL_HDMA,
    EngineKind.DEVICE_HDMA,
    EngineKind.DEVICE_SYNC,
)
_CHIPLET_KINDS: Final = (EngineKind.NEURAL_ENGINE_CLUSTERS, EngineKind.NEURAL_DMA, EngineKind.TASK_DMA)

REBEL100: Final = Npu(
    name="rebel100",
    chiplet_count=4,
    chiplet_kinds=(*_CHIPLET_KINDS, EngineKind.GENERAL_COMPUTE_ENGINE),
    device_kinds=_DEVICE_KINDS,
    clock_hz=500_000_000,
    core_hz=1_500_000_000,
    host_bytes_per_us=50_000,
    memory_bytes_per_us=600_000,
    scratchpad_bytes_per_us=1_200_000,
    device_bytes_per_us=50_000,
)

ATOM: Final = Npu(
    name="atom",
    chiplet_count=1,
    chiplet_kinds=_CHIPLET_KINDS,
    device_kinds=_DEVICE_KINDS,
    clock_hz=250_000_000,
    core_hz=1_000_000_000,
    host_bytes_per_us=25_000,
    memory_bytes_per_us=200_000,
    scratchpad_bytes_per_us=250_000,
    device_bytes_per_us=25_000,
)

NPUS: Final = {npu.name: npu for npu in (REBEL100, ATOM)}
"""The kinds of NPU by name."""


def npu_of(name: str) -> Npu:
    """The kind of NPU of this name.

    Raises:
        UsageError: There is none; the text gives those that there are.
    """
    if name not in NPUS:
        raise UsageError(f"there is no NPU {name!r}; there are {', '.join(NPUS)}")
    return NPUS[name]
