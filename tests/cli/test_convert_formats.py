"""`convert` into every format and back: which one is written, what is said of it, and what the file holds."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import rblnpb
from rblnpb.converters.cli import main
from tests.support.vendor_traces import Launch, device_profile, document, newer_emitter, op

OPS = (op("aten::matmul", 1_000, 3_000, external_id=1), op("aten::mm", 1_200, 2_000, external_id=2))
RUN = (Launch(1, 1_500, 2_500),)
# The flow ends nowhere, which viewers do not take, so a trace for viewers does without it.
LOST = {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 9, "bp": "e", "pid": 1, "tid": 1, "ts": 1.5}
TRACE = document([*OPS, LOST])
WITH_ROWS = document([*OPS, *newer_emitter(RUN)])

Run = Callable[[str], SimpleNamespace]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line in a folder of its own, with a profile `a.pb`, a trace `t.json` and one with device rows, `rows.json`."""
    monkeypatch.chdir(tmp_path)
    rblnpb.write(device_profile(RUN), "a.pb")
    Path("t.json").write_bytes(TRACE)
    Path("rows.json").write_bytes(WITH_ROWS)

    def run(line: str) -> SimpleNamespace:
        code = main(line.split())
        found = capfdbinary.readouterr()
        return SimpleNamespace(code=code, out=found.out, err=found.err.decode())

    return run


def content(name: str) -> bytes:
    return Path(name).read_bytes()


def test_a_trace_goes_into_a_profile_and_comes_back_byte_for_byte(run: Run) -> None:
    packed, back = run("convert t.json -o t.pb"), run("convert t.pb -o back.json")

    assert (packed.code, packed.out, back.code, back.out) == (0, b"", 0, b"")
    size = f"{len(content('t.pb')):,}"
    assert packed.err == f"wrote t.pb: 4 host events, {len(TRACE):,} bytes of JSON, in {size} bytes\n"
    assert back.err == "wrote back.json: 4 host events, byte for byte as they were; --to chrome mends what viewers cannot show\n"
    assert content("back.json") == TRACE
    assert run("convert back.json -o again.pb").code == 0
    assert content("again.pb") == content("t.pb")


def test_compression_around_a_trace_does_not_matter(run: Run) -> None:
    Path("t.json.gz").write_bytes(gzip.compress(TRACE))
    for line in ("t.json.gz -o one.pb", "t.json -o other.pb", "one.pb -o back.json.gz"):
        assert run(f"convert {line}").code == 0

    assert content("one.pb") == content("other.pb")
    assert gzip.decompress(content("back.json.gz")) == TRACE


def test_an_archive_for_viewers_is_what_its_trace_is_for_viewers(run: Run) -> None:
    run("convert t.json -o t.pb")
    of_trace, of_archive = run("convert t.json -o one.json"), run("convert t.pb --to chrome -o other.json")

    assert "flows-outside-slices" in of_trace.err
    assert of_archive.err == of_trace.err.replace("one.json", "other.json")
    assert content("one.json") == content("other.json") != TRACE


def test_a_profile_and_its_trace_in_one_file_are_as_good_as_two(run: Run) -> None:
    assert run("convert a.pb --host t.json -o both.pb").code == 0
    run("convert a.pb --host t.json -o two.json")
    run("convert both.pb -o one.json")

    assert content("one.json") == content("two.json")
    assert run("summary both.pb").out == run("summary a.pb --host t.json").out
    one, two = (json.loads(run(f"status {files} --format json").out) for files in ("both.pb", "a.pb --host t.json"))
    assert (one.pop("sources"), two.pop("sources")) == (["both.pb"], ["a.pb", "t.json"])
    assert one == two


def test_the_trace_of_such_a_file_comes_out_alone(run: Run) -> None:
    run("convert a.pb --host t.json -o both.pb")

    assert run("convert both.pb --to json -o back.json").code == 0
    assert content("back.json") == TRACE


