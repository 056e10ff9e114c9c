"""The scripts that a newcomer runs first: they choose a Python, keep an environment, and refuse with a sentence."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.shared_traces import ROOT

SCRIPTS = ROOT / "scripts"


def script(name: str) -> ModuleType:
    """A script as a module, without running it."""
    spec = importlib.util.spec_from_file_location(f"script_{name}", SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def venv() -> ModuleType:
    return script("_venv")


@pytest.mark.parametrize("name", ["_venv", "demo", "test"])
def test_an_old_python_reads_far_enough_to_refuse(name: str) -> None:
    ast.parse((SCRIPTS / f"{name}.py").read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("name", sorted(path.stem for path in SCRIPTS.glob("[!_]*.py")))
def test_every_script_explains_itself(name: str) -> None:
    text = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")

    assert f"scripts/{name}.py" in (ast.get_docstring(ast.parse(text)) or "")
    assert "description=__doc__" in text


def test_every_test_is_in_a_step_of_a_full_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    steps = script("test")
    roots = [*steps.ONCE, *(word for word in steps.PRODUCT if not word.startswith("-")), "tests/torch"]
    paths = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]

    assert [path for path in paths if not any(f"{path}/".startswith(f"{root}/") for root in roots)] == []
    assert all((ROOT / root).exists() for root in roots)


def test_help_needs_nothing_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-E", "-s", "-S", str(SCRIPTS / "test.py"), "--help"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "--quick" in done.stdout


def test_its_own_python_is_chosen_before_a_newer_one(venv: ModuleType) -> None:
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = {name: venv.Interpreter(name, (*map(int, name.split(".")), 0)) for name in (own, "3.99")}

    assert venv.choose(found) is found[own]
    assert venv.choose(found, "3.99") is found["3.99"]


def test_the_newest_other_python_is_chosen_where_its_own_is_not_supported(venv: ModuleType) -> None:
    found = {"3.98": venv.Interpreter("old", (3, 98, 0)), "3.99": venv.Interpreter("new", (3, 99, 0))}

    assert venv.choose(found).path == "new"


def test_a_machine_without_a_supported_python_gets_a_sentence(venv: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"^rblnpb needs Python 3\.10 or newer .* no other was found$"):
        venv.choose({})
    with pytest.raises(SystemExit, match=r"^no Python 3\.12 here .*; found: 3\.99$"):
        venv.choose({"3.99": venv.Interpreter("new", (3, 99, 0))}, "3.12")


def test_a_python_that_does_not_start_is_none(venv: ModuleType, tmp_path: Path) -> None:
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\necho 'no such version' >&2\nexit 127\n")
    shim.chmod(0o755)

    assert venv.probe(str(shim)) is None
    assert venv.probe(str(tmp_path / "missing")) is None


def test_only_what_is_installed_decides_whether_an_environment_is_kept(venv: ModuleType) -> None:
    text = """[project]
# a comment
dependencies = [
  "numpy>=2.0",
]

[dependency-groups]
test = ["pytest"]

[tool.ruff]
line-length = 132
"""

    assert venv.requirements(text).splitlines() == [
        "[project]",
        "dependencies = [",
        '  "numpy>=2.0",',
        "]",
        "[dependency-groups]",
        'test = ["pytest"]',
    ]


def test_the_real_requirements_name_every_group(venv: ModuleType) -> None:
    kept = venv.requirements((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert all(word in kept for word in ('"numpy>=', "setuptools>=", "rblnpb.converters.cli:main", "include-group"))
    assert "[tool." not in kept


@pytest.fixture
def installed(venv: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Installation commands that were asked for, none of which is run."""
    commands: list[list[str]] = []

    def note(command: list[str], environment: object) -> None:
        commands.append(command)
        Path(environment.folder).mkdir(exist_ok=True)  # type: ignore[attr-defined]  # the script is loaded, not imported

    monkeypatch.setattr(venv, "_must", note)
    monkeypatch.setattr(venv, "probe", lambda python: venv.Interpreter(python, (3, 11, 0)))
    return commands


