"""Recordings that something comes between: signals, exceptions, the end of the process, files that take nothing more."""

from __future__ import annotations

import gc
import io
import itertools
import linecache
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb import Recorder
from rblnpb.clock import Clock, ClockKind, ClockSnapshot
from rblnpb.columns import Dependencies, DeviceSlices, Launches
from rblnpb.profile import Device, Engine, EngineKind, Loss, LossReason, Program, Session
from tests.support.profiles import body_of, payloads

needs_posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork and no SIGKILL")
SESSION = Session(session_id=7)
CLOCK = Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE)
NEVER_NS = 1 << 60


def recorder_of(file: Any, **choices: Any) -> Recorder:
    return Recorder(file, SESSION, **{"clock": lambda: 5_000, "flush_interval_ns": NEVER_NS, **choices})


def read(file: io.BytesIO) -> rblnpb.Profile:
    return rblnpb.read(file.getvalue())


# --- exceptions of signal handlers, between any two lines of the main thread -------------------------------------------


class Interruption:
    """Raises KeyboardInterrupt at the n-th line of the recorder's text that the main thread runs, as SIGINT's handler would."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.seen: set[tuple[str, int]] = set()
        self.is_done = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.endswith(("recorder.py", "_recorder_buffer.py", "_recorder_rows.py", "rblnpb/strings.py")):
            return None
        if event == "line" and not self.is_done and not _is_with(frame):
            self.seen.add((name, frame.f_lineno))
            if len(self.seen) > self.at:
                self.is_done = True
                raise KeyboardInterrupt
        return self


def _is_with(frame: FrameType) -> bool:
    """Whether a lock is just being taken or given back: Python runs no handler in between."""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with ")


def _record(recorder: Recorder, number: int) -> None:
    """Records whose columns all tell their number, one by one and in a table, and what they refer to."""
    text = f"op{number % 2}"
    recorder.define(programs=[Program(number, text, "", "", 1, 0)], threads=[(number, f"thread{number}")])
    recorder.add(Launches, launch_id=number, start_ns=number, thread_id=number)
    name = recorder.intern(text)
    slices = DeviceSlices.of(2, clock_id=16, engine_id=1, launch_id=number, start_ticks=number, name_strindex=name)
    first = recorder.record(slices)
    recorder.add(DeviceSlices, clock_id=16, engine_id=1, launch_id=number, start_ticks=number, name_strindex=text)
    recorder.record(Dependencies.of(predecessor_ordinal=[first], successor_ordinal=[first + 1]))
    recorder.flush()


def _run(at: int) -> tuple[bool, rblnpb.Profile]:
    """Four rounds of records, the second of them interrupted; whether it was, and what the file holds."""
    file, interruption = io.BytesIO(), Interruption(at)
    with recorder_of(file) as recorder:
        recorder.define(clocks=[CLOCK], devices=[Device(1, "rbln:0")], engines=[Engine(1, 1, EngineKind.TASK_DMA)])
        recorder.snapshot(ClockSnapshot(16, 0, 0, 0), ClockSnapshot(16, 9, 9, 9))
        for number in (1, 2, 3, 4):
            before = sys.gettrace()
            try:
                if number == 2:
                    sys.settrace(interruption)
                _record(recorder, number)
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(before)
    return interruption.is_done, read(file)


def test_an_interrupt_at_any_line_costs_at_most_what_was_being_recorded() -> None:
    whole = {1: 3, 3: 3, 4: 3}
    for at in itertools.count():
        was_interrupted, profile = _run(at)
        slices, launches = profile.device_slices, profile.launches
        assert profile.findings == (), at
        assert rblnpb.check(profile) == (), at
        assert {number: int((slices.launch_id == number).sum()) for number in whole} == whole, at
        assert [number for number in launches.launch_id.tolist() if number != 2] == [1, 3, 4], at
        assert (launches.launch_id == launches.thread_id).all(), at
        assert {1: "op1", 3: "op1", 4: "op0"}.items() <= {
            program.program_id: program.name for program in profile.programs
        }.items(), at
        assert [profile.strings[row] for row in slices.name_strindex] == [f"op{number % 2}" for number in slices.launch_id], at
        edges = profile.dependencies
        assert (slices.launch_id[edges.predecessor_ordinal] == slices.launch_id[edges.successor_ordinal]).all(), at
        assert {1, 3, 4} <= set(slices.launch_id[edges.predecessor_ordinal].tolist()), at
        if not was_interrupted:
            break
    # Every line of what `_record` calls was tried.
    assert at > 50
    assert (len(slices), len(launches), len(edges)) == (12, 4, 4)


class Gate(io.BytesIO):
    """A disk that stops in the middle of a packet, until it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.is_reached, self.may_go_on = threading.Event(), threading.Event()
        self.may_go_on.set()

    def write(self, data: Any) -> int:
        if not self.may_go_on.is_set():
            self.is_reached.set()
            assert self.may_go_on.wait(20)
            return super().write(memoryview(data)[:10])
        return super().write(data)


