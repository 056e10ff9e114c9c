"""The command line: what goes to which stream, which code comes back, and one line for every refusal."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rblnpb
from rblnpb.converters import pipeline
from rblnpb.converters.cli import build_parser, main
from tests.support import profiles
from tests.support.command_line import runner
from tests.support.launch_oracle import recorded_run
from tests.support.shared_traces import BUNDLED_TABLE, BUNDLED_TRACE, ROOT, SHARED, needs_shared, shared_file
from tests.support.vendor_traces import Launch, device_profile, document, first_emitter, newer_emitter, op

HOST = SHARED / "traces" / "host"

OPS = (op("aten::matmul", 1000, 3000, external_id=1), op("aten::mm", 1200, 2000, external_id=2))
RUN = (Launch(1, 1500, 2500),)
TRACE = document(OPS)


def profile_bytes(run: Sequence[Launch] = RUN) -> bytes:
    file = io.BytesIO()
    rblnpb.write(device_profile(run), file)
    return file.getvalue()


PROFILE = profile_bytes()


def session_bytes(session_id: int) -> bytes:
    file = io.BytesIO()
    rblnpb.write(device_profile(RUN).replace(session=rblnpb.Session(session_id=session_id)), file)
    return file.getvalue()


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def refusal(self) -> str:
        """The one line on stderr of a command that printed nothing else."""
        assert self.out == ""
        assert self.err.count("\n") == 1
        assert self.err.startswith("rblnpb")
        assert "Traceback" not in self.err
        return self.err


Run = Callable[..., Ran]


@pytest.fixture
def rblnpb_(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a folder of its own, with a profile `a.pb` and its trace `t.json`."""
    monkeypatch.chdir(tmp_path)
    Path("a.pb").write_bytes(PROFILE)
    Path("t.json").write_bytes(TRACE)

    run = runner(capfdbinary)
    return lambda *argv: Ran(*run(*argv))


# --- the table ---------------------------------------------------------------------------------------------------------

ASKED = {
    "table_none": ["--sort-by", "none", "--row-limit", "-1"],
    "table_by_shape": ["--sort-by", "cpu_time_total", "--row-limit", "-1", "--group-by-input-shape"],
    "table_by_stack3": ["--sort-by", "cpu_time_total", "--row-limit", "50"],
    "table_ms_header": [
        *("--sort-by", "self_cpu_time_total", "--row-limit", "5"),
        *("--max-name-column-width", "20", "--time-unit", "ms", "--header", "HDR"),
    ],
}
EXCEPTED = ("jit_fork_async", "schedule_acc_events", "odd_names")
TABLES = [path for path in sorted(HOST.glob("*/table_*.txt")) if path.parent.name not in EXCEPTED]


def asked(table: str) -> list[str]:
    """Options for what torch was asked for, by the name of the file it went to."""
    limit = "10" if table.startswith("table_top10_") else "-1"
    key = table.removeprefix("table_").removeprefix("top10_")
    return ASKED.get(table) or ["--sort-by", key, "--row-limit", limit]


def trace_in(folder: Path) -> Path:
    return next(iter(sorted(folder.glob("trace.json*"))))


@needs_shared
@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_table_is_torchs_character_for_character(rblnpb_: Run, path: Path) -> None:
    ran = rblnpb_("summary", trace_in(path.parent), *asked(path.stem))
    assert (ran.code, ran.out) == (0, path.read_bytes().decode())


@needs_shared
def test_a_name_with_quotes_that_torch_wrote_as_they_are_loses_its_event_or_is_refused_with_its_place(rblnpb_: Run) -> None:
    path = shared_file("traces", "host", "odd_names", "trace.json")
    ran = rblnpb_("summary", path)
    assert (ran.code, "1 event lost, 246 bytes in all" in ran.err) == (0, True)
    strict = rblnpb_("summary", path, "--strict")
    assert (strict.code, "line 474, column 20" in strict.refusal) == (3, True)


def test_the_bundled_trace_has_its_table(rblnpb_: Run) -> None:
    ran = rblnpb_("summary", BUNDLED_TRACE, "--row-limit", "-1", "--sort-by", "none")
    assert (ran.code, ran.out) == (0, BUNDLED_TABLE.read_text(encoding="utf-8"))
    # It has profiler steps, so the note on what a schedule may change is told beside it.
    assert ran.err == (
        "rblnpb: info: a schedule was used: if acc_events was on, this is the last cycle of 2 steps, and torch's own table has all "
        "cycles [accumulated-cycles-unknown]\n"
    )