def test_an_environment_is_made_once(venv: ModuleType, installed: list[list[str]], tmp_path: Path) -> None:
    python, folder = venv.Interpreter("python3.11", (3, 11, 0)), tmp_path / "venv"
    venv.prepare(python, folder, ["dev"])

    assert [command[1:3] for command in installed] == [["-m", "venv"], ["-m", "pip"], ["-m", "pip"]]
    assert installed[2][-4:] == ["--group", "dev", "--editable", "."]
    installed.clear()
    venv.prepare(python, folder, ["dev"])
    venv.prepare(python, folder, [])
    assert installed == []


def test_a_missing_group_is_added_to_what_is_there(venv: ModuleType, installed: list[list[str]], tmp_path: Path) -> None:
    python, folder = venv.Interpreter("python3.11", (3, 11, 0)), tmp_path / "venv"
    venv.prepare(python, folder, [])
    installed.clear()
    venv.prepare(python, folder, ["test"])

    assert [command[1:3] for command in installed] == [["-m", "pip"], ["-m", "pip"]]
    assert json.loads((folder / venv.STAMP).read_text())["groups"] == ["test"]


def test_another_python_makes_the_environment_anew(venv: ModuleType, installed: list[list[str]], tmp_path: Path) -> None:
    folder = tmp_path / "venv"
    venv.prepare(venv.Interpreter("python3.11", (3, 11, 0)), folder, [])
    installed.clear()
    venv.prepare(venv.Interpreter("python3.11", (3, 11, 9)), folder, [])

    assert installed[0] == ["python3.11", "-m", "venv", "--clear", str(folder)]


def test_a_failed_installation_leaves_no_stamp(venv: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^could not set up venv: `.*false -m venv"):
        venv.prepare(venv.Interpreter("false", (3, 11, 0)), tmp_path / "venv", [])

    assert not (tmp_path / "venv").exists()


def test_the_newest_baseline_is_the_highest_version(tmp_path: Path) -> None:
    release = script("release_schema")
    for name in ("v0.9.binpb", "v0.10.binpb", "draft.binpb"):
        (tmp_path / name).touch()

    assert release.newest(tmp_path) == tmp_path / "v0.10.binpb"
    assert release.newest(tmp_path / "nowhere") is None


def test_a_baseline_is_not_replaced_nor_made_without_an_entry(tmp_path: Path) -> None:
    release = script("release_schema")
    made = tmp_path / "v0.2.binpb"
    made.touch()

    assert release.refusal("schema 0.2", "0.2", made, force=False).startswith("v0.2.binpb exists and is a promise")
    assert release.refusal("schema 0.2", "0.2", made, force=True) == ""
    assert release.refusal("Schema 0.20", "0.2", tmp_path / "v0.3.binpb", force=False).startswith("CHANGELOG.md has no entry")


def test_a_step_that_fails_ends_the_run_unless_told_otherwise() -> None:
    steps = [
        ("good", "raise SystemExit(0)"),
        ("bad", "raise SystemExit(3)"),
        ("later", "raise SystemExit(0)"),
    ]
    program = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
import test, _venv
class Here(_venv.Environment):
    def tool(self, name):
        return sys.executable
here = lambda: Here(_venv.ROOT)
steps = [test.Step(name, here, [["python", "-c", code]]) for name, code in {steps!r}]
print(test.run(steps, keep_going="go" in sys.argv))
"""

    def lines(*arguments: str) -> list[str]:
        done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
        return [" ".join(re.sub(r"\d+\.\d s", "", line).split()) for line in done.stdout.splitlines()]

    begun = ["== [1/3] good", "== [2/3] bad"]
    assert lines() == [*begun, "==", "ok good", "FAILED bad", "not run later", "False"]
    assert lines("go") == [*begun, "== [3/3] later", "==", "ok good", "FAILED bad", "ok later", "False"]


def test_the_demo_runs_to_its_end(tmp_path: Path) -> None:
    # Where the tests run in another environment, the demo would install one; that is not for a test to do.
    if Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
        pytest.skip("these tests do not run in the environment that the demo uses (.venv)")
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "demo.py"), "--output-dir", str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n$ rblnpb ") == 4
    assert json.loads((tmp_path / "merged.json").read_text(encoding="utf-8"))["traceEvents"]
    assert "ui.perfetto.dev" in done.stdout.splitlines()[-1]
