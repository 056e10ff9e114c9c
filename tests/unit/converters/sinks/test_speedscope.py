"""Stacks in speedscope's own format."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from rblnpb._version import __version__
from rblnpb.converters.results import CallStacks, DeviceCoverage, DeviceTime, Frame
from rblnpb.converters.sinks.speedscope import render_speedscope
from tests.support.speedscope_format import SCHEMA, faults

NONE = DeviceTime(0, 0, 0)
FRAMES = (
    Frame("thread 7", "thread"),
    Frame("not used", "op"),
    Frame("torch/nn/modules/linear.py(130): forward", "python"),
    Frame("aten::addmm", "op"),
    Frame("a.py(1): part", "annotation"),
)
STACKS = CallStacks(
    by="all",
    weight="device-sum",
    frames=FRAMES,
    parent=np.array([-1, 0, 1, 0]),
    frame=np.array([0, 2, 3, 4]),
    weight_ns=(0, 0, 30, 12),
    sources=("a.pb", "t.json"),
    coverage=DeviceCoverage(NONE, NONE, NONE, {}, NONE, NONE, NONE, NONE, NONE, 0, 0),
    findings=(),
)


def test_a_sample_is_a_stack_that_weighs_anything() -> None:
    assert json.loads(render_speedscope(STACKS)) == {
        "$schema": SCHEMA,
        "shared": {
            "frames": [
                {"name": "thread 7"},
                {"name": "forward", "file": "torch/nn/modules/linear.py", "line": 130},
                {"name": "aten::addmm"},
                {"name": "a.py(1): part"},
            ]
        },
        "profiles": [
            {
                "type": "sampled",
                "name": "a.pb + t.json: device time",
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": 42,
                "samples": [[0, 1, 2], [0, 3]],
                "weights": [30, 12],
            }
        ],
        "name": "a.pb + t.json",
        "activeProfileIndex": 0,
        "exporter": f"rblnpb@{__version__}",
    }


@pytest.mark.parametrize("found", [STACKS, replace(STACKS, weight_ns=(0, 0, 0, 0)), replace(STACKS, weight_ns=(1 << 80, 0, 0, 1))])
def test_speedscope_takes_it(found: CallStacks) -> None:
    assert faults(json.loads(render_speedscope(found))) == []


def test_the_check_sees_what_speedscope_would_not_take() -> None:
    file = json.loads(render_speedscope(STACKS))
    file["profiles"][0]["samples"][0] = [9]
    file["profiles"][0]["weights"] = [1, -1]
    file["shared"]["frames"][0]["line"] = "7"
    file["more"] = 1
    assert faults(file) == ["file: more is not known"]
    del file["more"]
    assert faults(file) == [
        "frame 0: line is of another type",
        "profile 0: a weight is no whole number, or below 0",
        "profile 0: sample 0 is of frames that are not there, or of none",
    ]
