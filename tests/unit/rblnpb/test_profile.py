"""A profile as a whole: look-ups, equality, and enums as the schema has them."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from rblnpb.clock import Clock, ClockKind
from rblnpb.columns import Launches
from rblnpb.errors import Finding, Severity
from rblnpb.naming import NameStyle
from rblnpb.profile import (
    ENGINE_NAMES,
    KINDS,
    WORKING_KINDS,
    Commands,
    EngineKind,
    HostActivity,
    Loss,
    LossReason,
    OverheadKind,
    Profile,
    Session,
)
from rblnpb.v1 import columns_pb2, session_pb2
from tests.support.profiles import commands, full, tiny


@pytest.mark.parametrize(
    ("ours", "theirs", "prefix", "zero"),
    [
        (EngineKind, session_pb2.EngineKind, "ENGINE_KIND_", "UNKNOWN"),
        (ClockKind, session_pb2.ClockKind, "CLOCK_KIND_", "UNKNOWN"),
        (NameStyle, session_pb2.NameStyle, "NAME_STYLE_", "PLAIN"),
        (LossReason, session_pb2.LossReason, "LOSS_REASON_", "UNKNOWN"),
        (HostActivity, columns_pb2.HostActivity, "HOST_ACTIVITY_", "UNKNOWN"),
        (OverheadKind, columns_pb2.OverheadKind, "OVERHEAD_KIND_", "UNKNOWN"),
    ],
)
def test_an_enum_is_that_of_the_schema(ours: type[IntEnum], theirs: Any, prefix: str, zero: str) -> None:
    schema = {name.removeprefix(prefix).replace("UNSPECIFIED", zero): value for name, value in theirs.items()}

    assert {member.name: member.value for member in ours} == schema


def test_every_engine_kind_has_a_name_and_is_work_or_not() -> None:
    assert set(ENGINE_NAMES) == set(EngineKind)
    assert frozenset(EngineKind) - WORKING_KINDS == {EngineKind.HOST, EngineKind.DEVICE_SYNC, EngineKind.WORKLOAD, EngineKind.SYNC}


def test_tables_are_found_by_the_number_of_their_kind() -> None:
    profile = full()

    assert [profile.table(kind).label for kind in KINDS] == [table.label for table in KINDS.values()]
    assert profile.table(16) is profile.launches


def test_clocks_are_found_by_their_id() -> None:
    own = Clock(16, "rbln:0")
    profile = Profile(Session(7), clocks=(own,))

    assert profile.clock(16) is own
    assert [clock.name for clock in (profile.clock(1), profile.clock(2)) if clock] == ["host monotonic", "host real time"]
    assert profile.clock(17) is None


def test_drops_of_a_kind_add_up() -> None:
    losses = (Loss(17, LossReason.BUFFER_FULL, 3), Loss(16, LossReason.INVALID, 1), Loss(17, LossReason.AFTER_END, 4))

    assert Profile(Session(7), losses=losses).dropped(17) == 7


def test_predecessors_of_a_command_are_rows_of_the_table() -> None:
    assert [commands().predecessors(row) for row in range(3)] == [(), (), (1,)]


def test_commands_are_equal_when_all_columns_are() -> None:
    assert commands().equals(commands())
    assert not commands().equals(Commands.none())


@pytest.mark.parametrize(
    "changes",
    [
        {"session": Session(8)},
        {"strings": ("", "other")},
        {"commands": Commands.none()},
        {"launches": Launches.empty()},
        {"is_complete": False},
    ],
)
def test_profiles_differ_when_anything_recorded_does(changes: dict[str, Any]) -> None:
    assert full().equals(full())
    assert not full().equals(full().replace(**changes))


def test_findings_do_not_make_profiles_differ() -> None:
    assert tiny().equals(tiny(findings=(Finding(Severity.INFO, "a", "b"),)))


def test_a_profile_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        commands().size_bytes[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        tiny().device_slices.start_ticks[:] = np.uint64(0)


def test_commands_are_copied_where_the_caller_can_write_to_them() -> None:
    mine = np.array([0, 2], np.int64)
    none = Commands.none()
    table = Commands(**{**vars(none), "size_bytes": mine})
    mine[1] = 9

    assert (table.size_bytes.tolist(), none.program_id.flags.writeable) == ([0, 2], False)
