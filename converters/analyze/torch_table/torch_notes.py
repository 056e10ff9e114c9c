"""Where torch's own table may say something else than ours, because a trace does not hold all that torch knows.

Nothing here is an error in the trace. Each note names what it saw; without that, the tables are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity

from ...timeline import HostTrace
from .torch_rows import kind_table, timed_rows

__all__ = ["notes"]

_NOTES: Final[tuple[tuple[Severity, str, Callable[[str], bool], str], ...]] = (
    (
        Severity.WARNING,
        "async-rows-unknown",
        lambda name: name == "<forked function>",
        "{count} TorchScript forks: a trace does not tell which rows ended on another thread; torch, which knows, gives those less",
    ),
    (
        Severity.INFO,
        "accumulated-cycles-unknown",
        lambda name: name.startswith("ProfilerStep#"),
        "a schedule was used: if acc_events was on, this is the last cycle of {count} steps, and torch's own table has all cycles",
    ),
    (
        Severity.WARNING,
        "name-lost",
        lambda name: name == "unknown",
        "{count} rows are named `unknown`, which torch's exporter writes for a name outside of ASCII; its own table has the name",
    ),
    (
        Severity.INFO,
        "name-mangled",
        lambda name: name.startswith("_Z"),
        "{count} rows have mangled C++ names, which torch's own table shows demangled",
    ),
)


def notes(host: HostTrace) -> tuple[Finding, ...]:
    """Which differences between torch's table and ours this trace gives reason to expect.

    Args:
        host: The trace.

    Returns:
        At most one finding of each sort, with how many rows gave reason to it.
    """
    name = host.events.name[timed_rows(host, kind_table(host))]
    rows = np.bincount(name, minlength=len(host.strings))
    found = []
    for severity, code, applies, message in _NOTES:
        count = sum(int(rows[row]) for row in np.flatnonzero(rows).tolist() if applies(host.strings[row]))
        if count:
            found.append(Finding(severity, code, message.format(count=count), count))
    return tuple(found)