def _signalled(file: Gate, handler: Callable[..., None], work: Callable[[], None]) -> None:
    """Do some work; while it writes, this process gets SIGINT, and the disk goes on after its handler has begun."""

    def interrupt() -> None:
        assert file.is_reached.wait(20)
        os.kill(os.getpid(), signal.SIGINT)
        file.may_go_on.set()

    before = signal.signal(signal.SIGINT, handler)
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    try:
        work()
    finally:
        interrupter.join()
        signal.signal(signal.SIGINT, before)


@needs_posix
def test_a_signal_while_the_file_is_written_cuts_no_packet_and_its_exception_passes() -> None:
    file = Gate()
    recorder = recorder_of(file)
    recorder.add(Launches, launch_id=1)
    file.may_go_on.clear()
    with pytest.raises(KeyboardInterrupt):
        _signalled(file, signal.default_int_handler, recorder.flush)
    recorder.add(Launches, launch_id=2)
    recorder.close()
    profile = read(file)
    assert (profile.launches.launch_id.tolist(), profile.findings) == ([1, 2], ())


@needs_posix
def test_a_signal_handler_may_close_the_recorder_while_its_own_thread_writes() -> None:
    file = Gate()
    recorder = recorder_of(file)
    recorder.add(Launches, launch_id=1)
    file.may_go_on.clear()

    def end(*_: object) -> None:
        # A handler begins in the middle of the writing, and the disk goes on only now.
        file.may_go_on.set()
        recorder.add(Launches, launch_id=2)
        recorder.close()

    _signalled(file, end, recorder.flush)
    profile = read(file)
    assert (profile.launches.launch_id.tolist(), profile.is_complete, profile.findings) == ([1, 2], True, ())


def test_without_room_for_a_thread_the_recorder_writes_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("_thread.start_new_thread", none_left)
    file = io.BytesIO()
    with recorder_of(file) as recorder:
        recorder.add(Launches, launch_id=1)
    assert read(file).launches.launch_id.tolist() == [1]


# --- what goes wrong while it is written is counted, never raised ------------------------------------------------------


class Moody(io.BytesIO):
    """Raises what it is told to, or gives what it is told to give, once it has taken some bytes of a packet."""

    mood: BaseException | int | None = None

    def write(self, data: Any) -> int:
        if self.mood is None:
            return super().write(data)
        if isinstance(self.mood, BaseException):
            super().write(memoryview(data)[:5])
            raise self.mood
        return self.mood


