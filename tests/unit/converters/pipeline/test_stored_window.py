"""A window of a profile in a file: the same as one cut from all of it, whatever is read of the file."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rblnpb
from rblnpb import sim
from rblnpb.converters.pipeline import read_inputs, windows
from rblnpb.converters.pipeline.windows import Window, parse_window
from rblnpb.converters.timeline import Timeline


@pytest.fixture(scope="module", name="folder")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    rblnpb.write(sim.simulate(program="mm", calls=400), folder / "a.pb")
    return folder


def rows(timeline: Timeline) -> dict[str, object]:
    names = [one.name for one in fields(timeline.slices) if one.name != "names"]
    slices = {name: getattr(timeline.slices, name).tolist() for name in names}
    return {
        **slices,
        "names": timeline.slices.names.render().tolist(),
        "launches": timeline.launches.start_ns.tolist(),
        "frames": timeline.frames.start_ns.tolist(),
        "runtime": timeline.runtime.start_ns.tolist(),
        "counters": timeline.counters.time_ns.tolist(),
        "dependencies": list(
            zip(timeline.dependencies.predecessor.tolist(), timeline.dependencies.successor.tolist(), strict=True)
        ),
    }


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(start=st.integers(-1, 12), length=st.integers(0, 12), defer=st.booleans())
def test_it_is_what_a_window_of_the_whole_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, start: int, length: int, *, defer: bool
) -> None:
    window = Window(start * 250_000, (start + length) * 250_000 + 1)
    by_index = read_inputs([folder / "a.pb"], window=window, defer=defer).merge()
    with monkeypatch.context() as patched:
        patched.setattr("rblnpb.converters.pipeline.inputs.stored_window", lambda *_: None)
        of_whole = read_inputs([folder / "a.pb"], window=window).merge()
    assert rows(by_index) == rows(of_whole)


def test_a_host_trace_that_begins_earlier_is_where_times_count_from(folder: Path) -> None:
    alone = read_inputs([folder / "a.pb"]).merge()
    first_us = int(alone.slices.start_ns.min()) // 1000 - 50_000
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 5}
    (folder / "host.json").write_text(json.dumps({"baseTimeNanoseconds": first_us * 1000, "traceEvents": [event]}))
    cut = read_inputs([folder / "a.pb"], folder / "host.json", window=parse_window("50ms:50.5ms")).merge()
    inside = (alone.slices.start_ns < (first_us + 50_500) * 1000) & (
        alone.slices.start_ns + alone.slices.duration_ns > (first_us + 50_000) * 1000
    )
    assert len(cut.slices) == int(inside.sum()) > 0


def test_a_name_needs_all_of_the_file(folder: Path) -> None:
    with rblnpb.open_profile(folder / "a.pb") as file:
        assert windows.stored_window(Window(around="mm"), file, None) is None
        found = windows.stored_window(Window(0, 10**6), file, None)
    assert found is not None
    assert np.diff(found[1]) == [3 * 10**6]
