"""What a row of the table is: one piece of work, done in two or three ways that must come to the same."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
STANDARD, LARGE = (100_000, 1_000_000), 10_000_000
MEDIUM = (30_000, 300_000)
"""Of rows without a bar, so that all of them together take minutes."""
SIDES = ("ours", "plain", "c")


class Usage(NamedTuple):
    """What one run took; the peak is of the whole process, None where the run had none of its own."""

    cpu_s: float
    peak_mib: float | None
    result: Any


# The parent's own peak would be inherited by a child that it forks, so a small Python stands between them.
_LAUNCHER = """
import json, os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
told = {"code": os.waitstatus_to_exitcode(status), "cpu_s": usage.ru_utime + usage.ru_stime, "peak_kib": usage.ru_maxrss}
sys.stderr.write("\\n" + json.dumps(told))
"""


@dataclass(frozen=True)
class Process:
    """A command, as a side of a case: it is measured with its start, and what it prints is its result.

    Attributes:
        arguments: The program and its arguments.
        environment: Variables that it gets besides ours; None = ours.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str] | None = None

    def __call__(self) -> bytes:
        """What it prints."""
        printed: bytes = self.use().result
        return printed

    def use(self) -> Usage:
        """Run it; CPU time and peak as the system counts them for a child.

        Raises:
            RuntimeError: It ended with an exit code.
        """
        command = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *self.arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, check=True)
        told = json.loads(done.stderr.rpartition(b"\n")[2])
        if told["code"]:
            raise RuntimeError(f"{' '.join(self.arguments)}: exit code {told['code']}: {done.stderr.decode(errors='replace')}")
        return Usage(told["cpu_s"], told["peak_kib"] / 1024, done.stdout)


def _as_it_is(result: Any) -> Any:
    return result


@dataclass(frozen=True)
class Side:
    """One way to do the work.

    Attributes:
        run: Does it once; a function, or a `Process`.
        found: Makes of the result what can be compared with that of the other sides. Not measured.
    """

    run: Callable[[], Any]
    found: Callable[[Any], Any] = _as_it_is

    def use(self) -> Usage:
        """Do the work once."""
        if isinstance(self.run, Process):
            return self.run.use()
        begin = time.process_time()
        result = self.run()
        return Usage(time.process_time() - begin, None, result)


@dataclass(frozen=True)
class Work:
    """The work of a case at one size, its inputs being there.

    Attributes:
        ours: Our way.
        plain: The plain way; None: there is none, or it is not for this size.
        c: The same in C; None: nobody wrote it, or there is no compiler.
        count: Of what the times are divided by; None = the size.
        figures: Taken of our result, what else there is to tell, by name with its unit: "bytes", "p99 ns".
    """

    ours: Side
    plain: Side | None = None
    c: Side | None = None
    count: int | None = None
    figures: Callable[[Any], Mapping[str, float]] = field(default=lambda _: {})

    def sides(self) -> dict[str, Side]:
        """Those that there are, by their names in SIDES."""
        return {name: side for name in SIDES if (side := getattr(self, name)) is not None}


@dataclass(frozen=True)
class Case:
    """A row of the table.

    Attributes:
        name: In the command line and in saved runs.
        what: What is done.
        plain_way: What the plain side is; "" without one.
        set_up: Of a size, and a folder in which inputs may stand already, the work.
        unit: What a size counts.
        bar: Greatest value of figures by name ("ns", "bytes", "peak MiB", "CPU s", "of plain"), at a million or more.
        sizes: At which it runs.
        plain_limit: Greatest size for the plain side; where it is below all of `sizes`, it is one more size.
        large_bar: A bar of its own at ten million, with --large; None: it does not run there.
        tiny: Size at which the tests compare the sides.
    """

    name: str
    what: str
    plain_way: str
    set_up: Callable[[int, Path], Work]
    unit: str = "record"
    bar: Mapping[str, float] = field(default_factory=dict)
    sizes: Sequence[int] = STANDARD
    plain_limit: int = STANDARD[-1]
    large_bar: Mapping[str, float] | None = None
    tiny: int = 300

    def work(self, size: int, folder: Path) -> Work:
        """The work at a size, without a plain side where that would take too long."""
        work = self.set_up(size, folder)
        return work if size <= self.plain_limit else Work(work.ours, None, work.c, work.count, work.figures)


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal: arrays by their values, and what holds columns by its fields."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")
    if dataclasses.is_dataclass(one) and type(one) is type(other):
        return all(same(getattr(one, part.name), getattr(other, part.name)) for part in dataclasses.fields(one))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, (str, bytes)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
