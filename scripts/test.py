"""Checks everything: formatting, lint, the schema, types, the tests with coverage on two Pythons, and the wheel.

    python3 scripts/test.py                 # all of it; sets up .venv by itself the first time
    python3 scripts/test.py --quick         # formatting, lint and the tests, without coverage
    python3 scripts/test.py --quick -k clock
    python3 scripts/test.py --python 3.12   # with another Python of this machine
    python3 scripts/test.py --torch         # all of it, and the simulated device of PyTorch (installs torch: large)

Steps run in the order of their cost, and the first that fails ends the run with exit code 1 (--keep-going: at the end). The
tests of the product run on the lowest and the highest supported Python of the machine, the others on the one that runs this.
In CI (the variable CI is set) the tests with torch always run. Needs git, a supported Python and a way to PyPI; nothing else
need be installed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import _venv

PYTEST = ["python", "-m", "pytest", "-q", "-n", "auto"]
# What no Python changes: the house itself, outputs in viewers, speed, real inputs, and the long searches through data. Tables of
# pandas and pyarrow are here because these are large; elsewhere their tests are skipped.
FRAMES = ["unit/converters/sinks/test_data_frames.py", "unit/converters/sinks/test_slice_frames.py"]
ONCE = [f"tests/{path}" for path in ("arch", "bench", "browser", "cli/test_scripts.py", "compat", "fuzz", "property", *FRAMES)]
PRODUCT = ["tests/unit", "tests/cli", "tests/golden", "--ignore=tests/cli/test_scripts.py"]
COVERAGE = ["--cov", "--cov-report=term:skip-covered"]


class Step(NamedTuple):
    """Commands of one environment that must all end with exit code 0.

    The environment is made ready when the step begins, so that a cheap failure does not wait for an installation.
    """

    name: str
    setup: Callable[[], _venv.Environment]
    commands: list[list[str]]
    variables: Mapping[str, str] = MappingProxyType({})


def lint_steps(environment: Callable[[], _venv.Environment]) -> list[Step]:
    """What looks at the Python text only."""
    return [
        Step("ruff format", environment, [["ruff", "format", "--check", "."]]),
        Step("ruff check", environment, [["ruff", "check", "."]]),
    ]


def main_steps(environment: Callable[[], _venv.Environment], scratch: Path) -> list[Step]:
    """What is checked on the main Python alone, cheapest first; the wheel is built in `scratch`."""
    # Building the sdist first and the wheel from it keeps an old build/ folder out of the wheel and proves the sdist.
    wheel = [["python", "-m", "build", "--quiet", "--outdir", str(scratch), "."], ["check-wheel-contents", str(scratch)]]
    return [
        *lint_steps(environment),
        Step("buf lint", environment, [["buf", "lint"]]),
        Step("buf breaking", environment, [["python", "scripts/release_schema.py", "--check"]]),
        Step("generated code is fresh", environment, [["python", "scripts/regen_proto.py", "--check"]]),
        Step("import contracts", environment, [["lint-imports"]]),
        Step("mypy --strict", environment, [["mypy"]]),
        Step("wheel", environment, wheel),
        Step("pytest of what is checked once", environment, [[*PYTEST, *ONCE]]),
    ]


def product_steps(environments: Mapping[_venv.Interpreter, Callable[[], _venv.Environment]]) -> list[Step]:
    """The tests of the product on the lowest and the highest of these Pythons; the highest one measures what they cover."""
    lowest, *_, highest = sorted([*environments] * 2, key=lambda python: python.version)
    # To measure costs a tenth of the time there instead of the half.
    variables = {"COVERAGE_CORE": "sysmon"} if highest.version >= (3, 12) else {}
    measured = [[*PYTEST, *PRODUCT, *COVERAGE]]
    steps = [Step(f"pytest on Python {highest.name}, with coverage", environments[highest], measured, variables)]
    if lowest != highest:
        steps.append(Step(f"pytest on Python {lowest.name}", environments[lowest], [[*PYTEST, *PRODUCT]]))
    return steps


def torch_steps(main: _venv.Interpreter) -> list[Step]:
    """The tests on the simulated device of PyTorch, in an environment of their own: torch is larger than all else together."""
    environment = partial(_venv.prepare, main, _venv.ROOT / ".venv-torch", ["test", "torch"])
    # Tests of a file share runs of the same scripts.
    return [Step("pytest with torch", environment, [[*PYTEST, "--dist", "loadfile", "tests/torch"]])]


def run(steps: list[Step], *, keep_going: bool) -> bool:
    """Run the steps, say of each how it ended and how long it took; True when all were fine."""
    results = []
    for number, step in enumerate(steps, start=1):
        print(f"== [{number}/{len(steps)}] {step.name}", flush=True)
        began = time.monotonic()
        environment = step.setup()
        fine = all(environment.run(command, step.variables) == 0 for command in step.commands)
        results.append((step.name, fine, time.monotonic() - began))
        if not fine and not keep_going:
            break
    print("==")
    for name, fine, seconds in results:
        print(f"   {'ok    ' if fine else 'FAILED'} {seconds:7.1f} s  {name}")
    for step in steps[len(results) :]:
        print(f"   not run            {step.name}")
    return all(fine for _, fine, _ in results)


def main() -> int:
    """Set up, choose the steps, run them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only formatting, lint and the tests on one Python")
    parser.add_argument("--python", metavar="X.Y", default="", help="the Python to use; default: the one that runs this")
    parser.add_argument("-k", dest="expression", default="", help="only the tests that match, as pytest's -k; means --quick")
    parser.add_argument("--torch", action="store_true", help="also the tests with torch, which is installed for them")
    parser.add_argument("--keep-going", action="store_true", help="run the later steps too when one fails")
    options = parser.parse_args()
    found = _venv.interpreters()
    python = _venv.choose(found, options.python)
    folder = _venv.ROOT / (f".venv-{python.name}-dev" if options.python else ".venv")
    environment = partial(_venv.prepare, python, folder, ["dev"])
    environment()
    if options.quick or options.expression:
        chosen = ["-k", options.expression] if options.expression else []
        fine = run([*lint_steps(environment), Step("pytest", environment, [[*PYTEST, *chosen]])], keep_going=options.keep_going)
        return 0 if fine else 1
    with tempfile.TemporaryDirectory() as scratch:
        steps = main_steps(environment, Path(scratch))
        environments: dict[_venv.Interpreter, Callable[[], _venv.Environment]] = {python: environment}
        for other in () if options.python else found.values():
            environments.setdefault(other, partial(_venv.prepare, other, _venv.ROOT / f".venv-{other.name}", ["test"]))
        steps += product_steps(environments)
        if options.torch or os.environ.get("CI"):
            steps += torch_steps(python)
        return 0 if run(steps, keep_going=options.keep_going) else 1


if __name__ == "__main__":
    sys.exit(main())
