"""The live runtime: what it records, when it records nothing, and what it prints."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import rblnpb
from rblnpb.columns import ABSENT
from rblnpb.errors import UsageError
from rblnpb.profile import HostActivity, OverheadKind
from rblnpb.sim import Runtime, profile_file_name

REAL_NS = 1_795_962_120_123_456_789


class Clock:
    """Moves on by a microsecond at every look; waiting moves it to the time waited for."""

    def __init__(self) -> None:
        self.now_ns = 1_000_000_000

    def __call__(self) -> int:
        self.now_ns += 1_000
        return self.now_ns

    def wait_until(self, time_ns: int) -> None:
        self.now_ns = max(self.now_ns, time_ns)


def _runtime(stream: io.StringIO, environ: dict[str, str], **arguments: Any) -> Runtime:
    clock = Clock()
    real: Iterator[int] = count(REAL_NS, 1_000)
    return Runtime(
        environ=environ, clock=clock, real_clock=lambda: next(real), stream=stream, wait_until=clock.wait_until, **arguments
    )


@pytest.mark.parametrize("environ", [{}, {"RBLN_PROFILER": "0"}, {"RBLN_PROFILER": ""}])
def test_without_the_setting_nothing_is_recorded_or_written(tmp_path: Path, environ: dict[str, str]) -> None:
    stream = io.StringIO()
    with _runtime(stream, environ, directory=tmp_path) as runtime:
        launched = runtime.launch("mm", thread_id=5)
    assert launched.end_ns > launched.start_ns > launched.launch_ns
    assert (list(tmp_path.iterdir()), stream.getvalue(), runtime.path) == ([], "", None)


def test_the_setting_is_read_once_at_the_start(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    with _runtime(io.StringIO(), environ, directory=tmp_path) as runtime:
        environ["RBLN_PROFILER"] = "1"
        runtime.launch("mm", thread_id=5)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["1", "true", "True"])
def test_with_the_setting_launches_are_recorded_in_the_folder_that_the_environment_names(tmp_path: Path, value: str) -> None:
    stream = io.StringIO()
    environ = {"RBLN_PROFILER": value, "RBLN_PROFILER_DIR": str(tmp_path / "profiles"), "HOME": "/nowhere"}
    with _runtime(stream, environ) as runtime:
        for _ in range(3):
            runtime.launch("mm", thread_id=5)
    path = tmp_path / "profiles" / "rbln_20261129_142200123_0.pb"
    assert runtime.path == path
    profile = rblnpb.read(path)
    assert (len(profile.launches), len(profile.device_slices), len(profile.workload_slices)) == (3, 18, 3)
    assert profile.session.settings == (("RBLN_PROFILER", value), ("RBLN_PROFILER_DIR", str(tmp_path / "profiles")))
    assert profile.session.drained_after_each_run is True
    assert (profile.findings, rblnpb.check(profile)) == ((), ())


def test_at_the_end_the_report_and_the_name_of_the_file_are_printed(tmp_path: Path) -> None:
    stream = io.StringIO()
    with _runtime(stream, {"RBLN_PROFILER": "1"}, directory=tmp_path) as runtime:
        runtime.launch("mm", thread_id=5)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "RBLN Profiler Generation Status Report"
    assert lines[-1] == f"Saved: {runtime.path}"
    assert len(lines) <= 25


def test_a_second_close_says_nothing(tmp_path: Path) -> None:
    stream = io.StringIO()
    runtime = _runtime(stream, {"RBLN_PROFILER": "1"}, directory=tmp_path)
    runtime.close()
    said = stream.getvalue()
    runtime.close()
    assert stream.getvalue() == said


def test_a_second_recording_of_the_same_millisecond_has_the_next_number(tmp_path: Path) -> None:
    for _ in range(2):
        _runtime(io.StringIO(), {"RBLN_PROFILER": "1"}, directory=tmp_path).close()
    paths = sorted(tmp_path.iterdir())
    assert [path.name for path in paths] == ["rbln_20261129_142200123_0.pb", "rbln_20261129_142200123_1.pb"]
    assert [rblnpb.read(path).session.file_ordinal for path in paths] == [0, 1]


def test_a_folder_that_cannot_be_written_is_said_and_the_program_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    stream = io.StringIO()
    with _runtime(stream, {"RBLN_PROFILER": "1"}, directory=tmp_path / "file") as runtime:
        assert runtime.launch("mm", thread_id=5).launch_id == 1
    assert stream.getvalue().startswith("rblnpb: nothing is recorded: cannot write a profile in")


def test_the_first_launch_of_a_program_compiles_it(tmp_path: Path) -> None:
    with _runtime(io.StringIO(), {"RBLN_PROFILER": "1"}, directory=tmp_path) as runtime:
        for op in ("aten::add", "aten::add", "aten::mul"):
            runtime.launch(op, thread_id=5)
    assert runtime.path
    profile = rblnpb.read(runtime.path)
    assert [program.op for program in profile.programs] == ["aten::add", "aten::mul"]
    assert [HostActivity(value).name for value in profile.host_slices.activity.tolist()] == [
        *("COMPILE", "SUBMIT", "WAIT"),
        *("SUBMIT", "WAIT"),
        *("COMPILE", "SUBMIT", "WAIT"),
    ]


def test_carried_commands_depend_on_the_call_before_on_their_instance(tmp_path: Path) -> None:
    with _runtime(io.StringIO(), {"RBLN_PROFILER": "1"}, directory=tmp_path) as runtime:
        for instance in (1, 2, 1):
            runtime.launch("mm", thread_id=5, instance=instance)
    assert runtime.path
    edges = rblnpb.read(runtime.path).dependencies
    assert (edges.predecessor_ordinal.tolist(), edges.successor_ordinal.tolist()) == ([5], [17])


def test_runs_of_several_threads_queue_on_the_device(tmp_path: Path) -> None:
    def work(runtime: Runtime, thread_id: int) -> None:
        for _ in range(20):
            runtime.launch("mm", thread_id=thread_id)

    with _runtime(io.StringIO(), {"RBLN_PROFILER": "1"}, directory=tmp_path) as runtime:
        threads = [threading.Thread(target=work, args=(runtime, thread_id)) for thread_id in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert runtime.path
    profile = rblnpb.read(runtime.path)
    frames = profile.workload_slices
    assert sorted(profile.launches.launch_id.tolist()) == list(range(1, 81))
    assert (frames.start_ticks[1:] >= (frames.start_ticks + frames.duration_ticks)[:-1]).all()


def test_an_unknown_program_is_refused_and_the_recording_goes_on(tmp_path: Path) -> None:
    with _runtime(io.StringIO(), {"RBLN_PROFILER": "1"}, directory=tmp_path) as runtime:
        with pytest.raises(UsageError, match="no program 'nm'"):
            runtime.launch("nm", thread_id=5)
        runtime.launch("mm", thread_id=5)
    assert runtime.path
    assert len(rblnpb.read(runtime.path).launches) == 1


SAID = "what it launches is not, but for windows that it begins itself"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_process_that_was_forked_off_neither_records_nor_reports(tmp_path: Path) -> None:
    script = """
        import os, sys, time
        from rblnpb.sim import Runtime
        settings = {"RBLN_PROFILER": "1", "RBLN_PROFILER_DIR": sys.argv[1]}
        runtime = Runtime(environ=settings, clock=time.monotonic_ns, real_clock=time.time_ns, stream=sys.stdout)
        runtime.launch("mm", thread_id=1)
        if os.fork() == 0:
            runtime.launch("mm", thread_id=2)
            runtime.launch("mm", thread_id=2)
            runtime.close()
            sys.stdout.flush()
            os._exit(0)
        os.wait()
        runtime.close()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    (path,) = tmp_path.iterdir()
    profile = rblnpb.read(path)
    assert (done.stdout.count("Generation Status Report"), profile.launches.thread_id.tolist(), profile.findings) == (1, [1], ())
    # Said once, by the one that is not recorded.
    (said,) = [line for line in done.stdout.splitlines() if "forked off" in line]
    assert said.endswith(f"from process {profile.session.process_id}, which is recorded; {SAID}")


