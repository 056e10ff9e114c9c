"""Commands that something comes between: signals, closed pipes, full disks, inputs that are outputs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rblnpb.converters.cli import main
from tests.arch.tree import ROOT
from tests.support.command_line import Run, heed_signals

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork and no SIGKILL")

# Writes some of the output, says so, and waits for what comes.
HALF = """
import sys, time
from rblnpb.converters import pipeline
from rblnpb.converters.cli import main

def half(timeline, file, **_):
    file.write(b"x" * 100_000)
    print("writing", flush=True)
    time.sleep(30)
    raise SystemExit("nothing came between")

pipeline.output.render_chrome_trace = half
sys.argv[0] = "rblnpb"
sys.exit(main())
"""


def command(*words: str, code: str = "", before: str = "") -> dict[str, Any]:
    """A command line as a process of its own, which a shell makes ready first, or Python code with its words."""
    python = [sys.executable, *(["-c", code] if code else ["-m", "rblnpb.converters"]), *words]
    shell = ["sh", "-c", f'{before} exec "$0" "$@"', *python]
    return {"args": shell, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "preexec_fn": heed_signals}


def writing(*words: str, before: str = "") -> subprocess.Popen[str]:
    """A command that has written some of its output."""
    process = subprocess.Popen(
        **command(*words, code=HALF, before=before), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_takes_away_what_was_begun_and_is_the_exit_code(rblnpb_: Run, name: str) -> None:
    Path("out.json").write_bytes(b"before")
    number = getattr(signal, name)
    with writing("convert", "a.pb", "-o", "out.json", "--force") as process:
        process.send_signal(number)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (128 + number, "", "")
    assert sorted(path.name for path in Path().iterdir()) == ["a.pb", "out.json", "t.json"]
    assert Path("out.json").read_bytes() == b"before"


def test_a_signal_that_is_ignored_stays_so(rblnpb_: Run) -> None:
    with writing("convert", "a.pb", "-o", "out.json", before="trap '' HUP;") as process:
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM


def test_a_killed_command_leaves_the_file_that_was_there(rblnpb_: Run) -> None:
    Path("out.json").write_bytes(b"before")
    with writing("convert", "a.pb", "-o", "out.json", "--force") as process:
        process.kill()
    (left,) = Path().glob(".rblnpb-*")
    assert Path("out.json").read_bytes() == b"before"
    os.utime(left, (0, 0))
    assert rblnpb_("convert", "a.pb", "-o", "out.json", "--force")[0] == 0
    assert not left.exists()


def test_signals_are_given_back(rblnpb_: Run) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    assert rblnpb_("status", "a.pb")[0] == 0
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)] == before


@pytest.mark.parametrize("output", ["out.json", "out.json.gz", "out.pftrace", "out.pb"])
def test_a_disk_that_is_full_leaves_no_file_and_the_one_that_was_there(rblnpb_: Run, output: str) -> None:
    Path(output).write_bytes(b"before")
    words = ["convert", "a.pb", "--host", "t.json", "-o", output, "--force"]
    done = subprocess.run(**command(*words, before="ulimit -f 0;"), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (4, f"rblnpb: cannot write {output}: File too large")
    assert sorted(path.name for path in Path().iterdir()) == sorted(["a.pb", output, "t.json"])
    assert Path(output).read_bytes() == b"before"


@pytest.mark.parametrize("before", ["unset PYTHONUNBUFFERED;", "export PYTHONUNBUFFERED=1;"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["summary", "t.json"], 4),
        (["convert", "t.json", "-o", "-"], 4),
        (["--help"], 4),
        (["check", "missing.pb"], 3),
        (["check", "missing.pb", "a.pb"], 4),
        (["convert", "t.json", "-o", "t.json"], 4),
        (["summary", "t.json", "--no-such-option"], 4),
        (["status", "a.pb", "--host", "t.json"], 4),
    ],
)
def test_a_pipe_that_is_closed_is_quiet_and_a_code(rblnpb_: Run, words: list[str], code: int, before: str) -> None:
    # Both streams, as behind `2>&1 | true`.
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(**command(*words, before=before), stdout=writer, stderr=writer, check=False)
    os.close(writer)
    assert done.returncode == code


@pytest.mark.parametrize(("words", "name"), [(["a.pb"], "a.pb"), (["t.json"], "t.json"), (["a.pb", "--host", "t.json"], "t.json")])
@pytest.mark.parametrize("form", ["chrome", "perfetto", "pb"])
def test_an_input_may_be_its_own_output(rblnpb_: Run, words: list[str], name: str, form: str) -> None:
    assert rblnpb_("convert", *words, "-o", "elsewhere", "--to", form)[0] == 0
    assert rblnpb_("convert", *words, "-o", name, "--to", form, "--force")[0] == 0
    assert Path(name).read_bytes() == Path("elsewhere").read_bytes()


def test_what_was_simulated_into_a_link_is_where_the_link_leads(rblnpb_: Run) -> None:
    Path("folder").mkdir()
    Path("link.pb").symlink_to("folder/real.pb")
    assert rblnpb_("simulate", "-o", "link.pb")[0] == 0
    assert Path("link.pb").is_symlink()
    assert rblnpb_("check", "folder/real.pb")[0] == 0


def test_devices_need_no_force(rblnpb_: Run) -> None:
    assert rblnpb_("convert", "a.pb", "-o", "/dev/null", "--to", "chrome")[0] == 0
    code, out, _ = rblnpb_("convert", "a.pb", "-o", "/dev/stdout", "--to", "chrome")
    assert (code, out[:1]) == (0, "{")


def test_a_name_that_is_too_long_is_refused_at_once(rblnpb_: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rblnpb.converters.pipeline.read_inputs", lambda *_, **__: pytest.fail("it was read first"))
    name = "a" * 300 + ".json"
    assert rblnpb_("convert", "a.pb", "-o", name) == (4, "", f"rblnpb: cannot write {name}: File name too long\n")


def test_another_thread_may_run_commands(rblnpb_: Run) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["check", "a.pb"])))
    thread.start()
    thread.join()
    assert codes == [0]


def test_writers_killed_at_random_moments_leave_whole_files() -> None:
    script = ROOT / "scripts" / "kill_writers.py"
    words = [sys.executable, str(script), "--recordings", "25", "--conversions", "10"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    kills = {line.rpartition(": ")[0]: int(line.rpartition(": ")[2]) for line in done.stdout.splitlines()}
    assert sum(kills.values()) == 35
    # Not all of them came too early or too late.
    assert kills.get("recordings killed between packets", 0) + kills.get("recordings killed in a packet", 0) > 0
