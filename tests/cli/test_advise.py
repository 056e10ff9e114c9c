"""rblnpb advise: what goes to which stream, and what it finds in files of every sort."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.command_line import Run
from tests.support.shared_traces import needs_shared, shared_file


def advised(run: Run, *argv: str | Path) -> dict[str, Any]:
    code, out, _ = run("advise", *argv, "--format", "json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    assert found["schema"] == "rblnpb.advise/1"
    return found


def test_text_is_for_people(rblnpb_: Run) -> None:
    code, out, err = rblnpb_("advise", "a.pb", "--host", "t.json")
    assert (code, out.splitlines()[:2]) == (0, ["Advice: 1 thing to look at", "  a.pb + t.json"])
    (row,) = [line.split() for line in out.splitlines() if line.startswith("checks ")]
    assert row[1:5] == ["4.000", "µs", "6.2", "%"]
    # What puts numbers in doubt stands beside them.
    assert ("[device-before-launch]" in out, err) == (True, "")


def test_json_has_the_advice_and_the_split(rblnpb_: Run) -> None:
    found = advised(rblnpb_, "a.pb", "t.json")
    assert [(one["code"], one["cost_ns"]) for one in found["advice"]] == [("launch-bound", 11_700)]
    assert (found["host_split"]["total_ns"], found["host_split"]["checks_ns"]) == (65_000, 4_000)


def test_faults_are_simulated_and_named(rblnpb_: Run) -> None:
    assert rblnpb_("simulate", "--calls", "200", "--fault", "host-stall", "--fault", "lost-buffer", "-o", "f.pb")[0] == 0
    found = advised(rblnpb_, "f.pb")
    assert [one["code"] for one in found["advice"]] == [
        "host-stall",
        "compile-in-window",
        "serialised-by-profiling",
        "lost-records",
    ]
    assert found["host_split"] is None


def test_the_simulator_lists_what_it_can_inject(rblnpb_: Run) -> None:
    out = rblnpb_("simulate", "--fault", "list")[1]
    assert {"host-stall", "slow-dma", "recompilation", "fallback", "queue-overrun", "lost-buffer"} <= set(out.split())


@needs_shared
def test_scans_in_the_trace_of_a_simulated_device_are_worth_advice(rblnpb_: Run) -> None:
    found = advised(rblnpb_, shared_file("traces", "host", "profile_matmul_rbln_sim_vendorlike", "trace.json"))
    (one,) = found["advice"]
    assert (one["code"], one["count"], one["place"], one["cost_ns"]) == (
        "nan-inf-checks",
        6,
        "aten::mm",
        found["host_split"]["checks_ns"],
    )


@needs_shared
def test_a_run_on_the_cpu_needs_no_advice(rblnpb_: Run) -> None:
    found = advised(rblnpb_, shared_file("traces", "host", "transformer_train_full", "trace.json.gz"))
    assert (found["advice"], found["below_threshold"]) == ([], [])


@needs_shared
def test_traces_of_other_makers_are_looked_at_as_well(rblnpb_: Run) -> None:
    for path in sorted(shared_file("traces", "public").rglob("*.json.gz")):
        found = advised(rblnpb_, path)
        costs = [one["cost_ns"] for one in found["advice"]]
        assert costs == sorted(costs, reverse=True)
        assert {one["code"] for one in found["advice"]} <= {"synchronise-in-loop", "small-downloads", "host-stall", "launch-bound"}
        split = found["host_split"]
        assert sum(split[key] for key in split if key.endswith("_ns") and key not in ("window_ns", "total_ns")) == split["total_ns"]
