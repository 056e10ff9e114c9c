"""Findings about files."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

import rblnpb
from rblnpb.clock import HOST_REALTIME
from rblnpb.converters.pipeline import check_file, check_files, write_profile
from rblnpb.converters.sources.kineto import read_host
from rblnpb.errors import FormatError
from rblnpb.profile import Profile, Session
from tests.support.shared_traces import needs_shared, shared_file
from tests.support.vendor_traces import Launch, annotation, device_profile, document, newer_emitter, op

RUN = (Launch(1, 1500, 2500),)


def write(path: Path, *profiles: Profile, cut: int = 0) -> Path:
    """A file with these sessions, cut at its end."""
    parts = []
    for profile in profiles:
        file = io.BytesIO()
        rblnpb.write(profile, file)
        parts.append(file.getvalue())
    data = b"".join(parts)
    path.write_bytes(data[: len(data) - cut])
    return path


def run(session_id: int = 7) -> Profile:
    return device_profile(RUN, session=Session(session_id=session_id))


def codes(path: Path) -> list[str]:
    return [finding.code for finding in check_file(path).findings]


def test_a_whole_file_has_no_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pb", run())
    report = check_file(path)
    assert (report.name, report.findings, report.verdict) == (str(path), (), "ok")
    assert check_files([path]).text() == f"{path}: ok\n"


def test_a_cut_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pb", run(), cut=3)
    assert codes(path) == ["truncated", "not-ended"]
    assert json.loads(check_files([path]).to_json())["verdict"] == "warning"


def test_what_all_sessions_of_a_file_share_is_named_once(tmp_path: Path) -> None:
    assert codes(write(tmp_path / "a.pb", run(7), run(9))) == ["several-sessions"]


def test_a_trace_is_checked_by_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(document([op("aten::mm", 1000, 2000), annotation("step", 1500, 3000)], base_time=False)))
    report = check_file(path)
    assert [(finding.code, str(finding.severity)) for finding in report.findings] == [
        ("crossing-slices", "warning"),
        ("no-base-time", "info"),
        ("unsorted-events", "info"),
    ]
    assert report.first_ns == 5_000_000_000


def test_what_is_odd_about_a_trace_is_as_odd_in_an_archive(tmp_path: Path) -> None:
    text = document([op("aten::mm", 1000, 2000), annotation("step", 1500, 3000)])
    write_profile(device_profile(RUN), read_host(io.BytesIO(text)), tmp_path / "both.pb")
    (tmp_path / "trace.json").write_bytes(text)
    assert codes(tmp_path / "both.pb") == codes(tmp_path / "trace.json") == ["crossing-slices", "unsorted-events"]


def test_the_vendors_device_rows_are_whole(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_bytes(document([op("aten::mm", 1000, 2000), *newer_emitter(RUN)]))
    assert [finding.severity for finding in check_file(tmp_path / "trace.json").findings if finding.severity] == []


def test_a_profile_whose_clocks_fit_nowhere_is_told_of_and_no_more(tmp_path: Path) -> None:
    text = document([op("aten::mm", 1000, 2000)])
    profile = device_profile(RUN)
    lost = profile.replace(clock_snapshots=tuple(one for one in profile.clock_snapshots if one.clock_id != HOST_REALTIME))
    write_profile(lost, read_host(io.BytesIO(text)), tmp_path / "both.pb")
    assert "not-joined" in codes(tmp_path / "both.pb")


def test_the_only_file_is_refused_by_its_name_when_it_cannot_be_read_and_one_of_several_has_a_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pb", run())
    with pytest.raises(FormatError, match="missing"):
        check_files([tmp_path / "missing"])
    missing, whole = check_files([tmp_path / "missing", path]).values
    assert [finding.code for finding in missing.findings] == ["unreadable"]
    assert whole == check_file(path)


PUBLIC = {
    "tracelens/tests/traces/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": {
        "crossing-slices": 5,
        "launch-not-recorded": 509,
        "unsorted-events": 1204,
        "flow-without-start": 1230,
        "flow-without-end": 3,
    },
    "hta/tests/data/mtia_inference_trace/mtia_inference_rank_0.json.gz": {
        "crossing-slices": 12,
        "launch-id-0": 322,
        "overlapping-slices": 3,
        "unsorted-events": 35,
        "flow-without-end": 16,
        "repeated-metadata": 21,
        "launches-without-work": 2,
    },
}


@needs_shared
@pytest.mark.parametrize("name", PUBLIC)
def test_a_healthy_trace_has_no_error(name: str) -> None:
    report = check_file(shared_file("traces", "public", *name.split("/")))
    assert report.verdict == "warning"
    assert {finding.code: finding.count for finding in report.findings} == PUBLIC[name]
