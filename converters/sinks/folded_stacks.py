"""Folded stacks, which flamegraph.pl, inferno and speedscope read: a line a stack, `;` between frames, then the weight."""

from __future__ import annotations

import re
from typing import Final

from ..results import CallStacks
from ._stack_paths import weighed_paths

__all__ = ["folded_name", "render_folded"]

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TRAILING_NUMBER: Final = re.compile(r"\s(?=[0-9]+(?:\.[0-9]*)?$)")


def render_folded(stacks: CallStacks) -> str:
    """A line a stack that weighs anything, in nanoseconds, in order of the text.

    Stacks that differ only in what a line cannot hold are one.
    """
    names = [folded_name(frame.name) for frame in stacks.frames]
    weights: dict[str, int] = {}
    for path, weight_ns in weighed_paths(stacks):
        line = ";".join([names[frame] for frame in path])
        weights[line] = weights.get(line, 0) + weight_ns
    return "".join(f"{line} {weights[line]}\n" for line in sorted(weights))


def folded_name(name: str) -> str:
    r"""A frame's name as a line can hold it: no separator, no character that controls, and something at all.

    flamegraph.pl takes a number at the end of the last name for a first weight of two, so no blank is left before one.

    >>> folded_name("a;b\nc"), folded_name("thread 7"), folded_name(" ")
    ('a:b\\x0ac', 'thread_7', '(no name)')
    """
    visible = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", name.replace(";", ":")).strip()
    return _TRAILING_NUMBER.sub("_", visible) or "(no name)"
