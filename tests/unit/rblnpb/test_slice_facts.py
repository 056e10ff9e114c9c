"""Facts about device slices: the same in one piece and in many."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.columns import ABSENT, DeviceSlices
from rblnpb.profile import Profile, Session
from rblnpb.slice_facts import SliceFacts, distinct, launch_counts

SLICES = DeviceSlices.of(
    clock_id=np.array([16, 16, 17, 2, 2]),
    launch_id=np.array([7, 0, 9, 11, 0]),
    start_ticks=np.array([0, 0, 5, 0, 0]),
    duration_ticks=np.array([1, 0, 0, 0, 0]),
    event_ordinal=np.array([ABSENT, ABSENT, ABSENT, 0, 1]),
)
KNOWN = np.array([7, 8], np.uint64)


def told(facts: SliceFacts) -> dict[str, object]:
    counts = {name: value for name, value in vars(facts).items() if not name.startswith("_")}
    return counts | {"launch_ids": facts.launch_ids().tolist(), "launch_counts": facts.launch_counts(KNOWN)}


def test_facts_are_counted_of_what_no_archived_event_tells() -> None:
    assert told(SliceFacts.of(Profile(Session(7), device_slices=SLICES))) == {
        "count": 5,
        "recorded_count": 3,
        "clock_ids": {2, 16, 17},
        "recorded_clock_ids": {16, 17},
        "untimed_count": 1,
        "launch_ids": [0, 7, 9, 11],
        "launch_counts": (1, 1),
    }


def test_of_no_slice_nothing_is_known() -> None:
    assert told(SliceFacts())["launch_counts"] == (0, 0)


@given(st.lists(st.integers(0, 4), max_size=4))
def test_blocks_add_up_to_the_whole(cuts: list[int]) -> None:
    facts = SliceFacts()
    edges = sorted({0, *cuts, len(SLICES)})
    for start, stop in itertools.pairwise(edges):
        facts.add(SLICES.take(slice(start, stop)))

    assert told(facts) == told(SliceFacts.of(Profile(Session(7), device_slices=SLICES)))


@given(st.lists(st.integers(0, 5), min_size=1), st.sets(st.integers(1, 5)))
def test_launches_are_counted_record_by_record(ids: list[int], known: set[int]) -> None:
    table = DeviceSlices.of(launch_id=np.array(ids))

    assert launch_counts(table.launch_id, np.array(sorted(known), np.uint64)) == (
        sum(one == 0 for one in ids),
        sum(one != 0 and one not in known for one in ids),
    )
    assert distinct(table.launch_id) == set(ids)
