"""The calls of a trace as stacks, with the frames of the forward pass above what runs backward."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rblnpb.converters.analyze.attribution.stacked_calls import stack_calls
from tests.support.attribution_oracle import Arrow, Call, trace
from tests.support.timelines import host_trace

FORWARD = (
    Call("python", "train", 0, 20),
    Call("module", "nn.Module: L_0", 1, 19),
    Call("python", "forward", 2, 18),
    Call("op", "aten::mm", 3, 17, sequence=1),
)
BACKWARD = (Call("op", "MmBackward0", 30, 40, 2, sequence=1), Call("op", "aten::t", 31, 32, 2))


def stacks_of(calls: Sequence[Call], by: str, *arrows: Arrow, is_own: bool = False) -> dict[str, str]:
    """The stack of each call, by its name; in a trace each name is there once."""
    host = trace(calls, arrows)
    stacked = stack_calls(host, by)
    stacks = stacked.own if is_own else stacked.stacks
    paths: list[str] = []
    for parent, frame in zip(stacks.parent.tolist(), stacks.frame.tolist(), strict=True):
        paths.append((f"{paths[parent]} > " if parent >= 0 else "") + stacked.frames[frame].name)
    names = [host.strings[host.events.name[row]] for row in stacked.calls.event.tolist()]
    return dict(zip(names, (paths[row] for row in stacks.of_row.tolist()), strict=True))


@pytest.mark.parametrize(
    ("by", "stack"),
    [
        ("op", "thread 1 > aten::mm"),
        ("module", "thread 1 > nn.Module: L_0"),
        ("python", "thread 1 > train > forward"),
        ("all", "thread 1 > train > nn.Module: L_0 > forward > aten::mm"),
    ],
)
def test_a_stack_is_the_thread_and_the_frames_that_were_asked_for(by: str, stack: str) -> None:
    assert stacks_of(FORWARD, by)["aten::mm"] == stack


@pytest.mark.parametrize(
    ("by", "stack"),
    [
        ("op", "thread 2 > MmBackward0 > aten::t"),
        ("module", "thread 2 > nn.Module: L_0"),
        ("python", "thread 2 > train > forward"),
        ("all", "thread 2 > train > nn.Module: L_0 > forward > MmBackward0 > aten::t"),
    ],
)
def test_what_runs_backward_stands_below_the_frames_of_the_forward_pass(by: str, stack: str) -> None:
    assert stacks_of((*FORWARD, *BACKWARD), by)["aten::t"] == stack


def test_frames_of_its_own_thread_are_known_apart() -> None:
    assert stacks_of((*FORWARD, *BACKWARD), "all", is_own=True)["aten::t"] == "thread 2 > MmBackward0 > aten::t"


def test_an_op_below_python_gets_modules_alone() -> None:
    backward = (Call("python", "backward", 25, 45), Call("op", "MmBackward0", 30, 40, sequence=1))
    calls = (*FORWARD, *backward)
    assert stacks_of(calls, "all")["MmBackward0"] == "thread 1 > backward > nn.Module: L_0 > MmBackward0"
    assert stacks_of(calls, "python")["MmBackward0"] == "thread 1 > backward"


def test_an_op_in_a_module_gets_nothing() -> None:
    calls = (*FORWARD, Call("module", "nn.Module: Recompute_0", 25, 45, 2), *BACKWARD)
    assert stacks_of(calls, "module")["aten::t"] == "thread 2 > nn.Module: Recompute_0"
    assert stacks_of(calls, "python")["aten::t"] == "thread 2"


def test_the_outermost_linked_op_stands_below_the_frames() -> None:
    inner = (Call("op", "aten::add", 4, 5, sequence=7), Call("op", "AddBackward0", 33, 34, 2, sequence=7))
    calls = (*FORWARD, *BACKWARD, *inner)
    assert stacks_of(calls, "module")["AddBackward0"] == "thread 2 > nn.Module: L_0"
    assert stacks_of(calls, "all")["AddBackward0"].endswith("forward > MmBackward0 > AddBackward0")


def test_two_ops_of_one_owner_share_their_copied_frames() -> None:
    calls = (*FORWARD, Call("op", "aten::add", 4, 5, sequence=7), *BACKWARD, Call("op", "AddBackward0", 50, 60, 2, sequence=7))
    stacked = stack_calls(trace(calls), "module")
    assert len(stacked.stacks) == len(stacked.own) + 1


def test_a_forward_op_in_no_module_tells_nothing() -> None:
    calls = (Call("op", "aten::mm", 0, 5, sequence=1), *BACKWARD)
    assert stacks_of(calls, "all")["MmBackward0"] == "thread 2 > MmBackward0"


def test_threads_of_one_name_are_told_apart_by_their_ids() -> None:
    def event(tid: int) -> dict[str, object]:
        return {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": tid, "ts": 0, "dur": 1}

    def name(tid: int) -> dict[str, object]:
        return {"ph": "M", "name": "thread_name", "pid": 7, "tid": tid, "args": {"name": "worker"}}

    stacked = stack_calls(host_trace(event(1), event(2), name(1), name(2)), "op")
    assert [frame.name for frame in stacked.frames[:2]] == ["worker (process 7, thread 1)", "worker (process 7, thread 2)"]
