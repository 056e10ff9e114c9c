"""rblnpb summary --by: what a row is, in every format, and how wide it gets."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rblnpb
from rblnpb import sim
from rblnpb.converters.cli import main
from rblnpb.converters.cli import summary as command
from rblnpb.converters.pipeline import SUMMARY_KEYS
from tests.support.shared_traces import ROOT
from tests.support.vendor_traces import Launch, annotation, device_profile, document, op

OPS = (op("aten::mm", 1200, 2000), annotation("ProfilerStep#1", 1000, 2000), annotation("ProfilerStep#2", 2000, 9000))
RUN = (Launch(1, 1500, 2500), Launch(2, 3000, 4000))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a profile of a decoder `d.pb`, and a profile `a.pb` with its trace `t.json`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    rblnpb.write(sim.simulate(program="decoder", calls=3), "d.pb")
    rblnpb.write(device_profile(RUN), "a.pb")
    Path("t.json").write_bytes(document(OPS))
    return tmp_path


def output(capfdbinary: pytest.CaptureFixture[bytes], *argv: str, code: int = 0) -> tuple[str, str]:
    """What went to stdout and to stderr."""
    assert main(["summary", *argv]) == code
    found = capfdbinary.readouterr()
    return found.out.decode(), found.err.decode()


def test_every_key_that_there_is_can_be_asked_for() -> None:
    assert command._KEYS == SUMMARY_KEYS


@pytest.mark.parametrize("by", SUMMARY_KEYS[1:])
def test_all_formats_have_the_same_rows_and_the_same_totals(capfdbinary: pytest.CaptureFixture[bytes], by: str) -> None:
    text, errors = output(capfdbinary, "d.pb", "--by", by, "--row-limit", "-1")
    value = json.loads(output(capfdbinary, "d.pb", "--by", by, "--format", "json")[0])
    table = list(csv.DictReader(io.StringIO(output(capfdbinary, "d.pb", "--by", by, "--format", "csv")[0])))
    assert (value["schema"], value["by"], errors) == ("rblnpb.summary/1", by, "")
    assert (
        sum(row["total_ns"] for row in value["rows"]) == value["totals"]["total_ns"] == sum(int(row["total_ns"]) for row in table)
    )
    assert len(value["rows"]) == len(table) == value["totals"]["row_count"]
    assert text.splitlines()[0].startswith(f"By {by}: {len(table):,} row")


def test_without_a_host_trace_it_is_by_stage_and_with_one_by_op(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert output(capfdbinary, "a.pb")[0].startswith("By stage: 1 row, 2 slices of work;")
    assert output(capfdbinary, "a.pb", "--host", "t.json")[0].startswith("---")


def test_device_time_of_steps_needs_the_host_trace_to_be_told_apart(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    value = json.loads(output(capfdbinary, "a.pb", "--host", "t.json", "--by", "step", "--format", "json", "--sort-by", "start")[0])
    assert [(row["name"], row["total_ns"], row["carried_over_ns"]) for row in value["rows"]] == [
        ("ProfilerStep#1", 700, 700),
        ("ProfilerStep#2", 700, 0),
    ]


def test_rows_are_ordered_and_limited_as_asked(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    given = ("d.pb", "--by", "family", "--format", "json")
    value = json.loads(output(capfdbinary, *given, "--sort-by", "count", "--row-limit", "2")[0])
    assert ([row["name"] for row in value["rows"]], value["hidden_row_count"]) == (["linear", "paged_attn"], 4)
    text, _ = output(capfdbinary, "d.pb", "--by", "stage", "--row-limit", "1")
    assert "75 more rows (--row-limit -1 shows all); the total is of all rows" in text


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("d.pb", "--by", "op"), "a summary by op needs the host trace of the same run: give it with --host TRACE"),
        (("d.pb", "--sort-by", "totl"), "cannot sort by 'totl': did you mean total?"),
        (("d.pb", "--header", "x", "--device-time", "recorded"), "--device-time, --header is of the summary by op, not by stage"),
    ],
)
def test_what_cannot_be_done_is_one_line(capfdbinary: pytest.CaptureFixture[bytes], argv: tuple[str, ...], message: str) -> None:
    text, errors = output(capfdbinary, *argv, code=2)
    assert (text, errors.count("\n"), message in errors) == ("", 1, True)


def test_odd_slices_are_told_on_stderr(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    profile = sim.simulate(calls=9)
    slices = profile.device_slices
    cycles = slices.compute_cycles.copy()
    cycles[cycles.argmax()] *= 1000
    rblnpb.write(profile.replace(device_slices=slices.replace(compute_cycles=cycles)), "odd.pb")
    _, errors = output(capfdbinary, "odd.pb", "--by", "program")
    assert errors.startswith("rblnpb: warning: Neural Engine Clusters: 1 slice of Neural Engine Clusters counted over ten times")


def piped(folder: Path, *argv: str, **environment: str) -> list[str]:
    """Lines of a command whose output nobody looks at."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    env.pop("COLUMNS", None) if "COLUMNS" not in environment else None
    done = subprocess.run(
        [sys.executable, "-m", "rblnpb.converters", "summary", *argv],
        cwd=folder,
        env=env,
        capture_output=True,
        check=True,
        timeout=120,
    )
    return done.stdout.decode().splitlines()


def test_a_pipe_gets_every_column_without_colour_and_columns_keeps_to_its_width(folder: Path) -> None:
    whole = piped(folder, "d.pb", TERM="xterm-256color", FORCE_COLOR="1")
    narrow = piped(folder, "d.pb", COLUMNS="90")
    assert len(whole[3]) > 200
    assert max(len(line) for line in narrow if line.startswith(("stage", "─"))) <= 90
    assert not any("\x1b" in line for line in (*whole, *narrow))
    assert any(line.startswith("  Left out for want of width: mean, min, p50, ") for line in narrow)
