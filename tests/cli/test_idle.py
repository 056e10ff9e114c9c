"""rblnpb idle: what goes to which stream, and which code comes back."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import rblnpb
from rblnpb import sim
from rblnpb.converters.results import CAUSES, STEPS
from tests.support.command_line import Run, runner
from tests.support.vendor_traces import Launch, document, first_emitter, newer_emitter, op

RUN = (Launch(1, 1500, 2500), Launch(2, 1800, 9000), Launch(3, 12_000, 19_000))
OPS = (op("aten::mm", 1200, 2000, external_id=1), op("aten::add", 10_500, 13_000, external_id=2))


@pytest.fixture
def rblnpb_(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a folder with a profile `a.pb`, the vendor's trace `v.json` and a trace without a device `t.json`."""
    monkeypatch.chdir(tmp_path)
    rblnpb.write(sim.simulate(program="mm", calls=4), "a.pb")
    Path("v.json").write_bytes(document([*OPS, *first_emitter(RUN)]))
    Path("n.json").write_bytes(document([*OPS, *newer_emitter(RUN)]))
    Path("t.json").write_bytes(document(OPS))
    return runner(capfdbinary)


@pytest.mark.parametrize("name", ["a.pb", "v.json", "n.json", "t.json"])
def test_every_kind_of_input_has_a_report(rblnpb_: Run, name: str) -> None:
    code, out, _ = rblnpb_("idle", name)
    assert (code, out.splitlines()[0][:11], out.splitlines()[1]) == (0, "Device idle", f"  {name}")


@pytest.mark.parametrize("name", ["a.pb", "v.json", "n.json", "t.json"])
def test_json_has_every_gap_and_causes_that_add_up(rblnpb_: Run, name: str) -> None:
    code, out, _ = rblnpb_("idle", name, "--format", "json")
    found = json.loads(out)
    assert (code, found["schema"]) == (0, "rblnpb.idle/1")
    assert {"busy_ns", "idle_ns", "span_ns", "sum_ns"} <= set(found["all"]) & set(found["launched_in_window"])
    assert sum(cause["idle_ns"] for cause in found["causes"].values()) == found["all"]["idle_ns"]
    assert sum(gap["duration_ns"] for gap in found["gaps"]) == found["all"]["idle_ns"]
    assert len(found["gaps"]) == found["gap_count"]
    assert all({"start_ns", "duration_ns", "cause", "evidence"} <= set(gap) for gap in found["gaps"])


def test_the_vendors_trace_tells_which_op_was_late(rblnpb_: Run) -> None:
    gaps = json.loads(rblnpb_("idle", "v.json", "--format", "json", "--min-gap", "100")[1])["gaps"]
    (late,) = (part for gap in gaps for part in gap["parts"] if "before-op" in part["evidence"].get("steps_ns", ()))
    # From the end of the second run to the third launch, which comes within an op.
    assert (late["duration_ns"], late["evidence"]["steps_ns"]) == (2_000, {"before-op": 500, "inside-op": 1_500})
    assert (late["evidence"]["op"], late["evidence"]["op_ns"]) == ("aten::add", 1_500)


@pytest.mark.parametrize(("options", "count"), [((), 10), (("--top", "3"), 3), (("--top", "-1"), 19)])
def test_the_text_lists_as_many_gaps_as_asked_for(rblnpb_: Run, options: tuple[str, ...], count: int) -> None:
    assert f"Longest gaps: {count} of 19" in rblnpb_("idle", "a.pb", *options)[1]


def test_csv_has_a_line_a_gap(rblnpb_: Run) -> None:
    code, out, _ = rblnpb_("idle", "a.pb", "--format", "csv", "--top", "2")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, [row["cause"] for row in rows]) == (0, ["runtime", "runtime"])


def test_the_threshold_and_the_lane_can_be_chosen(rblnpb_: Run) -> None:
    found = json.loads(rblnpb_("idle", "a.pb", "--by", "engine", "--min-gap", "0", "--format", "json")[1])
    assert (found["by"], found["min_gap_ns"], "short" in found["causes"]) == ("engine", 0, False)
    assert sum(cause["idle_ns"] for cause in found["causes"].values()) == sum(engine["idle_ns"] for engine in found["engines"])


def test_findings_of_the_input_stand_in_the_report_whatever_its_format(rblnpb_: Run) -> None:
    Path("cut.pb").write_bytes(Path("a.pb").read_bytes()[:-3])
    code, out, err = rblnpb_("idle", "cut.pb")
    assert (code, out.startswith("Device idle"), "[not-ended]" in out, err) == (0, True, True, "")
    code, out, err = rblnpb_("idle", "cut.pb", "--format", "json")
    assert "not-ended" in [finding["code"] for finding in json.loads(out)["findings"]]
    assert err.startswith("rblnpb: warning")


@pytest.mark.parametrize(
    ("argv", "code", "text"),
    [
        (["idle"], 2, "the following arguments are required: INPUT"),
        (["idle", "none.pb"], 3, "cannot read none.pb"),
        (["idle", "a.pb", "--min-gap", "-5"], 2, "-5 is no threshold"),
        (["idle", "a.pb", "--by", "stage"], 2, "invalid choice: 'stage'"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_a_code(rblnpb_: Run, argv: list[str], code: int, text: str) -> None:
    found = rblnpb_(*argv)
    assert (found[0], found[1], text in found[2], found[2].count("\n")) == (code, "", True, 1)


def test_the_help_defines_every_cause_and_step(rblnpb_: Run) -> None:
    code, out, _ = rblnpb_("idle", "--help")
    assert code == 0
    assert [word for word in (*CAUSES, *STEPS) if word not in out] == []
