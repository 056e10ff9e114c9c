"""Scheduling: predecessors end first, an engine does one thing at a time; against the slow scheduler."""

from __future__ import annotations

import numpy as np

from rblnpb.sim.compiled import Compiled, compile_recipes
from rblnpb.sim.npu import ATOM, REBEL100
from rblnpb.sim.programs import recipe
from rblnpb.sim.schedule import lay_out, queue_starts
from rblnpb.strings import StringTable


def _compiled(*names: str) -> Compiled:
    return compile_recipes([recipe(name, REBEL100) for name in names], REBEL100.engines(1), StringTable().intern)


def test_commands_start_when_their_predecessors_have_ended() -> None:
    layout = lay_out(_compiled("mm"), 0, np.array([[1_000], [100], [200], [500], [600], [50]]))
    assert layout.start_ns[:, 0].tolist() == [300, 1_420, 1_640, 1_960, 1_960, 2_680]


def test_a_frame_encloses_its_commands() -> None:
    layout = lay_out(_compiled("mm"), 0, np.full((6, 1), 1_000))
    assert (layout.frame_start_ns.tolist(), layout.frame_end_ns.tolist(), layout.length_ns.tolist()) == ([[0]], [[5_980]], [5_980])


def test_an_engine_runs_its_commands_one_after_the_other() -> None:
    compiled = compile_recipes([recipe("mm", ATOM)], ATOM.engines(1), StringTable().intern)
    layout = lay_out(compiled, 0, np.full((6, 1), 1_000))
    assert layout.start_ns[:, 0].tolist() == [300, 1_420, 2_540, 3_660, 4_660, 5_780]


def test_a_runtime_call_begins_when_the_one_before_has_ended() -> None:
    compiled = _compiled("decoder")
    layout = lay_out(compiled, 0, np.tile(compiled.duration_ns[1:, None], (1, 2)))
    assert layout.workload.tolist() == [0, 1]
    assert layout.frame_start_ns[1].tolist() == layout.frame_end_ns[0].tolist()


def test_calls_on_a_device_run_one_at_a_time() -> None:
    assert queue_starts(np.array([10, 12, 300, 301]), np.array([100, 50, 5, 5])).tolist() == [10, 110, 300, 305]


def test_a_longer_list_of_programs_begins_with_the_same_rows() -> None:
    one, two = _compiled("mm"), _compiled("mm", "decoder")
    assert two.commands.layer_strindex[: len(one.commands)].tolist() == one.commands.layer_strindex.tolist()
    assert two.programs[0] == one.programs[0]
