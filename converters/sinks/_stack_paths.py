"""What stacks weigh, as paths of frames: what every format of flame graphs begins with."""

from __future__ import annotations

from ..results import CallStacks

__all__ = ["weighed_paths"]


def weighed_paths(stacks: CallStacks) -> list[tuple[tuple[int, ...], int]]:
    """Frames of each stack that weighs anything, the outermost first, and its weight; callers before what they call.

    Args:
        stacks: Distinct stacks.

    Returns:
        By frame from the outermost on, so that stacks that begin alike stand together.
    """
    parent, frame = stacks.parent.tolist(), stacks.frame.tolist()
    found = []
    for row, weight_ns in enumerate(stacks.weight_ns):
        if not weight_ns:
            continue
        path, at = [], row
        while at >= 0:
            path.append(frame[at])
            at = parent[at]
        found.append((tuple(reversed(path)), weight_ns))
    return sorted(found)
