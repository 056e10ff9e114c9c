"""Stacks as lines that flamegraph.pl, inferno and speedscope read."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.results import CallStacks, DeviceCoverage, DeviceTime, Frame
from rblnpb.converters.sinks.folded_stacks import folded_name, render_folded

NONE = DeviceTime(0, 0, 0)
WEIGHT = re.compile(r"^(.*)\s+?(\d+(?:\.\d*)?)$")
"""How flamegraph.pl takes the weight off a line; it does so twice, for lines with two of them."""


def stacks(frames: list[str], *rows: tuple[int, int, int]) -> CallStacks:
    """Stacks, each (row of its caller, frame, weight)."""
    parent, frame, weight = zip(*rows, strict=True) if rows else ((), (), ())
    return CallStacks(
        by="all",
        weight="device-sum",
        frames=tuple(Frame(name, "op") for name in frames),
        parent=np.array(parent, np.int64),
        frame=np.array(frame, np.int64),
        weight_ns=weight,
        sources=(),
        coverage=DeviceCoverage(NONE, NONE, NONE, {}, NONE, NONE, NONE, NONE, NONE, 0, 0),
        findings=(),
    )


def test_a_line_is_a_stack_and_what_it_weighs_in_order_of_the_text() -> None:
    found = stacks(["main", "b", "a"], (-1, 0, 0), (0, 1, 5), (0, 2, 1 << 70), (1, 2, 7))
    assert render_folded(found) == f"main;a {1 << 70}\nmain;b 5\nmain;b;a 7\n"


def test_what_weighs_nothing_has_no_line() -> None:
    assert render_folded(stacks(["a"], (-1, 0, 0))) == render_folded(stacks([])) == ""


def test_stacks_that_a_line_cannot_tell_apart_are_one() -> None:
    assert render_folded(stacks(["a;b", "a:b"], (-1, 0, 5), (-1, 1, 6))) == "a:b 11\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("aten::mm", "aten::mm"),
        ("f(a; b)", "f(a: b)"),
        ("two\nlines\t\x00\x7f\x85\u2028", "two\\x0alines\\x09\\x00\\x7f\\x85\\x2028"),
        ("thread 2260", "thread_2260"),
        ("step 1.5", "step_1.5"),
        ("1 2 3", "1 2_3"),
        ("  ", "(no name)"),
        ("", "(no name)"),
        (" λ ", "λ"),
    ],
)
def test_a_name_is_made_to_fit_a_line(name: str, text: str) -> None:
    assert folded_name(name) == text


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4), st.integers(1, 1 << 80))
def test_flamegraph_takes_every_line_apart_as_it_was_put_together(names: list[str], weight: int) -> None:
    text = render_folded(
        stacks(names, *((row - 1, row, 0) for row in range(len(names) - 1)), (len(names) - 2, len(names) - 1, weight))
    )

    (line,) = text.splitlines()
    first = WEIGHT.match(line)
    assert first is not None
    assert (first[1].split(";"), int(first[2])) == ([folded_name(name) for name in names], weight)
    assert WEIGHT.match(first[1]) is None
