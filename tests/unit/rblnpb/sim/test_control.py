"""Windows of recording over runtimes, one for all instances or one of each."""

from __future__ import annotations

import io
from itertools import count
from pathlib import Path

import pytest

import rblnpb
from rblnpb.naming import NameStyle
from rblnpb.sim import Control, Runtime


def _control(folder: Path, stream: io.StringIO, *, is_profiling: bool = True) -> Control:
    ticks, real = count(10**9, 1_000), count(1_795_962_120_123_456_789, 10**6)

    def new_runtime(style: NameStyle, directory: Path | None) -> Runtime:
        return Runtime(
            environ={"RBLN_PROFILER": str(int(is_profiling))},
            clock=lambda: next(ticks),
            real_clock=lambda: next(real),
            stream=stream,
            name_style=style,
            directory=directory or folder,
        )

    return Control(new_runtime, stream, is_profiling=is_profiling)


def _launch(control: Control, number: int = 1) -> None:
    with control.instance(number) as runtime:
        runtime.launch("mm", thread_id=5, instance=number)


def _launched(folder: Path) -> list[list[int]]:
    """Instances of the launches of each profile in a folder, in the order they were written."""
    return [rblnpb.read(path, strict=True).launches.instance.tolist() for path in sorted(folder.glob("*.pb"))]


def test_without_a_window_all_is_one_profile(tmp_path: Path) -> None:
    control = _control(tmp_path, io.StringIO())
    _launch(control)
    _launch(control, 2)
    (path,) = control.done()
    _launch(control)
    assert (path.parent, _launched(tmp_path)) == (tmp_path, [[1, 2]])


def test_after_the_end_no_new_runtime_records(tmp_path: Path) -> None:
    control = _control(tmp_path, io.StringIO())
    assert control.done() == ()
    _launch(control)
    assert (control.done(), list(tmp_path.iterdir())) == ((), [])


def test_a_window_drops_what_was_recorded_before_it(tmp_path: Path) -> None:
    control = _control(tmp_path / "before", io.StringIO())
    _launch(control)
    with control.profile(tmp_path / "window") as window:
        opened = control.window
        _launch(control, 2)
    assert (opened, control.window) == (window, None)
    assert window.paths == tuple((tmp_path / "window").iterdir())
    assert (_launched(tmp_path / "before"), _launched(tmp_path / "window")) == ([], [[2]])


def test_a_window_without_a_launch_is_a_profile(tmp_path: Path) -> None:
    control = _control(tmp_path, io.StringIO())
    control.start()
    control.done()
    assert _launched(tmp_path) == [[]]


def test_single_streams_are_files_of_the_instances_that_ran(tmp_path: Path) -> None:
    control = _control(tmp_path, io.StringIO())
    for folder, numbers in (("a", (2, 1, 2)), ("b", (1,)), ("c", ())):
        with control.profile(tmp_path / folder, single_stream=True) as window:
            for number in numbers:
                _launch(control, number)
        assert len(window.paths) == len(set(numbers))
    assert (_launched(tmp_path / "a"), _launched(tmp_path / "b")) == ([[2, 2], [1]], [[1]])
    assert not (tmp_path / "c").exists()


def test_there_is_one_window_at_a_time(tmp_path: Path) -> None:
    control = _control(tmp_path, io.StringIO())
    control.start()
    with pytest.raises(RuntimeError, match="a profiling window is open already"):
        control.start()
    control.done()


def test_a_window_without_profiling_says_so(tmp_path: Path) -> None:
    stream = io.StringIO()
    with _control(tmp_path, stream, is_profiling=False).profile() as window:
        pass
    assert window.paths == ()
    assert stream.getvalue() == "rblnpb: nothing is recorded: RBLN_PROFILER=1 was not set when the process started\n"


def test_instances_are_counted_from_one_and_nest(tmp_path: Path) -> None:
    control = _control(tmp_path, io.StringIO())
    with control.instance(2), pytest.raises(ValueError, match="counted from 1, not from 0"), control.instance(0):
        pass
    with control.instance(2):
        with control.instance(3):
            assert control.instance_number == 3
        assert control.instance_number == 2
    assert control.instance_number == 1
    control.done()
