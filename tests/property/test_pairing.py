"""Whatever the clocks and whatever is missing, pairs are found, and the clock lies where they say, as far off as they say."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rblnpb.clock import Clock, ClockKind
from rblnpb.columns import DeviceSlices
from rblnpb.converters.merging import merge
from rblnpb.converters.merging.clock_fit import fit_clock
from rblnpb.converters.merging.pairing import find_pairs
from rblnpb.converters.pipeline import status
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.profile import Device, Engine, EngineKind, Profile, Session
from tests.support.record_tables import Run, Tables, tables
from tests.support.vendor_traces import DEVICE_PID, host_trace, metadata, op, span, unix_ns

CLOCK = Clock(16, "device clock of the file", 10**9, 64, 1, ClockKind.DEVICE)

runs = st.builds(
    Run,
    calls=st.integers(4, 60),
    per_call=st.integers(2, 14),
    names=st.sampled_from((0, 2, 4, 9)),
    gap_ns=st.sampled_from((100_000, 1_000_000, 30_000_000)),
    drift=st.floats(-5e-4, 5e-4),
    offset_ns=st.integers(-(10**18), 2 * 10**18),
    missing=st.sampled_from((0.0, 0.05, 0.2)),
    noise_ns=st.sampled_from((0, 1, 20)),
    rounded_ns=st.sampled_from((1, 1, 1000)),
    seed=st.integers(0, 10**6),
)


@given(runs)
@settings(max_examples=60, deadline=None)
def test_the_clock_lies_within_the_stated_residual_of_where_it_is(run: Run) -> None:
    made = tables(run)
    # A handful of records of one name may fit anywhere.
    assume(made.common >= 12)
    found = find_pairs(made.own, made.other)
    assert found is not None
    # In whole microseconds, records of one name that lie nearer to each other than that cannot be told apart.
    assert len(found) >= (0.95 if run.rounded_ns == 1 else 0.5) * made.common - 1
    if run.rounded_ns == 1:
        assert len(found) - made.wrong(found.own, found.other) >= 0.95 * made.common - 1
    ticks, times_ns = made.own.start[found.own], made.other.start[found.other]
    fit = fit_clock(CLOCK, ticks, times_ns, (int(made.own.start.min()), int(made.own.start.max())))
    within = np.sort(made.own.start)
    within = within[(within >= ticks.min()) & (within <= ticks.max())]
    true_ns = within + np.rint(within * run.drift).astype(np.int64) + run.offset_ns
    # What was drawn on top of the true time is no error of the fit.
    allowed = fit.quality.residual_ns + run.noise_ns + run.rounded_ns + 1
    assert np.abs(fit.clock_map.unwrapped_to_ns(within) - true_ns).max() <= allowed


def profile_of(made: Tables) -> Profile:
    names = ("", *(f"stage{key}" for key in range(int(made.own.key.max(initial=0)) + 1)))
    order = np.argsort(made.own.start, kind="stable")
    return Profile(
        session=Session(7),
        strings=names,
        clocks=(CLOCK,),
        devices=(Device(1, "RBLN NPU 0", 0, 0, 16),),
        engines=(Engine(1, 1, EngineKind.NEURAL_ENGINE_CLUSTERS),),
        device_slices=DeviceSlices.of(
            len(order),
            clock_id=16,
            engine_id=1,
            start_ticks=made.own.start[order],
            duration_ticks=made.own.duration[order],
            name_strindex=made.own.key[order] + 1,
        ),
    )


small = st.builds(
    Run,
    calls=st.integers(3, 12),
    per_call=st.integers(2, 8),
    names=st.sampled_from((0, 3)),
    drift=st.floats(-1e-4, 1e-4),
    offset_ns=st.integers(0, 10**9),
    missing=st.sampled_from((0.0, 0.1)),
    seed=st.integers(0, 10**6),
)


@given(small)
@settings(max_examples=40, deadline=None)
def test_every_record_is_counted_once_whichever_file_holds_it(run: Run) -> None:
    made = tables(run)
    rows = [metadata("process_name", DEVICE_PID, name="RBLN NPU 0"), op("aten::mm", 0, 10**9)]
    times = zip(made.other.key.tolist(), made.other.start.tolist(), made.other.duration.tolist(), strict=True)
    rows += [span("kernel", f"stage{key}", at, at + length, pid=DEVICE_PID, tid=1) for key, at, length in times]
    timeline = merge(profile_of(made), host_trace(rows, window_ns=4 * 10**9))

    everything = len(np.union1d(made.own_record, made.other_record))
    slices = timeline.slices
    (quality,) = timeline.clocks
    is_right = len(slices) == everything
    # A record whose partner is missing may take one of its name that lies within a microsecond or two; of a handful, any.
    if made.common >= 12:
        assert everything - 0.02 * everything - 1 <= len(slices) <= everything + 0.02 * everything + 1
    assert quality.snapshot_count == len(made.own) + len(made.other) - len(slices)
    if is_right:
        alone = ~np.isin(made.own_record, made.other_record)
        total = int(made.other.duration.sum()) + int(made.own.duration[alone].sum())
        assert int(slices.duration_ns.sum()) == pytest.approx(total, abs=1 + 1e-4 * total)
    assert sorted(slices.event[slices.event >= 0].tolist()) == list(range(2, len(made.other) + 2))
    values = status(timeline).values
    assert values.busy_ns <= values.attributed_ns + values.unattributed_ns
    trace = io.BytesIO()
    write_chrome_trace(timeline, trace)
    shown = [event for event in json.loads(trace.getvalue())["traceEvents"] if event.get("cat") == "kernel"]
    assert len(shown) == len(slices)
    assert int(slices.start_ns.min()) >= unix_ns(0)
