"""What there is before anything is launched: a device, its programs, and the chance that moves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rblnpb.columns import Int64
from rblnpb.profile import Device, Engine, EngineKind
from rblnpb.sim.clockwork import DeviceClock
from rblnpb.sim.compiled import Compiled, compile_recipes
from rblnpb.sim.draws import Draws
from rblnpb.sim.npu import npu_of
from rblnpb.sim.programs import Recipe
from rblnpb.sim.records import Batch
from rblnpb.sim.schedule import lay_out

__all__ = ["BOOT_ID", "HOST_NAME", "Scene"]

HOST_NAME: Final = "simulated-host"
BOOT_ID: Final = "5e4f0000-0000-4000-8000-000000000000"

_DEVICE_ID: Final = 1
_VARIATION_PERCENT: Final = 5


@dataclass(frozen=True, eq=False)
class Scene:
    """One device with its programs.

    Attributes:
        device, engines, clock: What runs, and on which clock.
        compiled: The programs.
        draws: Source of every variation.
    """

    device: Device
    engines: tuple[Engine, ...]
    clock: DeviceClock
    compiled: Compiled
    draws: Draws

    @classmethod
    def of(cls, npu: str, started_ns: int, recipes: Sequence[Recipe], intern: Callable[[str], int], draws: Draws) -> Scene:
        """The device of a recording.

        Args:
            npu: Which kind.
            started_ns: Host monotonic time at which its clock's drift begins to count.
            recipes: Its programs.
            intern: Gives the string row of a text.
            draws: Of the recording.

        Raises:
            UsageError: There is no such NPU.
        """
        kind = npu_of(npu)
        clock = DeviceClock.of(_DEVICE_ID, "rbln:0", kind.clock_hz, started_ns, draws)
        device = Device(_DEVICE_ID, "rbln:0", 0, kind.chiplet_count, clock.clock.clock_id)
        engines = kind.engines(_DEVICE_ID)
        for name in (device.name, *(engine.name for engine in engines)):
            intern(name)
        return cls(device, engines, clock, compile_recipes(recipes, engines, intern), draws)

    @property
    def workload_engine_id(self) -> int:
        """Engine that shows the frames of runtime calls."""
        return next(engine.engine_id for engine in self.engines if engine.kind == EngineKind.WORKLOAD)

    def with_program(self, recipe: Recipe, intern: Callable[[str], int]) -> Scene:
        """The scene with one program more, after the others."""
        return replace(self, compiled=compile_recipes([*self.compiled.recipes, recipe], self.engines, intern))

    def interned(self, intern: Callable[[str], int]) -> Scene:
        """The same scene with its strings in another table."""
        return replace(self, compiled=compile_recipes(self.compiled.recipes, self.engines, intern))

    def lay_out(self, program: int, call: Int64) -> Batch:
        """The commands of some calls of a program, each up to 5 % shorter or longer than the compiler thought.

        Args:
            program: Its place in `compiled.programs`.
            call: int64[n]; ordinals of the calls.
        """
        planned_ns = self.compiled.duration_ns[self.compiled.rows(program)]
        duration_ns = self.draws.around(np.repeat(planned_ns[:, None], len(call), axis=1), _VARIATION_PERCENT)
        return Batch(program, call, lay_out(self.compiled, program, duration_ns))
