"""rblnpb repair: what it writes, says and refuses."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.support.broken_traces import document, event
from tests.support.command_line import Run, runner


@pytest.fixture
def rblnpb_(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capfdbinary)


def test_a_broken_trace_becomes_one_that_is_read_strictly(rblnpb_: Run) -> None:
    events = [event(number) for number in range(3)]
    Path("t.json").write_bytes(document([events[0], events[1].replace(b'"e1"', b'"a "b""'), events[2]]))

    code, _, told = rblnpb_("repair", "t.json", "-o", "clean.json.gz")

    assert code == 0
    assert "1 event lost" in told
    assert "wrote clean.json.gz: 2 records" in told
    text = gzip.decompress(Path("clean.json.gz").read_bytes())
    assert events[0] in text
    assert events[2] in text
    assert rblnpb_("summary", "clean.json.gz", "--strict")[0] == 0


def test_a_trace_that_is_whole_is_written_as_it_is(rblnpb_: Run) -> None:
    Path("t.json").write_bytes(document([event(0)]))

    code, _, told = rblnpb_("repair", "t.json", "-o", "clean.json")

    assert (code, told) == (0, "wrote clean.json: 1 record, there was nothing to repair\n")
    assert Path("clean.json").read_bytes() == Path("t.json").read_bytes()


def test_what_is_no_unicode_is_mended_here_and_nowhere_before(rblnpb_: Run) -> None:
    odd = document([event(0).replace(b'"e0"', b'"\xff\\ud800"')])
    Path("t.json").write_bytes(odd)

    code, _, told = rblnpb_("repair", "t.json", "-o", "clean.json")

    assert (code, "2 places with text that is no Unicode" in told) == (0, True)
    assert Path("clean.json").read_bytes() == odd.replace(b"\xff\\ud800", b"\xef\xbf\xbd\\ufffd")
    assert rblnpb_("convert", "t.json", "-o", "t.pb")[0] == rblnpb_("convert", "t.pb", "-o", "back.json")[0] == 0
    assert Path("back.json").read_bytes() == odd


def test_a_profile_that_is_cut_becomes_one_with_an_end(rblnpb_: Run) -> None:
    assert rblnpb_("simulate", "--program", "mm", "-o", "d.pb")[0] == 0
    whole = Path("d.pb").read_bytes()
    Path("cut.pb").write_bytes(whole[:-300])

    code, _, told = rblnpb_("repair", "cut.pb", "-o", "clean.pb")

    assert (code, "[truncated]" in told, "[not-ended]" in told) == (0, True, True)
    assert rblnpb_("summary", "clean.pb", "--by", "program", "--strict")[0] == 0


def test_what_is_neither_is_refused(rblnpb_: Run) -> None:
    Path("t.txt").write_bytes(b"hello, world")
    assert rblnpb_("repair", "t.txt", "-o", "clean.json")[0] == 3


def test_a_name_that_would_lie_about_the_file_is_refused(rblnpb_: Run) -> None:
    Path("t.json").write_bytes(document([event(0)]))
    assert rblnpb_("simulate", "--program", "mm", "-o", "d.pb")[0] == 0

    for name, out, form in (("t.json", "clean.pb", "a trace in JSON"), ("d.pb", "clean.json", "a profile")):
        code, _, told = rblnpb_("repair", name, "-o", out)
        assert (code, f"{name} is {form} and stays one: end the output in" in told) == (2, True)
        assert not Path(out).exists()
