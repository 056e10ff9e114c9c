"""Floating-point operations of an ATen call, from the shapes that the trace keeps of its inputs.

The trace does not carry torch's own count; torch computes it from exactly these shapes, and only for these operators.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["COUNTED_OPERATORS", "count_flops", "flat_shapes_text"]

Shape = list[int]

_LISTS_OF_INTEGERS: Final = re.compile(r"[\[\]\d,\s-]*")
_CONCRETE_VALUE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_INT64_MAX: Final = 2**63 - 1


def count_flops(name: str, input_dims: str, concrete_inputs: str) -> int:
    """Operations of one call, as torch counts them; a multiplication and an addition are two.

    Args:
        name: The operator, such as `aten::mm`.
        input_dims: JSON text of the trace's "Input Dims"; may be empty.
        concrete_inputs: JSON text of "Concrete Inputs"; may be empty; only convolutions need it.

    Returns:
        The count; 0 for every other operator, and where the shapes do not tell.

    >>> count_flops("aten::mm", "[[3, 4], [4, 5]]", "")
    120
    """
    counter = COUNTED_OPERATORS.get(name)
    shapes = _parse(input_dims)
    if counter is None or not shapes:
        return 0
    flops = counter([_shape(value) for value in shapes], concrete_inputs)
    return flops if 0 < flops <= _INT64_MAX else 0


def flat_shapes_text(input_dims: str) -> str:
    """Input shapes as torch's tables print them: one list per input, empty for whatever is not one tensor.

    Args:
        input_dims: JSON text of the trace's "Input Dims"; may be empty.

    Returns:
        Text such as `[[2, 3], []]`; `[]` where the trace has no shapes, or none that can be read.

    >>> flat_shapes_text("[[2,3],[[4],[5]]]")
    '[[2, 3], []]'
    """
    return str([_shape(value) or [] for value in _parse(input_dims)])


def _parse(text: str) -> list[object]:
    """A list of lists of integers, nested in any way; empty where the text is anything else."""
    if not _LISTS_OF_INTEGERS.fullmatch(text):
        return []
    try:
        value = ast.literal_eval(text.strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return value if isinstance(value, list) else []


def _shape(value: object) -> Shape | None:
    """The sizes of one tensor; None where the input was something else, such as a list of tensors."""
    return value if isinstance(value, list) and all(isinstance(size, int) for size in value) else None


def _concrete(concrete_inputs: str, index: int) -> Shape:
    """The integers of one concrete input; a single one is a list of one."""
    values = _CONCRETE_VALUE.findall(concrete_inputs)
    text = values[index] if index < len(values) else ""
    return [int(number) for number in re.findall(r"-?\d+", text)]


def _product(left: Sequence[int], right: Sequence[int]) -> int:
    """Of matrices, batched or not: the dimension that both share counts once, and so does the batch."""
    shared = left[-1] if left else 0
    if not shared:
        return 0
    batch = math.prod(left[:-2])
    return 2 * math.prod(left) * math.prod(right) // (shared * batch) if batch else 0


def _matrices(first: int) -> Callable[[Sequence[Shape | None], str], int]:
    def count(shapes: Sequence[Shape | None], _concrete_inputs: str) -> int:
        left, right = (*shapes, None, None, None)[first : first + 2]
        return 0 if left is None or right is None else _product(left, right)

    return count


def _elements(shapes: Sequence[Shape | None], _concrete_inputs: str) -> int:
    return 0 if shapes[0] is None else math.prod(shapes[0])


def _convolution(shapes: Sequence[Shape | None], concrete_inputs: str) -> int:
    batch_input, weight = (*shapes, None)[:2]
    stride, padding, dilation, groups = (_concrete(concrete_inputs, index) for index in range(3, 7))
    pairs = (stride, padding, dilation)
    if batch_input is None or weight is None or len(batch_input) != 4 or len(weight) != 4:
        return 0
    if any(len(pair) != 2 for pair in pairs) or 0 in stride or len(groups) != 1 or groups[0] <= 0:
        return 0
    size = math.prod(
        (batch_input[2 + axis] + 2 * padding[axis] - dilation[axis] * (weight[2 + axis] - 1) - 1) // stride[axis] + 1
        for axis in range(2)
    )
    return 2 * batch_input[0] * batch_input[1] * size * math.prod((weight[0], *weight[2:])) // groups[0]


COUNTED_OPERATORS: Final[dict[str, Callable[[Sequence[Shape | None], str], int]]] = {
    "aten::mm": _matrices(0),
    "aten::addmm": _matrices(1),
    "aten::bmm": _matrices(0),
    "aten::baddbmm": _matrices(1),
    "aten::mul": _elements,
    "aten::add": _elements,
    "aten::conv2d": _convolution,
}
"""Operators that torch counts; everything else has no operations in its tables."""
