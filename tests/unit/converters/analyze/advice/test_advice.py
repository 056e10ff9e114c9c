"""What costs time comes out dearest first, and what was injected comes out with its amount."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb import sim
from rblnpb.converters.analyze.advice.advice import advice_findings, advise
from rblnpb.converters.merging import merge
from rblnpb.converters.results import Advice, AdviceReport
from rblnpb.errors import Severity
from rblnpb.profile import HostActivity, Profile
from tests.support.small_run import small_profile, small_trace
from tests.support.timelines import timeline

CALLS = 400


def advised(profile: Profile) -> dict[str, list[Advice]]:
    report = advise(merge(profile))
    found: dict[str, list[Advice]] = {}
    for one in (*report.advice, *report.below_threshold):
        found.setdefault(one.code, []).append(one)
    return found


def cost_ns(found: dict[str, list[Advice]], *codes: str) -> int:
    return sum(one.cost_ns or 0 for code in codes for one in found.get(code, []))


def within_one_percent(found_ns: int, true_ns: int) -> bool:
    return true_ns > 0 and abs(found_ns - true_ns) * 100 <= true_ns


def pair(fault: str, **choices: Any) -> tuple[Profile, Profile]:
    """A recording without and with a fault."""
    return sim.simulate(calls=CALLS, **choices), sim.simulate(calls=CALLS, faults=[fault], **choices)


def lost_ns(without: Profile, injected: Profile) -> int:
    """Time that the host lost, in all: by as much the last launch is later."""
    return int((injected.launches.start_ns - without.launches.start_ns)[-1])


def test_the_small_run_is_advised_on_dearest_first() -> None:
    report = advise(merge(small_profile(), small_trace()))
    assert [(one.code, one.cost_ns, one.count, one.place) for one in (*report.advice, *report.below_threshold)] == [
        ("launch-bound", 11_700, 2, "aten::mm"),
        ("cpu-fallback", 6_000, 1, "model.py:7(forward)"),
        ("nan-inf-checks", 4_000, 1, "aten::mm"),
        ("compile-in-window", 800, 1, "mm"),
    ]
    # What is worth less than 10 µs is not worth advice, however short the window is.
    assert (len(report.advice), report.threshold_ns) == (1, 10_000)
    assert report.host_split is not None
    assert (report.window_ns, report.host_split.total_ns) == (60_000, 65_000)


@pytest.mark.parametrize("program", ["mm", "decoder", "aten::add"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_stall_is_named_with_its_amount(program: str, seed: int) -> None:
    without, stalled = pair("host-stall", program=program, seed=seed)
    found = advised(stalled)
    assert within_one_percent(cost_ns(found, "host-stall"), lost_ns(without, stalled))
    assert sum(one.count for one in found["host-stall"]) == int(
        (np.diff(stalled.launches.start_ns - without.launches.start_ns) > 0).sum()
    )
    assert "host-stall" not in advised(without)


@pytest.mark.parametrize("program", ["mm", "decoder"])
def test_fallbacks_are_named_with_their_amount_and_are_no_stall(program: str) -> None:
    without, injected = pair("fallback", program=program)
    found = advised(injected)
    base_ns = cost_ns(advised(without), "cpu-fallback", "python-tracer-fallback")
    fallen_ns = cost_ns(found, "cpu-fallback", "python-tracer-fallback") - base_ns
    assert within_one_percent(fallen_ns, lost_ns(without, injected))
    assert "host-stall" not in found
    (tracer,) = found["python-tracer-fallback"]
    assert (tracer.title, tracer.place) == ("aten::index_put_ runs on the CPU: a Python tracer is active", "model.py:57(forward)")


@pytest.mark.parametrize("program", ["mm", "decoder"])
def test_recompilations_are_named_with_their_amount_and_are_no_stall(program: str) -> None:
    without, injected = pair("recompilation", program=program)
    found = advised(injected)
    again_ns = cost_ns(found, "recompilation") - cost_ns(advised(without), "recompilation")
    assert within_one_percent(again_ns, lost_ns(without, injected))
    assert cost_ns(found, "compile-in-window") == cost_ns(advised(without), "compile-in-window")
    assert "host-stall" not in found


@pytest.mark.parametrize("program", ["mm", "decoder", "aten::add", "all_reduce"])
@pytest.mark.parametrize("npu", ["rebel100", "atom"])
def test_slow_transfers_are_named_with_their_amount(program: str, npu: str) -> None:
    without, slow = pair("slow-dma", program=program, npu=npu)
    ticks = slow.device_slices.duration_ticks.astype(np.int64) - without.device_slices.duration_ticks.astype(np.int64)
    true_ns = int(ticks[np.abs(ticks) > 2].sum()) * 10**9 // slow.clocks[0].nominal_hz
    found = advised(slow)
    assert within_one_percent(cost_ns(found, "slow-dma"), true_ns)
    assert sum(one.count for one in found["slow-dma"]) == int((np.abs(ticks) > 2).sum())
    assert "slow-dma" not in advised(without)


@pytest.mark.parametrize("program", ["mm", "decoder"])
def test_a_queue_that_overruns_is_named_with_its_amount(program: str) -> None:
    without, injected = pair("queue-overrun", program=program, drained=None)
    streamed = sim.simulate(calls=CALLS, program=program, drained=False)
    submits = [p.host_slices.duration_ns[p.host_slices.activity == HostActivity.SUBMIT].sum() for p in (streamed, injected)]
    assert within_one_percent(cost_ns(advised(injected), "queue-overrun"), int(submits[1] - submits[0]))
    assert "queue-overrun" not in advised(without) | advised(streamed)


def test_a_lost_buffer_is_named_with_its_records() -> None:
    lost = sim.simulate(calls=CALLS, faults=["lost-buffer"])
    found = advised(lost)
    (one,) = found["lost-records"]
    assert one.count == lost.dropped(lost.device_slices.kind) + lost.dropped(lost.dependencies.kind)
    assert (one.cost_ns, "host-stall" in found) == (None, False)


@pytest.mark.parametrize(
    "choices", [{}, {"drained": False}, {"program": "decoder", "threads": 3, "drained": False}, {"npu": "atom"}]
)
def test_an_undisturbed_run_has_no_stall_no_slow_transfer_and_no_overrun(choices: dict[str, Any]) -> None:
    found = advised(sim.simulate(calls=CALLS, **choices))
    assert found.keys() <= {
        *("compile-in-window", "serialised-by-profiling", "launch-bound", "cpu-fallback", "recompilation", "copy-through-host"),
    }


def test_several_faults_are_named_each_with_its_own_amount() -> None:
    faults = ["host-stall", "fallback", "recompilation", "slow-dma"]
    without = sim.simulate(calls=CALLS)
    alone = {fault: lost_ns(without, sim.simulate(calls=CALLS, faults=[fault])) for fault in faults[:3]}
    found = advised(sim.simulate(calls=CALLS, faults=faults))
    assert within_one_percent(cost_ns(found, "host-stall"), alone["host-stall"])
    assert within_one_percent(cost_ns(found, "cpu-fallback", "python-tracer-fallback"), alone["fallback"])
    assert within_one_percent(cost_ns(found, "recompilation"), alone["recompilation"])
    assert "slow-dma" in found


def order(report: AdviceReport) -> list[int | None]:
    return [one.cost_ns for one in report.advice]


def test_what_has_no_known_cost_comes_last() -> None:
    report = advise(merge(sim.simulate(calls=CALLS, faults=["lost-buffer", "host-stall"])))
    costs = order(report)
    assert costs[-1] is None
    assert costs[:-1] == sorted((cost for cost in costs if cost is not None), reverse=True)


def test_what_costs_less_than_a_thousandth_of_the_window_is_told_apart() -> None:
    report = advise(merge(sim.simulate(calls=CALLS)))
    assert report.threshold_ns == report.window_ns // 1_000
    assert all((one.cost_ns or 0) < report.threshold_ns for one in report.below_threshold)
    assert {one.code for one in report.below_threshold} == {"cpu-fallback", "recompilation", "copy-through-host"}


def test_without_anything_there_is_no_advice() -> None:
    report = advise(timeline())
    assert (report.advice, report.below_threshold, report.window_ns, report.host_split) == ((), (), 0, None)
    assert [finding.code for finding in report.findings] == ["no-host-trace"]


def test_as_findings_it_takes_nothing_from_a_verdict_and_repeats_nothing() -> None:
    findings = advice_findings(merge(sim.simulate(calls=CALLS, faults=["host-stall", "lost-buffer"])))
    assert [(finding.severity, finding.code) for finding in findings] == [
        (Severity.INFO, "host-stall"),
        (Severity.INFO, "compile-in-window"),
    ]
    assert findings[0].message.startswith("the thread that submits pauses, ")