def test_the_clocks_are_read_at_both_ends_and_every_second(tmp_path: Path) -> None:
    clock = Clock()
    settings = {"RBLN_PROFILER": "1"}
    with Runtime(environ=settings, clock=clock, real_clock=clock, stream=io.StringIO(), directory=tmp_path) as runtime:
        for _ in range(4):
            clock.now_ns += 600_000_000
            runtime.launch("mm", thread_id=5)
    assert runtime.path
    assert len(rblnpb.read(runtime.path).clock_snapshots) == 2 * (1 + 2 + 1)


def test_a_file_is_named_by_its_start_to_the_millisecond() -> None:
    assert profile_file_name(1_700_000_000_007_999_999, 19) == "rbln_20231114_221320007_19.pb"


def test_a_session_begins_anew_and_leaves_the_only_file(tmp_path: Path) -> None:
    stream = io.StringIO()
    runtime = _runtime(stream, {"RBLN_PROFILER": "1"}, directory=tmp_path)
    runtime.launch("mm", thread_id=5)
    runtime.begin_session()
    runtime.launch("aten::add", thread_id=5)
    runtime.launch("mm", thread_id=5)
    path = runtime.end_session()
    runtime.launch("mm", thread_id=5)
    runtime.close()

    assert path is not None
    assert list(tmp_path.iterdir()) == [path]
    profile = rblnpb.read(path, strict=True)
    assert profile.launches.sequence.tolist() == [0, 1]
    assert [profile.programs[row - 1].name for row in profile.launches.program_id.tolist()] == ["add", "mm"]
    assert stream.getvalue().count("RBLN Profiler Generation Status Report") == 1


