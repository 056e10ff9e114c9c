"""Programs and calls of slices, on timelines made by hand."""

from __future__ import annotations

from typing import Any

from rblnpb.converters.analyze.slices.program_groups import call_groups, program_groups
from rblnpb.converters.timeline import Track
from tests.support.slice_summary_oracle import members
from tests.support.timelines import launches, slices, timeline

STRINGS = ("", "decoder", "sampler", "0/0", "1/0")
TRACKS = (
    Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Device Workload", "workload", is_work=False, order=1),
    Track("rbln:1", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=2),
)


def source(*rows: dict[str, Any], frames: tuple[dict[str, Any], ...] = (), launched: tuple[dict[str, Any], ...] = ()) -> Any:
    return timeline(slices=slices(*rows), frames=slices(*frames), launches=launches(*launched), tracks=TRACKS, strings=STRINGS)


def test_a_slice_is_of_the_program_that_its_launch_submitted() -> None:
    launched = ({"name": 1, "compile_id": 3}, {"name": 1, "compile_id": 4}, {"name": 2}, {"name": 1, "compile_id": 3})
    rows = [{"launch": launch} for launch in (0, 1, 2, 3, -1)]
    assert members(program_groups(source(*rows, launched=launched))) == {
        ("(unknown)", ""): [4],
        ("decoder", "0/0"): [0, 3],
        ("decoder", "1/0"): [1],
        ("sampler", ""): [2],
    }


def test_without_a_launch_the_innermost_frame_around_a_slice_tells() -> None:
    frames = (
        {"start": 0, "duration": 100, "track": 1, "name": "outer"},
        {"start": 20, "duration": 20, "track": 1, "name": "inner"},
    )
    rows = (
        {"start": 5, "duration": 10},
        {"start": 20, "duration": 20},
        {"start": 30, "duration": 20},
        {"start": 90, "duration": 20},
    )
    assert members(program_groups(source(*rows, frames=frames))) == {
        ("(unknown)", ""): [3],
        ("outer", ""): [0, 2],
        ("inner", ""): [1],
    }


def test_a_frame_is_of_its_device_and_of_its_runtime_instance() -> None:
    frames = ({"start": 0, "duration": 100, "track": 1, "name": "decoder", "instance": 2},)
    rows = ({"instance": 2}, {"instance": 1}, {"instance": 2, "track": 2})
    assert members(program_groups(source(*rows, frames=frames))) == {("(unknown)", ""): [1, 2], ("decoder", ""): [0]}


def test_a_program_named_by_launch_and_by_frame_is_one() -> None:
    frames = ({"start": 50, "duration": 10, "track": 1, "name": "decoder"},)
    rows = ({"launch": 0}, {"start": 50, "duration": 1})
    assert members(program_groups(source(*rows, frames=frames, launched=({"name": 1},)))) == {("decoder", ""): [0, 1]}


def test_calls_are_launches_counted_for_each_program_in_the_order_in_which_the_device_began_them() -> None:
    launched = tuple({"name": name, "launch_id": at} for name, at in ((1, 11), (2, 12), (1, 13)))
    rows = ({"launch": 0, "start": 50}, {"launch": 0, "start": 60}, {"launch": 1, "start": 10}, {"launch": 2, "start": 20})
    groups = call_groups(source(*rows, launched=launched))
    assert list(groups.keys) == ["name", "compile_id", "call", "launch_id"]
    assert members(groups) == {
        ("decoder", "", 1, 11): [0, 1],
        ("sampler", "", 0, 12): [2],
        ("decoder", "", 0, 13): [3],
    }


def test_without_a_launch_a_turn_of_a_runtime_instance_is_a_call() -> None:
    rows: list[dict[str, Any]] = [
        {"sequence": sequence, "instance": instance, "start": at}
        for at, (sequence, instance) in enumerate([(0, 1), (0, 2), (1, 1), (0, 1)])
    ]
    assert members(call_groups(source(*rows))) == {
        ("(unknown)", "", 0, None): [0, 3],
        ("(unknown)", "", 1, None): [1],
        ("(unknown)", "", 2, None): [2],
    }


def test_slices_that_tell_of_no_call_are_kept_together_and_not_counted() -> None:
    rows: tuple[dict[str, Any], ...] = ({"launch": 0}, {}, {})
    assert members(call_groups(source(*rows, launched=({"name": 1},)))) == {
        ("(unknown)", "", None, None): [1, 2],
        ("decoder", "", 0, None): [0],
    }
