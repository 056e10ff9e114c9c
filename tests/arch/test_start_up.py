"""What the first import may load: every module of it is paid for by each command, and by each program that imports the package."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.arch.tree import ROOT

# A lazy face finds the home of a name by importlib, which loads the others.
FACE = {"__future__", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "warnings", "rblnpb", "rblnpb._version"}
SUITE = FACE | {"rblnpb.converters"}
COMMAND_LINE = SUITE | {"rblnpb.converters.cli", "rblnpb.converters.cli._options"}
# What argparse itself takes, which differs between Pythons; the modules of one subcommand must not be asked for their help.
ARGPARSE = "import argparse, collections.abc, os\nargparse.ArgumentParser(prog='a', description='a b').format_help()"


def newly_loaded(program: str) -> set[str]:
    """Modules that a fresh Python has loaded after running `program` and had not before."""
    report = (
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nbefore = set(sys.modules)\n{program}\n"
        "print('loaded:', *sorted(set(sys.modules) - before))"
    )
    # Isolated and without site, so that nothing of the environment has loaded a module first.
    done = subprocess.run([sys.executable, "-I", "-S", "-c", report], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(("name", "allowed"), [("rblnpb", FACE), ("rblnpb.converters", SUITE)])
def test_an_import_loads_lazy_faces_and_nothing_else(name: str, allowed: set[str]) -> None:
    assert newly_loaded(f"import {name}") - allowed == set()


@pytest.mark.parametrize("argument", ["--help", "--version", "--no-such-option"])
def test_help_loads_the_parser_and_no_command(argument: str) -> None:
    program = f"""
from rblnpb.converters.cli import main
try:
    main([{argument!r}])
except SystemExit:
    pass
"""

    assert newly_loaded(program) - newly_loaded(ARGPARSE) - COMMAND_LINE == set()
