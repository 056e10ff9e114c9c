"""--window and --around: on every command that reads a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rblnpb
from rblnpb import sim
from tests.support.command_line import Run, runner
from tests.support.vendor_traces import Launch, document, first_emitter, op

RUN = (Launch(1, 1500, 2500), Launch(2, 10_800, 12_000))
OPS = (op("aten::mm", 1200, 2000, external_id=1), op("aten::add", 10_500, 13_000, external_id=2))


@pytest.fixture
def rblnpb_(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a folder with a profile `a.pb` and the vendor's trace `v.json`."""
    monkeypatch.chdir(tmp_path)
    rblnpb.write(sim.simulate(program="mm", calls=40), "a.pb")
    Path("v.json").write_bytes(document([*OPS, *first_emitter(RUN)]))
    return runner(capfdbinary)


def found(ran: tuple[int, str, str]) -> Any:
    assert ran[0] == 0
    return json.loads(ran[1])


@pytest.mark.parametrize("command", ["summary", "idle", "latency", "stacks", "advise", "status"])
@pytest.mark.parametrize("name", ["a.pb", "v.json"])
def test_every_report_is_of_the_window_and_says_so(rblnpb_: Run, command: str, name: str) -> None:
    code, out, err = rblnpb_(command, name, "--window", "0ns:30.6ms")
    assert (code, out != "", err.count("only what overlaps the window")) == (0, True, 1)


@pytest.mark.parametrize("command", ["summary", "idle", "latency", "stacks", "advise"])
def test_that_a_window_is_empty_is_said_once(rblnpb_: Run, command: str) -> None:
    assert rblnpb_(command, "v.json", "--window", "100s:")[2].count("nothing lies in the window") == 1


def test_that_a_window_is_empty_is_said_once_by_what_writes_it(rblnpb_: Run) -> None:
    assert rblnpb_("convert", "v.json", "--window", "100s:", "-o", "-")[2].count("nothing lies in the window") == 1


def test_the_parts_of_a_run_add_up_to_it(rblnpb_: Run) -> None:
    whole = found(rblnpb_("summary", "a.pb", "--by", "program", "--format", "json"))
    parts = [
        found(rblnpb_("summary", "a.pb", "--by", "program", "--format", "json", "--window", window))
        for window in (":30.6ms", "30.6ms:")
    ]
    assert all(part["rows"] for part in parts)
    assert sum(part["rows"][0]["count"] for part in parts) >= whole["rows"][0]["count"] > parts[0]["rows"][0]["count"]


def test_around_an_op_is_what_it_launched(rblnpb_: Run) -> None:
    rows = found(rblnpb_("summary", "v.json", "--format", "json", "--around", "aten::add"))["rows"]
    assert [row["name"] for row in rows if row["kind"] == "op"] == ["aten::add"]
    assert [row["self_device_time_total_ns"] for row in rows if row["name"] == "aten::add"] == [
        row["self_device_time_total_ns"]
        for row in found(rblnpb_("summary", "v.json", "--format", "json"))["rows"]
        if row["name"] == "aten::add"
    ]


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".pftrace"])
@pytest.mark.parametrize("name", ["a.pb", "v.json"])
def test_a_part_is_converted(rblnpb_: Run, name: str, suffix: str) -> None:
    assert rblnpb_("convert", name, "-o", "all" + suffix)[0] == 0
    code, _, err = rblnpb_("convert", name, "--window", "0ms:0.005ms", "-o", "part" + suffix)
    assert (code, "only what overlaps the window" in err) == (0, True)
    assert Path("part" + suffix).stat().st_size < Path("all" + suffix).stat().st_size


def test_a_part_of_a_trace_is_a_trace(rblnpb_: Run) -> None:
    rblnpb_("convert", "v.json", "--around", "aten::mm", "-o", "part.json")
    again = found(rblnpb_("summary", "part.json", "--format", "json", "--sort-by", "none"))
    direct = found(rblnpb_("summary", "v.json", "--around", "aten::mm", "--format", "json", "--sort-by", "none"))
    assert again["rows"] == direct["rows"]


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("summary", "a.pb", "--window", "5ms"), "has no colon"),
        (("summary", "a.pb", "--window", "5ms:1ms"), "ends before it starts"),
        (("summary", "a.pb", "--window", "x:1ms"), "is no time"),
        (("summary", "a.pb", "--around", "nothing of that name"), "nothing in the input is called"),
        (("summary", "a.pb", "--around", ""), "needs a name"),
        (("summary", "a.pb", "--around", "mm", "--window", "1:2"), "not allowed with"),
        (("convert", "a.pb", "--window", "1:2", "-o", "x.pb"), "--to chrome"),
    ],
)
def test_what_is_no_window_is_refused_in_one_line(rblnpb_: Run, argv: tuple[str, ...], reason: str) -> None:
    code, out, err = rblnpb_(*argv)
    assert (code, out, reason in err) == (2, "", True)
