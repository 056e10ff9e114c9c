"""Stacks in speedscope's own file format (https://www.speedscope.app/file-format-schema.json), which its web page opens."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from rblnpb._version import __version__

from ..results import CallStacks, Frame
from ._stack_paths import weighed_paths

__all__ = ["render_speedscope"]

_PYTHON_NAME: Final = re.compile(r"(?P<file>.*)\((?P<line>[0-9]+)\): (?P<name>.+)", re.S)
_WHAT: Final = {"device-sum": "device time", "device-union": "device time, overlaps once", "host-self": "host time"}


def render_speedscope(stacks: CallStacks) -> bytes:
    """One profile of samples: a sample a stack that weighs anything, in nanoseconds; stacks that begin alike stand together."""
    paths = weighed_paths(stacks)
    used = sorted({frame for path, _ in paths for frame in path})
    place = {frame: row for row, frame in enumerate(used)}
    name = " + ".join(stacks.sources) or "rblnpb"
    value = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [_frame(stacks.frames[frame]) for frame in used]},
        "profiles": [
            {
                "type": "sampled",
                "name": f"{name}: {_WHAT[stacks.weight]}",
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": sum(weight_ns for _, weight_ns in paths),
                "samples": [[place[frame] for frame in path] for path, _ in paths],
                "weights": [weight_ns for _, weight_ns in paths],
            }
        ],
        "name": name,
        "activeProfileIndex": 0,
        "exporter": f"rblnpb@{__version__}",
    }
    # Python's own writer: its numbers have any size, which this format does not allow as text.
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _frame(frame: Frame) -> dict[str, Any]:
    """A frame; that of a Python function with the place where it is defined."""
    match = _PYTHON_NAME.fullmatch(frame.name) if frame.kind == "python" else None
    if match is None:
        return {"name": frame.name}
    return {"name": match["name"], "file": match["file"], "line": int(match["line"])}
