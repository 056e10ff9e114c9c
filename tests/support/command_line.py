"""The command line, run in this process."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from rblnpb.converters.cli import main

__all__ = ["Run", "heed_signals", "runner"]

Run = Callable[..., tuple[int, str, str]]
"""Takes the words of a command line; gives its exit code, and what it wrote to stdout and to stderr."""


def heed_signals() -> None:
    """To be called in a new process: signals end it, as they end what a terminal runs.

    What a shell runs in the background ignores SIGINT, what runs behind nohup SIGHUP, and so do the children of both.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def runner(captured: pytest.CaptureFixture[bytes]) -> Run:
    """Runs command lines whose output a fixture of pytest captures."""

    def run(*argv: str | Path) -> tuple[int, str, str]:
        try:
            code = main([str(word) for word in argv])
        except SystemExit as stop:
            code = int(stop.code or 0)
        found = captured.readouterr()
        return code, found.out.decode(), found.err.decode()

    return run
