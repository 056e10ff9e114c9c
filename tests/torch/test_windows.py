"""Many profiling windows in one process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.torch.runs import NEEDS_TORCH, python

pytestmark = [pytest.mark.torch, NEEDS_TORCH]

WINDOWS = """
import gc, json, os, sys
from rblnpb.torch import Choices, activate
activate(Choices(environ=dict(os.environ), is_attributing=True), sys.stderr)
import torch
from torch.profiler import ProfilerActivity, profile

x = torch.ones(8, 8, dtype=torch.float16, device="rbln")


def window():
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as prof:
        x @ x
    prof.events()


def held():
    gc.collect()
    return len(os.listdir("/proc/self/fd")), sum(str(type(thing)).startswith("<class 'rblnpb.") for thing in gc.get_objects())


for _ in range(10):
    window()
before = held()
for _ in range(100):
    window()
after = held()
with open("held.json", "w") as file:
    json.dump([before, after], file)
"""


def test_a_hundred_windows_hold_nothing_afterwards_and_leave_a_file_each(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not list the open files of a process")
    done = python("-c", WINDOWS, cwd=tmp_path, RBLN_PROFILER="1")
    assert done.returncode == 0, done.stderr
    before, after = json.loads((tmp_path / "held.json").read_bytes())

    assert after == before
    assert len(list(tmp_path.glob("*.pb"))) == 110
