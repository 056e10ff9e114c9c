"""Files out: traces, a trace as it was, and profiles."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

import rblnpb
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import (
    Archived,
    require_writable,
    write_chrome_trace,
    write_data,
    write_host_trace,
    write_perfetto_trace,
    write_profile,
)
from rblnpb.converters.timeline import Timeline
from rblnpb.errors import CheckError, OutputError, UsageError
from tests.support.vendor_traces import Launch, device_profile, host_trace, op


@pytest.fixture
def timeline() -> Timeline:
    return merge(device_profile((Launch(1, 1500, 2500),)), host_trace([op("aten::mm", 1000, 2000)]))


def names(text: bytes) -> list[str]:
    return [event["name"] for event in json.loads(text)["traceEvents"] if event["ph"] == "X"]


def test_a_trace_is_written_whole_to_a_file_and_to_a_stream(timeline: Timeline, tmp_path: Path) -> None:
    stream = io.BytesIO()
    write_chrome_trace(timeline, stream)
    write_chrome_trace(timeline, tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == stream.getvalue()
    assert sorted(names(stream.getvalue())) == ["PyTorch Profiler (0)", "aten::mm", "mm"]


def test_a_name_that_ends_in_gz_is_packed_and_the_same_each_time(timeline: Timeline, tmp_path: Path) -> None:
    stream = io.BytesIO()
    write_chrome_trace(timeline, stream)
    for name in ("a.json.gz", "b.json.gz"):
        write_chrome_trace(timeline, str(tmp_path / name))
    packed = (tmp_path / "a.json.gz").read_bytes()
    assert gzip.decompress(packed) == stream.getvalue()
    assert (tmp_path / "b.json.gz").read_bytes() == packed


def test_a_file_is_overwritten_only_when_told_to(timeline: Timeline, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        write_chrome_trace(timeline, target)
    assert target.read_text() == "mine"
    write_chrome_trace(timeline, target, force=True)
    assert len(names(target.read_bytes())) == 3


@pytest.mark.parametrize(
    ("name", "force", "text"),
    [
        ("there.json", False, "exists already; overwrite it with --force"),
        ("folder", False, "it is a folder"),
        ("folder", True, "it is a folder"),
        ("missing/out.json", True, "there is no folder"),
    ],
)
def test_what_could_not_be_written_is_refused_before_the_work(tmp_path: Path, name: str, force: bool, text: str) -> None:
    (tmp_path / "there.json").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match=text):
        require_writable(tmp_path / name, force=force)


def test_what_can_be_written_is_not_refused(tmp_path: Path) -> None:
    (tmp_path / "there.json").touch()
    require_writable(tmp_path / "new.json", force=False)
    require_writable(tmp_path / "there.json", force=True)


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_an_error_in_between_leaves_nothing_behind(
    timeline: Timeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rblnpb.converters.pipeline.output.render_chrome_trace", full)
    with pytest.raises(OutputError, match=f"cannot write .*{name}: No space left on device"):
        write_chrome_trace(timeline, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_host_trace_is_written_as_it_stands(tmp_path: Path) -> None:
    host = host_trace([op("aten::mm", 1000, 2000)])
    text = b"".join(host.document.blocks())
    seen: list[tuple[int, int]] = []
    write_host_trace(host, tmp_path / "t.json", progress=lambda *at: seen.append(at))
    write_host_trace(host, tmp_path / "t.json.gz")

    assert (tmp_path / "t.json").read_bytes() == gzip.decompress((tmp_path / "t.json.gz").read_bytes()) == text
    assert seen == [(len(text), len(text))]
    with pytest.raises(OutputError, match="exists already"):
        write_host_trace(host, tmp_path / "t.json")


def test_a_profile_is_written_with_its_trace_or_without(tmp_path: Path) -> None:
    profile, host = device_profile((Launch(1, 1500, 2500),)), host_trace([op("aten::mm", 1000, 2000)])
    size_bytes = sum(map(len, host.document.blocks()))

    assert write_profile(profile, None, tmp_path / "device.pb") == Archived(0, ())
    assert write_profile(profile, host, tmp_path / "both.pb") == Archived(size_bytes, ())
    assert write_profile(None, host, tmp_path / "trace.pb") == Archived(size_bytes, ())
    counts = [rblnpb.read(tmp_path / name) for name in ("device.pb", "both.pb", "trace.pb")]
    assert [(len(read.device_slices), len(read.trace_events) > 0) for read in counts] == [(1, False), (1, True), (0, True)]
    with pytest.raises(UsageError, match="nothing to write"):
        write_profile(None, None, tmp_path / "none.pb")


def test_a_profile_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    broken = device_profile((Launch(1, 1500, 2500),), strings=("",))
    with pytest.raises(CheckError):
        write_profile(broken, host_trace([]), tmp_path / "x.pb")

    assert list(tmp_path.iterdir()) == []


def test_perfettos_own_trace_goes_to_files_and_streams_alike(timeline: Timeline, tmp_path: Path) -> None:
    stream = io.BytesIO()
    write_perfetto_trace(timeline, stream)
    write_perfetto_trace(timeline, tmp_path / "t.pftrace")

    assert (tmp_path / "t.pftrace").read_bytes() == stream.getvalue()
    assert stream.getvalue()[:1] == b"\n"


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_data(b"a 1\n", tmp_path / "a.folded")
    assert (tmp_path / "a.folded").read_bytes() == b"a 1\n"
    with pytest.raises(OutputError, match="exists already"):
        write_data(b"", tmp_path / "a.folded")
