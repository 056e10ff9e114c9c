"""Programs of the simulated device: their commands, engines and predecessors."""

from __future__ import annotations

import pytest

from rblnpb.errors import UsageError
from rblnpb.profile import EngineKind
from rblnpb.sim.npu import ATOM, NPUS, REBEL100, Npu, npu_of
from rblnpb.sim.programs import PROGRAMS, eager_recipe, recipe

EVERY = pytest.mark.parametrize("npu", NPUS.values(), ids=NPUS)
NAMES = pytest.mark.parametrize("name", PROGRAMS)


def test_mm_brings_its_arguments_with_three_commands_and_computes_with_three() -> None:
    steps = recipe("mm", REBEL100).steps
    assert [(f"{step.layer}_{step.index}", step.kind.name, step.predecessors) for step in steps] == [
        ("args_0_0", "EXTERNAL_HDMA", ()),
        ("args_0_1", "TASK_DMA", (0,)),
        ("args_0_2", "TASK_DMA", (1,)),
        ("mm_0", "NEURAL_ENGINE_CLUSTERS", (1, 2)),
        ("mm_1", "NEURAL_ENGINE_CLUSTERS", (1, 2)),
        ("mm_2", "NEURAL_ENGINE_CLUSTERS", (3, 4)),
    ]


@EVERY
@NAMES
def test_a_step_waits_only_for_steps_before_it(npu: Npu, name: str) -> None:
    steps = recipe(name, npu).steps
    assert [row for row, step in enumerate(steps) if any(before >= row for before in step.predecessors)] == []


@EVERY
@NAMES
def test_every_step_has_an_engine_on_the_device(npu: Npu, name: str) -> None:
    places = {(engine.kind, engine.chiplet) for engine in npu.engines(1)}
    assert [step for step in recipe(name, npu).steps if (step.kind, step.chiplet) not in places] == []


@EVERY
@NAMES
def test_compute_waits_for_dma_of_its_own_call(npu: Npu, name: str) -> None:
    steps = recipe(name, npu).steps

    def is_fed(row: int) -> bool:
        return any(steps[before].kind not in COMPUTING or is_fed(before) for before in steps[row].predecessors)

    assert [row for row, step in enumerate(steps) if step.kind in COMPUTING and not is_fed(row)] == []


COMPUTING = (EngineKind.NEURAL_ENGINE_CLUSTERS, EngineKind.GENERAL_COMPUTE_ENGINE)


def test_a_decoder_has_stages_as_the_vendor_spells_them_in_two_runtime_calls() -> None:
    steps = recipe("decoder", REBEL100).steps
    assert sorted({step.layer.rpartition("_")[0] for step in steps}) == [
        "",
        "args",
        "fused(linear+silu+mul)",
        "fused(rms_norm+rope)",
        "linear",
        "paged_attn",
    ]
    assert [step.workload for step in steps if step.layer in ("reshape", "args_0", "out")] == [None, 0, 1]


def test_only_a_rebel100_has_the_general_compute_engine() -> None:
    assert [EngineKind.GENERAL_COMPUTE_ENGINE in {engine.kind for engine in npu.engines(1)} for npu in (REBEL100, ATOM)] == [
        True,
        False,
    ]


def test_a_rebel100_has_four_chiplets_with_engines_of_their_own() -> None:
    chiplets = [engine.chiplet for engine in REBEL100.engines(1) if engine.kind == EngineKind.NEURAL_ENGINE_CLUSTERS]
    assert chiplets == [0, 1, 2, 3]


def test_an_operator_becomes_a_program_of_its_short_name() -> None:
    program = eager_recipe("aten::add", ATOM)
    assert (program.name, program.op) == ("add", "aten::add")
    assert [(f"{step.layer}_{step.index}", step.kind.name) for step in program.steps] == [
        ("args_0_0", "TASK_DMA"),
        ("add_0", "NEURAL_ENGINE_CLUSTERS"),
        ("out_0", "TASK_DMA"),
    ]


def test_a_matrix_product_takes_longer_than_its_bytes_alone() -> None:
    product = eager_recipe("aten::addmm", ATOM).steps
    assert product[1].cycles == (product[0].size_bytes or 0) // 64 * 4


def test_an_unknown_program_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no program 'decodr'; there are mm, decoder, all_reduce"):
        recipe("decodr", REBEL100)


def test_an_unknown_npu_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no NPU 'tpu'; there are rebel100, atom"):
        npu_of("tpu")