def test_device_rows_are_device_slices_and_counted_once(run: Run) -> None:
    run("convert rows.json -o rows.pb")
    profile = rblnpb.read("rows.pb")

    assert len(profile.device_slices) == 4
    assert run("summary rows.pb").out == run("summary rows.json").out
    assert run("status rows.pb").out == run("status rows.json").out.replace(b"rows.json", b"rows.pb")


def test_a_profile_alone_is_written_anew(run: Run) -> None:
    buffer = io.BytesIO()
    rblnpb.write(rblnpb.read("a.pb"), buffer, display=True)
    Path("shown.pb").write_bytes(buffer.getvalue())
    ran = run("convert shown.pb -o copy.pb")

    assert (ran.code, content("copy.pb")) == (0, content("shown.pb"))
    assert re.fullmatch(r"wrote copy\.pb: \d device slices, in [\d,]+ bytes\n", ran.err)
    assert run("convert a.pb -o a.pb").code == 4
    assert run("convert a.pb -o a.pb --force").code == 0
    assert rblnpb.read("a.pb").findings == ()


def test_perfetto_traces_are_told_by_their_suffix(run: Run) -> None:
    for line in ("a.pb t.json -o m.pftrace", "a.pb t.json -o m.perfetto-trace", "a.pb t.json --to perfetto -o m.json"):
        assert run(f"convert {line}").code == 0

    assert content("m.pftrace")[:1] == b"\n"
    assert content("m.pftrace") == content("m.perfetto-trace") == content("m.json")


def test_standard_output_takes_every_format(run: Run) -> None:
    run("convert t.json -o t.pb")

    assert run("convert t.json --to pb -o -").out == content("t.pb")
    assert run("convert t.pb -o -").out == TRACE
    assert run("convert t.pb --to json -o -").out == TRACE
    assert json.loads(run("convert t.pb --to chrome -o -").out)["traceEvents"]
    assert run("convert t.pb --to perfetto -o -").out[:1] == b"\n"


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("convert t.json -o t.txt", 2, "end it in .json, .json.gz, .pftrace, .perfetto-trace, .pb, or give --to FORMAT"),
        ("convert a.pb --to json -o x.json", 2, "there is none: --to chrome shows device records"),
        ("convert t.json -o a.pb", 4, "a.pb exists already; overwrite it with --force"),
        ("convert both.pb t.json -o x.json", 3, "cannot join 2 host traces"),
        ("convert a.pb --host both.pb -o x.json", 2, "both.pb is a device profile; --host takes a host trace"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(run: Run, line: str, code: int, said: str) -> None:
    run("convert a.pb --host t.json -o both.pb")
    ran = run(line)

    assert (ran.code, ran.err.count("\n"), said in ran.err) == (code, 1, True)
    assert not Path("x.json").exists()


def test_a_cut_archive_gives_its_whole_events_and_says_what_is_missing(run: Run) -> None:
    run("convert t.json -o t.pb")
    Path("cut.pb").write_bytes(content("t.pb")[:-10])
    ran = run("convert cut.pb -o back.json")

    assert (ran.code, content("back.json")) == (0, TRACE)
    assert "warning: byte" in ran.err
    assert run("convert cut.pb -o strict.json --strict").code == 3
    assert run("check cut.pb").out.startswith(b"cut.pb: warning")


def test_show_says_that_a_trace_is_archived(run: Run) -> None:
    run("convert rows.json -o rows.pb")
    said = run("show rows.pb").out.decode()

    assert "archived trace:\n  name: trace.json\n  event count: 24\n" in said
    assert b"archived" not in run("show a.pb").out


def test_check_finds_what_is_odd_about_an_archived_trace(run: Run) -> None:
    Path("odd.json").write_bytes(b'[{"ph": "X", "name": "f", "ts": 1}]')
    run("convert odd.json -o odd.pb")
    of_trace, of_archive = run("check odd.json --format json"), run("check odd.pb --format json")

    assert b"no-duration" in of_archive.out
    assert json.loads(of_archive.out)["findings"] == json.loads(of_trace.out)["findings"]
