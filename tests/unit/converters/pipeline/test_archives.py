"""Profiles with a host trace in them, taken apart."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb.clock import ClockSnapshot
from rblnpb.columns import ABSENT, Dependencies, DeviceSlices
from rblnpb.converters.pipeline import read_inputs
from rblnpb.converters.pipeline.archives import holds_trace, is_archived, merge, unpack
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace, Timeline
from rblnpb.errors import CheckError, MergeError, UsageError
from rblnpb.profile import Loss, LossReason, Profile
from tests.support.archives import archive, archive_of
from tests.support.json_events import events_of
from tests.support.vendor_traces import Launch, device_profile, document, newer_emitter, op

OPS = (op("aten::matmul", 1_000, 3_000, external_id=1), op("aten::mm", 1_200, 2_000, external_id=2))
RUN = (Launch(1, 1_500, 2_500),)
TRACE = document(OPS)
WITH_ROWS = document([*OPS, *newer_emitter(RUN)])


def host_of(text: bytes) -> HostTrace:
    return read_host(io.BytesIO(text))


def alone(text: bytes = TRACE) -> Profile:
    return rblnpb.read(archive(text))


def both(text: bytes = TRACE) -> Profile:
    return rblnpb.read(archive_of(host_of(text), device_profile(RUN)))


def slices_of(timeline: Timeline) -> list[tuple[Any, ...]]:
    slices = timeline.slices
    columns = (slices.start_ns, slices.duration_ns, slices.host_row, slices.event)
    return list(zip(*(column.tolist() for column in columns), slices.names.render().tolist(), strict=True))


def test_a_profile_without_a_trace_is_itself() -> None:
    profile = device_profile(RUN)

    assert unpack(profile) == (profile, None)
    assert not holds_trace(profile)


def test_an_archive_alone_is_a_host_trace() -> None:
    own, host = unpack(alone(WITH_ROWS), "x.pb")

    assert own is None
    assert host is not None
    assert is_archived(host)
    assert not is_archived(host_of(TRACE))
    assert events_of(host) == events_of(host_of(WITH_ROWS))


def test_a_profile_and_its_trace_are_both_given_back() -> None:
    own, host = unpack(both())

    assert own is not None
    assert host is not None
    assert own.replace(strings=device_profile(RUN).strings).equals(device_profile(RUN))
    assert events_of(host) == events_of(host_of(TRACE))


@pytest.mark.parametrize(
    "changes",
    [
        {"losses": (Loss(17, LossReason.BUFFER_FULL, 5),)},
        {"clock_snapshots": (ClockSnapshot(2, 1, 2, 3),)},
    ],
)
def test_what_a_profile_says_without_records_is_not_lost(changes: dict[str, Any]) -> None:
    own, host = unpack(alone().replace(**changes))

    assert own is not None
    assert host is not None


def test_slices_of_its_own_stay_with_what_depends_on_them() -> None:
    profile = alone(WITH_ROWS)
    mine = DeviceSlices.of(2, clock_id=2, engine_id=1, start_ticks=np.array([5, 9]), event_ordinal=ABSENT)
    archived = profile.device_slices
    count = len(archived)
    mixed = DeviceSlices.concat([mine.take(slice(0, 1)), archived, mine.take(slice(1, 2))])
    dependencies = Dependencies.of(predecessor_ordinal=np.array([0, 0, 1]), successor_ordinal=np.array([count + 1, 1, count + 1]))
    own, _ = unpack(profile.replace(device_slices=mixed, dependencies=dependencies))

    assert own is not None
    assert own.device_slices.equals(mine)
    assert (own.dependencies.predecessor_ordinal.tolist(), own.dependencies.successor_ordinal.tolist()) == ([0], [1])


def test_what_is_odd_about_the_file_is_said_by_the_trace_where_no_profile_is_left() -> None:
    _, host = unpack(rblnpb.read(archive(TRACE)[:-20]))

    assert host is not None
    assert [finding.code for finding in host.findings][:2] == ["truncated", "not-ended"]


def test_a_strict_reader_refuses_an_odd_trace() -> None:
    profile = alone(b'[{"ph": "X", "ts": 1}]')

    unpack(profile)
    with pytest.raises(CheckError, match="no duration"):
        unpack(profile, "x.pb", strict=True)


def test_merging_an_archive_is_merging_its_trace() -> None:
    assert slices_of(merge(alone(WITH_ROWS))) == slices_of(merge(None, host_of(WITH_ROWS)))
    assert slices_of(merge(both())) == slices_of(merge(device_profile(RUN), host_of(TRACE)))


def test_two_host_traces_of_one_run_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="archives the host trace of its run: leave <bytes> out"):
        merge(both(), host_of(TRACE))


# --- as inputs ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    made = io.BytesIO()
    rblnpb.write(device_profile(RUN), made)
    contents = {
        "trace.json": TRACE,
        "device.pb": made.getvalue(),
        "trace.pb": archive(TRACE),
        "both.pb": archive_of(host_of(TRACE), device_profile(RUN)),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return {name: tmp_path / name for name in contents}


@pytest.mark.parametrize(
    ("inputs", "host"),
    [
        (["device.pb", "trace.json"], None),
        (["device.pb"], "trace.json"),
        (["device.pb", "trace.pb"], None),
        (["trace.pb", "device.pb"], None),
        (["device.pb"], "trace.pb"),
        (["both.pb"], None),
    ],
)
def test_a_trace_is_the_same_wherever_it_comes_from(files: dict[str, Path], inputs: list[str], host: str | None) -> None:
    read = read_inputs([files[name] for name in inputs], files[host] if host else None)
    expected = merge(device_profile(RUN), host_of(TRACE))

    assert slices_of(read.merge()) == slices_of(expected)
    assert len(set(read.names)) == len(read.names) == len({*inputs, *([host] if host else [])})


def test_an_archive_alone_has_no_profile(files: dict[str, Path]) -> None:
    read = read_inputs([files["trace.pb"]])

    assert read.profile is None
    assert read.names == (str(files["trace.pb"]),)


@pytest.mark.parametrize(
    ("inputs", "host"), [(["both.pb", "trace.json"], None), (["both.pb"], "trace.json"), (["trace.pb"], "trace.json")]
)
def test_two_traces_are_refused(files: dict[str, Path], inputs: list[str], host: str | None) -> None:
    with pytest.raises(MergeError, match="cannot join 2 host traces"):
        read_inputs([files[name] for name in inputs], files[host] if host else None)


def test_a_profile_with_records_is_no_host_trace(files: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="is a device profile"):
        read_inputs([files["device.pb"]], files["both.pb"])
