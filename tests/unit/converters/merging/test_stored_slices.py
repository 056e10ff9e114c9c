"""Slices that stay where they are stored: the same timeline as of slices that are all in memory, block for block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np
import pytest

from rblnpb import sim
from rblnpb.columns import DeviceSlices
from rblnpb.converters.aligned_slices import AlignedSlices, DeferredSlices, Rows
from rblnpb.converters.merging import merge, stored_slices
from rblnpb.converters.timeline import HostTrace
from rblnpb.profile import Profile
from tests.support.timelines import host_trace


class Store:
    """A table as a store, which counts what is taken of it."""

    def __init__(self, table: DeviceSlices) -> None:
        self.table = table
        self.taken = 0

    def __len__(self) -> int:
        return len(self.table)

    def blocks(self) -> Iterator[tuple[int, DeviceSlices]]:
        return ((first, self.table.take(slice(first, first + 33))) for first in range(0, len(self), 33))

    def take(self, rows: Rows) -> DeviceSlices:
        part = self.table.take(rows)
        self.taken += len(part)
        return part


@pytest.fixture(name="profile")
def made(monkeypatch: pytest.MonkeyPatch) -> Profile:
    monkeypatch.setattr(stored_slices, "_STEP_ROWS", 40)
    return sim.simulate(program="mm", calls=30)


def both(profile: Profile, host: HostTrace | None = None) -> tuple[AlignedSlices, DeferredSlices, Store]:
    store = Store(profile.device_slices)
    eager = merge(profile, host)
    without = profile.replace(device_slices=DeviceSlices.empty())
    deferred = merge(without, host, store)
    assert isinstance(deferred.slices, DeferredSlices)
    for name in ("predecessor", "successor"):
        assert getattr(deferred.dependencies, name).tolist() == getattr(eager.dependencies, name).tolist()
    left = replace(eager, slices=deferred.slices, dependencies=deferred.dependencies)
    assert [getattr(deferred, one.name) for one in fields(left) if one.name in {"counts", "clocks", "findings", "tracks"}] == [
        getattr(eager, one.name) for one in fields(left) if one.name in {"counts", "clocks", "findings", "tracks"}
    ]
    return eager.slices, deferred.slices, store


def same(mine: AlignedSlices, theirs: AlignedSlices) -> bool:
    columns = ("start_ns", "duration_ns", "track", "launch", "host_row", "rule", "event", "arguments")
    equal = [np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in columns]
    return all(equal) and mine.names.render().tolist() == theirs.names.render().tolist()


def test_deferred_slices_are_those_of_the_table(profile: Profile) -> None:
    eager, deferred, _ = both(profile)
    assert same(deferred, eager)
    assert deferred.strings == eager.strings
    assert deferred.text_rows().tolist() == eager.text_rows().tolist()


def test_some_rows_read_no_others(profile: Profile) -> None:
    eager, deferred, store = both(profile)
    store.taken = 0
    rows = np.array([3, 70, 71, 5])
    assert same(deferred.take(rows), eager.take(rows))
    assert store.taken == len(rows)


def test_records_without_a_place_are_left_out_of_both(profile: Profile) -> None:
    slices = profile.device_slices
    start = slices.start_ticks.copy()
    start[[0, 50, 51]] = 1 << 63
    clock_id = slices.clock_id.copy()
    clock_id[7] = 99
    damaged = profile.replace(device_slices=slices.replace(start_ticks=start, clock_id=clock_id))
    eager, deferred, _ = both(damaged)
    assert len(eager) < len(slices)
    assert same(deferred, eager)
    assert same(deferred.take(slice(40, 60)), eager.take(slice(40, 60)))


def test_with_a_host_trace_slices_have_the_op_of_their_launch(profile: Profile) -> None:
    eager, deferred, _ = both(profile, host_trace())
    assert same(deferred, eager)


def test_a_column_that_is_none_is_refused(profile: Profile) -> None:
    _, deferred, _ = both(profile)
    with pytest.raises(AttributeError, match="colour"):
        _ = deferred.colour


def test_dependencies_are_found_of_records_in_any_order(profile: Profile) -> None:
    """And of more of them than there are records: each command waits for several."""
    slices, commands = profile.device_slices, profile.commands
    rows = [list(range(1, row)) if commands.program_id[row] else [] for row in range(len(commands))]
    waits = replace(
        commands,
        predecessor_ends=np.cumsum([len(own) for own in rows]),
        predecessor_rows=np.array([row for own in rows for row in own], np.uint32),
    )
    order = np.random.default_rng(7).permutation(len(slices))
    shuffled = profile.replace(device_slices=slices.take(order), commands=waits)
    eager, _, _ = both(shuffled)
    assert len(merge(shuffled).dependencies) > 2 * len(eager)
