"""First and last work of each launch, and what was in its way."""

from __future__ import annotations

from rblnpb.converters.analyze.launches.launch_work import LaunchWork, launch_work
from rblnpb.converters.timeline import Track
from tests.support.timelines import launches, slices, timeline

TRACKS = (
    Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=1),
    Track("rbln:1", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=2),
)


def found(*rows: dict[str, int], submitted: tuple[int, ...]) -> LaunchWork:
    return launch_work(timeline(tracks=TRACKS, slices=slices(*rows), launches=launches(*({"start": start} for start in submitted))))


def test_the_first_start_and_the_last_end_count() -> None:
    work = found(
        {"start": 30, "duration": 5, "launch": 0},
        {"start": 20, "duration": 40, "launch": 0},
        {"start": 25, "launch": 0},
        submitted=(7,),
    )
    assert (work.start_ns.tolist(), work.end_ns.tolist(), work.submitted_ns.tolist()) == ([20], [60], [7])


def test_launches_come_in_order_of_submission() -> None:
    work = found({"start": 9, "launch": 0}, {"start": 5, "launch": 1}, submitted=(8, 2))
    assert work.launch.tolist() == [1, 0]


def test_what_is_no_work_does_not_count() -> None:
    work = found({"start": 3, "launch": 0, "track": 1}, {"start": 5, "duration": 1, "launch": 0}, submitted=(0,))
    assert work.start_ns.tolist() == [5]


def test_a_launch_without_work_is_left_out() -> None:
    work = found({"start": 5, "launch": 1}, {"start": 6, "track": 1, "launch": 0}, submitted=(0, 0))
    assert work.launch.tolist() == [1]


def test_work_without_a_launch_is_counted() -> None:
    work = found({"start": 5}, {"start": 6, "launch": 0}, {"start": 7, "track": 1}, submitted=(0,))
    assert (len(work), work.slices_without_launch) == (1, 1)


def test_a_launch_belongs_to_the_device_of_its_first_record() -> None:
    work = found({"start": 9, "launch": 0, "track": 2}, {"start": 5, "launch": 0}, {"start": 5, "launch": 1}, submitted=(0, 1))
    assert [(name, own.tolist()) for name, own in work.by_device()] == [("rbln:0", [1]), ("rbln:1", [0])]


def test_a_launch_waits_until_the_work_of_earlier_ones_is_over() -> None:
    work = found(
        {"start": 5, "duration": 20, "launch": 0},
        {"start": 27, "duration": 3, "launch": 1},
        {"start": 40, "launch": 2},
        submitted=(0, 10, 35),
    )
    assert work.waiting_ns().tolist() == [0, 15, 0]


def test_the_wait_ends_where_the_launch_itself_begins() -> None:
    work = found({"start": 5, "duration": 50, "launch": 0}, {"start": 12, "duration": 3, "launch": 1}, submitted=(0, 10))
    assert work.waiting_ns().tolist() == [0, 2]


def test_nobody_waits_for_another_device() -> None:
    work = found({"start": 5, "duration": 50, "launch": 0}, {"start": 12, "launch": 1, "track": 2}, submitted=(0, 10))
    assert work.waiting_ns().tolist() == [0, 0]


def test_work_ahead_of_its_launch_waited_for_nothing() -> None:
    work = found({"start": 5, "duration": 50, "launch": 0}, {"start": 8, "duration": 1, "launch": 1}, submitted=(0, 10))
    assert (work.difference_ns().tolist(), work.waiting_ns().tolist()) == ([5, -2], [0, 0])


def test_without_launches_there_is_nothing() -> None:
    work = launch_work(timeline())
    assert (len(work), list(work.by_device()), work.waiting_ns().tolist(), work.slices_without_launch) == (0, [], [], 0)
