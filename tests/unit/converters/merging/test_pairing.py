"""Records of one run in two files whose clocks nothing relates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rblnpb.converters.merging.pairing import find_pairs
from rblnpb.converters.merging.record_matching import Records
from tests.support.record_tables import Run, tables

RUNS = {
    "plain": Run(),
    "names of their own": Run(names=0),
    "drift": Run(calls=400, drift=2e-4, noise_ns=3),
    "much drift": Run(calls=300, drift=-9e-4),
    "missing": Run(calls=100, missing=0.2, noise_ns=2),
    "whole microseconds": Run(calls=100, rounded_ns=1000),
    "one call": Run(calls=1),
    "one record": Run(calls=1, per_call=1),
    "far apart": Run(calls=50, per_call=1, names=1, gap_ns=2 * 10**9, drift=1e-4, missing=0.1),
    "the other clock is behind": Run(offset_ns=-(10**15)),
    "long": Run(calls=3000, gap_ns=10**7, drift=5e-5, missing=0.02),
}


@pytest.mark.parametrize("name", RUNS)
def test_records_that_both_files_hold_are_found(name: str) -> None:
    made = tables(RUNS[name])
    found = find_pairs(made.own, made.other)
    assert found is not None
    right = len(found) - made.wrong(found.own, found.other)
    # In whole microseconds, neighbours of one name are not always told apart.
    share = 0.02 if RUNS[name].rounded_ns == 1 else 0.05
    assert right >= (1 - share) * made.common
    assert len(found) - right <= share * made.common
    assert (found.rival_count, bool((np.diff(found.own) > 0).all())) == (0, True)


def test_a_short_window_of_a_long_run_is_found() -> None:
    made = tables(Run(calls=1500, gap_ns=10**6, drift=1e-4))
    middle = int(np.median(made.other.start))
    window = np.flatnonzero(np.abs(made.other.start - middle) < 10**7)
    found = find_pairs(made.own, made.other.take(window))
    assert found is not None
    assert len(found) == len(window)
    assert made.wrong(found.own, window[found.other]) == 0
    back = find_pairs(made.other.take(window), made.own)
    assert back is not None
    assert len(back) == len(window)


def test_another_run_of_the_same_program_pairs_with_nothing() -> None:
    for names in (0, 4):
        one, other = tables(Run(calls=100, names=names)).own, tables(Run(calls=100, names=names, seed=2)).own
        assert find_pairs(one, other) is None


def test_without_a_name_in_common_there_are_no_pairs() -> None:
    made = tables(Run())
    assert find_pairs(made.own, replace(made.other, key=made.other.key + 100)) is None
    assert find_pairs(made.own, made.other.take(slice(0, 0))) is None


def alike(first: int, count: int, offset_ns: int = 0) -> Records:
    """Records that differ by nothing but their place in a row."""
    at = np.arange(first, first + count, dtype=np.int64)
    return Records(np.zeros(count, np.int64), at * 10_000 + offset_ns, np.full(count, 700))


def test_where_all_are_alike_the_order_decides() -> None:
    found = find_pairs(alike(0, 200), alike(0, 200, 10**15))
    assert found is not None
    assert (found.own.tolist(), found.other.tolist(), found.rival_count) == ([*range(200)], [*range(200)], 0)


def test_where_all_are_alike_and_some_are_missing_it_is_said_that_others_would_do() -> None:
    found = find_pairs(alike(0, 200), alike(0, 180, 10**15))
    assert found is not None
    assert (len(found), found.rival_count > 160, found.rival_ns % 10_000) == (180, True, 0)


def test_a_clock_that_is_set_anew_with_every_call_is_followed() -> None:
    made = tables(Run(calls=60, noise_ns=1))
    jump = np.array([(call * 37) % 1500 for call in range(60)], np.int64)
    moved = replace(made.other, start=made.other.start + jump[made.other_record // 12])
    found = find_pairs(made.own, moved)
    assert found is not None
    assert (len(found), made.wrong(found.own, found.other)) == (720, 0)


def test_a_seed_begins_at_a_record() -> None:
    # Its two calls in the middle are a millisecond apart: half-way between them there is nothing to begin with.
    made = tables(Run(calls=16, per_call=2, names=2, gap_ns=10**6, offset_ns=0, missing=0.2, noise_ns=1, seed=2))
    found = find_pairs(made.own, made.other)
    assert found is not None
    assert (len(found), made.wrong(found.own, found.other)) == (16, 0)
