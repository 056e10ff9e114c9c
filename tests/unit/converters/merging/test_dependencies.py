"""Dependencies between slices: of commands, in every call its own, and of records."""

from __future__ import annotations

import numpy as np

from rblnpb import sim
from rblnpb.columns import ABSENT, Dependencies, DeviceSlices
from rblnpb.converters.merging.dependencies import slice_dependencies
from rblnpb.profile import Commands, Profile, Session


def commands() -> Commands:
    """Row 1 waits for nothing, row 2 for row 1, row 3 for both."""
    absent = np.full(4, ABSENT, np.int64)
    return Commands(
        program_id=np.array([0, 1, 1, 1], np.uint32),
        layer_strindex=np.zeros(4, np.uint32),
        command_index=np.array([0, 0, 1, 2], np.uint32),
        engine_kind=np.zeros(4, np.uint32),
        size_bytes=absent,
        chiplet=absent,
        predecessor_ends=np.array([0, 0, 1, 3]),
        predecessor_rows=np.array([1, 1, 2], np.uint32),
    )


def pairs(profile: Profile, placed: list[bool]) -> list[tuple[int, int]]:
    found = slice_dependencies(profile, np.array(placed))
    return list(zip(found.predecessor.tolist(), found.successor.tolist(), strict=True))


def test_a_command_waits_for_those_of_its_own_call() -> None:
    slices = DeviceSlices.of(
        command_row=np.array([1, 2, 3, 1, 3], np.uint32), sequence=np.array([0, 0, 0, 1, 1]), instance=1, launch_id=7
    )
    profile = Profile(Session(1), commands=commands(), device_slices=slices)
    assert pairs(profile, [True] * 5) == [(0, 1), (0, 2), (1, 2), (3, 4)]


def test_what_is_not_in_the_timeline_has_no_dependency_and_moves_the_others_up() -> None:
    slices = DeviceSlices.of(command_row=np.array([1, 2, 3], np.uint32), sequence=0)
    profile = Profile(Session(1), commands=commands(), device_slices=slices)
    assert pairs(profile, [False, True, True]) == [(0, 1)]


def test_recorded_dependencies_follow_and_those_to_nothing_are_left_out() -> None:
    recorded = Dependencies.of(predecessor_ordinal=np.array([1, 9]), successor_ordinal=np.array([0, 0]))
    profile = Profile(Session(1), device_slices=DeviceSlices.of(2, sequence=0), dependencies=recorded)
    assert pairs(profile, [True, True]) == [(1, 0)]


def test_a_simulated_call_has_those_of_its_program() -> None:
    profile = sim.simulate(program="mm", calls=2)
    per_call = len(profile.commands.predecessor_rows)
    assert per_call > 0
    found = slice_dependencies(profile, np.ones(len(profile.device_slices), np.bool_))
    assert len(found) == 2 * per_call + len(profile.dependencies)
