"""What slows a run down, done to a recording while it is simulated, in amounts that are known.

A recording with one of these and the same recording without it differ by what was injected and by nothing else that is drawn:
same seed, same durations. So the truth is a difference of two profiles, call by call (`launches`), or record by record where
both hold the same ones (`device_slices`). Calls are chosen by chance, one in eight, never the first, and one at least.

host-stall: the submitting thread pauses for 0.5 to 3 ms before it begins with a call. Read it from
    `np.diff(launches.start_ns)`, with - without.
fallback: an operator runs on the CPU for 20 to 200 µs before a call. As host-stall; and each in a record of `overheads`.
recompilation: the program of a call is compiled again, which takes half to one and a half times as long as the first time. As
    host-stall; and each in a record of `overheads` and in one of `host_slices` (COMPILE).
slow-dma: the largest transfer of a call takes 6 to 10 times as long for the same bytes. `device_slices.duration_ticks`, with -
    without, which is 0 for all other slices to the tick or two of a clock that reads whole ticks.
queue-overrun: launches come in bursts of 32, back to back, into a queue that holds 16. From the 17th on, a submission waits in its
    call until the launch 16 before it has ended: `host_slices.duration_ns` of SUBMIT, with - without (of a recording that is not
    drained). Counted from its submission until its last slice ends, at most 17 launches are under way.

Threads share an interpreter, so they stall together. In a recording that is not drained the queue makes good for a part of the time
that the host loses: gaps of the device are shorter than the pauses.

lost-buffer, in `rblnpb.sim.faults`, loses one run of device slices, whose length is `dropped(device_slices.kind)` of the profile.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, Int64, Overheads
from rblnpb.profile import DMA_ENGINE_KINDS, OverheadKind
from rblnpb.sim.calls import Calls, Load
from rblnpb.sim.compiled import Compiled
from rblnpb.sim.draws import Draws
from rblnpb.sim.records import Batch
from rblnpb.sim.schedule import lay_out

__all__ = ["HOST_INJECTIONS", "INJECTIONS", "LostTime", "slow_transfers"]

INJECTIONS: Final = {
    "host-stall": "the host pauses for 0.5 to 3 ms before one call in eight",
    "fallback": "an operator runs on the CPU before one call in eight, for 20 to 200 µs",
    "recompilation": "one call in eight compiles its program again",
    "slow-dma": "the largest transfer of one call in eight takes 6 to 10 times as long",
    "queue-overrun": "launches come in bursts of 32 into a queue that holds 16, so that submissions wait in their calls",
}
"""Injections by name, and what each does."""

HOST_INJECTIONS: Final = frozenset(INJECTIONS) - {"slow-dma"}
"""Those that change when the host launches: a launch plan, whose times are given, cannot have them."""

_ONE_IN: Final = 8
_STALL_NS: Final = (500_000, 3_000_000)
_FALLBACK_NS: Final = (20_000, 200_000)
_RECOMPILE_PERCENT: Final = 50
_SLOWER: Final = (6, 10)

_FALLBACKS: Final = (
    ("aten::pow.Tensor_Scalar", "dtype-not-fp16", "model.py:52(forward)"),
    ("aten::index_put_", "trace", "model.py:57(forward)"),
    ("aten::div.Tensor", "nan/inf input", "model.py:61(forward)"),
)
_RECOMPILED: Final = ("new shape", "model.py:48(forward)")


@dataclass(frozen=True, eq=False)
class LostTime:
    """Time that the host loses before each of n calls, in the order in which it is lost.

    Attributes:
        stall_ns: int64[n]; a pause.
        fallback_ns: int64[n]; an operator on the CPU.
        recompile_ns: int64[n]; compilation of a program that was there already.
    """

    stall_ns: Int64
    fallback_ns: Int64
    recompile_ns: Int64

    @classmethod
    def of(cls, faults: Sequence[str], load: Load, compile_ns: Int64, seed: int) -> LostTime:
        """What these faults take; names that are no injection take nothing.

        Args:
            faults: Names.
            load: The recording's calls.
            compile_ns: int64[n]; how long the program of each call takes to compile.
            seed: Of the choice of calls and of the amounts.
        """
        count = len(load.program)

        def drawn(fault: str, low: Int64, high: Int64) -> Int64:
            draws = _draws(seed, fault)
            return np.where(_chosen(count, draws), draws.between(low, high), 0) if fault in faults else np.zeros(count, np.int64)

        spread_ns = compile_ns * _RECOMPILE_PERCENT // 100
        again_ns = drawn("recompilation", compile_ns - spread_ns, compile_ns + spread_ns)
        return cls(
            stall_ns=drawn("host-stall", *(np.full(count, bound) for bound in _STALL_NS)),
            fallback_ns=drawn("fallback", *(np.full(count, bound) for bound in _FALLBACK_NS)),
            recompile_ns=np.where(load.compile_ns > 0, 0, again_ns),
        )

    def added(self, load: Load) -> Load:
        """The load with this time in it."""
        return replace(load, compile_ns=load.compile_ns + self.recompile_ns, pause_ns=self.stall_ns + self.fallback_ns)

    def overheads(self, calls: Calls, ops: Sequence[str], intern: Callable[[str], int]) -> Overheads:
        """The records of what ran on the CPU, and of what was compiled again.

        Args:
            calls: With this time in their load.
            ops: Operator of each program, by its place.
            intern: Gives the string row of a text.
        """
        fell_back, compiled = np.flatnonzero(self.fallback_ns), np.flatnonzero(self.recompile_ns)
        parts = []
        if len(fell_back):
            sort = np.arange(len(fell_back)) % len(_FALLBACKS)
            op, reason, place = (np.array([intern(text) for text in texts])[sort] for texts in zip(*_FALLBACKS, strict=True))
            took_ns = self.fallback_ns[fell_back]
            start_ns = calls.begin_ns[fell_back] - took_ns
            parts.append(_records(OverheadKind.CPU_FALLBACK, calls, fell_back, (op, reason, place), start_ns, took_ns))
        if len(compiled):
            op = np.array([intern(name) for name in ops])[calls.load.program[compiled]]
            reason, place = (np.full(len(compiled), intern(text)) for text in _RECOMPILED)
            took_ns, start_ns = self.recompile_ns[compiled], calls.begin_ns[compiled]
            parts.append(_records(OverheadKind.RECOMPILATION, calls, compiled, (op, reason, place), start_ns, took_ns))
        return Overheads.concat(parts)


def slow_transfers(compiled: Compiled, batches: Sequence[Batch], call_count: int, seed: int) -> list[Batch]:
    """The calls with the largest transfer of some of them slowed down; what waits for it comes later.

    Args:
        compiled: The programs.
        batches: All calls, by program.
        call_count: How many there are.
        seed: Of the choice of calls and of the amounts.
    """
    draws = _draws(seed, "slow-dma")
    is_chosen = _chosen(call_count, draws)
    factor = np.where(is_chosen, draws.between(*(np.full(call_count, bound) for bound in _SLOWER)), 1)
    slowed = []
    for batch in batches:
        rows = compiled.rows(batch.program)
        is_transfer = np.isin(compiled.commands.engine_kind[rows], list(DMA_ENGINE_KINDS))
        size_bytes = np.where(is_transfer, compiled.size_bytes[rows], ABSENT)
        duration_ns = batch.layout.duration_ns.copy()
        if size_bytes.max() > 0:
            duration_ns[int(size_bytes.argmax())] *= factor[batch.call]
        slowed.append(Batch(batch.program, batch.call, lay_out(compiled, batch.program, duration_ns)))
    return slowed


def _draws(seed: int, fault: str) -> Draws:
    """A stream of its own for each injection: one does not change what another, or the recording, draws."""
    return Draws(seed, zlib.crc32(fault.encode()))


def _chosen(count: int, draws: Draws) -> npt.NDArray[np.bool_]:
    """bool[count]; one in eight, never the first of several, and one at least."""
    is_chosen: npt.NDArray[np.bool_] = draws.between(np.zeros(count, np.int64), _ONE_IN - 1) == 0
    is_chosen[:1] = count == 1
    if not is_chosen.any():
        is_chosen[count // 2] = True
    return is_chosen


def _records(
    kind: OverheadKind, calls: Calls, call: Int64, texts: tuple[Int64, Int64, Int64], start_ns: Int64, duration_ns: Int64
) -> Overheads:
    op, reason, place = texts
    return Overheads.of(
        len(call),
        overhead=int(kind),
        op_strindex=op,
        reason_strindex=reason,
        place_strindex=place,
        start_ns=start_ns,
        duration_ns=duration_ns,
        thread_id=calls.load.thread_id[call],
    )
