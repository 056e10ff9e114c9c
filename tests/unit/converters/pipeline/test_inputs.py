"""Files in, told apart by content."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rblnpb
from rblnpb.converters.pipeline import read_inputs
from rblnpb.converters.pipeline.inputs import display_name, read_file
from rblnpb.errors import CheckError, FormatError, MergeError, NotAProfileError, TruncatedError, UsageError
from tests.support import vendor_profiles
from tests.support.vendor_traces import Launch, device_profile, document, op

VENDOR = vendor_profiles.vendor_file(vendor_profiles.run("multi", 4))
TRACE = document([op("aten::mm", 1000, 2000)])


def profile_bytes(session_id: int = 7) -> bytes:
    file = io.BytesIO()
    profile = device_profile((Launch(1, 1500, 2500),))
    rblnpb.write(profile.replace(session=rblnpb.Session(session_id=session_id)), file)
    return file.getvalue()


PROFILE = profile_bytes()
PACKED = gzip.compress(TRACE, mtime=0)
"""Tests are named by their data, and every process that runs some of them must name all alike."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with one profile and one trace under names that say nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(PROFILE)
    (tmp_path / "b").write_bytes(TRACE)
    return tmp_path


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def what(inputs: Any) -> tuple[int, int, tuple[str, ...]]:
    """How many device slices and host events there are, and what was read."""
    return (
        -1 if inputs.profile is None else len(inputs.profile.device_slices),
        -1 if inputs.host is None else len(inputs.host.events),
        inputs.names,
    )


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_a_profile_and_a_trace_are_told_apart_in_any_order(folder: Path, names: tuple[str, str]) -> None:
    assert what(read_inputs(names)) == (1, 2, ("a", "b"))


def test_each_may_come_alone(folder: Path) -> None:
    assert what(read_inputs(["a"])) == (1, -1, ("a",))
    assert what(read_inputs([Path("b")])) == (-1, 2, ("b",))


def test_the_host_trace_may_be_named_as_such(folder: Path) -> None:
    assert what(read_inputs(["a"], "b")) == (1, 2, ("a", "b"))


def test_a_packed_trace_is_a_trace(folder: Path) -> None:
    (folder / "c").write_bytes(gzip.compress(TRACE))
    assert what(read_inputs(["c"])) == (-1, 2, ("c",))


def test_a_folder_is_the_files_of_one_recording(folder: Path) -> None:
    run = folder / "run"
    run.mkdir()
    (run / "rbln_0.pb").write_bytes(PROFILE)
    (run / "trace.json").write_bytes(TRACE)
    (run / "notes.txt").write_text("not looked at")
    assert what(read_inputs(["run"])) == (1, 2, ("run/rbln_0.pb", "run/trace.json"))


def test_a_linked_folder_is_one_too(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "real" / "trace.json.gz").write_bytes(gzip.compress(TRACE))
    (folder / "link").symlink_to(folder / "real")
    assert what(read_inputs(["link"])) == (-1, 2, ("link/trace.json.gz",))


@pytest.mark.parametrize(("data", "expected"), [(PROFILE, (1, -1)), (TRACE, (-1, 2)), (PACKED, (-1, 2))])
def test_standard_input_may_be_either(data: bytes, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, data)
    assert what(read_inputs(["-"])) == (*expected, ("<stdin>",))


def test_the_vendors_profile_is_an_input_as_any(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "v").write_bytes(VENDOR)
    (folder / "w").write_bytes(gzip.compress(VENDOR))
    assert what(read_inputs(["v"])) == (20, -1, ("v",))
    assert what(read_inputs(["w", "b"])) == (20, 2, ("w", "b"))
    feed(monkeypatch, VENDOR)
    assert what(read_inputs(["-"], "b")) == (20, 2, ("<stdin>", "b"))
    found = read_file("v")
    assert isinstance(found, list)
    assert [len(profile.device_slices) for profile in found] == [20]


def test_all_files_of_a_recording_of_the_vendors_are_one_input(folder: Path) -> None:
    run_folder = folder / "run"
    run_folder.mkdir()
    for ordinal in (2, 10):
        part = vendor_profiles.run("legacy", 1, start_ns=ordinal * 10_000)
        (run_folder / f"rbln_20260902_012906319_{ordinal}.pb").write_bytes(vendor_profiles.vendor_file(part))
    (run_folder / "trace.json").write_bytes(TRACE)
    for name in ("merged.pftrace", "report.txt"):
        (run_folder / name).write_bytes(VENDOR)
    inputs = read_inputs(["run"])
    names = [f"run/rbln_20260902_012906319_{ordinal}.pb" for ordinal in (10, 2)]
    assert what(inputs) == (10, 2, (*names, "run/trace.json"))
    assert inputs.profile is not None
    assert inputs.profile.device_slices.start_ticks.tolist()[::5] == [20_000, 100_000]
    assert what(read_inputs([*names])) == (10, -1, tuple(names))