def test_the_merged_trace_has_the_table_of_the_two_files_that_it_was_made_of(rblnpb_: Run, tmp_path: Path) -> None:
    profile, merged = tmp_path / "device.pb", tmp_path / "merged.json"
    assert rblnpb_("simulate", "--from-host", BUNDLED_TRACE, "-o", profile).code == 0
    assert rblnpb_("convert", profile, "--host", BUNDLED_TRACE, "-o", merged).code == 0
    of_two = rblnpb_("summary", profile, "--host", BUNDLED_TRACE, "--format", "json", "--sort-by", "none")
    of_one = rblnpb_("summary", merged, "--format", "json", "--sort-by", "none")
    wanted, found = json.loads(of_two.out), json.loads(of_one.out)
    assert (found["rows"], found["totals"]) == (wanted["rows"], wanted["totals"])


def test_a_width_is_a_positive_number(rblnpb_: Run) -> None:
    ran = rblnpb_("summary", BUNDLED_TRACE, "--max-name-column-width", "-1")
    assert (ran.code, "-1 is not a positive number" in ran.err) == (2, True)


@needs_shared
def test_a_profile_joined_with_the_trace_of_a_run_gives_the_table_that_the_profiler_in_the_process_gave(rblnpb_: Run) -> None:
    folder = shared_file("traces", "host", "transformer_train_rbln_sim")
    profile, trace, _ = recorded_run(folder)
    rblnpb.write(profile, "run.pb")
    Path("host.json").write_text(json.dumps(trace))
    table = rblnpb_("summary", "run.pb", "--host", "host.json", "--sort-by", "self_device_time_total", "--row-limit", "-1")
    assert table.out == (folder / "table_self_device_time_total.txt").read_bytes().decode()
    counts = json.loads(rblnpb_("status", "run.pb", "host.json", "--format", "json").out)["counts"]
    assert (counts["launches_matched"], counts["launches_unmatched"]) == (796, {"annotation-only": 1})


def cells(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [name])


@pytest.mark.parametrize(("emitter", "device_us"), [(first_emitter, "0.900us"), (newer_emitter, "0.950us")])
def test_the_vendors_trace_has_its_device_time_on_the_op_or_where_its_release_has_it(
    rblnpb_: Run, emitter: Any, device_us: str
) -> None:
    Path("v.json").write_bytes(document([*OPS, *emitter(RUN)]))
    assert cells(rblnpb_("summary", "v.json").out, "aten::mm")[6] == device_us
    assert cells(rblnpb_("summary", "v.json", "--device-time", "recorded").out, "aten::mm")[6] == "0.000us"
    counts = json.loads(rblnpb_("status", "v.json", "--format", "json").out)["counts"]
    assert (counts["launches_matched"], counts["slices_attributed"], counts["slices_unattributed"]) == (1, 3, 0)


def test_the_table_has_100_rows_and_json_all_unless_told_otherwise(rblnpb_: Run) -> None:
    Path("many.json").write_bytes(document([op(f"aten::op{at}", at * 10, at * 10 + 5) for at in range(120)]))
    assert len(rblnpb_("summary", "many.json").out.splitlines()) == 105
    assert len(json.loads(rblnpb_("summary", "many.json", "--format", "json").out)["rows"]) == 120
    assert len(rblnpb_("summary", "many.json", "--format", "csv", "--row-limit", "7").out.splitlines()) == 8


# --- the other commands ------------------------------------------------------------------------------------------------


def test_status_is_text_or_json(rblnpb_: Run) -> None:
    text, value = rblnpb_("status", "a.pb", "--host", "t.json"), rblnpb_("status", "a.pb", "t.json", "--format", "json")
    assert text.out.startswith("Profile status: OK\n  a.pb + t.json\n")
    assert (text.code, text.err, value.code, value.err) == (0, "", 0, "")
    found = json.loads(value.out)
    assert list(found) == [
        *("schema", "verdict", "sources", "counts", "attributed_ns", "unattributed_ns", "busy_ns", "span_ns"),
        *("engines", "clocks", "is_serialised", "overheads", "explained", "findings"),
    ]
    assert (found["schema"], found["verdict"], found["sources"]) == ("rblnpb.status/1", "ok", ["a.pb", "t.json"])


