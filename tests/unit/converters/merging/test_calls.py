"""Calls of a profile that records no launches."""

from __future__ import annotations

import numpy as np

from rblnpb.columns import ABSENT, DeviceSlices, WorkloadSlices
from rblnpb.converters.merging.calls import Calls, find_calls
from rblnpb.profile import Profile, Session

NONE = ABSENT


def calls(slices: list[dict[str, int]], frames: list[dict[str, int]] | None = None) -> Calls:
    """Each row gives `at`, and where it matters `long`, `instance`, `sequence`, `workload`, `clock`, `launch`."""
    tables = []
    for kind, rows in ((DeviceSlices, slices), (WorkloadSlices, frames or [])):
        tables.append(
            kind.of(
                len(rows),
                clock_id=np.array([row.get("clock", 16) for row in rows]),
                start_ticks=np.array([row["at"] for row in rows]),
                duration_ticks=np.array([row.get("long", 5) for row in rows]),
                launch_id=np.array([row.get("launch", 0) for row in rows]),
                instance=np.array([row.get("instance", 0) for row in rows]),
                sequence=np.array([row.get("sequence", NONE) for row in rows], np.int64),
                workload=np.array([row.get("workload", NONE) for row in rows], np.int64),
            )
        )
    return find_calls(Profile(Session(7), device_slices=tables[0], workload_slices=tables[1]))  # type: ignore[arg-type]  # one a kind


def test_numbers_tell_calls_apart() -> None:
    found = calls(
        [{"at": 30, "sequence": 1}, {"at": 0, "sequence": 0}, {"at": 10, "sequence": 0}, {"at": 20, "instance": 2, "sequence": 0}]
    )
    assert found.of_slice.tolist() == [2, 0, 0, 1]
    assert (found.start.tolist(), found.end.tolist()) == ([0, 20, 30], [15, 25, 35])


def test_frames_of_one_execution_are_one_call() -> None:
    frames = [{"at": 0, "long": 10, "sequence": 0, "workload": 0}, {"at": 10, "long": 10, "sequence": 0, "workload": 1}]
    found = calls([{"at": 12, "sequence": 0, "workload": 1}], frames)
    assert (found.of_slice.tolist(), found.of_frame.tolist(), len(found)) == ([0], [0, 0], 1)


def test_numbers_that_begin_anew_are_told_apart_by_their_frames() -> None:
    frames = [{"at": 100, "long": 10, "sequence": 0}, {"at": 0, "long": 10, "sequence": 0}]
    found = calls([{"at": 101, "sequence": 0}, {"at": 2, "sequence": 0}, {"at": 105, "sequence": 0}], frames)
    assert (found.of_slice.tolist(), found.of_frame.tolist()) == ([1, 0, 1], [1, 0])


def test_a_slice_before_the_first_frame_of_its_number_is_of_that_one() -> None:
    found = calls([{"at": 3, "sequence": 0}], [{"at": 5, "long": 9, "sequence": 0}, {"at": 50, "long": 9, "sequence": 0}])
    assert found.of_slice.tolist() == [0]


def test_a_frame_without_numbers_is_of_the_slices_in_it() -> None:
    frames = [{"at": 0, "long": 20}, {"at": 100, "long": 20}, {"at": 300, "long": 20}]
    found = calls([{"at": 110, "sequence": 1}, {"at": 5, "sequence": 0}, {"at": 8}, {"at": 60}], frames)
    assert (found.of_slice.tolist(), found.of_frame.tolist()) == ([1, 0, 0, -1], [0, 1, 2])


def test_slices_without_numbers_are_of_their_launch_or_of_the_frame_around_them() -> None:
    found = calls([{"at": 5, "launch": 9}, {"at": 50, "launch": 4}, {"at": 6, "launch": 9}, {"at": 70}], [{"at": 60, "long": 20}])
    assert (found.of_slice.tolist(), found.of_frame.tolist()) == ([0, 1, 0, 2], [2])
    assert found.launch_id.tolist() == [9, 4, 0]


def test_clocks_have_calls_of_their_own() -> None:
    found = calls([{"at": 5, "sequence": 0, "clock": 17}, {"at": 9, "sequence": 0}], [{"at": 0, "long": 50}])
    assert (found.of_slice.tolist(), found.of_frame.tolist(), found.clock_id.tolist()) == ([1, 0], [0], [16, 17])


def test_of_nothing_there_are_no_calls() -> None:
    assert len(calls([])) == len(calls([{"at": 3}])) == 0
