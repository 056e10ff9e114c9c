"""The vendor's .pb with a trace that has no device rows, as on an ATOM: joined by order, and said to be."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest

from rblnpb.converters.merging import merge
from rblnpb.converters.sources.vendor_pb import read_vendor_profile
from rblnpb.converters.timeline import JOIN_RULES, ClockQuality, Timeline
from rblnpb.errors import ClockError
from rblnpb.profile import Profile
from tests.support.vendor_profiles import NEC, Layout, Slice, host_rows, run, vendor_file
from tests.support.vendor_traces import annotation, host_trace, op, unix_ns

STARTS = (0, 13_000, 21_000, 40_000, 44_500)
"""When calls began; no two distances are alike."""
LATENCIES = (700, 900, 720, 1500, 650)
AHEAD_NS = 60_000


def slices(starts: Sequence[int] = STARTS) -> list[Slice]:
    made = []
    for call, at in enumerate(starts):
        made += [Slice(f"{call}_mm_0", NEC, at, at + 1000), Slice(f"{call}_mm_1", NEC, at + 1200, at + 2000)]
    return made


def profile(starts: Sequence[int] = STARTS, layout: Layout | None = None) -> Profile:
    return read_vendor_profile(io.BytesIO(vendor_file(slices(starts), layout)))


def launches(calls: Sequence[int] = range(5)) -> list[int]:
    return [STARTS[call] + AHEAD_NS - LATENCIES[call] for call in calls]


def codes(timeline: Timeline) -> list[str]:
    return [finding.code for finding in timeline.findings]


def rules(timeline: Timeline) -> list[str]:
    return [JOIN_RULES[row] for row in timeline.slices.rule.tolist()]


def test_the_k_th_call_is_the_k_th_marker() -> None:
    timeline = merge(profile(), host_trace(host_rows(launches())))
    assert timeline.slices.launch.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert (set(rules(timeline)), codes(timeline)) == ({"paired"}, ["joined-by-order"])
    # No call may begin before its launch: the quickest one begins with it.
    assert timeline.slices.start_ns[-2] == unix_ns(launches()[4])
    assert timeline.slices.start_ns[0] - unix_ns(launches()[0]) == 50
    assert timeline.clocks == (ClockQuality("device clock of the file", 5, 850, 850, 0.0, 0, 0, basis="launch-order"),)
    assert timeline.slices.event.tolist() == [-1] * 10


def test_markers_may_stand_in_any_order() -> None:
    timeline = merge(profile(), host_trace(host_rows(launches())[::-1]))
    assert timeline.slices.launch.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert timeline.launches.launch_id.tolist() == [1, 2, 3, 4, 5]


def test_calls_before_the_trace_began_are_of_no_launch() -> None:
    timeline = merge(profile(), host_trace(host_rows(launches((2, 3, 4)))))
    assert timeline.slices.launch.tolist() == [-1] * 4 + [0, 0, 1, 1, 2, 2]
    assert rules(timeline)[0] == "no-link"
    assert codes(timeline)[:2] == ["joined-by-order", "calls-without-launch"]


def test_launches_without_a_call_are_named() -> None:
    timeline = merge(profile(STARTS[1:]), host_trace(host_rows(launches())))
    assert timeline.slices.launch.tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert [(one.code, one.count) for one in timeline.findings][1] == ("launches-without-call", 1)


def test_calls_that_name_their_launches_are_joined_by_them() -> None:
    made = run("newer", 3)
    rows = host_rows([70_000, 80_000, 90_000])
    timeline = merge(read_vendor_profile(io.BytesIO(vendor_file(made[5:]))), host_trace(rows))
    assert timeline.slices.launch.tolist() == [1] * 5 + [2] * 5
    assert set(rules(timeline)) == {"launch-id"}
    assert "their launch ids alone join 2 calls" in timeline.findings[0].message


def test_without_markers_the_ranges_of_compiled_graphs_are_launches_and_bound_the_clock() -> None:
    regions = [op(f"Torch-Compiled Region: {call}/0", at, at + 4000) for call, at in enumerate(launches())]
    timeline = merge(profile(), host_trace([*regions, op("aten::add", 0, 50)]))
    assert [timeline.strings[row] for row in timeline.launches.compile_id.tolist()] == ["0/0", "1/0", "2/0", "3/0", "4/0"]
    assert timeline.slices.host_row.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    # Call 3 began 850 ns later than the quickest, and ended 4000 - 2000 - 850 ns before its range did.
    assert (timeline.clocks[0].residual_ns, timeline.clocks[0].uncertainty_ns) == (850, 1150)


def test_an_annotation_owns_no_call() -> None:
    regions = [annotation(f"Dispatched Region: {call}/0", at, at + 4000) for call, at in enumerate(launches())]
    timeline = merge(profile(), host_trace([*regions, op("aten::add", 0, 50)]))
    assert set(rules(timeline)) == {"launch-on-no-op"}
    assert "unmatched-annotation-only" in codes(timeline)


def test_without_either_operators_that_are_called_like_layers_are_launches() -> None:
    rows = [op("aten::mm", at, at + 4000) for at in launches()] + [op("aten::add", at + 5000, at + 6000) for at in launches()]
    timeline = merge(profile(), host_trace(rows))
    assert timeline.slices.host_row.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            host_rows([60_000, 61_000, 62_000, 63_000, 64_000]),
            "the 5 calls of the profile and the launches of <bytes> do not fit each other",
        ),
        ([op("aten::add", 0, 50)], "the 5 calls of the profile and"),
        # Two shifts do as well as each other.
        (host_rows([*launches(), *(at + 50_000 for at in launches())]), "A trace and all .pb files of it are needed"),
    ],
)
def test_what_does_not_fit_is_refused(rows: list[Any], text: str) -> None:
    with pytest.raises(ClockError, match=text):
        merge(profile(), host_trace(rows))


def test_one_call_could_be_any_of_several_launches() -> None:
    with pytest.raises(ClockError, match="the 1 call of the profile and"):
        merge(profile(STARTS[:1]), host_trace(host_rows(launches())))
    assert merge(profile(STARTS[:1]), host_trace(host_rows(launches((0,))))).slices.launch.tolist() == [0, 0]


def test_records_that_tell_no_calls_apart_are_refused() -> None:
    made = [Slice("mm", NEC, at, at + 100) for at in STARTS]
    with pytest.raises(ClockError, match="tell no calls apart"):
        merge(read_vendor_profile(io.BytesIO(vendor_file(made))), host_trace(host_rows(launches())))


def test_clocks_that_nothing_relates_are_refused() -> None:
    with pytest.raises(ClockError, match="tick on 2 clocks"):
        merge(profile(layout=Layout(clock=64, sequences=2)), host_trace(host_rows(launches())))