def test_a_dump_of_the_runtime_is_shown_alone_or_beside_a_profile(rblnpb_: Run) -> None:
    dispatch = {"cpu_fallback": 2, "recompile_miss": 0, "cpu_fallback_ns": 1500}
    Path("dump.json").write_text(json.dumps({"hidden_host_bounce": {"by_site": {}}, "dispatch": dispatch}), encoding="utf-8")
    alone, beside = rblnpb_("status", "--explain", "dump.json"), rblnpb_("status", "a.pb", "--explain", "dump.json")
    assert (alone.code, alone.err, beside.code, beside.err) == (0, "", 0, "")
    assert alone.out.startswith("As the runtime counted it: dump.json\n")
    assert "\nHidden work    count   bytes       time   first at\n" in alone.out
    assert "\ncpu_fallback       2           1.500 µs\n" in alone.out
    assert beside.out.startswith("Profile status: OK\n  a.pb\n")
    assert "\nHidden work, as the runtime counted it   count " in beside.out


@pytest.mark.parametrize(("fail_on", "code"), [((), 0), (("--fail-on", "warning"), 1), (("--fail-on", "error"), 0)])
@pytest.mark.parametrize("command", ["status", "check"])
def test_the_code_tells_whether_a_finding_is_as_severe_as_asked(
    rblnpb_: Run, command: str, fail_on: tuple[str, ...], code: int
) -> None:
    Path("cut.pb").write_bytes(PROFILE[:-3])
    assert rblnpb_(command, "cut.pb", *fail_on).code == code


def test_an_error_is_a_code_by_itself(rblnpb_: Run) -> None:
    Path("late.pb").write_bytes(profile_bytes([Launch(1, 5_000_000, 6_000_000)]))
    assert rblnpb_("status", "late.pb", "--host", "t.json").code == 1


def test_check_and_show_speak_of_one_file(rblnpb_: Run) -> None:
    assert rblnpb_("check", "a.pb") == Ran(0, "a.pb: ok\n", "")
    assert json.loads(rblnpb_("check", "t.json", "--format", "json").out)["schema"] == "rblnpb.check/1"
    assert rblnpb_("show", "a.pb").out.startswith("file: a.pb\nformat: rblnpb profile")
    assert json.loads(rblnpb_("show", "t.json", "--format", "json").out)["schema"] == "rblnpb.show/1"


def test_simulate_writes_a_profile_and_prints_the_report_of_the_runtime(rblnpb_: Run) -> None:
    ran = rblnpb_("simulate", "-o", "sim.pb", "--calls", "2")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "RBLN Profiler Generation Status Report"
    assert ran.out.endswith("Saved: sim.pb\n")
    assert len(rblnpb.read("sim.pb").launches) == 2


def test_simulate_lists_its_choices_without_a_file(rblnpb_: Run) -> None:
    by_program, by_fault = rblnpb_("simulate", "--program", "list"), rblnpb_("simulate", "--fault", "list")
    assert (by_program.code, by_program.out.splitlines()[0]) == (0, "programs:")
    assert by_program == by_fault


def test_convert_writes_a_trace_and_says_so_on_stderr(rblnpb_: Run) -> None:
    ran = rblnpb_("convert", "a.pb", "--host", "t.json", "-o", "m.json")
    assert (ran.code, ran.out, ran.err) == (0, "", "wrote m.json: 3 host events, 1 device slices, 0 workload slices\n")
    assert rblnpb_("convert", "a.pb", "t.json", "-o", "m.json.gz").code == 0
    assert gzip.decompress(Path("m.json.gz").read_bytes()) == Path("m.json").read_bytes()


def test_convert_to_stdout_prints_the_trace_and_nothing_else(rblnpb_: Run) -> None:
    rblnpb_("convert", "a.pb", "t.json", "-o", "m.json")
    ran = rblnpb_("convert", "a.pb", "t.json", "-o", "-")
    assert (ran.code, ran.out, ran.err) == (0, Path("m.json").read_text(encoding="utf-8"), "")


def test_what_was_simulated_for_a_trace_is_converted_with_it(rblnpb_: Run) -> None:
    assert rblnpb_("simulate", "--from-host", "t.json", "-o", "sim.pb").code == 0
    assert rblnpb_("convert", "sim.pb", "--host", "t.json", "-o", "m.json").code == 0
    events = json.loads(Path("m.json").read_bytes())["traceEvents"]
    assert len({event.get("pid") for event in events if event["ph"] == "X"}) >= 3


