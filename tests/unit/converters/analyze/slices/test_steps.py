"""Steps of the host, and which step submitted what, on timelines made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.slices.steps import NO_STEP, WHOLE_WINDOW, StepGroups, find_steps, phase, step_groups, step_phases
from rblnpb.converters.timeline import HostTrace
from tests.support.slice_summary_oracle import members
from tests.support.timelines import host_trace, launches, slices, timeline


def event(name: str, start: int, end: int, tid: int = 1, category: str = "user_annotation") -> dict[str, Any]:
    """A range, in microseconds."""
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": end - start}


def steps_of(*events: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Name, start and end of each step, in microseconds."""
    steps = find_steps(host_trace(*events))
    assert steps is not None
    return [
        (name, start // 1000, end // 1000)
        for name, start, end in zip(steps.name, steps.start_ns.tolist(), steps.end_ns.tolist(), strict=True)
    ]


SERVING = event("execute_new_2_cached_0", 10, 20)
NEWER = event("execute_context_0(0)_generation_4(4)", 30, 40)
DETAILED = event("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk9sqsq32sqsk9)", 50, 60)
PROFILER = event("ProfilerStep#3", 0, 100)
REGION = event("Torch-Compiled Region: 0/0", 12, 18, category="cpu_op")
DISPATCHED = event("Dispatched Region: 0/1", 22, 28, category="cpu_op")
NAMED = event("train", 5, 95)
OP = event("aten::mm", 13, 14, category="cpu_op")


def test_ranges_of_a_server_come_first_in_any_of_their_spellings() -> None:
    assert [name for name, *_ in steps_of(PROFILER, SERVING, NEWER, DETAILED, REGION, NAMED, OP)] == [
        SERVING["name"],
        NEWER["name"],
        DETAILED["name"],
    ]


def test_then_windows_of_the_profiler_then_compiled_regions_then_what_somebody_named() -> None:
    assert steps_of(PROFILER, REGION, NAMED, OP) == [("ProfilerStep#3", 0, 100)]
    assert steps_of(REGION, DISPATCHED, NAMED, OP) == [("Torch-Compiled Region: 0/0", 12, 18), ("Dispatched Region: 0/1", 22, 28)]
    assert steps_of(NAMED, OP) == [("train", 5, 95)]
    assert find_steps(host_trace(OP, event("forward", 0, 9, category="python_function"))) is None


def test_of_ranges_within_each_other_the_outermost_counts_on_each_thread() -> None:
    found = steps_of(
        event("inner", 2, 5), event("outer", 0, 9), event("other", 3, 4, tid=2), event("crossing", 8, 12), event("same", 0, 9)
    )
    assert found == [("outer", 0, 9), ("other", 3, 4), ("crossing", 8, 12)]


@pytest.mark.parametrize(
    ("name", "is_of"),
    [
        ("execute_new_1_cached_0", "prefill"),
        ("execute_new_0_cached_1", "decode"),
        ("execute_new_1_cached_7", "mixed"),
        ("execute_new_0_cached_0", ""),
        (NEWER["name"], "decode"),
        (DETAILED["name"], "decode"),
        ("execute_context_2(64)_generation_0(0)", "prefill"),
        ("train", ""),
    ],
)
def test_a_servers_step_prefills_when_it_has_new_requests_and_decodes_when_it_has_running_ones(name: str, is_of: str) -> None:
    assert phase(name) == is_of


def grouped(host: HostTrace | None, launched: list[dict[str, int]], *rows: dict[str, Any]) -> StepGroups:
    return step_groups(timeline(host, slices=slices(*rows), launches=launches(*launched)))


def by_name(groups: StepGroups) -> dict[str, list[int]]:
    return {name: rows for (name, _), rows in members(groups.groups).items()}


def test_device_time_is_of_the_step_that_launched_it_whenever_it_ran() -> None:
    host = host_trace(event("ProfilerStep#1", 0, 10), event("ProfilerStep#2", 10, 20))
    launched = [{"start": 9_999}, {"start": 10_000}, {"start": 20_000}]
    groups = grouped(host, launched, {"launch": 0, "start": 90_000}, {"launch": 1, "start": 15_000}, {"launch": 2})
    assert by_name(groups) == {"ProfilerStep#1": [0], "ProfilerStep#2": [1], NO_STEP: [2]}
    assert groups.launch_count.tolist() == [1, 1, ABSENT]
    assert (groups.start_ns.tolist(), groups.duration_ns.tolist()) == ([0, 10_000, ABSENT], [10_000, 10_000, ABSENT])


def test_what_runs_after_the_end_of_its_step_is_counted_beside() -> None:
    host = host_trace(event("ProfilerStep#1", 0, 10))
    rows = [{"launch": 0, "start": start, "duration": 4_000} for start in (5_000, 8_000, 12_000)]
    assert grouped(host, [{"start": 0}], *rows).carried_over_ns.tolist() == [0 + 2_000 + 4_000]


def test_a_launch_on_a_thread_without_steps_is_of_the_only_step_that_is_open_then() -> None:
    host = host_trace(event("a", 0, 10), event("b", 5, 20, tid=2))
    launched = [{"start": at, "tid": tid} for at, tid in ((1_000, 9), (7_000, 9), (7_000, 1), (7_000, 2), (15_000, 1))]
    groups = grouped(host, launched, *({"launch": launch} for launch in range(5)))
    assert by_name(groups) == {"a": [0, 2], "b": [3, 4], NO_STEP: [1]}


def test_a_process_that_is_not_known_is_no_other_one() -> None:
    host = host_trace(event("a", 0, 10), event("b", 0, 10, tid=2))
    launched = [{"start": 1_000, "pid": pid} for pid in (1, 0, 7)]
    assert by_name(grouped(host, launched, *({"launch": at} for at in range(3)))) == {"a": [0, 1], "b": [], NO_STEP: [2]}


def test_ids_that_traces_write_as_text_are_ids_all_the_same() -> None:
    host = host_trace({**event("a", 0, 10), "tid": "1"}, event("b", 0, 10, tid=2), {**event("c", 0, 9), "tid": "Spans"})
    assert by_name(grouped(host, [{"start": 1_000}], {"launch": 0})) == {"a": [0], "b": [], "c": []}


def test_without_a_launch_the_op_tells_and_without_either_nothing_does() -> None:
    host = host_trace(event("train", 0, 10), OP | {"ts": 3})
    groups = grouped(host, [], {"host_row": 1}, {})
    assert by_name(groups) == {"train": [0], "(unknown)": [1]}


def test_without_steps_the_whole_window_is_one() -> None:
    rows = ({"start": 7, "duration": 3}, {"start": 5, "duration": 1})
    for host in (None, host_trace(OP)):
        groups = grouped(host, [{"start": 0}], *rows)
        assert by_name(groups) == {WHOLE_WINDOW: [0, 1]}
        assert [column.tolist() for column in (groups.start_ns, groups.duration_ns, groups.launch_count)] == [[5], [5], [1]]
    assert len(grouped(None, []).groups) == 0


def test_prefill_and_decode_are_apart() -> None:
    names = ("execute_new_2_cached_0", "execute_new_0_cached_2", "execute_new_1_cached_2", "execute_new_0_cached_1")
    host = host_trace(*(event(name, 10 * at, 10 * at + 9) for at, name in enumerate(names)))
    found = {name: groups.tolist() for name, groups in step_phases(grouped(host, [], {}))}
    assert found == {"prefill": [0], "mixed": [2], "decode": [1, 3]}
    assert np.array(grouped(host, [], {}).is_step).tolist() == [True] * 4 + [False]
