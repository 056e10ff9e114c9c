"""A trace that we wrote for viewers, read again: work of devices is what it was, and nothing of the host is work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rblnpb import sim
from rblnpb.converters.analyze.intervals import union_ns
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import read_inputs, write_chrome_trace, write_perfetto_trace
from rblnpb.converters.timeline import Timeline, Track
from rblnpb.profile import EngineKind, Profile
from tests.support.device_dialects import DIALECTS
from tests.support.timelines import host_trace, runtime, slices, timeline
from tests.support.vendor_traces import WORKER, Launch, op
from tests.support.vendor_traces import host_trace as torch_trace

COMPUTE = Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=0)
RUN = (Launch(1, 1500, 12_500), Launch(2, 5500, 46_500, tid=WORKER))
OPS = (op("aten::mm", 1000, 2000), op("aten::add", 5000, 6000, tid=WORKER))
WRITERS = {".json": write_chrome_trace, ".pftrace": write_perfetto_trace}

Work = tuple[int, int, int]

each_format = pytest.mark.parametrize("suffix", WRITERS)


def work_of(source: Timeline) -> Work:
    """How many slices are work, the sum of their durations, and busy time."""
    rows = np.flatnonzero(source.is_work())
    duration_ns = source.slices.duration_ns[rows]
    return len(rows), int(duration_ns.sum()), union_ns(source.slices.start_ns[rows], duration_ns)


def reread(source: Timeline, path: Path) -> Timeline:
    """The timeline of the copy that is written of a timeline."""
    WRITERS[path.suffix](source, path)
    return read_inputs([path]).merge()


# Rows of Ascend have no categories, and a Perfetto trace of them says nothing else that tells them from the host's.
@each_format
@pytest.mark.parametrize("name", sorted(DIALECTS.keys() - {"ascend"}))
def test_device_rows_of_every_maker_are_the_same_work(tmp_path: Path, name: str, suffix: str) -> None:
    dialect = DIALECTS[name]
    found = work_of(reread(merge(None, torch_trace([*OPS, *dialect.rows(RUN)])), tmp_path / f"copy{suffix}"))

    durations = [duration for kind in dialect.work.values() for duration in kind] * len(RUN)
    assert found[:2] == (len(durations), sum(durations))


def profile() -> Profile:
    return sim.simulate(program="decoder", calls=3)


@each_format
@pytest.mark.parametrize("host", [None, torch_trace(list(OPS))], ids=["alone", "with a host"])
def test_work_of_a_profile_is_the_same_work(tmp_path: Path, host: object, suffix: str) -> None:
    found = work_of(reread(merge(profile(), host), tmp_path / f"copy{suffix}"))  # type: ignore[arg-type]  # a HostTrace or none

    assert found == work_of(merge(profile())) == (894, 3_940_625, 697_243)


@each_format
def test_engines_whose_names_say_nothing_are_told_by_their_categories(tmp_path: Path, suffix: str) -> None:
    plain = profile()
    engines = tuple(replace(engine, name=f"lane {engine.engine_id}", chiplet=None) for engine in plain.engines)
    devices = tuple(replace(device, name="accelerator") for device in plain.devices)

    found = reread(merge(plain.replace(engines=engines, devices=devices)), tmp_path / f"copy{suffix}")

    assert work_of(found) == (894, 3_940_625, 697_243)


@each_format
def test_a_frame_on_the_engine_that_works_is_no_work(tmp_path: Path, suffix: str) -> None:
    plain = profile()
    compute = next(one.engine_id for one in plain.engines if one.kind is EngineKind.NEURAL_ENGINE_CLUSTERS)
    frames = plain.workload_slices
    moved = frames.replace(engine_id=np.full(len(frames), compute, frames.engine_id.dtype))

    assert work_of(reread(merge(plain.replace(workload_slices=moved)), tmp_path / f"copy{suffix}")) == (894, 3_940_625, 697_243)


@each_format
def test_no_category_of_the_host_is_work(tmp_path: Path, suffix: str) -> None:
    names = ("cpu_op", "user_annotation", "python_function", "cuda_runtime", "overhead", "Trace", "")
    host = host_trace(
        *({"ph": "X", "cat": cat, "name": "x", "ts": at, "dur": 1, "pid": "a", "tid": at} for at, cat in enumerate(names, start=5)),
        {"ph": "C", "name": "memory", "ts": 6, "pid": "a", "tid": 0, "args": {"bytes": 7}},
        {"ph": "i", "name": "Iteration Start", "ts": 6, "pid": "Traces", "tid": 0},
    )
    source = timeline(
        host,
        slices=slices({"start": 100, "duration": 20, "name": "a"}),
        runtime=runtime((90, 500, 1, 7)),
        tracks=(COMPUTE,),
        strings=("", "submit"),
    )
    found = reread(source, tmp_path / f"copy{suffix}")

    assert work_of(found) == (1, 20, 20)
    assert len({track.device for track in found.tracks}) == 1
    assert (len(found.slices), len(found.counters)) == (1, 0)