def test_warnings_go_to_stderr_and_data_to_stdout(rblnpb_: Run) -> None:
    Path("cut.pb").write_bytes(PROFILE[:-3])
    ran = rblnpb_("summary", "cut.pb", "--host", "t.json")
    assert (ran.code, ran.out.splitlines()[0][:3]) == (0, "---")
    assert [line.split(":")[:2] for line in ran.err.splitlines()] == [["rblnpb", " warning"]] * 2


@pytest.mark.parametrize(("name", "other"), [("a.pb", ()), ("t.json", ()), ("t.json", ("a.pb",))])
def test_standard_input_may_be_either_file(
    rblnpb_: Run, monkeypatch: pytest.MonkeyPatch, name: str, other: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(Path(name).read_bytes())))
    ran = rblnpb_("status", *other, "-", "--format", "json")
    assert (ran.code, json.loads(ran.out)["sources"]) == (0, [*other, "<stdin>"])


def test_simulate_to_stdout_keeps_the_report_out_of_it(monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> None:
    assert main(["simulate", "-o", "-"]) == 0
    found = capfdbinary.readouterr()
    assert len(rblnpb.read(found.out).launches) == 3
    assert found.err.startswith(b"RBLN Profiler Generation Status Report\n")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("seconds", "is_drawn"), [(0.1, False), (2.0, True)])
def test_long_work_shows_a_bar_on_a_terminal(rblnpb_: Run, monkeypatch: pytest.MonkeyPatch, seconds: float, is_drawn: bool) -> None:
    terminal, times = Terminal(), iter(at * seconds for at in range(1000))
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("rblnpb.converters.cli._options.time", SimpleNamespace(monotonic=lambda: next(times)))
    ran = rblnpb_("status", "t.json")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "Profile status: OK")
    assert ("reading" in terminal.getvalue()) is is_drawn


# --- refusals ----------------------------------------------------------------------------------------------------------

BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it is an empty file"),
    "text": (b"name,calls\naten::mm,3\n", "it looks like text"),
    "bytes": (bytes(range(256)), "no format that this package knows"),
    "json": (b'{"rows": [1]}', "it is JSON, but no trace"),
    "array": (b'[{"a": 1}]', "it is JSON, but no trace"),
    "events": (b'{"traceEvents": 5}', 'its "traceEvents" is no array'),
    "cut": (TRACE[: TRACE.index(b"aten")], "ends early"),
    "gz": (gzip.compress(b'{"rows": []}'), "it is JSON, but no trace"),
    "gz-cut": (gzip.compress(TRACE)[:30], "the gzip data ends early"),
    "pprof": (b"\x0a\x04\x08\x01\x10\x02\x32\x00", "it looks like a pprof profile"),
    "xplane": (b"\x0a\x0d\x08\x01\x12\x09/host:CPU", "it looks like an XPlane"),
    "perfetto": (b"\x0a\x06\x40\x80\x01\x50\x01\x00\x0a\x02\x50\x01", "it looks like a Perfetto trace"),
    "future": (profiles.altered(PROFILE, "header", lambda header: setattr(header, "schema_major", 9)), "install a newer rblnpb"),
    "torso": (PROFILE[:20], "it ends inside its first packet"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["status", "summary", "check", "show", "convert"])
