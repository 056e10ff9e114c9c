"""The guard of the tests guards."""

from __future__ import annotations

import socket

import pytest


def test_another_machine_is_out_of_reach() -> None:
    # A datagram socket sends nothing when it connects, so even a broken guard lets nothing out.
    with socket.socket(type=socket.SOCK_DGRAM) as client, pytest.raises(AssertionError, match=r"tried to reach 192\.0\.2\.1"):
        client.connect(("192.0.2.1", 9))


def test_this_machine_is_within_reach() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
