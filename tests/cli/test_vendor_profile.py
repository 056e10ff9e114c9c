"""The vendor's own .pb, alone and with the trace of its run, as an input of every command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rblnpb
from rblnpb import sim
from tests.support.command_line import Run, runner
from tests.support.vendor_profiles import NEC, Slice, host_rows, launched, run, trace_rows, vendor_file
from tests.support.vendor_traces import document, op

CALLS = 4
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rblnpb_(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a folder with a profile `v.pb`, its trace `t.json`, and a trace without device rows `host.json`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    slices = run("multi", CALLS)
    launches = host_rows([50_300 + 10_000 * call for call in range(CALLS)])
    Path("v.pb").write_bytes(vendor_file(slices))
    Path("t.json").write_bytes(document([*launches, *trace_rows(launched(slices), lambda at: at + 50_000)]))
    Path("host.json").write_bytes(document(launches))
    return runner(capfdbinary)


def test_show_says_whose_format_it_is(rblnpb_: Run) -> None:
    code, out, _ = rblnpb_("show", "v.pb")
    assert (code, out.splitlines()[:2]) == (0, ["file: v.pb", "format: vendor profile (Perfetto track events)"])
    assert "name device clock of the file, nominal hz 1,000,000,000, width bits 64, snapshot count 0" in out


def test_check_finds_nothing_odd(rblnpb_: Run) -> None:
    assert rblnpb_("check", "v.pb") == (0, "v.pb: ok\n", "")


def test_status_alone_says_that_the_clock_is_the_devices_own(rblnpb_: Run) -> None:
    code, out, _ = rblnpb_("status", "v.pb", "--format", "json")
    found = json.loads(out)
    assert (code, found["verdict"]) == (0, "ok")
    assert [one["code"] for one in found["findings"]] == ["device-clock-alone"]


def test_status_with_the_trace_counts_every_record_once(rblnpb_: Run) -> None:
    _, out, _ = rblnpb_("status", "v.pb", "--host", "t.json", "--format", "json")
    found = json.loads(out)
    assert [one["code"] for one in found["findings"]] == ["paired-records"]
    alone = json.loads(rblnpb_("status", "t.json", "--format", "json")[1])
    assert (found["busy_ns"], found["span_ns"]) == (alone["busy_ns"], alone["span_ns"])


def test_summary_by_op_has_the_device_time_of_the_trace(rblnpb_: Run) -> None:
    rows = {}
    for inputs in (("v.pb", "--host", "t.json"), ("t.json",)):
        found = json.loads(rblnpb_("summary", *inputs, "--by", "op", "--format", "json")[1])
        rows[inputs] = {row["name"]: row["self_device_time_total_ns"] for row in found["rows"] if row["kind"] == "op"}
    first, second = rows.values()
    assert first == second == {f"aten::op{call}": 5900 for call in range(1, CALLS + 1)}


def test_convert_draws_every_record_once(rblnpb_: Run) -> None:
    assert rblnpb_("convert", "v.pb", "--host", "t.json", "-o", "m.json")[0] == 0
    events = json.loads(Path("m.json").read_bytes())["traceEvents"]
    assert sorted(one["name"] for one in events if one.get("cat") == "kernel") == [f"i1_{call}_W0_mm_0" for call in range(CALLS)]
    assert rblnpb_("convert", "v.pb", "-o", "alone.json")[0] == 0
    events = json.loads(Path("alone.json").read_bytes())["traceEvents"]
    assert sum(one.get("cat") == "kernel" for one in events) == CALLS


def test_without_device_rows_the_order_of_calls_joins_and_says_so(rblnpb_: Run) -> None:
    code, out, err = rblnpb_("summary", "v.pb", "--host", "host.json", "--by", "op")
    assert (code, "joined-by-order" in err, "aten::op1" in out) == (0, True, True)
    code, out, _ = rblnpb_("status", "v.pb", "--host", "host.json", "--fail-on", "warning")
    assert (code, "nothing but their order joins 4 calls" in out) == (1, True)


def test_a_trace_of_another_run_is_one_line_of_error(rblnpb_: Run) -> None:
    other = [Slice("conv", NEC, at, at + 77) for at in (5, 900, 5000)]
    Path("other.json").write_bytes(document([op("aten::conv", 0, 900), *trace_rows(other, lambda at: at)]))
    code, out, err = rblnpb_("status", "v.pb", "--host", "other.json")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert "none of the 3 device rows of other.json is like a record of the profile" in err


def test_a_folder_of_one_recording_is_an_input(rblnpb_: Run) -> None:
    Path("run").mkdir()
    for call in range(CALLS):
        part = [one for one in run("legacy", CALLS) if one.name.startswith(f"{call}_")]
        Path("run", f"rbln_20260902_012906319_{call + 7}.pb").write_bytes(vendor_file(part))
    Path("run", "trace.json").write_bytes(Path("host.json").read_bytes())
    assert rblnpb_("convert", "run", "-o", "run/merged.pftrace")[0] == 0
    code, out, _ = rblnpb_("status", "run")
    assert (code, "nothing but their order joins 4 calls" in out) == (0, True)


def test_standard_input_may_be_the_vendors(rblnpb_: Run) -> None:
    program = "import sys; from rblnpb.converters.cli import main; sys.exit(main(['show', '-']))"
    done = subprocess.run(
        [sys.executable, "-c", program], input=Path("v.pb").read_bytes(), capture_output=True, check=False, cwd=ROOT, timeout=60
    )
    assert (done.returncode, b"vendor profile (Perfetto track events)" in done.stdout) == (0, True)


def test_the_bindings_are_loaded_for_nothing_else(rblnpb_: Run) -> None:
    program = (
        "import sys; from rblnpb.converters.cli import main; main(['status', sys.argv[1]]); sys.exit('perfetto' in sys.modules)"
    )
    for name, code in (("t.json", 0), ("v.pb", 1)):
        command = [sys.executable, "-c", program, str(Path(name).resolve())]
        assert subprocess.run(command, capture_output=True, check=False, cwd=ROOT, timeout=60).returncode == code


def test_a_trace_of_ours_for_viewers_has_the_device_time_of_what_it_was_made_of(rblnpb_: Run) -> None:
    rblnpb.write(sim.simulate(program="mm", calls=2), "own.pb")
    for name in ("own.pftrace", "own.json"):
        assert rblnpb_("convert", "own.pb", "--host", "host.json", "-o", name)[0] == 0
    for inputs in (("own.pb", "--host", "host.json"), ("own.json",), ("own.pftrace",)):
        status = json.loads(rblnpb_("status", *inputs, "--format", "json")[1])
        (idle,) = json.loads(rblnpb_("idle", *inputs, "--format", "json")[1])["devices"]
        assert (status["busy_ns"], status["span_ns"], idle["idle_ns"], idle["slice_count"]) == (44_559, 113_438, 68_879, 12)
        engines = json.loads(rblnpb_("summary", *inputs, "--by", "engine", "--format", "json")[1])["rows"]
        assert [(engine["name"], engine["total_ns"]) for engine in engines] == [
            ("External HDMA", 21_583),
            ("Neural Engine Clusters (chiplet 0)", 17_784),
            ("Neural Engine Clusters (chiplet 1)", 11_916),
            ("Task DMA (chiplet 0)", 2_610),
            ("Task DMA (chiplet 1)", 2_582),
        ]
    code, _, err = rblnpb_("summary", "own.pftrace")
    (line,) = (line for line in err.splitlines() if "[written-for-viewers]" in line)
    assert (code, "(18 slices); give the .pb or .json that it was made of" in line) == (0, True)
