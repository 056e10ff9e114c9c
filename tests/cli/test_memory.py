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


def test_a_command_keeps_what_it_frees(calls: list[None], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rblnpb.write(tiny(), tmp_path / "device.pb")

    assert main(["show", str(tmp_path / "device.pb")]) == 0
    assert len(calls) == 1


def test_a_script_is_left_alone(calls: list[None], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", str(tmp_path / "missing.py")])

    assert not calls
