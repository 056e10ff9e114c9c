"""What threads of the host had open."""

from __future__ import annotations

import pytest

from rblnpb.converters.analyze.host.host_calls import HostCalls, read_calls
from rblnpb.converters.results import Frame
from tests.support.attribution_oracle import Call, trace
from tests.support.timelines import host_trace


def shown(calls: HostCalls) -> list[tuple[str, str | None]]:
    """Name of each call and of its caller."""
    names = [calls.frames[row].name for row in calls.frame.tolist()]
    return [(name, names[parent] if parent >= 0 else None) for name, parent in zip(names, calls.parent.tolist(), strict=True)]


def tree(*calls: Call, with_annotations: bool = False) -> list[tuple[str, str | None]]:
    return shown(read_calls(trace(calls), with_annotations=with_annotations))


def test_python_modules_and_ops_are_one_tree() -> None:
    calls = (Call("op", "aten::mm", 3, 4), Call("module", "nn.Module: L_0", 1, 8), Call("python", "a.py(1): f", 0, 9))
    assert tree(*calls) == [("a.py(1): f", None), ("nn.Module: L_0", "a.py(1): f"), ("aten::mm", "nn.Module: L_0")]


def test_threads_do_not_call_each_other() -> None:
    assert tree(Call("python", "f", 0, 9, 1), Call("op", "aten::mm", 3, 4, 2)) == [("f", None), ("aten::mm", None)]


def test_python_is_outside_where_times_do_not_tell() -> None:
    assert tree(Call("op", "aten::mm", 0, 9), Call("python", "f", 0, 9)) == [("f", None), ("aten::mm", "f")]


def test_addresses_overloads_and_numbers_of_steps_are_no_part_of_a_frame() -> None:
    calls = (
        Call("python", "<built-in method mm of Tensor object at 0x7fd8516394a0>", 0, 2),
        Call("python", "<built-in method mm of Tensor object at 0x7fd8516394b0>", 2, 4),
        Call("op", "aten::add.Tensor", 4, 5),
        Call("annotation", "ProfilerStep#3", 6, 9),
    )
    assert read_calls(trace(calls), with_annotations=True).frames == (
        Frame("<built-in method mm of Tensor object>", "python"),
        Frame("aten::add", "op"),
        Frame("ProfilerStep*", "annotation"),
    )


def test_calls_of_a_runtime_are_none() -> None:
    launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 0, "dur": 1}
    assert len(read_calls(host_trace(launch), with_annotations=True)) == 0


def test_named_ranges_are_calls_on_request() -> None:
    calls = (Call("annotation", "part", 0, 9), Call("op", "aten::mm", 1, 2))
    assert tree(*calls) == [("aten::mm", None)]
    assert tree(*calls, with_annotations=True) == [("part", None), ("aten::mm", "part")]


def test_a_range_lasts_from_the_end_of_the_call_that_began_it_to_the_start_of_the_one_that_ends_it() -> None:
    calls = (
        Call("python", "run", 0, 30),
        Call("python", "__enter__", 1, 5),
        Call("annotation", "part", 3, 22),
        Call("python", "forward", 6, 19),
        Call("python", "__exit__", 20, 24),
    )
    found = read_calls(trace(calls), with_annotations=True)
    assert shown(found) == [("run", None), ("__enter__", "run"), ("part", "run"), ("forward", "part"), ("__exit__", "run")]
    assert (int(found.start_ns[2]), int(found.end_ns[2]), found.left_out_count) == (5000, 20000, 0)


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(Call("annotation", "part", 3, 8), id="ends in the call after the one that it began in"),
        pytest.param(Call("annotation", "nccl:all_reduce", 0, 20), id="may end on another thread"),
    ],
)
def test_a_range_around_nothing_is_counted(lost: Call) -> None:
    found = read_calls(trace((Call("python", "f", 0, 6), Call("python", "g", 6, 12), lost)), with_annotations=True)
    assert (shown(found), found.left_out_count) == ([("f", None), ("g", None)], 1)
