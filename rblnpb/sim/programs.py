"""Programs for a simulated device: named command streams, as a compiler would have made them.

    args in  ->  compute on every chiplet  ->  out

A step that computes names the DMA that feeds it among its predecessors, so it waits for it; steps without an edge between them
run at the same time when their engines are free.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rblnpb.errors import UsageError
from rblnpb.profile import EngineKind
from rblnpb.sim.npu import Npu

__all__ = ["PROGRAMS", "Recipe", "Step", "eager_recipe", "recipe"]

PROGRAMS: Final = {
    "mm": "one matrix product of 512 x 512 halves: three commands bring the arguments, three compute",
    "decoder": "a transformer's decode step of eight layers in two runtime calls: linear, paged_attn, fused() and a head",
    "all_reduce": "a collective: exchange with a neighbour device, add, exchange again, with synchronisation around",
    "aten::add": "any operator by its full name: its arguments in, one command a chiplet, its result out",
}
"""Names that `recipe` knows, and what each is."""

_DMA_SETUP_NS: Final = 400
_SYNC_NS: Final = 1_500


@dataclass(frozen=True)
class Step:
    """One command of a recipe.

    Attributes:
        layer: Name of its layer.
        index: Ordinal in the layer.
        kind: Engine that runs it.
        chiplet: Where; None = an engine of the whole device.
        duration_ns: How long it takes when nothing disturbs it.
        size_bytes: Bytes it moves; None = none.
        cycles: Compute cycles it takes; None = it does not compute.
        predecessors: Steps that must end before it starts: earlier rows of the recipe.
        workload: Runtime call that runs it, ascending through the recipe; None = the host does.
        is_carried: Whether it needs what the same step left behind in the call before, as a cache does.
    """

    layer: str
    index: int
    kind: EngineKind
    chiplet: int | None
    duration_ns: int
    size_bytes: int | None
    cycles: int | None
    predecessors: tuple[int, ...]
    workload: int | None
    is_carried: bool


@dataclass(frozen=True)
class Recipe:
    """A program before it is compiled for a session.

    Attributes:
        name, op, compile_id: As the session's program will say.
        steps: Its commands in the compiler's order.
        input_bytes, output_bytes: What a call copies from and to the host.
        weight_bytes: Device memory that it takes for good: weights and working space.
        compile_ns: How long compiling it takes.
    """

    name: str
    op: str
    compile_id: str
    steps: tuple[Step, ...]
    input_bytes: int = 0
    output_bytes: int = 0
    weight_bytes: int = 0
    compile_ns: int = 30_000_000


class _Builder:
    """Collects the steps of one recipe; each `add` gives the row that later steps may wait for."""

    def __init__(self, npu: Npu) -> None:
        self.npu = npu
        self.workload = 0
        self.steps: list[Step] = []
        self._indices: Counter[str] = Counter()

    def add(
        self,
        layer: str,
        kind: EngineKind,
        *,
        chiplet: int | None = None,
        size_bytes: int | None = None,
        cycles: int | None = None,
        after: Sequence[int] = (),
        is_carried: bool = False,
    ) -> int:
        where = None if chiplet is None else chiplet % self.npu.chiplet_count
        duration_ns = self._duration_ns(kind, size_bytes, cycles)
        workload = None if kind == EngineKind.HOST else self.workload
        row, index = len(self.steps), self._indices[layer]
        self._indices[layer] += 1
        self.steps.append(Step(layer, index, kind, where, duration_ns, size_bytes, cycles, tuple(after), workload, is_carried))
        return row

    def spread(
        self,
        layer: str,
        kind: EngineKind,
        *,
        size_bytes: int | None = None,
        cycles: int | None = None,
        after: Sequence[Sequence[int]],
    ) -> list[int]:
        """One step on each chiplet; that of chiplet c waits for the rows `after[c]`."""
        return [
            self.add(layer, kind, chiplet=chiplet, size_bytes=size_bytes, cycles=cycles, after=after[chiplet])
            for chiplet in range(self.npu.chiplet_count)
        ]

    def _duration_ns(self, kind: EngineKind, size_bytes: int | None, cycles: int | None) -> int:
        if size_bytes is not None and self.npu.bytes_per_us(kind):
            return _DMA_SETUP_NS + size_bytes * 1_000 // self.npu.bytes_per_us(kind)
        if cycles is not None:
            return cycles * 10**9 // self.npu.core_hz
        return _SYNC_NS


def recipe(name: str, npu: Npu) -> Recipe:
    """The program of this name for this kind of NPU.

    Args:
        name: One of PROGRAMS, or any operator as `namespace::op`.
        npu: What it is compiled for.

    Raises:
        UsageError: No such program; the text names those that there are.
    """
    if name == "mm":
        return _mm(npu)
    if name == "decoder":
        return _decoder(npu)
    if name == "all_reduce":
        return _all_reduce(npu)
    if "::" in name:
        return eager_recipe(name, npu)
    raise UsageError(f"there is no program {name!r}; there are {', '.join(PROGRAMS)} (any operator)")


def _mm(npu: Npu) -> Recipe:
    size_bytes = 512 * 512 * 2
    build = _Builder(npu)
    host_in = build.add("args_0", EngineKind.EXTERNAL_HDMA, size_bytes=size_bytes)
    left = build.add("args_0", EngineKind.TASK_DMA, chiplet=0, size_bytes=size_bytes, after=[host_in])
    right = build.add("args_0", EngineKind.TASK_DMA, chiplet=1, size_bytes=size_bytes, after=[left])
    # The greater half is the first: what starts together is listed by length, and then by number too, whatever the variation.
    upper = build.add("mm", EngineKind.NEURAL_ENGINE_CLUSTERS, chiplet=0, cycles=10_000, after=[left, right])
    lower = build.add("mm", EngineKind.NEURAL_ENGINE_CLUSTERS, chiplet=1, cycles=9_000, after=[left, right])
    build.add("mm", EngineKind.NEURAL_ENGINE_CLUSTERS, chiplet=0, cycles=3_000, after=[upper, lower], is_carried=True)
    return Recipe("mm", "aten::mm", "", tuple(build.steps), size_bytes, size_bytes, 3 * size_bytes)


_LAYERS: Final = 8


def _decoder(npu: Npu) -> Recipe:
    """Weights stream through the Neural DMA of each chiplet while the layer before computes: at most one layer ahead."""
    build = _Builder(npu)
    host = build.add("reshape", EngineKind.HOST, cycles=6_000)
    args = build.add("args_0", EngineKind.EXTERNAL_HDMA, size_bytes=16_384, after=[host])
    hidden = [[args]] * npu.chiplet_count
    free: list[list[int]] = [[] for _ in range(npu.chiplet_count)]
    for layer in range(_LAYERS):
        hidden, free = _decoder_layer(build, layer, hidden, free)
    build.workload = 1
    weights = build.spread("linear_32", EngineKind.NEURAL_DMA, size_bytes=8_000_000, after=hidden)
    logits = build.spread("linear_32", EngineKind.NEURAL_ENGINE_CLUSTERS, cycles=9_000, after=[[row] for row in weights])
    build.add("out", EngineKind.EXTERNAL_HDMA, size_bytes=64_000, after=logits)
    moved = sum(step.size_bytes or 0 for step in build.steps if step.kind == EngineKind.NEURAL_DMA)
    return Recipe("decoder", "", "0/0", tuple(build.steps), 16_384, 64_000, moved, 80_000_000)


def _decoder_layer(
    build: _Builder, layer: int, hidden: list[list[int]], free: list[list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """One layer after the rows that made its input; gives those that make its output, and those that free the scratchpad."""
    vector, neural, dma = build.npu.compute_kind, EngineKind.NEURAL_ENGINE_CLUSTERS, EngineKind.NEURAL_DMA
    first = 4 * layer
    norm = build.spread(f"fused(rms_norm+rope)_{first}", vector, cycles=4_000, after=hidden)
    weights = build.spread(f"linear_{first}", dma, size_bytes=6_000_000, after=free)
    query = build.spread(f"linear_{first}", neural, cycles=7_000, after=[[a, b] for a, b in zip(norm, weights, strict=True)])
    cache = [
        build.add(f"paged_attn_{first + 1}", EngineKind.TASK_DMA, chiplet=at, size_bytes=1_500_000, after=[row], is_carried=True)
        for at, row in enumerate(norm)
    ]
    attention = build.spread(
        f"paged_attn_{first + 1}", neural, cycles=5_000, after=[list(p) for p in zip(query, cache, strict=True)]
    )
    weights = build.spread(f"linear_{first + 2}", dma, size_bytes=2_000_000, after=[[row] for row in query])
    joined = build.spread(
        f"linear_{first + 2}", neural, cycles=4_500, after=[list(p) for p in zip(attention, weights, strict=True)]
    )
    weights = build.spread(f"fused(linear+silu+mul)_{first + 3}", dma, size_bytes=9_000_000, after=[[row] for row in attention])
    output = build.spread(
        f"fused(linear+silu+mul)_{first + 3}", neural, cycles=11_000, after=[list(p) for p in zip(joined, weights, strict=True)]
    )
    # A chiplet's share of the result goes to its neighbour over the die-to-die link: the next layer waits for both.
    count = build.npu.chiplet_count
    return [sorted({output[at], output[(at + 1) % count]}) for at in range(count)], [[row] for row in joined]


def _all_reduce(npu: Npu) -> Recipe:
    size_bytes = 1 << 20
    build = _Builder(npu)
    gate = build.add("all_reduce", EngineKind.DEVICE_SYNC)
    sent = build.add("all_reduce", EngineKind.DEVICE_HDMA, size_bytes=size_bytes, after=[gate])
    loaded = build.spread(
        "all_reduce", EngineKind.TASK_DMA, size_bytes=size_bytes // npu.chiplet_count, after=[[sent]] * npu.chiplet_count
    )
    added = build.spread("all_reduce", npu.compute_kind, cycles=6_000, after=[[row] for row in loaded])
    back = build.add("all_reduce", EngineKind.DEVICE_HDMA, size_bytes=size_bytes, after=added)
    build.add("all_reduce", EngineKind.DEVICE_SYNC, after=[back])
    return Recipe("all_reduce", "c10d::allreduce_", "", tuple(build.steps), 0, 0, size_bytes)


_HEAVY: Final = ("mm", "bmm", "addmm", "baddbmm", "matmul", "linear", "convolution", "attention", "einsum", "lstm")


def eager_recipe(op: str, npu: Npu) -> Recipe:
    """What an operator alone compiles to, with its arguments already in device memory.

    Matrix products, convolutions and attention take longer than the rest; beyond that the size is a number made from the name.

    Args:
        op: Full name, such as "aten::add".
        npu: What it is compiled for.
    """
    name = op.rpartition("::")[2] or op
    heavy = any(name.strip("_").startswith(word) or word in name.split("_") for word in _HEAVY)
    size_bytes = (zlib.crc32(op.encode()) % 15 + 2) * 16_384
    cycles = size_bytes // 64 * (4 if heavy else 1)
    build = _Builder(npu)
    loaded = build.spread("args_0", EngineKind.TASK_DMA, size_bytes=size_bytes, after=[[]] * npu.chiplet_count)
    kind = EngineKind.NEURAL_ENGINE_CLUSTERS if heavy else npu.compute_kind
    done = build.spread(name, kind, cycles=cycles, after=[[row] for row in loaded])
    build.add("out", EngineKind.TASK_DMA, chiplet=0, size_bytes=size_bytes, after=done)
    return Recipe(name, op, "", tuple(build.steps), 0, 0, size_bytes, 8_000_000)
