"""What is told of a join: how much of the device's work is on no op, by reason."""

from __future__ import annotations

from typing import Any

from rblnpb.converters.merging.quality import join_findings
from rblnpb.converters.timeline import JOIN_RULES, MATCH_RULES
from tests.support.timelines import launches, slices, timeline


def told(*rows: dict[str, Any], reasons: tuple[str, ...] = ()) -> list[tuple[str, int, str, str]]:
    """(code, count, where, message) of the findings about slices of 10 ns each, and launches with these reasons."""
    table = slices(*({"duration": 10, **row, "rule": JOIN_RULES.index(row["rule"])} for row in rows))
    starts = launches(
        *({"reason": MATCH_RULES.index(reason), "host_row": 0 if reason == "innermost-op" else -1} for reason in reasons)
    )
    found = join_findings(timeline(slices=table, launches=starts), None)
    return [(finding.code, finding.count, finding.where, finding.message) for finding in found]


def test_work_that_is_on_ops_is_not_told_of() -> None:
    row = {"rule": "correlation", "launch": 0, "host_row": 0}
    assert told(row, row, reasons=("innermost-op",)) == []


def test_each_reason_for_which_work_has_no_launch_is_counted() -> None:
    rules = ["no-link", "launch-not-recorded", "launch-not-recorded", "no-host-trace"]
    found = [(code, count, where) for code, count, where, _ in told(*({"rule": rule} for rule in rules))]
    assert found == [
        ("unattributed-slices", 1, "no-host-trace"),
        ("unattributed-slices", 1, "no-link"),
        ("unattributed-slices", 2, "launch-not-recorded"),
    ]


def test_work_of_launches_on_no_op_is_counted_with_them() -> None:
    rows = [{"rule": "launch-on-no-op", "launch": 1}] * 3 + [{"rule": "correlation", "launch": 0, "host_row": 0}] * 4
    (finding,) = told(*rows, reasons=("innermost-op", "between-ops", "between-ops"))
    assert finding[:3] == ("unmatched-between-ops", 2, "")
    assert finding[3] == "2 launches are on no op, with 3 slices of work: no op was running on their thread at that time"


def test_work_of_a_launch_on_no_op_that_names_its_op_itself_is_not() -> None:
    (finding, _) = told({"rule": "external-id", "launch": 0, "host_row": 0}, reasons=("between-ops",))
    assert finding[3] == "1 launch is on no op: no op was running on their thread at that time"
