"""Records that refer to what is not there: set to none, counted, and named by the first of them."""

from __future__ import annotations

import numpy as np

from rblnpb.columns import Counters, Dependencies, DeviceSlices, Launches
from rblnpb.profile import Device, Engine, EngineKind, Profile, Session
from rblnpb.references import Fault, dangling_faults, fault_findings, mended, reference_limits

PROFILE = Profile(
    Session(7), strings=("", "a"), devices=(Device(1),), engines=(Engine(1, 1, EngineKind.COMPUTE), Engine(300, 1, EngineKind.COPY))
)
LIMITS = reference_limits(PROFILE, slice_count=3)
SLICES = DeviceSlices.of(engine_id=np.array([1, 5, 300, 6]), name_strindex=np.array([0, 0, 1, 2]))


def test_what_is_not_there_becomes_none_and_the_rest_stays() -> None:
    table, faults = mended(SLICES, LIMITS)

    assert table.equals(SLICES.replace(engine_id=np.array([1, 0, 300, 0]), name_strindex=np.array([0, 0, 1, 0])))
    assert faults == [Fault(DeviceSlices, "engine_id", False, 2, 1, 5), Fault(DeviceSlices, "name_strindex", False, 1, 3, 2)]
    assert faults == dangling_faults(SLICES, LIMITS)
    assert mended(table, LIMITS) == (table, [])


def test_a_dependency_without_both_ends_goes() -> None:
    table = Dependencies.of(predecessor_ordinal=np.array([0, 3, 0, -1]), successor_ordinal=np.array([2, 0, 9, 1]))

    whole, faults = mended(table, LIMITS)

    assert whole.equals(Dependencies.of(1, predecessor_ordinal=0, successor_ordinal=2))
    assert [(fault.column, fault.count, fault.row, fault.value) for fault in faults] == [
        ("predecessor_ordinal", 2, 1, 3),
        ("successor_ordinal", 1, 2, 9),
    ]


def test_a_launch_id_beyond_its_limit_becomes_0() -> None:
    table, faults = mended(Launches.of(launch_id=np.array([7, 2**63, 2**63 - 1], np.uint64)), LIMITS)

    assert table.launch_id.tolist() == [7, 0, 2**63 - 1]
    assert faults == [Fault(Launches, "launch_id", True, 1, 1, 2**63)]


def test_faults_of_blocks_are_those_of_the_whole() -> None:
    blocks = [mended(SLICES.take(slice(row, row + 1)), LIMITS, row)[1] for row in range(4)]

    assert fault_findings(fault for block in blocks for fault in block) == fault_findings(mended(SLICES, LIMITS)[1])


def test_findings_stand_in_the_order_of_kinds_and_columns_and_wild_values_come_first() -> None:
    counters, launches = Counters.of(device_id=np.array([1, 9])), Launches.of(launch_id=np.array([2**63], np.uint64))
    faults = [fault for table in (counters, SLICES, launches) for fault in mended(table, LIMITS)[1]]

    findings = fault_findings(faults)

    assert [(finding.code, finding.where, finding.count) for finding in findings] == [
        ("impossible-value", "launches.launch_id", 1),
        ("dangling-reference", "device_slices.engine_id", 2),
        ("dangling-reference", "device_slices.name_strindex", 1),
        ("dangling-reference", "counters.device_id", 1),
    ]
    assert findings[1].message == "2 device_slices refer by engine_id to what the profile does not define (record 1: 5)"


def test_a_huge_id_costs_no_memory() -> None:
    limits = reference_limits(PROFILE.replace(engines=(Engine(2**32 - 1, 1, EngineKind.HOST),)), 0)

    assert dangling_faults(DeviceSlices.of(engine_id=np.array([2**32 - 1, 0])), limits) == []
    assert [fault.count for fault in dangling_faults(DeviceSlices.of(engine_id=np.array([2**32 - 2])), limits)] == [1]
