"""What commands are tried on when a test says nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import rblnpb
from tests.support.command_line import Run, runner
from tests.support.small_run import small_profile, small_trace


@pytest.fixture
def rblnpb_(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a folder with the small run's profile `a.pb` and trace `t.json`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "150")
    rblnpb.write(small_profile(), "a.pb")
    Path("t.json").write_bytes(b"".join(small_trace().document.blocks()))
    return runner(capfdbinary)
