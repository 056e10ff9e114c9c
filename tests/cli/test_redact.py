"""rblnpb redact: keys, formats, and what it says."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

import rblnpb
from tests.support.command_line import Run, runner
from tests.support.redaction import SECRET, secret_trace, texts_of
from tests.support.small_run import small_profile


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("t.json").write_bytes(secret_trace())
    Path("key.txt").write_bytes(b"key\n")
    rblnpb.write(small_profile(), "a.pb")
    return runner(capfdbinary)


def test_a_trace_is_written_and_what_was_replaced_told(run: Run) -> None:
    code, out, err = run("redact", "t.json", "-o", "r.json.gz")
    assert (code, out) == (0, "")
    assert SECRET.encode() not in texts_of(Path("r.json.gz").read_bytes())
    assert SECRET not in err
    assert re.fullmatch(r"wrote r\.json\.gz: replaced \d+ different texts \([a-z]+ \d+(?:, [a-z]+ \d+)+\)", err.splitlines()[-1])


def test_standard_output_has_the_trace_alone(run: Run) -> None:
    code, out, err = run("redact", "t.json", "-o", "-")
    assert code == 0
    assert json.loads(out)["schemaVersion"] == 1
    assert err.splitlines()[-1].startswith("replaced ")


def test_a_profile_stays_one_and_both_become_one(run: Run) -> None:
    for inputs in (["a.pb"], ["a.pb", "t.json"]):
        assert run("redact", *inputs, "-o", "r.pb", "--force")[0] == 0
        profile = rblnpb.read("r.pb")
        assert len(profile.device_slices) == len(small_profile().device_slices)
        assert bool(len(profile.trace_events)) == (len(inputs) > 1)


def test_a_key_gives_the_same_file_again_wherever_it_comes_from_and_none_another(run: Run) -> None:
    found = []
    for number, key in enumerate((["--key", "key"], ["--key-file", "key.txt"], [], [])):
        assert run("redact", "t.json", "-o", f"{number}.json", *key)[0] == 0
        found.append(Path(f"{number}.json").read_bytes())
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_names_can_be_kept_shapes_dropped_and_times_moved(run: Run) -> None:
    assert (
        run(
            "redact", "t.json", "-o", "r.json", "--keep", "annotations", "--keep", "op-names", "--drop", "shapes", "--rebase-times"
        )[0]
        == 0
    )
    document = json.loads(Path("r.json").read_bytes())
    names = [event.get("name") for event in document["traceEvents"]]
    assert f"acme_{SECRET}::op" in names
    assert f"ProfilerStep#{SECRET}" in names
    assert b"Input Dims" not in Path("r.json").read_bytes()
    assert document["baseTimeNanoseconds"] < 1_790_000_000_000_000_000


def test_a_file_without_a_name_to_replace_says_so(run: Run) -> None:
    Path("plain.json").write_bytes(b'[{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":1,"pid":1,"tid":1}]')
    assert run("redact", "plain.json", "-o", "r.json") == (0, "", "wrote r.json: there was no text to replace\n")


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("t.json", 2, "the following arguments are required: -o"),
        (
            "t.json -o r.txt",
            2,
            "the format of r.txt is not told by its suffix: end it in .json, .json.gz, .pftrace, .perfetto-trace, .pb",
        ),
        ("t.json -o r.json --key", 2, "argument --key: expected one argument"),
        ("t.json -o r.json --key k --key-file key.txt", 2, "not allowed with argument --key"),
        ("t.json -o r.json --key-file none.txt", 3, "cannot read none.txt: no such file or directory"),
        ("t.json -o r.json --key-file empty.txt", 2, "the key is empty"),
        ("t.json -o r.json --keep names", 2, "argument --keep: invalid choice: 'names'"),
        ("t.json -o t.json", 4, "t.json exists already; overwrite it with --force"),
        ("none.json -o r.json", 3, "cannot read none.json: there is no such file"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_a_code(run: Run, line: str, code: int, text: str) -> None:
    Path("empty.txt").write_bytes(b"\n")
    found, out, err = run("redact", *line.split())
    assert (found, out, text in err, err.count("\n")) == (code, "", True, 1)
    assert not Path("r.json").exists()


def test_the_choices_are_those_of_the_library() -> None:
    from rblnpb.converters.cli import redact
    from rblnpb.converters.pipeline.redaction import KEPT_NAMES

    assert redact._KEPT == KEPT_NAMES


def test_a_pipe_can_be_redacted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        buffer = io.BytesIO(secret_trace())

    monkeypatch.setattr("sys.stdin", Stream)
    assert run("redact", "-", "-o", "r.pb")[0] == 0
    assert SECRET.encode() not in texts_of(Path("r.pb").read_bytes())
