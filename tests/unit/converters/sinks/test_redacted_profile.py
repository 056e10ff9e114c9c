"""Profiles without what is not public in them: the same records under other names."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np

import rblnpb
from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import Counters, DeviceSlices
from rblnpb.converters.sinks._redacted_names import RedactedNames
from rblnpb.converters.sinks.redacted_profile import redacted_profile
from rblnpb.profile import KINDS, Profile
from tests.support import profiles
from tests.support.redaction import SECRET, secret_profile, texts_of

NAMES = RedactedNames(b"key")


def written(profile: Profile, *, display: bool = False) -> bytes:
    file = io.BytesIO()
    rblnpb.write(profile, file, display=display)
    return file.getvalue()


def test_no_secret_is_left_wherever_it_stood() -> None:
    whole = secret_profile()
    redacted = redacted_profile(whole, NAMES)
    assert SECRET.encode() in texts_of(written(whole))
    for display in (False, True):
        assert SECRET.encode() not in texts_of(written(redacted, display=display))


def test_records_and_definitions_keep_everything_but_their_names() -> None:
    whole = secret_profile()
    redacted = redacted_profile(whole, NAMES)
    for table in KINDS.values():
        if table.label == "trace_events":
            continue
        before, after = getattr(whole, table.label), getattr(redacted, table.label)
        for name, column in before.columns().items():
            if not name.endswith("_strindex"):
                np.testing.assert_array_equal(column, getattr(after, name), err_msg=name)
            else:
                # What was called alike still is, and what had no name has none.
                pairs = set(zip(column.tolist(), getattr(after, name).tolist(), strict=True))
                assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
                assert all((old == 0) == (new == 0) for old, new in pairs)
    assert redacted.clock_snapshots == whole.clock_snapshots
    assert redacted.losses == whole.losses
    assert [program.program_id for program in redacted.programs] == [1, 2]


def test_public_names_stay() -> None:
    whole = profiles.full()
    redacted = redacted_profile(whole, NAMES)
    assert (redacted.devices, redacted.engines, redacted.programs) == (whole.devices, whole.engines, whole.programs)
    assert redacted.session.settings == (("RBLN_PROFILER", "1"), (NAMES.of("setting", "EMPTY"), ""))
    assert (redacted.session.process_name, redacted.session.npu) == ("python", "rebel100")


def test_the_session_gets_another_id_and_the_same_one_again() -> None:
    whole = profiles.tiny()
    ids = {redacted_profile(whole, RedactedNames(key)).session.session_id for key in (b"1", b"1", b"2")}
    assert len(ids) == 2
    assert profiles.SESSION_ID not in ids


def test_unix_times_alone_are_moved() -> None:
    unix_ns, shift_s = 1_790_000_000_000_000_000, 1_000
    whole = profiles.tiny()
    whole = whole.replace(
        session=replace(whole.session, started_real_ns=unix_ns, ended_real_ns=0, started_monotonic_ns=5),
        clocks=(*whole.clocks, Clock(17, "", 10**6, kind=ClockKind.HOST_REALTIME)),
        clock_snapshots=(
            ClockSnapshot(HOST_REALTIME, unix_ns + 7, 1, 3),
            ClockSnapshot(16, 9, 1, 3),
            ClockSnapshot(17, unix_ns // 1000, 1, 3),
        ),
        device_slices=DeviceSlices.of(
            2, clock_id=np.array([HOST_REALTIME, 16]), start_ticks=np.array([unix_ns, unix_ns], np.uint64)
        ),
        counters=Counters.of(1, clock_id=HOST_REALTIME, time_ticks=np.array([unix_ns], np.uint64)),
    )
    moved = redacted_profile(whole, NAMES, shift_s=shift_s)
    early_ns = unix_ns - shift_s * 10**9
    assert (moved.session.started_real_ns, moved.session.ended_real_ns, moved.session.started_monotonic_ns) == (early_ns, 0, 5)
    assert [snapshot.value_ticks for snapshot in moved.clock_snapshots] == [early_ns + 7, 9, early_ns // 1000]
    assert moved.device_slices.start_ticks.tolist() == [early_ns, unix_ns]
    assert moved.counters.time_ticks.tolist() == [early_ns]
