"""House rules that a reader of the text can hold."""

from __future__ import annotations

import ast
import re

import pytest

from rblnpb.converters.cli import build_parser
from tests.arch.tree import ROOT, place, python_files

MODULE_LINES, FUNCTION_LINES = 400, 40
# Module or module::function -> how long it may be, with the reason beside it.
LONGER: dict[str, int] = {
    "converters/timeline.py": 450,  # the merged model: columns of every table with their units, little code
}


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        place(path)
        for path in python_files("rblnpb", "converters", "scripts", "tests")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert silent == []


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    lengths = {
        place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python_files("rblnpb", "converters", "scripts")
    }

    assert {name: lines for name, lines in lengths.items() if lines > LONGER.get(name, MODULE_LINES)} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    too_long = {}
    for path in python_files("rblnpb", "converters", "scripts"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                # What a docstring explains does not make the code longer.
                first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
                lines = (node.end_lineno or 0) - first.lineno + 1
                name = f"{place(path)}::{node.name}"
                if lines > LONGER.get(name, FUNCTION_LINES):
                    too_long[name] = lines

    assert too_long == {}


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"base", "common", "helper", "helpers", "misc", "util", "utils"}

    assert [
        place(path) for path in python_files("rblnpb", "converters", "scripts", "tests") if path.stem.strip("_") in drawers
    ] == []


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    machine = re.compile(r"(?<![\w.~])/(?:home|root|work|tmp|Users)/\w")
    texts = [path for folder in (".ci", "proto") for path in (ROOT / folder).rglob("*") if path.is_file()]
    texts += [
        *python_files("rblnpb", "converters", "scripts", "tests"),
        *ROOT.glob("*.md"),
        *ROOT.glob("*.toml"),
        *ROOT.glob("*.yaml"),
    ]
    found = [
        f"{place(path)}:{number}"
        for path in texts
        if path.suffix != ".binpb"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if machine.search(line)
    ]

    assert found == []


def dependencies() -> list[str]:
    """Names of the run-time dependencies; read as text, since Python 3.10 has no TOML reader."""
    listed = re.search(
        r"^dependencies = \[\n(.*?)^\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert listed is not None
    return re.findall(r'^\s*"([A-Za-z0-9._-]+)', listed.group(1), re.MULTILINE)


@pytest.mark.parametrize("name", dependencies())
def test_every_dependency_has_its_reason_in_the_readme(name: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert re.search(rf"^\| *`?{re.escape(name)}`? *\| *\S+ \S+", readme, re.MULTILINE), f"README.md has no table row for {name}"


def test_ci_runs_the_command_of_the_readme_and_no_other() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if "python" in line] == ["exec python3 scripts/test.py"]
    for command in ("python3 scripts/demo.py", "python3 scripts/test.py"):
        assert command in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_and_the_help_answer_the_same_questions() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| ([A-Z][^|]*\?) \| `([^`]*)` \|$", readme, re.MULTILINE)
    help_text = build_parser().format_help()
    asked = re.findall(r"^  ([a-z][^?\n]*\?) {2,}(\S.*)$", help_text, re.MULTILINE)

    assert len(table) > 10
    assert [(question.lower(), command) for question, command in table] == [
        (question.lower(), command) for question, command in asked
    ]