def test_standard_input_beside_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, TRACE)
    assert what(read_inputs(["a"], "-")) == (1, 2, ("a", "<stdin>"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize(("data", "expected"), [(PROFILE, (1, -1)), (TRACE, (-1, 2)), (PACKED, (-1, 2))])
def test_a_pipe_is_read_once(folder: Path, data: bytes, expected: tuple[int, int]) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_bytes, args=(data,))
    writer.start()
    assert what(read_inputs(["pipe"])) == (*expected, ("pipe",))
    writer.join()


def test_the_joined_timeline_is_under_the_names_of_its_files(folder: Path) -> None:
    timeline = read_inputs(["a", "b"]).merge()
    assert timeline.sources == ("a", "b")
    assert timeline.slices.host_row.tolist() == [0]


def test_progress_is_told_while_a_trace_is_read(folder: Path) -> None:
    calls: list[tuple[int, int]] = []
    read_inputs(["a", "b"], progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (len(TRACE), len(TRACE))


@pytest.mark.parametrize(
    ("inputs", "host", "error", "text"),
    [
        (["missing"], None, FormatError, "cannot read missing: there is no such file"),
        (["a", "a"], None, MergeError, r"cannot join 2 device profiles \(a, a\): give one of them"),
        (["b"], "b", MergeError, r"cannot join 2 host traces \(b, b\): give one of them"),
        (["b"], "a", UsageError, "a is a device profile; --host takes a host trace"),
        (["v", "a"], None, MergeError, r"two formats \(v is the vendor's, a is not\)"),
        (["b"], "v", UsageError, "v is a device profile; --host takes a host trace"),
        (["a"], "missing", FormatError, "cannot read missing: there is no such file"),
        (["a"], ".", FormatError, r"cannot read \.: it is a folder; name a file in it"),
        (["empty"], None, FormatError, "cannot read empty: it is a folder without a .pb, .json or .json.gz file"),
        (["-", "-"], None, UsageError, r"standard input \(-\) can be read once"),
        (["-"], "-", UsageError, r"standard input \(-\) can be read once"),
    ],
)
def test_what_cannot_be_joined_is_refused(
    folder: Path, inputs: list[str], host: str | None, error: type[Exception], text: str
) -> None:
    (folder / "empty").mkdir()
    (folder / "v").write_bytes(VENDOR)
    with pytest.raises(error, match=text):
        read_inputs(inputs, host)


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (b"", NotAProfileError, "it is an empty file"),
        (b"name,calls\naten::mm,3\n", NotAProfileError, "it looks like text"),
        (b'{"a": 1}', NotAProfileError, "it is JSON, but no trace"),
        (b"\x1f\x8b\x08garbage", FormatError, "gzip"),
        (PROFILE[:20], TruncatedError, "it ends inside its first packet"),
        (TRACE[: TRACE.index(b"aten")], TruncatedError, "ends early"),
        (PACKED[:30], TruncatedError, "gzip data ends early"),
    ],
)
def test_what_cannot_be_read_says_what_it_is(folder: Path, data: bytes, error: type[Exception], text: str) -> None:
    (folder / "c").write_bytes(data)
    with pytest.raises(error, match=text):
        read_inputs(["c"])


@pytest.mark.parametrize("data", [TRACE[:-1], PACKED[:-8]])
def test_what_is_whole_of_a_cut_trace_is_read_unless_that_is_refused(folder: Path, data: bytes) -> None:
    (folder / "c").write_bytes(data)
    host = read_inputs(["c"]).host
    assert host is not None
    assert len(host.events) == 2
    assert host.findings
    with pytest.raises((TruncatedError, CheckError)):
        read_inputs(["c"], strict=True)


def test_a_closed_standard_input_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FormatError, match="cannot read <stdin>: standard input is closed"):
        read_inputs(["-"])


def test_a_folder_that_may_not_be_listed_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(FormatError, match=r"cannot read \.: permission denied"):
        read_inputs(["."])


def test_strict_refuses_what_is_damaged(folder: Path) -> None:
    (folder / "c").write_bytes(PROFILE[:-3])
    assert [finding.code for finding in read_inputs(["c"]).merge().findings][:1] == ["truncated"]
    with pytest.raises(CheckError, match="leave strict out"):
        read_inputs(["c"], strict=True)


def test_all_sessions_of_a_file_are_given(folder: Path) -> None:
    (folder / "two").write_bytes(PROFILE + profile_bytes(9))
    found = read_file("two")
    assert isinstance(found, list)
    assert [profile.session.session_id for profile in found] == [7, 9]
    with pytest.raises(MergeError, match="it holds 2 sessions"):
        read_inputs(["two"])


@pytest.mark.parametrize(("name", "shown"), [("-", "<stdin>"), (Path("a/b.pb"), "a/b.pb"), ("\udcff.pb", "\ufffd.pb")])
def test_a_file_is_called_by_its_name_as_far_as_it_is_text(name: Any, shown: str) -> None:
    assert display_name(name) == shown
