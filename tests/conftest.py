"""What every test runs under: no network, the same random examples in CI, and the options of our own."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest
from hypothesis import settings

# A deadline would make a busy machine a failure. In CI a new example must not fail a change that did not cause it.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("house")

HERE_ONLY = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that would reach another machine fails at the connect."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in HERE_ONLY:
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
