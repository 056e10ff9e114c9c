"""Processes that read one trace together: whatever happens to any of them, the trace is the one that one process reads."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from rblnpb.converters.host_trace import ALL_COLUMNS
from rblnpb.converters.sources import _reading_jobs, _shared_reading
from rblnpb.converters.sources._document import open_document
from rblnpb.converters.sources._event_array import CutSizes, split_events
from rblnpb.converters.sources._event_columns import EventColumns
from rblnpb.converters.sources._reading_jobs import worthwhile_jobs
from rblnpb.converters.sources._shared_reading import SharedReading, read_together
from rblnpb.converters.sources._trace_segments import NUMBER, SegmentPlan, SegmentReader, serve
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.sources.text_limits import TextLimits
from rblnpb.converters.timeline import HostTrace
from rblnpb.errors import UsageError
from tests.support.shared_traces import BUNDLED_TRACE, ROOT, shared_file

SIZES = CutSizes(step_bytes=1 << 10, segment_bytes=1 << 12)
LARGER_SIZES = CutSizes(step_bytes=1 << 15, segment_bytes=1 << 17)


def document(count: int = 300) -> bytes:
    """Ops, each tenth with shapes, names of threads between them, and one time that is none."""
    found = []
    for number in range(count):
        event: dict[str, Any] = {"ph": "X", "cat": "cpu_op", "name": f"op {number % 17} ü", "pid": 7, "tid": number % 3}
        event |= {"ts": number * 4, "dur": 2.5, "args": {"External id": number + 1}}
        if number % 10 == 0:
            event["args"]["Input Dims"] = [[number, 3]]
        if number % 50 == 20:
            event = {"ph": "M", "name": "thread_name", "pid": 7, "tid": number, "args": {"name": f"thread {number}"}}
        if number == 111:
            event["ts"] = "late"
        found.append(json.dumps(event, indent=1, ensure_ascii=False))
    text = ",\n  ".join(found)
    return f'{{"baseTimeNanoseconds": 1000, "traceEvents": [\n  {text}\n], "traceName": "t.json"}}'.encode()


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_bytes(document())
    return path


def together(
    path: Path, jobs: int = 2, report: Callable[[int], None] = lambda _: None, sizes: CutSizes = SIZES
) -> SharedReading | None:
    return read_together(open_document(path), ALL_COLUMNS, jobs, report, sizes)


def alone(path: Path, sizes: CutSizes = SIZES) -> SharedReading:
    made = EventColumns()
    text = b"".join(open_document(path).blocks())
    return SharedReading(made, split_events(iter([text]), made.take, "alone", sizes), 0)


def all_of(found: SharedReading) -> dict[str, Any]:
    made = found.made
    columns = {name: column.tolist() for name, column in made.finish(0).columns().items()}
    names = (made.thread_names, made.process_names, made.process_labels)
    return {**columns, "strings": made.strings, "tracks": made.tracks, "names": names, "odd": made.odd.counts, "": found.around}


def facts(host: HostTrace) -> dict[str, Any]:
    values = {one.name: getattr(host, one.name) for one in fields(host)}
    return {**values, "document": None, "events": {name: column.tolist() for name, column in host.events.columns().items()}}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are begun, as they are begun: others of these tests may have some of their own."""
    found: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def begin(*command: Any, **how: Any) -> subprocess.Popen[bytes]:
        found.append(popen(*command, **how))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", begin)
    return found


def have_ended(begun: list[subprocess.Popen[bytes]]) -> list[bool]:
    """Of each process whether somebody has waited for its end."""
    return [process.returncode is not None for process in begun]


