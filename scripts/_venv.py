"""Virtual environments for the scripts: made once, filled by pip, used again while pyproject.toml asks for the same.

This runs under whatever `python3` is, before anything is installed: the standard library only, and a syntax that Python 3.8
reads, so that an older one gets a sentence and not a traceback.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LOWEST, HIGHEST = (3, 10), (3, 14)
BIN = "Scripts" if os.name == "nt" else "bin"
STAMP = "rblnpb-stamp.json"
# What decides the content of an environment, beside its Python.
TABLES = ("build-system", "project", "project.scripts", "project.optional-dependencies", "dependency-groups")


class Interpreter(NamedTuple):
    """A Python that was really started and can make environments."""

    path: str
    version: tuple[int, int, int]

    @property
    def name(self) -> str:
        """Such as `3.11`."""
        return f"{self.version[0]}.{self.version[1]}"


class Environment(NamedTuple):
    """A virtual environment that has the project and the groups that were asked for."""

    folder: Path

    def tool(self, name: str) -> str:
        """Path of a command installed in it."""
        return str(self.folder / BIN / name)

    def variables(self) -> dict[str, str]:
        """This process's variables, with the environment's commands first and nothing that lends it foreign modules."""
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        return {**kept, "VIRTUAL_ENV": str(self.folder), "PATH": str(self.folder / BIN) + os.pathsep + kept.get("PATH", os.defpath)}

    def run(self, command: list[str], more: Mapping[str, str] | None = None) -> int:
        """Run a command of the environment in the repository's root, with more variables; returns its exit code."""
        variables = {**self.variables(), **(more or {})}
        return subprocess.run([self.tool(command[0]), *command[1:]], cwd=ROOT, env=variables, check=False).returncode


def supported(version: tuple[int, int, int]) -> bool:
    """Whether the project was tried on this version of Python."""
    return LOWEST <= version[:2] <= HIGHEST


def probe(python: str) -> Interpreter | None:
    """The interpreter behind `python`, or None when it does not start (a pyenv shim) or has no venv module (a bare Debian)."""
    code = "import ensurepip, sys, venv; print(*sys.version_info[:3])"
    try:
        done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.fullmatch(r"(\d+) (\d+) (\d+)\s*", done.stdout.decode(errors="replace"))
    if done.returncode != 0 or not found:
        return None
    return Interpreter(python, (int(found.group(1)), int(found.group(2)), int(found.group(3))))


def interpreters() -> dict[str, Interpreter]:
    """Every supported Python of this machine by its name; this process's own wins, then PATH, then pyenv's newest."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found: dict[str, Interpreter] = {}
    names = [f"3.{minor}" for minor in range(LOWEST[1], HIGHEST[1] + 1)]
    candidates = [sys.executable, *(shutil.which(f"python{name}") or "" for name in names)]
    for name in names:
        candidates += [str(path / BIN / f"python{name}") for path in sorted(pyenv.glob(f"{name}.*"), key=_patch, reverse=True)]
    for candidate in filter(None, candidates):
        interpreter = probe(candidate)
        if interpreter and supported(interpreter.version):
            found.setdefault(interpreter.name, interpreter)
    return found


def _patch(folder: Path) -> int:
    """The last number of pyenv's folder name `3.12.1`; -1 for a name of another kind."""
    last = folder.name.rpartition(".")[2]
    return int(last) if last.isdigit() else -1


def choose(found: dict[str, Interpreter], wanted: str = "") -> Interpreter:
    """The Python to work with: the one named, else this process's own, else the newest supported one; exits when there is none."""
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if wanted or own in found:
        if (wanted or own) in found:
            return found[wanted or own]
        raise SystemExit(f"no Python {wanted} here that starts and has the venv module; found: {', '.join(found) or 'none'}")
    if not found:
        raise SystemExit(
            f"rblnpb needs Python {LOWEST[0]}.{LOWEST[1]} or newer with the venv module (Debian: python3-venv); python3 is "
            f"{own}, and no other was found"
        )
    return max(found.values(), key=lambda interpreter: interpreter.version)


def requirements(pyproject: str) -> str:
    """The lines of pyproject.toml that decide what is installed.

    Cut out by table headings, since Python 3.10 cannot read TOML; comments and settings of tools do not count.
    """
    kept, inside = [], False
    for line in pyproject.splitlines():
        heading = re.match(r"\[+([^\[\]]+)\]+\s*$", line)
        inside = heading.group(1).strip() in TABLES if heading else inside
        if inside and line.strip() and not line.lstrip().startswith("#"):
            kept.append(line)
    return "\n".join(kept)


def prepare(interpreter: Interpreter, folder: Path, groups: list[str]) -> Environment:
    """An environment in `folder` with the project (editable) and `groups` of pyproject.toml; says so when it must install."""
    wanted = requirements((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    inputs = hashlib.sha256(f"{interpreter.version}\n{folder}\n{wanted}".encode()).hexdigest()
    environment = Environment(folder)
    present = _groups_installed(environment, inputs)
    if present is not None and set(groups) <= set(present):
        return environment
    print(f"== setting up {folder.name} with Python {interpreter.name}: {', '.join(['run time', *groups])}", flush=True)
    if present is None:
        _must([interpreter.path, "-m", "venv", "--clear", str(folder)], environment)
    pip = [environment.tool("python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    # --group came with pip 25.1; the pip that a new environment starts with may be older.
    _must([*pip, "--upgrade", "pip>=25.1"], environment)
    _must([*pip, *(word for group in groups for word in ("--group", group)), "--editable", "."], environment)
    stamp = {"inputs": inputs, "groups": sorted({*(present or []), *groups})}
    (folder / STAMP).write_text(json.dumps(stamp), encoding="utf-8")
    return environment


def _groups_installed(environment: Environment, inputs: str) -> list[str] | None:
    """The groups that a complete installation from the same `inputs` left; None when the environment must be made anew."""
    try:
        stamp = json.loads((environment.folder / STAMP).read_text(encoding="utf-8"))
        groups = [str(group) for group in stamp["groups"]] if stamp["inputs"] == inputs else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return groups if probe(environment.tool("python")) else None


def _must(command: list[str], environment: Environment) -> None:
    """Run an installation step; exits with a sentence when it fails."""
    if subprocess.run(command, cwd=ROOT, env=environment.variables(), stdin=subprocess.DEVNULL, check=False).returncode != 0:
        raise SystemExit(f"could not set up {environment.folder.name}: `{' '.join(command)}` failed")