def test_without_the_setting_a_session_records_nothing(tmp_path: Path) -> None:
    runtime = _runtime(io.StringIO(), {}, directory=tmp_path)
    runtime.begin_session()
    runtime.launch("mm", thread_id=5)

    assert (runtime.is_profiling, runtime.is_recording, runtime.end_session()) == (False, False, None)
    assert list(tmp_path.iterdir()) == []


def test_overheads_and_copies_are_recorded(tmp_path: Path) -> None:
    with _runtime(io.StringIO(), {"RBLN_PROFILER": "1"}, directory=tmp_path) as runtime:
        runtime.copied(HostActivity.COPY_OUT, 2_000_000_000, 2_000_000_500, thread_id=5, size_bytes=64)
        runtime.overhead(
            OverheadKind.CPU_FALLBACK, "aten::sub", "dtype-not-fp16", place="a.py:3(f)", start_ns=7, duration_ns=9, thread_id=5
        )

    assert runtime.path is not None
    profile = rblnpb.read(runtime.path)
    copies, overheads = profile.host_slices, profile.overheads
    assert [column.tolist() for column in (copies.activity, copies.duration_ns, copies.size_bytes)] == [
        [HostActivity.COPY_OUT],
        [500],
        [64],
    ]
    texts = [profile.strings[int(row[0])] for row in (overheads.op_strindex, overheads.reason_strindex, overheads.place_strindex)]
    assert texts == ["aten::sub", "dtype-not-fp16", "a.py:3(f)"]
    assert (overheads.overhead.tolist(), overheads.duration_ns.tolist(), overheads.size_bytes.tolist()) == ([1], [9], [ABSENT])


FULL = """
    import resource, sys, time
    from rblnpb.sim import Runtime
    size_bytes = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))
    settings = {"RBLN_PROFILER": "1", "RBLN_PROFILER_DIR": sys.argv[1]}
    clock = iter(range(0, 10**12, 50_000_000)).__next__
    with Runtime(environ=settings, clock=clock, real_clock=time.time_ns, stream=sys.stdout) as runtime:
        for _ in range(50):
            runtime.launch("mm", thread_id=1)
    print(len(runtime.path.read_bytes()) if runtime.path else runtime.path)
"""


def _on_full_disk(folder: Path, size_bytes: int) -> list[str]:
    command = [sys.executable, "-c", textwrap.dedent(FULL), str(folder), str(size_bytes)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path.cwd()).stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no limits of a process")
def test_a_disk_that_is_full_from_the_start_keeps_no_file_and_disturbs_nobody(tmp_path: Path) -> None:
    assert _on_full_disk(tmp_path, 50) == ["rblnpb: nothing is recorded: cannot write the profile: File too large", "None"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no limits of a process")
def test_a_disk_that_fills_up_costs_records_which_the_report_counts_even_where_the_file_cannot(tmp_path: Path) -> None:
    said = _on_full_disk(tmp_path, 3_000)
    (launches,) = [line.split()[1:] for line in said if line.strip().startswith("launches ")]
    kept, dropped = map(int, launches)
    assert kept + dropped == 50
    assert dropped > 0
    (path,) = tmp_path.iterdir()
    assert len(rblnpb.read(path).launches) == kept
    assert int(said[-1]) <= 3_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_two_processes_that_start_in_one_millisecond_have_a_file_each(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    children = []
    for _ in range(4):
        child = os.fork()
        if not child:
            # All of them wait for the same moment, at a clock that stands still.
            os.close(writer)
            os.read(reader, 1)
            settings = {"RBLN_PROFILER": "1"}
            runtime = Runtime(
                environ=settings, clock=lambda: 5, real_clock=lambda: 10**18, stream=io.StringIO(), directory=tmp_path
            )
            runtime.launch("mm", thread_id=os.getpid())
            runtime.close()
            os._exit(0)
        children.append(child)
    os.close(writer)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    os.close(reader)
    assert sorted(path.name for path in tmp_path.iterdir()) == [profile_file_name(10**18, ordinal) for ordinal in range(4)]
    profiles = [rblnpb.read(path) for path in tmp_path.iterdir()]
    assert sorted(profile.launches.thread_id.tolist()[0] for profile in profiles) == sorted(children)
    assert len({profile.session.session_id for profile in profiles}) == 4
