"""The op of the forward pass that an op of the backward pass belongs to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rblnpb.converters.analyze.attribution.forward_ops import forward_ops
from rblnpb.converters.analyze.host.host_calls import read_calls
from tests.support.attribution_oracle import Arrow, Call, trace

EVALUATE = "autograd::engine::evaluate_function: MmBackward0"


def links(calls: Sequence[Call], *arrows: Arrow) -> dict[str, str]:
    """Names of linked ops with that of the op of the forward pass."""
    host = trace(calls, arrows)
    found = read_calls(host, with_annotations=False)
    names = [found.frames[row].name for row in found.frame.tolist()]
    return {names[row]: names[forward] for row, forward in enumerate(forward_ops(host, found).tolist()) if forward >= 0}


def test_a_flow_tells() -> None:
    calls = (Call("op", "aten::mm", 0, 5), Call("op", "MmBackward0", 10, 15, 2))
    assert links(calls, Arrow("s", 7, 0), Arrow("f", 7, 10, 2)) == {"MmBackward0": "aten::mm"}


def test_of_flows_with_one_number_the_last_before_it_tells() -> None:
    calls = (Call("op", "aten::mm", 0, 5), Call("op", "aten::add", 6, 8), Call("op", "AddBackward0", 10, 15))
    arrows = (Arrow("s", 7, 0), Arrow("s", 7, 6), Arrow("f", 7, 10))
    assert links(calls, *arrows) == {"AddBackward0": "aten::add"}


def test_half_a_flow_tells_nothing() -> None:
    calls = (Call("op", "aten::mm", 0, 5), Call("op", "MmBackward0", 10, 15, 2))
    assert links(calls, Arrow("f", 7, 10, 2)) == links(calls, Arrow("s", 7, 0)) == {}


def test_the_engine_around_the_node_of_a_flow_is_linked_with_it() -> None:
    calls = (
        Call("op", "aten::mm", 0, 5),
        Call("op", EVALUATE, 9, 16, 2, sequence=3),
        Call("op", "MmBackward0", 10, 15, 2, sequence=3),
    )
    assert links(calls, Arrow("s", 7, 0), Arrow("f", 7, 10, 2)) == {EVALUATE: "aten::mm", "MmBackward0": "aten::mm"}


def test_an_op_around_the_node_that_has_no_number_either_is_not() -> None:
    calls = (Call("op", "aten::mm", 0, 5), Call("op", "custom", 9, 16, 2), Call("op", "MmBackward0", 10, 15, 2))
    assert links(calls, Arrow("s", 7, 0), Arrow("f", 7, 10, 2)) == {"MmBackward0": "aten::mm"}


def test_without_a_flow_the_last_op_with_the_sequence_number_tells() -> None:
    calls = (
        Call("op", "aten::linear", 0, 9, sequence=3),
        Call("op", "aten::t", 1, 2, sequence=3),
        Call("op", "aten::addmm", 3, 8, sequence=4),
        Call("op", "MmBackward0", 10, 15, 2, sequence=3),
    )
    assert links(calls) == {"MmBackward0": "aten::t"}


MM, NODE = Call("op", "aten::mm", 0, 5, sequence=3), Call("op", "MmBackward0", 10, 15, 2, sequence=3)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param((MM, Call("op", "aten::mul", 10, 15, 2, sequence=3)), id="a name of the forward pass"),
        pytest.param((Call("op", "aten::mm", 0, 5), Call("op", "MmBackward0", 10, 15, 2)), id="no number"),
        pytest.param((Call("op", "aten::mm", 20, 25, sequence=3), NODE), id="an op that began later"),
        pytest.param((Call("op", EVALUATE, 0, 20, 2), Call("op", "aten::mm", 1, 2, 2, 3), NODE), id="an op of the backward pass"),
    ],
)
def test_a_sequence_number_does_not_always_tell(calls: tuple[Call, ...]) -> None:
    assert links(calls) == {}


def test_a_number_that_two_threads_counted_tells_nothing() -> None:
    calls = (
        Call("op", "aten::mm", 0, 5, 1, sequence=3),
        Call("op", "aten::mm", 0, 5, 2, sequence=3),
        Call("op", "MmBackward0", 10, 15, 3, sequence=3),
    )
    assert links(calls) == {}
