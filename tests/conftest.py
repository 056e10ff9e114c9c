"""What every test runs under: no network, the same random examples in CI, and the options of our own."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support.shared_traces import host_trace_paths, shared_file

# A deadline would make a busy machine a failure. In CI a new example must not fail a change that did not cause it.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("house")

HERE_ONLY = ("127.0.0.1", "::1", "localhost")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the expected files anew; read the difference")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether a golden test writes its expected file instead of comparing with it; never in CI."""
    return bool(request.config.getoption("--update-golden")) and not os.environ.get("CI")


@pytest.fixture
def shared_host_traces() -> dict[str, Path]:
    """Folder name -> trace of ../shared/traces/host; skips when ../shared is not here."""
    shared_file("traces", "host")
    return host_trace_paths()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that would reach another machine fails at the connect."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in HERE_ONLY:
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
