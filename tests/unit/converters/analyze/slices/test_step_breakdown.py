"""What the time of each step was spent on, by hand."""

from __future__ import annotations

from rblnpb.converters.analyze.slices.step_breakdown import step_breakdown
from rblnpb.converters.merging import merge
from rblnpb.converters.results import StepBreakdown
from tests.support.vendor_traces import Json, host_trace, op, span, unix_ns


def steps(work_until_ns: int, *events: Json) -> tuple[StepBreakdown, ...]:
    """Of a trace of these events and an op whose launch keeps the device busy for so long."""
    return step_breakdown(
        merge(
            None,
            host_trace(
                [
                    *events,
                    op("aten::mm", 2000, 3000),
                    span("cuda_runtime", "launch", 2500, 2600, correlation=7),
                    {**span("kernel", "mm_kernel", 2550, work_until_ns, tid=7, correlation=7), "pid": 0},
                ]
            ),
        )
    )


def annotation(name: str, start_ns: int, end_ns: int) -> Json:
    return span("user_annotation", name, start_ns, end_ns)


def test_a_moment_belongs_to_the_first_part_that_covers_it_and_a_step_ends_with_its_work() -> None:
    found = steps(
        6000,
        annotation("ProfilerStep#1", 1000, 5000),
        annotation("ProfilerStep#2", 5000, 9000),
        annotation("enumerate(DataLoader)#x.__next__", 1000, 1500),
    )
    assert [(step.name, step.duration_ns, step.parts_ns) for step in found] == [
        ("ProfilerStep#1", 5000, (3450, 0, 0, 50, 500, 500, 500)),
        ("ProfilerStep#2", 3000, (0, 0, 0, 0, 0, 0, 3000)),
    ]


def test_a_step_that_the_work_of_an_earlier_one_outlasts_has_no_time_and_the_next_begins_after_that_work() -> None:
    found = steps(
        8000,
        annotation("ProfilerStep#1", 1000, 5000),
        annotation("ProfilerStep#2", 5000, 6000),
        annotation("ProfilerStep#3", 6000, 9500),
    )
    assert [(step.name, step.start_ns - unix_ns(0), step.end_ns - unix_ns(0), step.parts_ns) for step in found] == [
        ("ProfilerStep#1", 1000, 8000, (5450, 0, 0, 50, 0, 500, 1000)),
        ("ProfilerStep#2", 8000, 8000, (0, 0, 0, 0, 0, 0, 0)),
        ("ProfilerStep#3", 8000, 9500, (0, 0, 0, 0, 0, 0, 1500)),
    ]


def test_without_steps_there_are_none() -> None:
    assert step_breakdown(merge(None, host_trace([op("aten::mm", 2000, 3000)]))) == ()
