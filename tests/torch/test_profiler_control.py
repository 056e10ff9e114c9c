"""Windows of recording that a program begins and ends itself."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import rblnpb
from rblnpb.naming import NameStyle
from tests.torch.runs import NEEDS_TORCH, python, rblnpb_run, the_profile

pytestmark = [pytest.mark.torch, NEEDS_TORCH]

needs_posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork and no SIGKILL")

HEAD = (
    "import os, signal, time, torch",
    "from rblnpb.torch import profiler",
    "x = torch.ones(8, 8, device='rbln', dtype=torch.float16)",
)


def run_lines(folder: Path, *lines: str, code: int = 0, **settings: str) -> str:
    """What a script prints, without the reports of the runtime."""
    (folder / "script.py").write_text("\n".join((*HEAD, *lines)), encoding="utf-8")
    done = rblnpb_run("script.py", cwd=folder, **settings)
    assert done.returncode == code, done.stdout + done.stderr
    return re.sub(r"RBLN Profiler Generation Status Report\n(.+\n)*?Saved: .*\n", "", done.stdout)


def programs(path: Path) -> list[str]:
    """Launches in a profile, by what they ran."""
    profile = rblnpb.read(path, strict=True)
    names = {program.program_id: program.name for program in profile.programs}
    return [names[row] for row in profile.launches.program_id.tolist()]


def test_a_window_is_a_file_of_its_own_in_its_folder(tmp_path: Path) -> None:
    said = run_lines(
        tmp_path,
        "x @ x  # before",
        "with profiler.profile(output_dir='temp') as first: x + x; x + x",
        "x @ x  # between",
        "profiler.start('temp'); x.relu(); second = profiler.done()",
        "x @ x  # after",
        "print(*[path.parent.name for path in (*first.paths, *second)])",
        RBLN_PROFILER="1",
    )
    assert said == "temp temp\n"
    found = sorted(tmp_path.rglob("*.pb"), key=lambda path: path.stat().st_mtime_ns)
    assert [programs(path) for path in found] == [["add", "add"], ["relu"]]
    assert {path.parent for path in found} == {tmp_path / "temp"}


def test_without_a_window_done_writes_what_was_recorded(tmp_path: Path) -> None:
    assert run_lines(tmp_path, "x @ x", "print(len(profiler.done()))", "x + x", RBLN_PROFILER="1") == "1\n"
    assert programs(max(tmp_path.glob("*.pb"))) == ["mm"]


def test_instances_are_merged_into_one_file(tmp_path: Path) -> None:
    run_lines(
        tmp_path,
        "with profiler.profile('out'):",
        "    x @ x",
        "    with profiler.instance(2): x + x; x + x",
        RBLN_PROFILER="1",
    )
    profile = the_profile(tmp_path / "out")
    assert profile.session.name_style is NameStyle.MULTI_STREAM
    assert list(zip(profile.launches.instance.tolist(), profile.launches.sequence.tolist(), strict=True)) == [
        (1, 0),
        (2, 0),
        (2, 1),
    ]


def test_each_instance_that_ran_has_a_file_when_asked_for(tmp_path: Path) -> None:
    run_lines(
        tmp_path,
        "with profiler.profile('out', single_stream=True) as window:",
        "    with profiler.instance(3): x + x",
        "    with profiler.instance(2): x @ x; x @ x",
        "with profiler.profile('again', single_stream=True) as window:",
        "    with profiler.instance(3): x.relu()",
        RBLN_PROFILER="1",
    )
    profiles = {path: rblnpb.read(path, strict=True) for path in tmp_path.glob("*/*.pb")}
    assert {profile.session.name_style for profile in profiles.values()} == {NameStyle.SINGLE_STREAM}
    found = {(path.parent.name, tuple(profile.launches.instance.tolist())): programs(path) for path, profile in profiles.items()}
    assert found == {("out", (2, 2)): ["mm", "mm"], ("out", (3,)): ["add"], ("again", (3,)): ["relu"]}


def test_on_atom_a_window_records_too(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("\n".join((*HEAD, "with profiler.profile(): x @ x")), encoding="utf-8")
    assert rblnpb_run("--npu", "atom", "script.py", cwd=tmp_path, RBLN_PROFILER="1").returncode == 0
    assert programs(max(tmp_path.glob("*.pb"))) == ["mm"]


def test_a_process_that_is_not_profiled_says_so(tmp_path: Path) -> None:
    said = run_lines(tmp_path, "with profiler.profile() as window: x @ x", "print(window.paths)")
    assert said == "rblnpb: nothing is recorded: RBLN_PROFILER=1 was not set when the process started\n()\n"
    assert list(tmp_path.glob("*.pb")) == []


def test_there_is_one_window_at_a_time_whoever_opens_it(tmp_path: Path) -> None:
    said = run_lines(
        tmp_path,
        "from torch.profiler import ProfilerActivity as Kind, profile",
        "def refused(call):",
        "    try: call()",
        "    except RuntimeError as error: print(str(error)[:40])",
        "kinds = [Kind.CPU, Kind.PrivateUse1]",
        "with profiler.profile('a'):",
        "    refused(profiler.start); refused(profile(activities=kinds).start)",
        "with profile(activities=kinds): refused(profiler.start)",
        "with profiler.profile('b') as window: x @ x",
        "print(len(window.paths))",
        RBLN_PROFILER="1",
    )
    assert said.splitlines() == [
        "a profiling window is open already, and ",
        "a window of rblnpb.torch.profiler is ope",
        "torch.profiler records the device now, a",
        "1",
    ]


def test_an_exception_ends_the_window(tmp_path: Path) -> None:
    run_lines(tmp_path, "with profiler.profile('out'): x @ x; raise SystemExit(3)", code=3, RBLN_PROFILER="1")
    assert programs(max((tmp_path / "out").glob("*.pb"))) == ["mm"]


@needs_posix
def test_a_killed_process_leaves_what_it_recorded(tmp_path: Path) -> None:
    run_lines(
        tmp_path,
        "with profiler.profile('out'):",
        "    end = time.monotonic() + 1.5",
        "    while time.monotonic() < end: x @ x",
        "    os.kill(os.getpid(), signal.SIGKILL)",
        code=-9,
        RBLN_PROFILER="1",
    )
    (path,) = (tmp_path / "out").glob("*.pb")
    profile = rblnpb.read(path)
    assert len(profile.launches) > 10
    assert not profile.is_complete


@needs_posix
def test_a_forked_process_records_nothing_of_its_parents_and_may_record_its_own(tmp_path: Path) -> None:
    said = run_lines(
        tmp_path,
        "with profiler.profile('parent'):",
        "    x @ x",
        "    if not (child := os.fork()):",
        "        y = x + x; print(profiler.done(), flush=True)",
        "        with profiler.profile('child'): x.relu()",
        "        os._exit(0)",
        "    os.waitpid(child, 0)",
        "    x @ x",
        RBLN_PROFILER="1",
    )
    note, rest = said.split("\n", 1)
    assert "was forked off from process" in note
    assert rest == "()\n"
    assert {path.parent.name: programs(path) for path in tmp_path.glob("*/*.pb")} == {
        "parent": ["mm", "mm"],
        "child": ["relu"],
    }


def test_without_a_device_that_is_said(tmp_path: Path) -> None:
    # In a process of its own: other tests bring the device up in theirs.
    done = python("-c", "from rblnpb.torch import profiler; profiler.start()", cwd=tmp_path)

    assert (done.returncode, done.stderr.splitlines()[-1].split(":")[0]) == (1, "RuntimeError")
    assert "this process has no simulated device" in done.stderr


@needs_posix
@pytest.mark.parametrize(("way", "code"), [("SIGINT", 130), ("SIGTERM", -15)])
def test_a_script_that_is_stopped_leaves_what_was_flushed_and_has_its_signals_to_itself(
    tmp_path: Path, way: str, code: int
) -> None:
    run_lines(
        tmp_path,
        "x @ x",
        "time.sleep(1.1)",
        "x @ x  # the call that writes",
        f"os.kill(os.getpid(), signal.{way})",
        code=code,
        RBLN_PROFILER="1",
    )
    (path,) = tmp_path.glob("*.pb")
    profile = rblnpb.read(path)
    # Ctrl-C ends Python in order, and the runtime with it; SIGTERM ends a script at once, as it does without a profiler.
    assert profile.is_complete == (way == "SIGINT")
    assert len(profile.launches) in ([2] if profile.is_complete else [1, 2])


def test_an_exception_of_a_script_passes_and_its_profile_is_whole(tmp_path: Path) -> None:
    run_lines(tmp_path, "x @ x", "1 / 0", code=1, RBLN_PROFILER="1")
    assert programs(the_path(tmp_path)) == ["mm"]


def test_a_script_that_leaves_at_once_keeps_what_was_flushed(tmp_path: Path) -> None:
    run_lines(tmp_path, "x @ x", "time.sleep(1.1)", "x @ x", "os._exit(3)", code=3, RBLN_PROFILER="1")
    profile = rblnpb.read(the_path(tmp_path))
    assert (len(profile.launches) > 0, profile.is_complete) == (True, False)


def the_path(folder: Path) -> Path:
    (path,) = folder.glob("*.pb")
    return path