@pytest.mark.parametrize("is_packed", [False, True])
def test_processes_read_what_one_process_reads(tmp_path: Path, begun: list[subprocess.Popen[bytes]], is_packed: bool) -> None:
    path, text = tmp_path / "trace", document()
    path.write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]) + b"rest" if is_packed else text)
    reports: list[int] = []

    found = together(path, 3, reports.append)

    assert found is not None
    assert found.ignored_bytes == (4 if is_packed else 0)
    assert all_of(found) == all_of(alone(path))
    assert len(reports) == -(-len(text) // SIZES.segment_bytes)
    assert reports[-1] == path.stat().st_size
    assert have_ended(begun) == [True, True]


def test_events_that_are_written_in_two_ways_are_the_same_by_two_processes(trace: Path) -> None:
    trace.write_bytes(document().replace(b",\n  {", b",{", 200))

    found = together(trace)

    assert found is not None
    assert all_of(found) == all_of(alone(trace))


def test_a_real_trace_is_the_same_by_segments_of_two_processes() -> None:
    found = together(BUNDLED_TRACE, sizes=LARGER_SIZES)

    assert found is not None
    assert all_of(found) == all_of(alone(BUNDLED_TRACE, LARGER_SIZES))


def test_a_trace_with_device_rows_is_the_same_by_segments_of_two_processes() -> None:
    path = next(iter(sorted(shared_file("traces", "host").glob("*/trace.json*"))))

    found = together(path, sizes=LARGER_SIZES)

    assert found is not None
    assert all_of(found) == all_of(alone(path, LARGER_SIZES))


def test_what_the_environment_says_to_python_is_not_heard(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError", encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text("print('hello')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, value in {"WARNINGS": "error", "PATH": str(tmp_path), "INSPECT": "1", "VERBOSE": "1", "OPTIMIZE": "2"}.items():
        monkeypatch.setenv(f"PYTHON{name}", value)

    assert together(trace) is not None


@pytest.mark.parametrize(
    "program",
    [
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import sys, time; sys.stdout.buffer.write(bytes([9])); sys.stdout.flush(); sys.stdin.buffer.read(100)",
        "import sys; sys.stdout.buffer.write((1000).to_bytes(8, 'little') + bytes(999))",
        "raise MemoryError",
    ],
    ids=["killed", "cut-in-length", "cut-in-answer", "no-memory"],
)
def test_a_process_that_is_lost_leaves_the_trace_to_one(
    trace: Path,
    begun: list[subprocess.Popen[bytes]],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    program: str,
) -> None:
    monkeypatch.setattr(_shared_reading, "_PROGRAM", program)

    assert together(trace) is None
    assert have_ended(begun) == [True]
    assert capfd.readouterr() == ("", "")


def test_where_no_process_can_be_started_one_reads_the_trace(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(trace))

    assert together(trace) is None


def test_an_exception_of_whoever_asks_ends_the_others(trace: Path, begun: list[subprocess.Popen[bytes]]) -> None:
    def refuse(_: int) -> None:
        raise OSError("the terminal is gone")

    with pytest.raises(OSError, match="the terminal is gone"):
        together(trace, 3, refuse)
    assert have_ended(begun) == [True, True]


def test_a_file_that_changes_is_left_to_one(trace: Path) -> None:
    assert together(trace, 2, lambda _: os.utime(trace, (1, 1))) is None


@pytest.mark.parametrize(
    "broken",
    [
        document()[:-1000],
        document().replace(b'"op 3', b'"op "3'),
        document().replace("ü".encode(), b"\xff", 1),
        document().replace(b"t.json", b"\xff"),
        b"[]",
        b"",
        b"no trace",
    ],
    ids=["cut", "quote", "characters", "characters-behind", "empty-array", "empty", "other"],
)
def test_what_is_not_written_as_usual_is_left_to_one(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(broken)

    assert together(path) is None


def test_the_limits_hold_in_every_process(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(document(3000)))
    limits = TextLimits(expansion=2, expansion_bytes=300_000)
    reports: list[int] = []

    assert read_together(open_document(path, limits), ALL_COLUMNS, 2, reports.append, SIZES) is None
    assert reports


def plan_of(path: Path) -> SegmentPlan:
    plan, _ = _shared_reading._plan(open_document(path), ALL_COLUMNS, SIZES)
    assert plan is not None
    return plan


class Kept(io.BytesIO):
    """What can be looked at after it was closed."""

    def close(self) -> None:
        pass


class Closed(Kept):
    """A pipe that nobody reads."""

    def write(self, data: object) -> int:
        raise BrokenPipeError


def test_what_is_asked_for_is_answered_in_order(trace: Path) -> None:
    plan, answers = plan_of(trace), Kept()

    serve(io.BytesIO(pickle.dumps(plan) + b"".join(map(NUMBER.pack, (1, 4, 99)))), answers)

    answers.seek(0)
    found = []
    while size := answers.read(NUMBER.size):
        found.append(pickle.loads(answers.read(*NUMBER.unpack(size))))
    reader = SegmentReader(plan)
    expected = [reader.read(number) for number in (1, 4)]
    assert [one and one.rows.columns["offset"].tolist() for one in found] == [
        *(one and one.rows.columns["offset"].tolist() for one in expected),
        None,
    ]


def test_who_is_asked_for_nothing_ends(trace: Path) -> None:
    serve(io.BytesIO(), Closed())
    serve(io.BytesIO(pickle.dumps(plan_of(trace)) + NUMBER.pack(1)), Closed())


def test_a_process_that_cannot_go_on_gives_what_it_has_and_ends(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: SegmentReader, number: int) -> None:
        if number == 4:
            raise MemoryError

    plan, answers = plan_of(trace), Kept()
    monkeypatch.setattr(SegmentReader, "read", read)

    with pytest.raises(MemoryError):
        serve(io.BytesIO(pickle.dumps(plan) + b"".join(map(NUMBER.pack, (1, 4)))), answers)
    assert answers.getvalue() == NUMBER.pack(len(pickle.dumps(None, 5))) + pickle.dumps(None, 5)


def test_processes_end_with_the_one_that_is_killed(trace: Path) -> None:
    program = f"""
import os, pathlib, signal
from tests.unit.converters.sources.test_shared_reading import together
def stop(_):
    print(pathlib.Path(f"/proc/self/task/{{os.getpid()}}/children").read_text(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
together(pathlib.Path({str(trace)!r}), 3, stop)
"""
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("the system does not tell the children of a process")

    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    children = done.stdout.split()
    assert len(children) == 2
    deadline = time.monotonic() + 30
    while any(Path("/proc", child, "exe").exists() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    "text",
    [
        document(),
        document()[:-1000],
        document().replace(b'"op 3', b'"op "3'),
        document().replace("ü".encode(), b"\xff", 1),
        b'[{"a":1}]',
    ],
    ids=["whole", "cut", "quote", "characters", "no-phase"],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_trace_and_what_is_odd_about_it_are_the_same_for_any_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, is_packed: bool
) -> None:
    monkeypatch.setattr(_reading_jobs, "_WORTH_BYTES", 1)
    monkeypatch.setattr(_reading_jobs, "_PACKED_WORTH_BYTES", 1)
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(text) + b"rest" if is_packed else text)
    reports: list[tuple[int, int]] = []

    def read(jobs: int) -> object:
        try:
            return facts(read_host(path, jobs=jobs, progress=lambda done, size: reports.append((done, size))))
        except ValueError as error:
            return type(error), str(error)

    expected = read(1)
    reports.clear()

    assert read(2) == expected
    assert reports == sorted(reports)


def test_a_small_file_is_worth_one_process_and_no_more_than_are_allowed_read_a_large_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    path = tmp_path / "trace.json"
    path.touch()
    sizes = {0: 1, (128 << 20) - 1: 1, 128 << 20: 2, 1 << 30: 3}
    for size, jobs in sizes.items():
        os.truncate(path, size)
        assert worthwhile_jobs(open_document(path), None) == jobs
    assert worthwhile_jobs(open_document(path), 1) == 1
    assert worthwhile_jobs(open_document(path), 9) == 9
    assert worthwhile_jobs(replace(open_document(path), path=""), 9) == 1
    path.write_bytes(b"\x1f\x8b" + bytes((12 << 20) - 2))
    assert worthwhile_jobs(open_document(path), None) == 2


def test_many_cores_are_taken_only_where_somebody_asks_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(96)), raising=False)
    path = tmp_path / "trace.json"
    path.touch()
    os.truncate(path, 20 << 30)

    assert worthwhile_jobs(open_document(path), None) == 8
    assert worthwhile_jobs(open_document(path), 40) == 40

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for cores, jobs in {96: 8, 2: 2, None: 1}.items():
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert worthwhile_jobs(open_document(path), None) == jobs


@pytest.mark.parametrize(
    ("executable", "jobs"),
    [
        ("/usr/bin/python3.11", 2),
        ("/opt/Python.framework/Resources/Python.app/Contents/MacOS/Python", 2),
        ("/opt/pypy/bin/pypy3", 2),
        ("/usr/bin/blender", 1),
        ("/opt/python/bin/uwsgi", 1),
        ("/usr/sbin/apache2", 1),
        ("", 1),
        (None, 1),
    ],
)
def test_a_program_that_is_no_interpreter_is_not_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executable: str | None, jobs: int
) -> None:
    path = tmp_path / "trace.json"
    path.touch()
    os.truncate(path, 128 << 20)
    monkeypatch.setattr(sys, "executable", executable)

    assert worthwhile_jobs(open_document(path), 2) == jobs


def test_no_process_at_all_is_refused(trace: Path) -> None:
    with pytest.raises(UsageError, match="0 processes cannot read a trace: it takes 1 at least"):
        read_host(trace, jobs=0)
