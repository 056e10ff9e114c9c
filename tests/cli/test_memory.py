"""Commands keep the memory that they free; the one that lends its process to a script leaves it alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import rblnpb
from rblnpb.converters.cli import main
from tests.support.profiles import tiny


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    found: list[None] = []
    monkeypatch.setattr("rblnpb.process_memory.keep_freed_memory", lambda: found.append(None))
    return found


@pytest.fixture
def device(tmp_path: Path) -> str:
    rblnpb.write(tiny(), tmp_path / "device.pb")
    return str(tmp_path / "device.pb")


def test_a_command_keeps_what_it_frees(
    calls: list[None], device: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["rblnpb", "show", device])

    assert main() == 0
    assert len(calls) == 1


def test_a_process_that_calls_a_command_is_left_alone(calls: list[None], device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", device]) == 0
    assert not calls


def test_a_script_is_left_alone(
    calls: list[None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["rblnpb", "run", str(tmp_path / "missing.py")])
    main()

    assert not calls
