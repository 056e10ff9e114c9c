"""`rblnpb check` on files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.checked_traces import document, x
from tests.support.command_line import Run

BROKEN = document([x("a", 0, 10), x("b", 5, 10), x("c", 20, 1), x("c", 20, 1)], baseTimeNanoseconds=10**18)


@pytest.fixture(autouse=True)
def _broken(rblnpb_: Run) -> None:
    Path("broken.json").write_bytes(BROKEN)


def test_the_verdict_comes_first_and_each_severity_has_a_block(rblnpb_: Run) -> None:
    code, out, err = rblnpb_("check", "broken.json")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "broken.json: error (1 error, 1 warning)"
    assert [line.split(":")[0] for line in lines if line[:1].isupper()] == ["Errors", "Warnings"]
    assert f'      events[3] "c", +20.000 µs, byte {BROKEN.rindex(b"{"):,}' in lines


@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("warning", 1)])
def test_an_error_is_a_code(rblnpb_: Run, fail_on: str, code: int) -> None:
    assert rblnpb_("check", "broken.json", "--fail-on", fail_on)[0] == code
    assert rblnpb_("check", "a.pb", "--fail-on", fail_on)[0] == (fail_on == "warning")


def test_several_files_are_each_by_themselves(rblnpb_: Run) -> None:
    code, out, _ = rblnpb_("check", "t.json", "broken.json", "--format", "json")
    value = json.loads(out)
    assert (code, value["schema"], value["verdict"]) == (1, "rblnpb.check/1", "error")
    assert [one["file"] for one in value["files"]] == ["t.json", "broken.json"]


def test_one_of_several_that_cannot_be_read_is_named_and_the_others_are_checked(rblnpb_: Run) -> None:
    code, out, err = rblnpb_("check", "missing", "t.json", "broken.json", "--format", "json")
    files = json.loads(out)["files"]
    assert (code, err) == (3, "")
    assert [(one["file"], one["verdict"]) for one in files] == [("missing", "error"), ("t.json", "ok"), ("broken.json", "error")]
    (found,) = files[0]["findings"]
    assert (found["code"], found["message"].partition(";")[0]) == ("unreadable", "there is no such file")


def test_a_table_has_a_row_for_each_finding(rblnpb_: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(rblnpb_("check", "broken.json", "--format", "csv")[1])))
    assert [(row["code"], row["row"]) for row in rows] == [("duplicate-events", "3"), ("crossing-slices", "1")]


def test_standard_input_can_be_read_once(rblnpb_: Run) -> None:
    assert rblnpb_("check", "-", "-") == (2, "", "rblnpb: standard input (-) can be read once: name the other file\n")


@pytest.mark.parametrize("command", ["check", "show", "status"])
def test_a_wrong_word_points_to_the_help_of_the_command(rblnpb_: Run, command: str) -> None:
    code, out, err = rblnpb_(command, "a.pb", "--wrong")
    assert (code, out, err) == (2, "", f"rblnpb {command}: unrecognized arguments: --wrong; see rblnpb {command} --help\n")
