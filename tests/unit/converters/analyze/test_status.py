"""Can a profile be trusted?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT, Overheads, WorkloadSlices
from rblnpb.converters.analyze.status import profile_status
from rblnpb.converters.merging import merge
from rblnpb.converters.results import EngineActivity, OverheadPart, OverheadTotal, ProfileStatus
from rblnpb.converters.timeline import RecordCount
from rblnpb.errors import Finding, Severity
from rblnpb.profile import Session
from tests.support.timelines import slices, timeline
from tests.support.vendor_traces import (
    NEWER_WORK_NS,
    TICKS_AHEAD,
    Launch,
    annotation,
    device_profile,
    first_emitter,
    host_trace,
    newer_emitter,
    op,
    unix_ns,
)

OPS = (op("aten::mm", 1000, 2000), annotation("step", 4000, 7000))
RUN = (Launch(1, 1500, 2500), Launch(2, 5500, 6500), Launch(3, 9000, 9500))


def joined(**changes: Any) -> ProfileStatus:
    return profile_status(merge(device_profile(RUN, **changes), host_trace(OPS)))


def test_launches_are_counted_by_rule_and_by_reason() -> None:
    status = joined()
    assert status.launches_matched == {"innermost-op": 1}
    assert status.launches_unmatched == {"annotation-only": 1, "between-ops": 1}


def test_what_is_on_ops_and_what_is_not_add_up() -> None:
    status = joined()
    assert (status.slices_attributed, status.slices_unattributed) == (1, 2)
    assert (status.attributed_ns, status.unattributed_ns) == (700, 1400)


def test_busy_is_the_union_and_span_goes_from_the_first_start_to_the_last_end() -> None:
    status = joined()
    assert (status.busy_ns, status.span_ns) == (2100, 7700)


@pytest.mark.parametrize(("emitter", "work_ns"), [(first_emitter, 900), (newer_emitter, NEWER_WORK_NS)])
def test_of_the_vendors_rows_only_work_is_busy(emitter: Any, work_ns: int) -> None:
    status = profile_status(merge(None, host_trace([*OPS, *emitter(RUN[:1])])))
    assert (status.busy_ns, status.attributed_ns, status.unattributed_ns) == (work_ns, work_ns, 0)
    assert status.records == (RecordCount("device_rows", 6 if emitter is first_emitter else 4, 0),)


def test_every_engine_that_did_something_is_there_frames_last() -> None:
    frames = WorkloadSlices.of(1, clock_id=16, engine_id=2, start_ticks=2400 + TICKS_AHEAD, duration_ticks=900)
    assert joined(workload_slices=frames).engines == (
        EngineActivity(
            "rbln:0",
            "Neural Engine Clusters (chiplet 0)",
            "neural_engine_clusters",
            is_work=True,
            slice_count=3,
            first_ns=unix_ns(2500),
            last_ns=unix_ns(10_200),
            busy_ns=2100,
            sum_ns=2100,
            overlap_count=0,
        ),
        EngineActivity(
            "rbln:0",
            "Device Workload",
            "workload",
            is_work=False,
            slice_count=1,
            first_ns=unix_ns(2400),
            last_ns=unix_ns(3300),
            busy_ns=900,
            sum_ns=900,
            overlap_count=0,
        ),
    )


def test_overheads_are_summed_by_kind_operator_and_reason() -> None:
    rows = Overheads.of(
        overhead=np.array([3, 1, 1, 1, 9]),
        op_strindex=np.array([0, 3, 3, 4, 0]),
        reason_strindex=np.array([5, 6, 6, 7, 0]),
        place_strindex=np.array([0, 8, 9, 0, 0]),
        duration_ns=np.array([ABSENT, 5, 7, ABSENT, ABSENT]),
        size_bytes=np.array([64, ABSENT, ABSENT, ABSENT, ABSENT]),
    )
    strings = ("", "mm", "bytes", "aten::sub.out", "aten::add", "bounce", "dtype", "scalar", "a.py:1(f)", "b.py:2(g)")
    assert joined(overheads=rows, strings=strings).overheads == (
        OverheadTotal(
            "cpu_fallback",
            3,
            None,
            12,
            (OverheadPart("aten::sub.out", 2, None, 12, "a.py:1(f)"), OverheadPart("aten::add", 1)),
            (OverheadPart("dtype", 2, None, 12, "a.py:1(f)"), OverheadPart("scalar", 1)),
        ),
        OverheadTotal("host_copy", 1, 64, None, (OverheadPart("unknown", 1, 64),), (OverheadPart("bounce", 1, 64),)),
        OverheadTotal("unknown", 1, None, None, (OverheadPart("unknown", 1),), (OverheadPart("unknown", 1),)),
    )


def test_without_overheads_there_is_no_row() -> None:
    assert joined().overheads == ()


def test_overlaps_on_one_engine_are_told() -> None:
    status = profile_status(timeline(slices=slices({"start": 0, "duration": 10}, {"start": 4, "duration": 10})))
    (engine,) = status.engines
    assert (engine.busy_ns, engine.sum_ns, engine.overlap_count) == (14, 20, 1)
    (finding,) = status.findings
    assert (finding.code, finding.count, status.verdict) == ("overlapping-slices", 1, "ok")


@pytest.mark.parametrize(("drained", "codes"), [(True, ["serialised"]), (False, []), (None, [])])
def test_whether_recording_serialised_the_runs(drained: bool | None, codes: list[str]) -> None:
    status = profile_status(merge(device_profile(RUN, session=Session(session_id=7, drained_after_each_run=drained))))
    assert (status.is_serialised, [finding.code for finding in status.findings]) == (drained, codes)


@pytest.mark.parametrize(
    ("severities", "verdict"),
    [
        ((), "ok"),
        ((Severity.INFO,), "ok"),
        ((Severity.INFO, Severity.WARNING), "warning"),
        ((Severity.ERROR, Severity.INFO), "error"),
    ],
)
def test_the_worst_finding_is_the_verdict(severities: tuple[Severity, ...], verdict: str) -> None:
    findings = tuple(Finding(severity, f"f{place}", "") for place, severity in enumerate(severities))
    assert profile_status(timeline(findings=findings)).verdict == verdict


def test_the_worst_finding_comes_first() -> None:
    findings = (Finding(Severity.INFO, "a", ""), Finding(Severity.ERROR, "b", ""), Finding(Severity.INFO, "c", ""))
    assert [finding.code for finding in profile_status(timeline(findings=findings)).findings] == ["b", "a", "c"]


def test_slices_out_of_the_window_are_counted() -> None:
    run = (Launch(1, 1500, 2500), Launch(2, 5500, 2_000_000))
    assert profile_status(merge(device_profile(run), host_trace(OPS))).out_of_window == 1
    late = (Launch(1, 5_000_000, 6_000_000),)
    assert profile_status(merge(device_profile(late), host_trace(OPS))).out_of_window == 1
    assert profile_status(merge(None, host_trace([*OPS, *first_emitter(late)]))).out_of_window == 6


def test_of_nothing_the_status_is_empty() -> None:
    status = profile_status(timeline())
    assert (status.verdict, status.engines, status.busy_ns, status.span_ns) == ("ok", (), 0, 0)
    assert (status.launches_matched, status.launches_unmatched) == ({}, {})
