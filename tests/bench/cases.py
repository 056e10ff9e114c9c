"""All rows of the table, in its order."""

from __future__ import annotations

from tests.bench import analysis_cases, command_cases, host_cases, profile_cases, recorder_cases, report_cases, sink_cases
from tests.bench.case import Case

CASES = (
    *profile_cases.CASES,
    *host_cases.CASES,
    *sink_cases.CASES,
    *analysis_cases.CASES,
    *report_cases.CASES,
    *command_cases.CASES,
    *recorder_cases.CASES,
)


def case_named(name: str) -> Case:
    """The case of a name.

    Raises:
        KeyError: There is none.
    """
    return {case.name: case for case in CASES}[name]
