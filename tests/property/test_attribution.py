"""Device time by frame: columns say what one list of frames a call says, and everything adds up."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.converters.analyze.attribution.attribution import WEIGHTS, attribution_table, call_stacks
from rblnpb.converters.results import AttributionTable, CallStacks, DeviceTime
from rblnpb.converters.timeline import JOIN_RULES, JOINED_RULES, Timeline
from tests.support.attribution_oracle import (
    COLUMNS,
    Arrow,
    Call,
    Frame,
    Launch,
    Work,
    merged,
    slow_coverage,
    slow_stacks,
    slow_table,
    trace,
)

NAMES = {
    "python": ("a.py(1): f", "a.py(9): g"),
    "module": ("nn.Module: A_0", "nn.Module: B_0"),
    "annotation": ("part", "a.py(1): f"),
    "op": ("aten::mm", "aten::add", "AddBackward0", "autograd::engine::evaluate_function: AddBackward0"),
}
BY = st.sampled_from(("op", "module", "python", "all"))


# Frames begin early and last, ops are short: so most ops lie in something, and some things cross.
SPANS = {"python": (4, 4, 14), "module": (4, 4, 14), "annotation": (10, 0, 12), "op": (12, 0, 6)}


@st.composite
def calls(draw: st.DrawFn) -> Call:
    kind = draw(st.sampled_from(("python", "module", "annotation", "op", "op", "op")))
    latest, shortest, longest = SPANS[kind]
    start = draw(st.integers(0, latest))
    tid = draw(st.integers(1, 2)) if kind == "op" else draw(st.sampled_from((1, 1, 1, 2)))
    sequence = draw(st.integers(-1, 1)) if kind == "op" else -1
    return Call(kind, draw(st.sampled_from(NAMES[kind])), start, start + draw(st.integers(shortest, longest)), tid, sequence)


EVALUATE, NODE = NAMES["op"][3], NAMES["op"][2]
TRAINING = (
    Call("python", "a.py(1): f", 0, 12),
    Call("module", "nn.Module: A_0", 1, 11),
    Call("op", "aten::mm", 2, 5, sequence=0),
    Call("op", "aten::add", 6, 9, sequence=1),
    Call("op", "aten::mm", 7, 8, sequence=1),
    Call("python", "a.py(9): g", 12, 30),
    *(Call("op", EVALUATE, 13, 20, tid, sequence=1) for tid in (1, 2)),
    *(Call("op", NODE, 14, 19, tid, sequence=1) for tid in (1, 2)),
    *(Call("op", EVALUATE, 20, 29, tid, sequence=0) for tid in (1, 2)),
    *(Call("op", "aten::add", 21, 25, tid) for tid in (1, 2)),
)
"""A step of training with its backward pass, on the same thread or on another; any part of it may be missing."""

ENDS = (Arrow("s", 1, 6), Arrow("f", 1, 14), Arrow("f", 1, 14, 2))
arrows = st.one_of(
    st.sampled_from(ENDS), st.builds(Arrow, st.sampled_from("sf"), st.just(1), st.integers(0, 14), st.integers(1, 2))
)
LOST = st.integers(JOINED_RULES, len(JOIN_RULES) - 1)
JOINED = st.integers(0, JOINED_RULES - 1)


@dataclass(frozen=True)
class Run:
    """What a host did, and what devices did for it."""

    calls: list[Call]
    arrows: list[Arrow]
    works: list[Work]
    launching: list[Launch]

    def merged(self) -> Timeline:
        return merged(trace(self.calls, self.arrows), self.works, self.launching)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    step = draw(st.lists(st.sampled_from(TRAINING), unique=True))
    found = [*step, *draw(st.lists(calls(), max_size=14 if not step else 5))]
    ops = st.sampled_from([None, *(number for number, call in enumerate(found) if call.kind == "op")])
    places = st.builds(Launch, ops, st.integers(0, 30), st.integers(1, 3))
    launching = draw(st.lists(places, max_size=6))
    works = []
    for op in draw(st.lists(ops, max_size=10)):
        rule = draw(LOST if op is None else JOINED)
        spans = draw(st.integers(0, 30)), draw(st.integers(0, 12))
        launch = draw(st.integers(-1, len(launching) - 1))
        works.append(Work(*spans, op, rule, draw(st.sampled_from((True, True, False))), launch=launch))
    return Run(found, draw(st.lists(arrows, max_size=5)), works, launching)


def as_rows(table: AttributionTable) -> dict[Frame, dict[str, int]]:
    frames = [(frame.name, frame.kind) for frame in table.frame]
    assert len(set(frames)) == len(frames)
    return {frame: {name: getattr(table, name)[row] for name in COLUMNS} for row, frame in enumerate(frames)}


def as_weights(stacks: CallStacks) -> dict[tuple[str, ...], int]:
    paths: list[tuple[str, ...]] = []
    for parent, frame in zip(stacks.parent.tolist(), stacks.frame.tolist(), strict=True):
        assert parent < len(paths)
        paths.append(((*paths[parent],) if parent >= 0 else ()) + (stacks.frames[frame].name,))
    found: dict[tuple[str, ...], int] = {}
    for path, weight_ns in zip(paths, stacks.weight_ns, strict=True):
        if weight_ns:
            found[path] = found.get(path, 0) + weight_ns
    return found


@given(runs(), BY)
@settings(max_examples=200)
def test_the_table_is_what_lists_of_frames_say(run: Run, by: str) -> None:
    table = attribution_table(run.merged(), by)

    assert as_rows(table) == slow_table(run.calls, run.arrows, run.works, run.launching, by)


@given(runs(), BY, st.sampled_from(WEIGHTS))
@settings(max_examples=200)
def test_stacks_weigh_what_lists_of_frames_say(run: Run, by: str, weight: str) -> None:
    stacks = call_stacks(run.merged(), by, weight, with_stages=False)

    assert as_weights(stacks) == slow_stacks(run.calls, run.arrows, run.works, run.launching, by, weight)


@given(runs(), BY)
def test_coverage_is_counted_slice_by_slice(run: Run, by: str) -> None:
    coverage = attribution_table(run.merged(), by).coverage

    slow = slow_coverage(run.calls, run.arrows, run.works, run.launching, by)
    assert {name: astuple(getattr(coverage, name)) for name in slow} == slow
    matched = sum(launch.call is not None for launch in run.launching)
    assert (coverage.launches, coverage.launches_on_ops) == (len(run.launching), matched)


@given(runs(), BY)
def test_attributed_and_unattributed_add_up_to_all_there_is(run: Run, by: str) -> None:
    timeline = run.merged()

    table = attribution_table(timeline, by)

    cover, zero = table.coverage, DeviceTime(0, 0, 0)
    both = zip(astuple(cover.on_ops), astuple(cover.unattributed), strict=True)
    assert tuple(map(sum, both)) == astuple(cover.total)
    rules = zip(*(astuple(time) for time in (zero, *cover.by_rule.values())), strict=True)
    assert tuple(map(sum, rules)) == astuple(cover.total)
    assert (sum(table.slices_self), sum(table.device_self_sum_ns)) == (cover.total.slices, cover.total.sum_ns)
    weights = [sum(call_stacks(timeline, by, weight, with_stages=weight != "host-self").weight_ns) for weight in WEIGHTS]
    assert weights == [cover.total.sum_ns, cover.total.busy_ns, sum(table.host_self_ns)]


@pytest.mark.parametrize("by", ["op", "module", "python", "all"])
def test_without_a_host_trace_everything_is_unattributed(by: str) -> None:
    rule = JOIN_RULES.index("no-host-trace")

    table = attribution_table(merged(None, [Work(0, 5, None, rule), Work(3, 5, None, rule)]), by)

    assert [frame.name for frame in table.frame] == ["(unattributed: no-host-trace)"]
    assert (table.device_self_sum_ns, table.device_total_union_ns) == ((10,), (8,))
