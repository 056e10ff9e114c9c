"""What the time of each step was spent on, by hand."""

from __future__ import annotations

from rblnpb.converters.analyze.slices.step_breakdown import step_breakdown
from rblnpb.converters.merging import merge
from tests.support.vendor_traces import host_trace, op, span, unix_ns


def test_a_moment_belongs_to_the_first_part_that_covers_it_and_a_step_ends_with_its_work() -> None:
    found = step_breakdown(
        merge(
            None,
            host_trace(
                [
                    span("user_annotation", "ProfilerStep#1", 1000, 5000),
                    span("user_annotation", "ProfilerStep#2", 5000, 9000),
                    span("user_annotation", "enumerate(DataLoader)#x.__next__", 1000, 1500),
                    op("aten::mm", 2000, 3000),
                    span("cuda_runtime", "launch", 2500, 2600, correlation=7),
                    {**span("kernel", "mm_kernel", 2550, 6000, tid=7, correlation=7), "pid": 0},
                ]
            ),
        )
    )
    times = [(step.name, step.duration_ns, step.parts_ns) for step in found]
    assert times == [
        ("ProfilerStep#1", 5000, (3450, 0, 0, 50, 500, 500, 500)),
        ("ProfilerStep#2", 3000, (0, 0, 0, 0, 0, 0, 3000)),
    ]


def test_a_step_that_the_work_of_an_earlier_one_outlasts_has_no_time_and_the_next_begins_after_that_work() -> None:
    found = step_breakdown(
        merge(
            None,
            host_trace(
                [
                    span("user_annotation", "ProfilerStep#1", 1000, 5000),
                    span("user_annotation", "ProfilerStep#2", 5000, 6000),
                    span("user_annotation", "ProfilerStep#3", 6000, 9500),
                    op("aten::mm", 2000, 3000),
                    span("cuda_runtime", "launch", 2500, 2600, correlation=7),
                    {**span("kernel", "mm_kernel", 2550, 8000, tid=7, correlation=7), "pid": 0},
                ]
            ),
        )
    )
    assert [(step.name, step.start_ns - unix_ns(0), step.end_ns - unix_ns(0), step.parts_ns) for step in found] == [
        ("ProfilerStep#1", 1000, 8000, (5450, 0, 0, 50, 0, 500, 1000)),
        ("ProfilerStep#2", 8000, 8000, (0, 0, 0, 0, 0, 0, 0)),
        ("ProfilerStep#3", 8000, 9500, (0, 0, 0, 0, 0, 0, 1500)),
    ]


def test_without_steps_there_are_none() -> None:
    assert step_breakdown(merge(None, host_trace([op("aten::mm", 2000, 3000)]))) == ()
