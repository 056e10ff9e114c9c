"""Idle time of simulated runs: what was done to them is what comes out, to the nanosecond."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from rblnpb import converters, sim
from rblnpb.converters.pipeline import Idle
from rblnpb.errors import UsageError
from rblnpb.profile import Profile
from tests.support.shared_traces import BUNDLED_TRACE


def idle(profile: Profile, **options: Any) -> Idle:
    return converters.idle(converters.merge(profile), **options)


def injected(fault: str, cause: str) -> tuple[int, int, Idle]:
    """What a cause gained by an injection, what the host lost by it (launches came so much later), and the report with it.

    Other causes must not gain more than the clocks of both recordings may move their borders.
    """
    profiles = [sim.simulate(program="mm", calls=64, seed=5, faults=faults) for faults in ((), (fault,))]
    without, with_it = (idle(profile) for profile in profiles)
    before, after = ({one.cause: one for one in found.values.causes} for found in (without, with_it))
    for other in set(after) - {cause}:
        margin_ns = 2 * (after[other].uncertainty_ns or 0) + 10
        assert abs(after[other].idle_ns - before[other].idle_ns) <= margin_ns
    lost_ns = [int(np.diff(profile.launches.start_ns).sum()) for profile in profiles]
    return after[cause].idle_ns - before[cause].idle_ns, lost_ns[1] - lost_ns[0], with_it


def test_a_host_that_pauses_leaves_the_queue_empty_as_long() -> None:
    gained_ns, lost_ns, _ = injected("host-stall", "queue-empty")
    assert gained_ns == lost_ns > 1_000_000


def test_operators_that_fall_back_are_waited_for_under_their_names() -> None:
    gained_ns, lost_ns, found = injected("fallback", "waiting-for-host")
    assert gained_ns == lost_ns > 100_000
    (cause,) = (one for one in found.values.causes if one.cause == "waiting-for-host")
    assert cause.steps == {"fallback": cause.idle_ns}
    assert {"aten::pow.Tensor_Scalar", "aten::div.Tensor", "aten::index_put_"} <= {name.name for name in cause.names}


def test_programs_that_are_compiled_again_are_the_runtimes() -> None:
    gained_ns, lost_ns, found = injected("recompilation", "runtime")
    assert gained_ns == lost_ns > 10_000_000
    assert found.values.gaps[0].parts[0].evidence["activity"] in ("compile", "recompilation")


def test_a_lost_buffer_is_told_as_lost_and_not_as_idle() -> None:
    profile = sim.simulate(program="mm", calls=64, seed=5, faults=["lost-buffer"])
    found = idle(profile)
    (gap,) = (gap for gap in found.values.gaps if gap.parts[0].cause == "recording-lost")
    assert gap == found.values.gaps[0]
    assert [finding.code for finding in found.values.findings] == ["records-lost", "serialised"]


def test_a_drained_recording_waits_for_itself_and_an_overlapped_one_does_not() -> None:
    found = [idle(sim.simulate(program="mm", calls=20, drained=is_drained)).values for is_drained in (True, False)]
    assert ["serialised-by-profiling" in {cause.cause for cause in values.causes} for values in found] == [True, False]


@pytest.mark.parametrize("by", ["device", "engine"])
@pytest.mark.parametrize("program", ["mm", "decoder", "all_reduce"])
def test_causes_add_up_to_the_idle_time(program: str, by: str) -> None:
    values = idle(sim.simulate(program=program, calls=12, drained=False), by=by).values
    lanes: Any = values.devices if by == "device" else values.engines
    assert sum(cause.idle_ns for cause in values.causes) == sum(lane.all.idle_ns for lane in lanes) > 0


def test_with_a_host_trace_ops_are_to_blame() -> None:
    host = converters.read_host(BUNDLED_TRACE)
    profile = sim.simulate(launches=converters.launch_plan(host))
    found = converters.idle(converters.merge(profile, host)).values
    (waiting,) = (cause for cause in found.causes if cause.cause == "waiting-for-host")
    assert set(waiting.steps) == {"before-op", "inside-op"}
    assert waiting.idle_ns > found.all.idle_ns // 2
    assert waiting.uncertainty_ns is not None
    assert 0 < waiting.uncertainty_ns < waiting.idle_ns // 50
    assert "aten::mm" in {name.name for name in waiting.names}
    assert found.all == found.launched_in_window


def test_engines_wait_for_engines_as_the_compiler_fixed_it() -> None:
    values = idle(sim.simulate(program="mm", calls=8), by="engine").values
    clusters = next(engine for engine in values.engines if engine.name == "Neural Engine Clusters (chiplet 0)")
    (waits,) = (cause for cause in clusters.causes if cause.cause == "dependency")
    # The arguments come one after the other, so the last transfer is the one that is waited for.
    assert [name.name for name in waits.names] == ["Task DMA (chiplet 1)"]


def test_text_json_and_csv_speak_of_the_same_gaps() -> None:
    found = idle(sim.simulate(program="mm", calls=4), top=2)
    assert str(found) == found.text()
    gaps = json.loads(found.to_json())["gaps"]
    lines = found.to_csv().splitlines()[1:]
    assert [gap["start_ns"] for gap in gaps] == [int(line.split(",")[2]) for line in lines]
    assert "Longest gaps: 2 of 19" in found.text()


@pytest.mark.parametrize(("options", "text"), [({"by": "stage"}, "not of 'stage'"), ({"min_gap_ns": -1}, "-1 is no threshold")])
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        idle(sim.simulate(), **options)


def test_what_bounds_the_device_stands_beside_its_idle_time() -> None:
    found = idle(sim.simulate(program="decoder", calls=2))
    assert found.bounds is not None
    (verdict,) = found.bounds.whole.verdict
    assert f"\nWhat bounds the device while it works: {verdict} (" in found.text()
    assert json.loads(found.to_json())["bounds"]["bound"] == verdict
