"""A window of a file holds what record by record lies in it, with an index and without one."""

from __future__ import annotations

from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

import rblnpb
from rblnpb.clock import clock_maps
from rblnpb.columns import DeviceSlices
from rblnpb.profile import KINDS, Profile
from tests.support.profiles import altered, codes, encode, packets
from tests.support.strategies import profiles
from tests.support.window_oracle import moments, windowed


def in_small_chunks(profile: Profile) -> bytes:
    """The file of a profile with two records a chunk."""
    with mock.patch("rblnpb.writer.CHUNK_LIMIT", 2):
        return encode(profile)


@st.composite
def windows(draw: st.DrawFn, profile: Profile) -> tuple[int, int]:
    """Windows that begin and end where records do, or right beside."""
    maps = clock_maps(profile.clocks, profile.clock_snapshots)
    edges = {0}.union(*(span for kind in KINDS for span in moments(profile.table(kind), maps) if span is not None))
    edge = st.tuples(st.sampled_from(sorted(edges)), st.integers(-1, 1)).map(sum)
    start, end = sorted((draw(edge), draw(edge)))
    return start, end


@settings(max_examples=80)
@given(profiles(), st.data())
def test_a_window_holds_the_records_that_overlap_it_and_their_launches(profile: Profile, data: st.DataObject) -> None:
    window = data.draw(windows(profile))
    file = in_small_chunks(profile)
    without_bounds = altered(file, "closing", lambda closing: closing.ClearField("index"))

    expected = windowed(profile, *window)
    read = rblnpb.read(file, window=window)

    assert read.equals(expected)
    assert "window" in codes(read)
    assert "total-differs" not in codes(read)
    again = rblnpb.read(without_bounds, window=window)
    assert again.equals(expected)
    assert again.findings == read.findings


@settings(max_examples=40)
@given(profiles(), st.data())
def test_stored_slices_of_a_window_are_those_of_the_profile(profile: Profile, data: st.DataObject) -> None:
    window = data.draw(windows(profile))
    with rblnpb.open_profile(in_small_chunks(profile)) as file:
        whole = file.profile(window=window)
        rest, stored = file.profile_and_slices(window=window)

        assert rest.findings == whole.findings
        assert rest.replace(device_slices=whole.device_slices).equals(whole)
        assert DeviceSlices.concat([block for _, block in stored.blocks()]).equals(whole.device_slices)
        assert stored.take(slice(None)).equals(whole.device_slices)


@settings(max_examples=40)
@given(profiles())
def test_bounds_are_the_same_from_the_index_and_from_the_records(profile: Profile) -> None:
    file = in_small_chunks(profile.replace(is_complete=True))
    maps = clock_maps(profile.clocks, profile.clock_snapshots)
    spans = [span for kind in KINDS for span in moments(profile.table(kind), maps) if span is not None]

    with rblnpb.open_profile(file) as indexed, rblnpb.open_profile(b"".join(packets(file)[:-1])) as walked:
        bounds = indexed.bounds_ns()

        assert walked.bounds_ns() == bounds
    if spans and max(max(map(abs, span)) for span in spans) < 1 << 61:
        assert bounds is not None
        assert bounds[0] >= min(start for start, _ in spans)
        assert bounds[1] <= max(end for _, end in spans)
