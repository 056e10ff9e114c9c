"""Which op, module or Python frame the device's time comes from."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rblnpb.converters.analyze.attribution.attribution import attribution_table, call_stacks
from rblnpb.converters.results import AttributionTable, DeviceTime
from rblnpb.converters.timeline import JOIN_RULES, Track
from tests.support.attribution_oracle import Call, Launch, Work, merged, trace
from tests.support.timelines import slices, timeline

CALLS = (
    Call("python", "train", 0, 100),
    Call("module", "nn.Module: L_0", 10, 50),
    Call("op", "aten::linear", 20, 40),
    Call("op", "aten::mm", 25, 30),
    Call("op", "aten::add_", 60, 70),
)
MM, ADD = 3, 4
ON_NO_OP = JOIN_RULES.index("launch-on-no-op")
WORKS = (Work(0, 10, MM), Work(5, 10, MM), Work(12, 10, ADD), Work(50, 7, None, ON_NO_OP))


def table(
    by: str, calls: Sequence[Call] = CALLS, works: Sequence[Work] = WORKS, launching: Sequence[Launch] = ()
) -> AttributionTable:
    return attribution_table(merged(trace(calls), works, launching), by)


def column(found: AttributionTable, *names: str) -> dict[str, tuple[int, ...]]:
    return {frame.name: tuple(getattr(found, name)[row] for name in names) for row, frame in enumerate(found.frame)}


DEVICE = ("device_self_sum_ns", "device_self_union_ns", "device_total_sum_ns", "device_total_union_ns")


def test_by_op_work_is_on_the_innermost_op_and_in_the_totals_of_those_around_it() -> None:
    assert column(table("op"), *DEVICE) == {
        "aten::linear": (0, 0, 20, 15),
        "aten::mm": (20, 15, 20, 15),
        "aten::add_": (10, 10, 10, 10),
        "(no op)": (0, 0, 0, 0),
        "(unattributed: launch-on-no-op)": (7, 7, 7, 7),
    }


def test_by_module_work_in_none_has_a_row() -> None:
    assert column(table("module"), *DEVICE) == {
        "nn.Module: L_0": (20, 15, 20, 15),
        "(no module)": (10, 10, 10, 10),
        "(unattributed: launch-on-no-op)": (7, 7, 7, 7),
    }


def test_by_everything_threads_are_rows() -> None:
    found = column(table("all"), "device_total_sum_ns", "device_total_union_ns")
    assert (found["thread 1"], found["train"], found["nn.Module: L_0"]) == ((30, 22), (30, 22), (20, 15))


def test_the_host_stands_beside_it() -> None:
    names = ("calls", "host_self_ns", "host_total_ns")
    assert column(table("op"), *names) == {
        "aten::linear": (1, 15_000, 20_000),
        "aten::mm": (1, 5_000, 5_000),
        "aten::add_": (1, 10_000, 10_000),
        "(no op)": (0, 70_000, 70_000),
        "(unattributed: launch-on-no-op)": (0, 0, 0),
    }


def test_a_frame_that_calls_itself_is_counted_once_in_its_total() -> None:
    calls = (Call("op", "aten::to", 0, 10), Call("op", "aten::to", 2, 8), Call("op", "aten::copy_", 3, 5))
    found = column(
        table("op", calls, [Work(0, 9, 2)], [Launch(2)]), "calls", "device_total_sum_ns", "launches_total", "host_total_ns"
    )
    assert (found["aten::to"], found["aten::copy_"]) == ((2, 9, 1, 10_000), (1, 9, 1, 2_000))


def test_launches_are_counted_where_they_were_made() -> None:
    found = table("op", launching=[Launch(MM), Launch(MM), Launch(ADD), Launch()])
    assert column(found, "launches_self", "launches_total")["aten::linear"] == (0, 2)
    assert (found.coverage.launches, found.coverage.launches_on_ops) == (4, 3)


def test_coverage_says_by_which_rule_and_how_much_has_a_module_and_a_frame() -> None:
    cover = table("op").coverage
    assert cover.total == DeviceTime(4, 37, 29)
    assert (cover.on_ops, cover.unattributed) == (DeviceTime(3, 30, 22), DeviceTime(1, 7, 7))
    assert cover.by_rule == {"launch-id": DeviceTime(3, 30, 22), "launch-on-no-op": DeviceTime(1, 7, 7)}
    assert (cover.in_module, cover.in_python) == (DeviceTime(2, 20, 15), DeviceTime(3, 30, 22))
    assert (cover.in_module_by_forward, cover.in_python_by_forward) == (DeviceTime(0, 0, 0), DeviceTime(0, 0, 0))


def test_what_runs_backward_counts_in_the_module_of_the_forward_pass_and_apart() -> None:
    calls = (Call("module", "nn.Module: L_0", 0, 9), Call("op", "aten::mm", 1, 8, sequence=1))
    backward = (Call("op", "MmBackward0", 20, 30, 2, sequence=1),)
    found = table("module", (*calls, *backward), [Work(0, 5, 1), Work(10, 3, 2)])
    names = ("device_self_sum_ns", "device_total_sum_ns", "device_total_by_forward_ns")
    assert column(found, *names) == {"nn.Module: L_0": (8, 8, 3), "(no module)": (0, 0, 0)}
    assert (found.coverage.in_module, found.coverage.in_module_by_forward) == (DeviceTime(1, 5, 5), DeviceTime(1, 3, 3))


def test_work_that_python_launched_in_no_op_is_on_no_op_and_in_its_frame() -> None:
    calls = (Call("python", "replay", 0, 20), Call("op", "aten::mm", 1, 5))
    works = [Work(0, 8, 1), Work(8, 90, None, ON_NO_OP, launch=0)]
    found = {by: column(table(by, calls, works, [Launch(at=10)]), "device_self_sum_ns", "launches_self") for by in ("op", "python")}
    cover = table("op", calls, works, [Launch(at=10)]).coverage
    assert found["op"]["(unattributed: launch-on-no-op)"] == (90, 0)
    assert found["python"] == {"replay": (98, 1)}
    assert (cover.unattributed, cover.in_python) == (DeviceTime(1, 90, 90), DeviceTime(2, 98, 98))
    assert cover.in_python_on_no_op == DeviceTime(1, 90, 90)


def test_sums_beyond_64_bits_are_exact() -> None:
    long = (1 << 62) - 1
    found = table("op", works=[Work(0, long, MM), Work(0, long, MM), Work(0, long, MM)])
    assert column(found, "device_self_sum_ns", "device_self_union_ns")["aten::mm"] == (3 * long, long)


def test_calls_that_cross_leave_no_time_below_zero_and_are_told() -> None:
    calls = (Call("op", "outer", 0, 10), Call("op", "a", 0, 7), Call("op", "b", 3, 10))
    found = table("op", calls, [])
    assert column(found, "host_self_ns")["outer"] == (0,)
    assert [(finding.code, finding.count) for finding in found.findings] == [("crossing-calls", 1)]


@pytest.mark.parametrize(
    ("by", "calls", "codes"),
    [
        ("op", CALLS[3:], []),
        ("python", CALLS[3:], ["no-python-frames"]),
        ("module", CALLS[3:], ["no-python-frames"]),
        ("module", (CALLS[0], *CALLS[3:]), ["no-modules"]),
        ("all", (*CALLS, Call("annotation", "nccl:all_reduce", 0, 5)), ["range-around-nothing"]),
    ],
)
def test_what_a_trace_lacks_is_told(by: str, calls: Sequence[Call], codes: list[str]) -> None:
    assert [finding.code for finding in table(by, calls, []).findings] == codes


def test_rows_stand_in_order_of_first_appearance_in_the_file() -> None:
    calls = (Call("op", "late", 50, 60), Call("op", "early", 0, 10))
    assert [frame.name for frame in table("op", calls, []).frame] == ["late", "early"]


def weights(by: str, weight: str, works: Sequence[Work] = WORKS, *, with_stages: bool = False) -> dict[str, int]:
    stacks = call_stacks(merged(trace(CALLS), works), by, weight, with_stages=with_stages)
    paths: list[str] = []
    for parent, frame in zip(stacks.parent.tolist(), stacks.frame.tolist(), strict=True):
        paths.append((f"{paths[parent]} > " if parent >= 0 else "") + stacks.frames[frame].name)
    return {path: weight_ns for path, weight_ns in zip(paths, stacks.weight_ns, strict=True) if weight_ns}


def test_stacks_weigh_the_sum_or_the_part_of_the_busy_time() -> None:
    lost = "(unattributed: launch-on-no-op)"
    mm, add = "thread 1 > aten::linear > aten::mm", "thread 1 > aten::add_"
    assert weights("op", "device-sum") == {mm: 20, add: 10, lost: 7}
    assert weights("op", "device-union") == {mm: 15, add: 7, lost: 7}


def test_stacks_weigh_the_time_of_the_host() -> None:
    assert weights("module", "host-self") == {"thread 1": 60_000, "thread 1 > nn.Module: L_0": 40_000}


def test_the_stage_is_the_innermost_frame_on_request() -> None:
    works = [Work(0, 3, MM, stage="mm_0"), Work(5, 4, MM, stage="mm_1"), Work(9, 5, ADD, stage="mm_0")]
    assert weights("module", "device-sum", works, with_stages=True) == {
        "thread 1 > nn.Module: L_0 > mm_0": 3,
        "thread 1 > nn.Module: L_0 > mm_1": 4,
        "thread 1 > mm_0": 5,
    }


def test_work_without_a_stage_has_its_name_or_its_engine_as_one() -> None:
    rows = slices({"name": "gemm", "duration": 1, "rule": 6}, {"duration": 2, "rule": 6, "track": 1})
    tracks = tuple(Track("rbln:0", name, name.lower(), is_work=True, order=row) for row, name in enumerate(("NEC", "DMA")))
    stacks = call_stacks(timeline(None, slices=rows, tracks=tracks), "op", "device-sum", with_stages=True)
    names = [stacks.frames[frame].name for frame in stacks.frame.tolist()]
    assert list(zip(names, stacks.weight_ns, strict=True))[1:] == [("gemm", 1), ("DMA", 2)]
