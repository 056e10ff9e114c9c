"""rblnpb stacks: what goes to which stream, which code comes back, and what is in the files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.command_line import Run
from tests.support.shared_traces import needs_shared, shared_file
from tests.support.speedscope_format import faults


def weights(text: str) -> dict[str, int]:
    """What each stack of folded lines weighs."""
    return {stack: int(weight) for stack, _, weight in (line.rpartition(" ") for line in text.splitlines())}


FOLDED = """\
(unattributed: launch-on-no-op) 1100
(unattributed: no-link) 1000
main;step;aten::mm 10000
main;step;aten::mm;aten::mm 2500
worker;aten::mul 5900
"""


def test_folded_stacks_go_to_stdout_and_their_coverage_to_stderr(rblnpb_: Run) -> None:
    code, out, err = rblnpb_("stacks", "a.pb", "--host", "t.json")
    assert (code, out) == (0, FOLDED)
    assert err.splitlines()[:5] == [
        "  Device time: 20.500 µs in 6 slices of work, 20.500 µs where overlaps count once",
        "  On an op: 18.400 µs (89.8 %), unattributed: 2.100 µs (10.2 %) (launch-id 4, no-link 1, launch-on-no-op 1)",
        "  In a module: 0 ns (0.0 %)",
        "  In a Python frame: 0 ns (0.0 %)",
        "  Launches in an op: 3 of 5",
    ]
    assert "[no-python-frames]" in err


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("a.folded", b"(unattributed: launch-on-no-op) 1100\n"),
        ("a.speedscope.json", b'{"$schema":"https://www.speedscope.app/file-format-schema.json",'),
        ("a.json", b'{\n  "schema": "rblnpb.stacks/1",\n  "by": "op",\n'),
        ("a.csv", b"name,kind,calls,"),
    ],
)
def test_the_suffix_says_the_format(rblnpb_: Run, name: str, begin: bytes) -> None:
    code, out, _ = rblnpb_("stacks", "a.pb", "--host", "t.json", "-o", name)
    assert (code, out, Path(name).read_bytes()[: len(begin)]) == (0, "", begin)


def test_a_suffix_that_says_nothing_is_refused_unless_the_format_is_given(rblnpb_: Run) -> None:
    assert rblnpb_("stacks", "a.pb", "-o", "a.svg")[::2] == (
        2,
        "rblnpb: the format of a.svg is not told by its suffix (.speedscope.json, .folded, .json, .csv): give it with --format\n",
    )
    assert rblnpb_("stacks", "a.pb", "--format", "folded", "-o", "a.txt")[0] == 0


def test_speedscope_takes_what_is_written(rblnpb_: Run) -> None:
    _, out, _ = rblnpb_("stacks", "a.pb", "--host", "t.json", "--format", "speedscope", "--stages")
    file = json.loads(out)
    assert (faults(file), file["profiles"][0]["endValue"]) == ([], 20_500)


def test_the_table_has_rows_and_coverage(rblnpb_: Run) -> None:
    code, out, _ = rblnpb_("stacks", "a.pb", "--host", "t.json", "--format", "text", "--row-limit", "2")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert (code, lines[:2]) == (0, ["Device time by op", "a.pb + t.json"])
    assert lines[5:7] == [
        "aten::mm 3 2 12.500 µs 12.500 µs 61.0 % 12.500 µs 12.500 µs 14.000 µs 18.000 µs",
        "aten::mul 1 1 5.900 µs 5.900 µs 28.8 % 5.900 µs 5.900 µs 5.000 µs 5.000 µs",
    ]
    assert "9 of 11 rows are not shown" in lines


def test_rows_are_sorted_as_asked(rblnpb_: Run) -> None:
    _, out, _ = rblnpb_("stacks", "a.pb", "--host", "t.json", "--format", "csv", "--sort-by", "host_total")
    assert [row["name"] for row in csv.DictReader(io.StringIO(out))][:3] == ["aten::mm", "aten::add", "aten::to"]


def test_without_a_device_stacks_weigh_the_hosts_time(rblnpb_: Run) -> None:
    code, out, _ = rblnpb_("stacks", "t.json", "--by", "op")
    assert (code, weights(out)["main;aten::mm;aten::mm"], weights(out)["worker;aten::mul"]) == (0, 4_000, 5_000)


def test_without_a_host_trace_everything_is_unattributed(rblnpb_: Run) -> None:
    assert rblnpb_("stacks", "a.pb")[1] == "(unattributed: no-host-trace) 19500\n(unattributed: no-link) 1000\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--format", "text", "--weight", "host-self"), "--weight and --stages are of stacks"),
        (("--format", "csv", "--stages"), "--weight and --stages are of stacks"),
        (("--row-limit", "3"), "--sort-by and --row-limit are of the table"),
        (("--format", "json", "--sort-by", "name"), "'name' is no column to sort by"),
        (("--weight", "host-self", "--stages"), "stages are of the device"),
    ],
)
def test_what_does_not_go_together_is_refused(rblnpb_: Run, words: tuple[str, ...], reason: str) -> None:
    code, out, err = rblnpb_("stacks", "a.pb", "--host", "t.json", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert reason in err


def test_nothing_is_overwritten_unasked(rblnpb_: Run) -> None:
    Path("a.folded").write_text("mine", encoding="utf-8")
    code, _, err = rblnpb_("stacks", "a.pb", "-o", "a.folded")
    assert (code, Path("a.folded").read_text(encoding="utf-8")) == (4, "mine")
    assert "exists already" in err
    assert rblnpb_("stacks", "a.pb", "-o", "a.folded", "--force")[0] == 0


@needs_shared
def test_python_and_modules_of_a_real_step(rblnpb_: Run) -> None:
    trace = shared_file("traces", "host", "transformer_train_full", "trace.json.gz")
    assert rblnpb_("simulate", "--from-host", trace, "-o", "b.pb")[0] == 0
    sums = {}
    for by in ("op", "module", "python", "all"):
        code, out, err = rblnpb_("stacks", "b.pb", "--host", trace, "--by", by)
        sums[by] = (code, sum(weights(out).values()), "In a Python frame: 7.1" in err and "(100.0 %)" in err)
    assert set(sums.values()) == {(0, 7_171_496, True)}