@pytest.mark.parametrize("mood", [MemoryError(), RuntimeError("lost"), KeyError(1), OSError(28, "full"), 0])
def test_whatever_a_file_raises_costs_what_was_to_be_written_and_no_more(mood: BaseException | int) -> None:
    file = Moody()
    recorder = recorder_of(file)
    recorder.add(Launches, launch_id=1)
    recorder.flush()
    recorder.record(Launches.of(launch_id=[2, 3]))
    file.mood = mood
    recorder.flush()
    file.mood = None
    recorder.add(Launches, launch_id=4)
    recorder.close()
    profile = read(file)
    assert (profile.launches.launch_id.tolist(), profile.findings[1:]) == ([1, 4], ())
    assert [(loss.kind, loss.reason, loss.count) for loss in profile.losses] == [(Launches.kind, LossReason.WRITE_FAILED, 2)]


def test_too_little_memory_for_a_chunk_is_counted_and_the_other_kinds_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object) -> DeviceSlices:
        raise MemoryError

    file = io.BytesIO()
    with recorder_of(file) as recorder:
        recorder.record(DeviceSlices.of(3, launch_id=1))
        recorder.add(DeviceSlices, launch_id=1)
        recorder.add(Launches, launch_id=1)
        with monkeypatch.context() as patch:
            patch.setattr(DeviceSlices, "concat", no_memory)
            recorder.flush()
        recorder.add(DeviceSlices, launch_id=2)
    profile = read(file)
    assert (profile.device_slices.launch_id.tolist(), profile.launches.launch_id.tolist()) == ([2], [1])
    assert [(loss.kind, loss.reason, loss.count) for loss in profile.losses] == [(DeviceSlices.kind, LossReason.WRITE_FAILED, 4)]


def _no_memory(*_: object, **__: object) -> None:
    raise MemoryError


def _recorded_without(monkeypatch: pytest.MonkeyPatch, what: str) -> tuple[Recorder, rblnpb.Profile]:
    """Three slices, written while something has too little memory, and two more that are written when there is enough again."""
    file = io.BytesIO()
    with recorder_of(file) as recorder:
        recorder.define(clocks=[CLOCK], devices=[Device(1, "rbln:0")], engines=[Engine(1, 1, EngineKind.TASK_DMA)])
        recorder.snapshot(ClockSnapshot(16, 0, 100, 100), ClockSnapshot(16, 1_000, 1_100, 1_100))
        recorder.add(Launches, launch_id=1)
        recorder.record(
            DeviceSlices.of(3, clock_id=16, engine_id=1, launch_id=1, start_ticks=1, name_strindex=recorder.intern("mm"))
        )
        with monkeypatch.context() as patch:
            patch.setattr(what, _no_memory)
            recorder.flush()
        recorder.record(DeviceSlices.of(2, clock_id=16, engine_id=1, launch_id=1, start_ticks=2))
    return recorder, read(file)


def test_without_memory_for_new_strings_what_was_recorded_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, profile = _recorded_without(monkeypatch, "rblnpb.strings.StringTable.rows")

    assert (len(profile.device_slices), len(profile.launches), profile.is_complete) == (0, 0, True)
    assert {(loss.kind, loss.reason): loss.count for loss in recorder.losses} == {
        (Launches.kind, LossReason.WRITE_FAILED): 1,
        (DeviceSlices.kind, LossReason.WRITE_FAILED): 5,
    }
    assert [profile.dropped(kind) for kind in (Launches.kind, DeviceSlices.kind)] == [1, 5]


