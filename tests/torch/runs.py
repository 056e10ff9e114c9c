"""Scripts on the simulated device, each in a process of its own: the device belongs to a process, and so does the runtime."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import rblnpb
from rblnpb.profile import Profile
from tests.support.command_line import heed_signals

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = HERE / "scripts"

NEEDS_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed (extra rblnpb[torch])")


def clean_environment(**settings: str) -> dict[str, str]:
    """The environment without anything that speaks to the device, and with these settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RBLN", "TORCH"))}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **settings}


def python(*arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """A fresh Python in a folder."""
    command = [sys.executable, *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(**settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        preexec_fn=heed_signals if os.name == "posix" else None,
    )


def rblnpb_run(*arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """`rblnpb run` in a fresh process; what Kineto writes to stderr in any case is taken out."""
    done = python("-m", "rblnpb.converters", "run", *arguments, cwd=cwd, **settings)
    done.stderr = "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("USDT:"))
    return done


def the_profile(folder: Path) -> Profile:
    """The last profile in a folder, which must be sound."""
    return rblnpb.read(max(folder.glob("rbln_*.pb")), strict=True)


@dataclass(frozen=True)
class Run:
    """What a script left behind; see driver.py."""

    folder: Path

    @classmethod
    def of(cls, script: str, folder: Path, *options: str) -> Run:
        folder.mkdir()
        done = python(str(HERE / "driver.py"), str(SCRIPTS / script), str(folder), *options, cwd=folder, RBLN_PROFILER="1")
        assert done.returncode == 0, done.stdout + done.stderr
        return cls(folder)

    @property
    def tables(self) -> dict[str | None, str]:
        found = json.loads((self.folder / "tables.json").read_bytes())
        return {None if key == "None" else key: table for key, table in found.items()}

    @property
    def events(self) -> list[tuple[str, int, int]]:
        return [tuple(event) for event in json.loads((self.folder / "events.json").read_bytes())]
