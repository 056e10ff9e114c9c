"""A profile opened in Perfetto as it is: never an error, and with display packets every slice, to the nanosecond."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pytest

import rblnpb
from rblnpb.clock import ClockMap
from rblnpb.columns import DeviceSlices
from rblnpb.profile import Profile, Session
from tests.browser.viewers import IMPORT_ERRORS, assert_clean, perfetto_query
from tests.support.profiles import RBLN, SNAPSHOTS, full, tiny

pytestmark = pytest.mark.browser

SLICES = """
    select process.name as process, thread.name as thread, slice.name, slice.ts, slice.dur
    from slice join thread_track on slice.track_id = thread_track.id
    join thread using (utid) join process using (upid)
"""


def written(profile: Profile, *, display: bool = True) -> bytes:
    file = io.BytesIO()
    rblnpb.write(profile, file, display=display)
    return file.getvalue()


def crowded(session_id: int = 7, count: int = 20_000) -> Profile:
    """Slices that lie beside, inside and across each other, and some that are empty, in more than one block."""
    random = np.random.default_rng(session_id)
    return tiny(
        session=Session(session_id),
        device_slices=DeviceSlices.of(
            clock_id=16,
            engine_id=1,
            start_ticks=np.sort(random.integers(0, count * 100, count)).astype(np.uint64),
            duration_ticks=(random.integers(0, 4, count) * random.integers(0, 60, count)).astype(np.uint64),
            name_strindex=random.integers(3, 7, count).astype(np.uint32),
        ),
    )


def expected(profile: Profile) -> Counter[tuple[str, int, int]]:
    table = profile.device_slices
    start, duration = ClockMap.of(RBLN, SNAPSHOTS).span_to_ns(table.start_ticks, table.duration_ticks)
    names = [profile.strings[row] for row in table.name_strindex.tolist()]
    return Counter(zip(names, start.tolist(), duration.tolist(), strict=True))


def test_every_slice_is_shown_exactly() -> None:
    profile = crowded()
    errors, rows = perfetto_query(written(profile), IMPORT_ERRORS, SLICES)

    assert errors == []
    assert Counter((row["name"], row["ts"], row["dur"]) for row in rows) == expected(profile)
    assert {row["process"] for row in rows} == {"rbln:0"}
    assert {row["thread"].partition(" (chiplet 0)")[0] for row in rows} == {"Neural Engine Clusters"}
    assert len({row["thread"] for row in rows}) > 2


def test_profiles_one_after_the_other_are_shown_both() -> None:
    one, other = crowded(7, 500), crowded(8, 500)
    errors, rows = perfetto_query(written(one) + written(other), IMPORT_ERRORS, SLICES)

    assert errors == []
    assert Counter((row["name"], row["ts"], row["dur"]) for row in rows) == expected(one) + expected(other)


@pytest.mark.parametrize("profile", [tiny(), full(), Profile(Session(1))], ids=["tiny", "full", "empty"])
@pytest.mark.parametrize("display", [False, True])
def test_a_profile_opens_without_an_error(profile: Profile, display: bool) -> None:
    assert_clean(written(profile, display=display))


def test_a_profile_cut_in_the_middle_shows_what_is_whole() -> None:
    data = written(crowded(count=500))

    (rows,) = perfetto_query(data[: len(data) - 200], SLICES)

    assert len(rows) == 500