@pytest.mark.parametrize(
    "what",
    [
        "rblnpb._recorder_file.clock_maps",
        "rblnpb._recorder_display.RecordedDisplay.define",
        "rblnpb._recorder_file.RecorderFile._remember",
    ],
)
def test_without_memory_for_what_is_beside_the_records_none_is_lost(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, profile = _recorded_without(monkeypatch, what)

    assert (profile.device_slices.start_ticks.tolist(), len(profile.launches)) == ([1, 1, 1, 2, 2], 1)
    assert (recorder.losses, profile.losses, profile.findings) == ((), (), ())


def test_a_reading_that_is_none_costs_no_record() -> None:
    file = io.BytesIO()
    with recorder_of(file) as recorder:
        recorder.snapshot(ClockSnapshot(16, None, 0, 0))  # type: ignore[arg-type]  # that is the test
        recorder.add(Launches, launch_id=1)
        recorder.flush()
        recorder.add(Launches, launch_id=2)
    assert (read(file).launches.launch_id.tolist(), recorder.losses) == ([1, 2], ())


@needs_posix
def test_a_pipe_that_does_not_block_and_nobody_reads_costs_records_and_no_time() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb", buffering=0) as file:
        recorder = recorder_of(file)
        noise = np.random.default_rng(0).integers(0, 1 << 60, 50_000)
        recorder.record(Launches.of(launch_id=noise))
        recorder.close()
        assert [(loss.reason, loss.count) for loss in recorder.losses] == [(LossReason.WRITE_FAILED, 50_000)]


@pytest.mark.parametrize("mode", ["xb", "x+b"])
def test_a_buffer_of_the_file_is_passed_by(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.pb"
    with path.open(mode) as file:
        recorder = recorder_of(file)
        recorder.add(Launches, launch_id=1)
        recorder.flush()
        assert rblnpb.read(path).launches.launch_id.tolist() == [1]
        recorder.close()
    assert rblnpb.read(path).findings == ()


def test_a_file_that_only_the_recorder_has_stays_open(tmp_path: Path) -> None:
    recorder = recorder_of((tmp_path / "a.pb").open("xb"))
    gc.collect()
    recorder.add(Launches, launch_id=1)
    with pytest.warns(ResourceWarning):
        del recorder
    assert rblnpb.read(tmp_path / "a.pb").launches.launch_id.tolist() == [1]


# --- who forgets to close ----------------------------------------------------------------------------------------------


def test_a_recorder_that_nobody_has_any_more_is_closed() -> None:
    file = io.BytesIO()
    recorder_of(file).add(Launches, launch_id=1)
    gc.collect()
    profile = read(file)
    assert (profile.launches.launch_id.tolist(), profile.is_complete, profile.findings) == ([1], True, ())


def test_an_exception_of_the_program_passes_and_the_file_is_whole() -> None:
    file = io.BytesIO()
    recorder = recorder_of(file)
    recorder.add(Launches, launch_id=1)
    with pytest.raises(ZeroDivisionError), recorder:
        raise ZeroDivisionError
    assert (read(file).launches.launch_id.tolist(), read(file).is_complete) == ([1], True)


def _in_process(script: str, path: Path) -> subprocess.CompletedProcess[str]:
    head = """
        import os, sys, threading, time
        import rblnpb
        from rblnpb.columns import *
        file = open(sys.argv[1], "xb")
        recorder = rblnpb.Recorder(file, rblnpb.Session(session_id=7), clock=time.monotonic_ns, flush_interval_ns=1 << 60)
    """
    code = textwrap.dedent(head) + textwrap.dedent(script)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, str(path)]
    return subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd(), check=False, timeout=60)


