"""The repository as text: where it is, which files are ours, and a command in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python_files(*folders: str) -> Iterator[Path]:
    """Every Python file that people wrote in these folders; generated code and what the link shows twice are left out."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith(("rblnpb/v1/", "rblnpb/converters/")):
                yield path


def place(path: Path) -> str:
    """The path from the repository's root, with slashes, for a message."""
    return path.relative_to(ROOT).as_posix()


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A command in a fresh process, its streams as text; the commands of this environment come first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False, timeout=240
    )
