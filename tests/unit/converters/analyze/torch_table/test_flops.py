"""Operation counts; the figures are those that torch 2.13 gave for calls of these shapes."""

from __future__ import annotations

import pytest

from rblnpb.converters.analyze.torch_table.flops import count_flops, flat_shapes_text

CONVOLUTION = '["", "", "", "{stride}", "{padding}", "{dilation}", "{groups}"]'


def inputs(stride: str = "[1, 1]", padding: str = "[0, 0]", dilation: str = "[1, 1]", groups: str = "1") -> str:
    return CONVOLUTION.format(stride=stride, padding=padding, dilation=dilation, groups=groups)


@pytest.mark.parametrize(
    ("name", "dims", "expected"),
    [
        ("aten::mm", "[[3, 4], [4, 5]]", 120),
        ("aten::mm", "[[3, 0], [0, 5]]", 0),
        ("aten::mm", "[[0, 3], [3, 5]]", 0),
        ("aten::addmm", "[[5], [3, 4], [4, 5], [], []]", 120),
        ("aten::bmm", "[[2, 3, 4], [2, 4, 5]]", 240),
        ("aten::bmm", "[[0, 3, 4], [0, 4, 5]]", 0),
        ("aten::baddbmm", "[[2, 3, 5], [2, 3, 4], [2, 4, 5], [], []]", 240),
        ("aten::mul", "[[3, 4], [4]]", 12),
        ("aten::mul", "[[4], [3, 4]]", 4),
        ("aten::mul", "[[], [3, 4]]", 1),
        ("aten::mul", "[[3, 0], []]", 0),
        ("aten::add", "[[3], [3], []]", 3),
        ("aten::matmul", "[[3, 4], [4, 5]]", 0),
        ("aten::mm", "", 0),
        ("aten::mm", "[[3, 4]]", 0),
        ("aten::mm", "[[[3], [4]], [4, 5]]", 0),
        ("aten::mm", "not a list", 0),
        ("aten::mul", f"[[{2**40}, {2**40}], []]", 0),
    ],
)
def test_operations_follow_from_shapes(name: str, dims: str, expected: int) -> None:
    assert count_flops(name, dims, "") == expected


@pytest.mark.parametrize(
    ("dims", "concrete", "expected"),
    [
        ("[[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []]", inputs(), 15552),
        ("[[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []]", inputs(stride="[2, 2]", padding="[1, 1]"), 6912),
        ("[[2, 4, 9, 8], [4, 2, 3, 2], []]", inputs("[2, 1]", "[1, 0]", "[2, 3]", "2"), 3840),
        ("[[1, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]", inputs("[3, 3]", "[1, 1]"), 1944),
        ("[[3, 8, 8], [4, 3, 3, 3], []]", inputs(), 0),
        ("[[0, 3, 8, 8], [4, 3, 3, 3], []]", inputs(), 0),
        ("[[2, 3, 8, 8], [4, 3, 3, 3], []]", inputs(padding="same"), 0),
        ("[[2, 3, 8, 8], [4, 3, 3, 3], []]", inputs(stride="[2]"), 0),
        ("[[2, 3, 8, 8], [4, 3, 3, 3], []]", inputs(stride="[0, 1]"), 0),
        ("[[2, 3, 8, 8], [4, 3, 3, 3], []]", inputs(groups="0"), 0),
        ("[[2, 3, 8, 8], [4, 3, 3, 3], []]", "", 0),
    ],
)
def test_a_convolution_also_needs_its_concrete_inputs(dims: str, concrete: str, expected: int) -> None:
    assert count_flops("aten::conv2d", dims, concrete) == expected


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        ("", "[]"),
        ("[[2,3],[]]", "[[2, 3], []]"),
        ("[[[2, 3], [4]], [5]]", "[[], [5]]"),
        ("[[2, 3], {}]", "[]"),
        ("[" * 300 + "]" * 300, "[]"),
        ("7", "[]"),
    ],
)
def test_shapes_read_as_torch_prints_them(dims: str, expected: str) -> None:
    assert flat_shapes_text(dims) == expected