def test_a_bad_input_is_one_line_that_says_what_it_is(rblnpb_: Run, command: str, name: str) -> None:
    data, text = BAD[name]
    Path("bad").write_bytes(data)
    Path("out").mkdir()
    ran = rblnpb_(command, "bad", *(["-o", "out/m.json"] if command == "convert" else []))
    assert (ran.code, text in ran.refusal) == (3, True)
    assert ran.refusal.startswith("rblnpb: cannot read bad")
    assert list(Path("out").iterdir()) == []


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("status missing.pb", 3, "cannot read missing.pb: there is no such file"),
        ("status a.pb --host missing", 3, "cannot read missing: there is no such file"),
        ("status a.pb a.pb", 3, "cannot join 2 device profiles (a.pb, a.pb): give one of them"),
        ("status t.json --host t.json", 3, "cannot join 2 host traces (t.json, t.json): give one of them"),
        ("status void", 3, "it is a folder without a .pb, .json or .json.gz file"),
        ("status both", 3, "cannot join 2 device profiles (both/a.pb, both/b.pb): give one of them"),
        ("status two.pb", 3, "it holds 2 sessions"),
        ("show void", 3, "cannot read void: it is a folder; name a file in it"),
        ("check both", 3, "cannot read both: it is a folder; name a file in it"),
        ("status --strict cut.pb", 3, "leave strict out to read what is whole"),
        ("status a.pb --host own.json", 3, "does not say when its zero was"),
        ("status a.pb --host a.pb", 2, "a.pb is a device profile; --host takes a host trace"),
        ("status - -", 2, "standard input (-) can be read once"),
        ("summary a.pb --by op", 2, "a summary by op needs the host trace of the same run: give it with --host TRACE"),
        ("summary t.json --sort-by size", 2, "cannot sort by 'size': the keys are"),
        ("summary t.json --by stages", 2, "invalid choice: 'stages'"),
        ("summary t.json --row-limit many", 2, "argument --row-limit: invalid number of rows value: 'many'"),
        ("summary t.json --row-limit -2", 2, "argument --row-limit: -2 is no number of rows; -1 = all"),
        ("idle a.pb --top -5", 2, "argument --top: -5 is no number of rows; -1 = all"),
        ("convert a.pb -o ''", 2, "the output has an empty name; is a variable of the shell unset?"),
        ("repair a.pb -o b.pftrace", 2, "a.pb is a profile and stays one: end the output in .pb"),
        ("convert a.pb -o m.txt", 2, "the format of m.txt is not told by its suffix"),
        ("convert a.pb", 2, "the following arguments are required: -o"),
        ("convert a.pb -o there.json", 4, "there.json exists already; overwrite it with --force"),
        ("convert a.pb -o void --to chrome --force", 4, "cannot write void: it is a folder"),
        ("convert a.pb -o gone/m.json", 4, "cannot write gone/m.json: there is no folder gone"),
        ("convert missing -o there.json", 4, "exists already"),
        ("simulate", 2, "name the file to write: -o FILE.pb"),
        ("simulate -o a.pb", 4, "a.pb exists already; overwrite it with --force"),
        ("simulate -o gone/a.pb", 4, "there is no folder gone"),
        ("simulate -o n.pb --program nosuch", 2, "there is no program 'nosuch'"),
        ("simulate -o n.pb --fault nosuch", 2, "there is no fault 'nosuch'"),
        ("simulate -o n.pb --calls 0", 2, "0 is not a positive number"),
        ("simulate -o n.pb --calls x", 2, "invalid number value: 'x'"),
        ("simulate -o n.pb --seed -1", 2, "-1 is below 0"),
        ("simulate -o n.pb --calls 1 --records 2", 2, "not allowed with argument --calls"),
        ("simulate -o n.pb --names single-stream --instances 2", 2, "single-stream names do not tell instances apart"),
        ("simulate -o n.pb --from-host a.pb", 3, "cannot read a.pb: expected a trace in JSON"),
        ("simulate -o n.pb --from-host void.json", 2, "has no operator that would launch work on a device"),
        ("simulate -o n.pb --from-host t.json --program mm", 2, "--program and --from-host exclude each other"),
        ("simulate -o n.pb --jobs 5", 2, "--jobs goes with --from-host alone"),
        ("", 2, "the following arguments are required: COMMAND"),
        ("merge a.pb", 2, "invalid choice: 'merge'"),
        ("status", 2, "the following arguments are required: INPUT"),
        ("status --host t.json --explain none.json", 3, "cannot read none.json: no such file or directory"),
        ("status a.pb --form json", 2, "unrecognized arguments: --form"),
        ("show a.pb b.pb", 2, "unrecognized arguments: b.pb"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_a_code(rblnpb_: Run, line: str, code: int, text: str) -> None:
    for folder in ("void", "both"):
        Path(folder).mkdir()
    files = {
        "both/a.pb": PROFILE,
        "both/b.pb": PROFILE,
        "two.pb": PROFILE + profiles.encode(profiles.tiny()),
        "cut.pb": PROFILE[:-3],
        "own.json": document(OPS, base_time=False),
        "void.json": document([]),
        "there.json": b"mine",
    }
    for name, data in files.items():
        Path(name).write_bytes(data)
    before = sorted(Path().rglob("*"))
    ran = rblnpb_(*shlex.split(line))
    assert (ran.code, text in ran.refusal) == (code, True), ran
    assert sorted(Path().rglob("*")) == before
    assert Path("there.json").read_bytes() == b"mine"


def test_force_overwrites(rblnpb_: Run) -> None:
    for command in (("convert", "a.pb", "-o", "m.json"), ("simulate", "-o", "n.pb")):
        assert [rblnpb_(*command, *force).code for force in ((), (), ("--force",))] == [0, 4, 0]


def test_an_output_that_cannot_be_written_is_named_once_and_leaves_nothing(rblnpb_: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rblnpb.converters.pipeline.output.render_chrome_trace", full)
    before = sorted(Path().iterdir())
    ran = rblnpb_("convert", "a.pb", "-o", "m.json")
    assert (ran.code, ran.refusal) == (4, "rblnpb: cannot write m.json: No space left on device\n")
    assert sorted(Path().iterdir()) == before


def test_a_closed_standard_output_is_named(rblnpb_: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    ran = rblnpb_("status", "a.pb")
    assert (ran.code, ran.refusal) == (4, "rblnpb: cannot write the result: standard output is closed\n")


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (MemoryError(), 3, "not enough memory for this input"),
        (KeyError("x"), 70, "internal error, please report it (KeyError: 'x'); RBLNPB_TRACEBACK=1 shows where"),
        (ValueError("a\nb"), 70, "internal error, please report it (ValueError: a); RBLNPB_TRACEBACK=1 shows where"),
    ],
)
def test_an_error_of_our_own_is_one_line_too(
    rblnpb_: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, text: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pipeline, "check_files", broken)
    ran = rblnpb_("check", "a.pb")
    assert (ran.code, ran.refusal) == (code, f"rblnpb: {text}\n")


def test_a_traceback_can_be_asked_for(rblnpb_: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "check_files", lambda paths, jobs: 1 // 0)
    monkeypatch.setenv("RBLNPB_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        rblnpb_("check", "a.pb")


def test_an_interrupt_has_the_code_of_one(rblnpb_: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "check_files", interrupted)
    assert rblnpb_("check", "a.pb") == Ran(130, "", "")


def test_a_file_name_that_is_no_text_is_shown_as_far_as_it_is(rblnpb_: Run) -> None:
    name = os.fsdecode(b"\xff.pb")
    Path(name).write_bytes(PROFILE)
    assert rblnpb_("check", name) == Ran(0, "\ufffd.pb: ok\n", "")
    assert json.loads(rblnpb_("status", name, "--format", "json").out)["sources"] == ["\ufffd.pb"]
    assert rblnpb_("check", f"{name}x").code == 3


# --- help --------------------------------------------------------------------------------------------------------------


COMMANDS = re.findall(r"^    (\w+) {2,}\w", build_parser().format_help(), re.MULTILINE)


def example_lines() -> list[str]:
    """Every command line that a help text or the README shows."""
    texts = [importlib.import_module(f"rblnpb.converters.cli.{command}").EXAMPLES for command in COMMANDS]
    texts.append((ROOT / "README.md").read_text(encoding="utf-8"))
    texts.append(build_parser().format_help())
    lines = [line.strip().split("#")[0] for text in texts for line in text.splitlines()]
    found = [re.split(r"(?:^|  |\$ |=1 )rblnpb ", line, maxsplit=1) for line in lines]
    return sorted({line[1].split("|")[0].split("`")[0].strip() for line in found if len(line) == 2})


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples speak of, by their names there."""
    folder = tmp_path_factory.mktemp("examples")
    profile, packed = folder / "device.pb", BUNDLED_TRACE.read_bytes()
    pipeline.simulate_to_file(profile, from_host=BUNDLED_TRACE)
    files = {
        "rbln_20261129_142200123_0.pb": profile.read_bytes(),
        "demo/device.pb": profile.read_bytes(),
        "FILE": profile.read_bytes(),
        "trace.json": gzip.decompress(packed),
        **dict.fromkeys(("trace.json.gz", "rblnpb/data/transformer_step.json.gz", "run_folder/trace.json.gz"), packed),
        "run_folder/device.pb": profile.read_bytes(),
        "key.txt": b"correct horse battery staple",
        "both.pb": session_bytes(0x5F2A00000000C0DE) + session_bytes(1),
        "dump.json": b'{"hidden_host_bounce": {"by_site": {}}, "dispatch": {"cpu_fallback": 0, "recompile_miss": 0}}',
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    pipeline.write_profile(None, pipeline.read_inputs([folder / "trace.json"]).host, folder / "trace.pb")
    return folder


@pytest.mark.parametrize("line", example_lines())
def test_every_example_does_what_it_says(
    line: str, example_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    words = shlex.split(line)
    if words[0] == "run":
        # What runs scripts is tried in tests/torch.
        assert callable(build_parser().parse_args(words).run)
        return
    shutil.copytree(example_folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    output = words[words.index("-o") + 1] if "-o" in words else "-"
    code, out, err = runner(capfdbinary)(*words, *(["--force"] if output != "-" else []))
    assert (code, "error" in err) == (0, False)
    assert out if output == "-" else Path(output).stat().st_size > 0


def test_help_of_the_whole_ends_with_the_questions_and_the_codes(rblnpb_: Run) -> None:
    ran = rblnpb_("--help")
    assert (ran.code, ran.err) == (0, "")
    assert "which of my ops keep the device busy?" in ran.out
    assert ran.out.rstrip().endswith("4 output not writable")


def test_every_command_is_looked_at() -> None:
    assert len(COMMANDS) > 10
    assert {line.split()[0] for line in example_lines()} == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_shows_examples(rblnpb_: Run, command: str) -> None:
    ran = rblnpb_(command, "--help")
    assert (ran.code, re.search(rf"\nexamples:\n  (\w+=1 )?rblnpb {command} ", ran.out) is not None) == (0, True)


def test_the_version_is_the_packages(rblnpb_: Run) -> None:
    assert rblnpb_("--version") == Ran(0, f"rblnpb {rblnpb.__version__}\n", "")


# --- as a process ------------------------------------------------------------------------------------------------------


def process(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A shell line in which `rblnpb` is the command."""
    command = f'"{sys.executable}" -m rblnpb.converters'
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    text = line.replace("rblnpb ", f"{command} ")
    return subprocess.run(["bash", "-c", text], cwd=folder, env=env, capture_output=True, check=False, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.pb").write_bytes(PROFILE)
    (tmp_path / "t.json").write_bytes(TRACE)
    return tmp_path


def test_commands_are_piped_into_each_other(folder: Path) -> None:
    line = "rblnpb simulate --from-host t.json -o - 2>/dev/null | rblnpb convert - t.json -o - | rblnpb check - --format json"
    done = process(line, folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["file"] == "<stdin>"


@pytest.mark.parametrize("command", ["summary t.json --row-limit -1", "convert t.json -o -", "show t.json --format json"])
def test_a_reader_that_has_enough_is_no_news_but_not_all_of_it_arrived(folder: Path, command: str) -> None:
    (folder / "t.json").write_bytes(document([op(f"aten::op{at}", at * 10, at * 10 + 5) for at in range(5000)]))
    done = process(f"rblnpb {command} | true; echo ${{PIPESTATUS[0]}}", folder)
    assert (done.stdout, done.stderr) == (b"4\n", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "command",
    ["summary t.json", "status a.pb --format json", "convert a.pb -o -", "simulate -o -", "--help", "show --help", "--version"],
)
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_full_disk_behind_stdout_is_one_line_and_a_code(folder: Path, command: str, buffered: str) -> None:
    done = process(f"rblnpb {command} > /dev/full", folder, PYTHONUNBUFFERED=buffered)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (4, b"rblnpb: cannot write the result: No space left on device")
    assert b"Traceback" not in done.stderr


def test_a_closed_stdout_is_one_line_and_a_code(folder: Path) -> None:
    done = process("rblnpb status a.pb >&-", folder)
    assert (done.returncode, done.stderr) == (4, b"rblnpb: cannot write the result: standard output is closed\n")


def test_a_terminal_of_another_encoding_gets_utf8(folder: Path) -> None:
    done = process("rblnpb status a.pb", folder, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "─".encode() in done.stdout


def test_a_process_that_is_stopped_leaves_nothing_behind(folder: Path) -> None:
    done = process("ulimit -f 1; trap '' XFSZ; rblnpb simulate --calls 3000 -o big.pb", folder)
    assert done.returncode == 4
    assert done.stderr == b"rblnpb: cannot write big.pb: File too large\n"
    assert sorted(path.name for path in folder.iterdir()) == ["a.pb", "t.json"]
