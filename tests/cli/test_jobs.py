"""`--jobs` of every command that reads host traces."""

from __future__ import annotations

import pytest

from rblnpb.converters.sources import kineto
from rblnpb.converters.sources._document import InputDocument
from tests.support.command_line import Run

COMMANDS = [
    "convert t.json -o o.json",
    "summary t.json",
    "idle a.pb --host t.json",
    "latency a.pb --host t.json",
    "stacks a.pb --host t.json",
    "advise a.pb --host t.json",
    "status a.pb --host t.json",
    "redact t.json -o o.json",
    "check t.json",
    "repair t.json -o o.json",
    "show t.json",
    "simulate --from-host t.json -o o.pb",
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """How many processes every host trace may be read by, as they are read."""
    found: list[int | None] = []

    def ask(document: InputDocument, jobs: int | None) -> int:
        found.append(jobs)
        return 1

    monkeypatch.setattr(kineto, "worthwhile_jobs", ask)
    return found


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
def test_a_host_trace_is_read_by_as_many_processes_as_are_allowed(rblnpb_: Run, asked: list[int | None], command: str) -> None:
    assert rblnpb_(*command.split(), "--jobs", "3")[0] in (0, 1)
    assert asked == [3]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
def test_no_process_is_no_number_of_them(rblnpb_: Run, asked: list[int | None], command: str) -> None:
    code, _, err = rblnpb_(*command.split(), "--jobs", "0")

    assert (code, asked) == (2, [])
    assert "argument --jobs: 0 is not a positive number" in err


def test_where_nothing_is_said_it_is_as_many_as_are_worth_it(rblnpb_: Run, asked: list[int | None]) -> None:
    assert rblnpb_("show", "t.json")[0] == 0
    assert asked == [None]
