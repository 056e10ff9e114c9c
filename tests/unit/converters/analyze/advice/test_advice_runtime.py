"""Rules on what the runtime recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT, HostSlices, Overheads
from rblnpb.converters.analyze.advice.advice_runtime import hidden_work, runtime_calls
from rblnpb.converters.merging import merge
from rblnpb.converters.results import Advice
from rblnpb.converters.timeline import Timeline
from rblnpb.profile import HostActivity, OverheadKind, Program
from tests.support.vendor_traces import HOST_PID, Launch, device_profile, host_trace, op

STRINGS = ("", "mm", "aten::sub", "dtype-not-fp16", "trace", "m.py:3(f)", "m.py:9(g)", "first call", "new shape", "aten::add")
RUN = tuple(Launch(number, 1_000 * number, 1_000 * number + 100) for number in range(1, 4))


def with_overheads(*rows: dict[str, Any], **changes: Any) -> Timeline:
    columns = {name: np.array([row.get(name, default) for row in rows]) for name, default in _DEFAULTS.items()}
    return merge(device_profile(RUN, strings=STRINGS, overheads=Overheads.of(len(rows), **columns), **changes))


_DEFAULTS = {
    "overhead": int(OverheadKind.CPU_FALLBACK),
    "op_strindex": 2,
    "reason_strindex": 3,
    "place_strindex": 5,
    "start_ns": 10,
    "duration_ns": 100,
    "size_bytes": ABSENT,
}


def with_calls(*rows: tuple[HostActivity, int, int, int | None], drained: bool | None = None, **changes: Any) -> Timeline:
    """A timeline with slices of the runtime: activity, duration, launch, bytes; a microsecond apart."""
    host = HostSlices.of(
        len(rows),
        activity=np.array([row[0] for row in rows], np.int64),
        start_ns=np.arange(len(rows)) * 1_000,
        duration_ns=np.array([row[1] for row in rows], np.int64),
        launch_id=np.array([row[2] for row in rows], np.int64),
        size_bytes=np.array([ABSENT if row[3] is None else row[3] for row in rows], np.int64),
        process_id=HOST_PID,
        thread_id=HOST_PID,
    )
    profile = device_profile(RUN, host_slices=host)
    session = replace(profile.session, drained_after_each_run=drained)
    return merge(profile.replace(session=session, **changes))


def told(advice: list[Advice]) -> list[tuple[str, int | None, int, str]]:
    return [(one.code, one.cost_ns, one.count, one.place) for one in advice]


def test_fallbacks_are_told_by_operator_and_reason() -> None:
    found = list(
        hidden_work(
            with_overheads(
                {}, {"duration_ns": 50, "place_strindex": 6}, {"op_strindex": 9, "duration_ns": 7}, {"reason_strindex": 4}
            )
        )
    )
    assert told(found) == [
        ("cpu-fallback", 150, 2, "m.py:3(f)"),
        ("python-tracer-fallback", 100, 1, "m.py:3(f)"),
        ("cpu-fallback", 7, 1, "m.py:3(f)"),
    ]
    assert (found[0].title, found[0].evidence) == ("aten::sub runs on the CPU: dtype-not-fp16", "2 calls, reason: dtype-not-fp16")
    assert found[1].title == "aten::sub runs on the CPU: a Python tracer is active"
    assert len({one.advice for one in found}) == 2


def test_a_cost_that_nothing_tells_is_not_known() -> None:
    assert told(list(hidden_work(with_overheads({"duration_ns": ABSENT})))) == [("cpu-fallback", None, 1, "m.py:3(f)")]


def test_what_is_not_named_is_an_operator() -> None:
    (found,) = hidden_work(with_overheads({"op_strindex": 0, "reason_strindex": 0, "place_strindex": 0}))
    assert (found.title, found.place) == ("an operator runs on the CPU: unknown", "")


def test_copies_through_the_host_tell_their_bytes() -> None:
    row = {"overhead": int(OverheadKind.HOST_COPY), "size_bytes": 4_096}
    (found,) = hidden_work(with_overheads(row, row))
    assert told([found]) == [("copy-through-host", 200, 2, "m.py:3(f)")]
    assert found.evidence == "2 copies, 8,192 bytes"


def test_a_first_call_is_no_recompilation() -> None:
    rows = [{"overhead": int(OverheadKind.RECOMPILATION), "reason_strindex": reason} for reason in (7, 8)]
    assert told(list(hidden_work(with_overheads(*rows)))) == [("recompilation", 100, 1, "m.py:3(f)")]


def test_compilations_are_first_ones_or_again() -> None:
    programs = (Program(1, "mm"),)
    found = list(
        hidden_work(
            with_calls(
                (HostActivity.COMPILE, 500, 1, None),
                (HostActivity.COMPILE, 300, 2, None),
                (HostActivity.COMPILE, 200, 3, None),
                programs=programs,
            )
        )
    )
    assert told(found) == [("recompilation", 500, 2, "mm"), ("compile-in-window", 500, 1, "mm")]
    assert found[0].evidence == "2 compilations of programs that had been compiled before; 500 ns are told nowhere else"


def test_compilations_of_no_known_program_are_first_ones() -> None:
    found = list(hidden_work(with_calls((HostActivity.COMPILE, 500, 0, None), (HostActivity.COMPILE, 300, 0, None))))
    assert told(found) == [("compile-in-window", 800, 2, "")]


def test_small_copies_to_the_host_are_told_from_eight_on() -> None:
    few = (HostActivity.COPY_OUT, 50, 1, 2)
    large = (HostActivity.COPY_OUT, 50, 1, 257)
    assert list(runtime_calls(with_calls(*[few] * 7, large))) == []
    (found,) = runtime_calls(with_calls(*[few] * 8, large, (HostActivity.COPY_IN, 50, 1, 2)))
    assert told([found]) == [("small-downloads", 400, 8, "mm")]
    assert found.evidence == "8 copies to the host of 16 bytes in all"


def test_waits_are_told_from_eight_on() -> None:
    wait = (HostActivity.WAIT, 50, 1, None)
    assert list(runtime_calls(with_calls(*[wait] * 7))) == []
    assert told(list(runtime_calls(with_calls(*[wait] * 8)))) == [("synchronise-in-loop", 400, 8, "mm")]


def test_waits_of_the_recording_are_not_the_programs() -> None:
    found = list(runtime_calls(with_calls(*[(HostActivity.WAIT, 50, 1, None)] * 8, drained=True)))
    assert told(found) == [("serialised-by-profiling", 400, 8, "")]


def test_a_recording_that_waits_says_so_without_a_record_of_the_waits() -> None:
    assert told(list(runtime_calls(with_calls(drained=True)))) == [("serialised-by-profiling", None, 3, "")]


def test_a_place_is_the_operator_where_there_is_a_trace() -> None:
    timeline = merge(
        device_profile(
            RUN,
            host_slices=HostSlices.of(
                8,
                activity=HostActivity.WAIT,
                start_ns=np.arange(8),
                duration_ns=10,
                launch_id=2,
                process_id=HOST_PID,
                thread_id=HOST_PID,
            ),
        ),
        host_trace([op("aten::relu", 1_900, 2_500)]),
    )
    assert told(list(runtime_calls(timeline))) == [("synchronise-in-loop", 80, 8, "aten::relu")]


@pytest.mark.parametrize(("long_ns", "count"), [(9_000, 8), (8_000, 0), (9_000, 7)])
def test_submissions_wait_when_they_take_over_four_times_the_usual(long_ns: int, count: int) -> None:
    rows = [(HostActivity.SUBMIT, 2_000, 1, None)] * 9 + [(HostActivity.SUBMIT, long_ns, 1, None)] * (count or 8)
    wanted = [("queue-overrun", 8 * 7_000, 8, "mm")] if count == 8 else []
    assert told(list(runtime_calls(with_calls(*rows)))) == wanted


def test_submissions_that_are_short_anyway_do_not_wait() -> None:
    rows = [(HostActivity.SUBMIT, 100, 1, None)] * 9 + [(HostActivity.SUBMIT, 5_000, 1, None)] * 8
    assert list(runtime_calls(with_calls(*rows))) == []


def test_without_records_there_is_no_advice() -> None:
    timeline = merge(device_profile(RUN))
    assert [*hidden_work(timeline), *runtime_calls(timeline)] == []
