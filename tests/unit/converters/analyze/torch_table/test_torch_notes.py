"""When a trace gives reason to expect another table from torch."""

from __future__ import annotations

import pytest

from rblnpb.converters.analyze.torch_table.torch_notes import notes
from rblnpb.errors import Severity
from tests.support.torch_events import Event, host_trace


@pytest.mark.parametrize(
    ("name", "severity", "code"),
    [
        ("<forked function>", Severity.WARNING, "async-rows-unknown"),
        ("ProfilerStep#4", Severity.INFO, "accumulated-cycles-unknown"),
        ("unknown", Severity.WARNING, "name-lost"),
        ("_ZN3foo3barEv", Severity.INFO, "name-mangled"),
    ],
)
def test_each_note_names_what_it_saw_and_how_often(name: str, severity: Severity, code: str) -> None:
    events = [Event("cpu_op", "aten::mm", 0, 9), Event("cpu_op", name, 1, 1), Event("user_annotation", name, 3, 1)]

    (note,) = notes(host_trace(*events))

    assert (note.severity, note.code, note.count) == (severity, code, 2)
    assert "2" in note.message


def test_a_trace_that_tells_all_has_no_note() -> None:
    assert notes(host_trace(Event("cpu_op", "aten::mm", 0, 9), Event("kernel", "unknown", 0, 9))) == ()