DAEMONS = """
def go_on(number):
    while True:
        number += 4
        recorder.add(Launches, launch_id=number)
threads = [threading.Thread(target=go_on, args=(place,), daemon=True) for place in range(4)]
for thread in threads:
    thread.start()
time.sleep(0.1)
"""
ENDS = {
    "the end of the program": ("recorder.add(Launches, launch_id=1)", 0, [1], True),
    "sys.exit": ("recorder.add(Launches, launch_id=1)\nsys.exit(3)", 3, [1], True),
    "an exception": ("recorder.add(Launches, launch_id=1)\n1 / 0", 1, [1], True),
    "os._exit": (
        "recorder.add(Launches, launch_id=1)\nrecorder.flush()\nrecorder.add(Launches, launch_id=2)\nos._exit(0)",
        0,
        [1],
        False,
    ),
    "os.abort": ("recorder.add(Launches, launch_id=1)\nrecorder.flush()\nos.abort()", -6, [1], False),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_process_that_does_not_close_its_recorder_leaves_what_python_can_save(tmp_path: Path, name: str) -> None:
    script, code, kept, is_complete = ENDS[name]
    done = _in_process(script, tmp_path / "a.pb")
    profile = rblnpb.read(tmp_path / "a.pb")
    assert (done.returncode, profile.launches.launch_id.tolist(), profile.is_complete) == (code, kept, is_complete), done.stderr
    assert {finding.code for finding in profile.findings} == (set() if is_complete else {"not-ended"})


def test_threads_that_record_while_the_interpreter_ends_neither_hang_nor_break_the_file(tmp_path: Path) -> None:
    done = _in_process(DAEMONS, tmp_path / "a.pb")
    profile = rblnpb.read(tmp_path / "a.pb")
    assert (done.returncode, done.stderr, profile.is_complete) == (0, "", True)
    assert {finding.code for finding in profile.findings} <= {"dropped-records"}
    assert {loss.reason for loss in profile.losses} <= {LossReason.AFTER_END}
    assert len(profile.launches) > 0


@needs_posix
def test_a_forked_process_that_ends_as_python_does_leaves_its_parents_file_alone(tmp_path: Path) -> None:
    script = """
    recorder.add(Launches, launch_id=1)
    if os.fork() == 0:
        recorder.add(Launches, launch_id=2)
        del recorder
        sys.exit(0)
    assert os.wait()[1] == 0
    recorder.add(Launches, launch_id=3)
    """
    done = _in_process(script, tmp_path / "a.pb")
    profile = rblnpb.read(tmp_path / "a.pb")
    assert (done.returncode, done.stderr, profile.launches.launch_id.tolist(), profile.findings) == (0, "", [1, 3], ())


class Shelf(io.BytesIO):
    """Takes no packet that is larger than there is room."""

    room_bytes = 1 << 30

    def write(self, data: Any) -> int:
        if len(data) > self.room_bytes:
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_losses_wait_for_room_and_are_in_the_file_once() -> None:
    file = Shelf()
    recorder = recorder_of(file)
    for numbers in ([1, 2], [3]):
        recorder.record(Launches.of(launch_id=numbers))
        file.room_bytes = 0
        recorder.flush()
    file.room_bytes = 1 << 30
    recorder.close()
    profile = read(file)
    assert [(loss.reason, loss.count) for loss in profile.losses] == [(LossReason.WRITE_FAILED, 3)]
    (total,) = body_of(payloads(file.getvalue())[-1]).totals
    assert (total.kind, total.written, total.dropped) == (Launches.kind, 0, 3)


def test_losses_that_the_file_has_no_room_for_are_in_its_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Shelf()
    recorder = recorder_of(file)
    recorder.record(Launches.of(launch_id=[1, 2, 3]))
    file.room_bytes = 0
    recorder.flush()
    monkeypatch.setattr(recorder._output._writer, "losses", lambda rows: 1 // 0)
    file.room_bytes = 1 << 30
    recorder.close()
    (total,) = body_of(payloads(file.getvalue())[-1]).totals
    assert (total.kind, total.written, total.dropped) == (Launches.kind, 0, 3)
    profile = read(file)
    assert profile.losses == (Loss(Launches.kind, LossReason.UNKNOWN, 3),)
    assert [finding.message for finding in profile.findings] == [
        "the profile holds no record",
        "3 launches were dropped while recording (unknown): counts and times are lower bounds",
    ]


def test_what_a_thread_loses_while_a_recording_is_completed_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    recorder = recorder_of(file)
    recorder.add(Launches, launch_id=1)
    write_losses = recorder._output.write_losses

    def write_while_another_thread_records(losses: Any) -> bool:
        monkeypatch.undo()
        is_written = write_losses(losses)
        recorder.add(Launches, launch_id=2)
        return is_written

    monkeypatch.setattr(recorder._output, "write_losses", write_while_another_thread_records)
    recorder.close()
    losses = [(loss.kind, loss.reason, loss.count) for loss in read(file).losses]
    assert losses == [(Launches.kind, LossReason.AFTER_END, 1)]
