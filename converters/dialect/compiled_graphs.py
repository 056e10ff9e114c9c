"""Ranges that say which compiled graph ran in them: those of torch's compiler, and those of a dispatcher that goes around it."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ..timeline import HostTrace, Int64
from .host_rows import slice_rows

__all__ = ["compile_id_rows"]

_REGION: Final = re.compile(r"(?:Torch-Compiled|Dispatched) Region(?::\s*(\S+))?")


def compile_id_rows(host: HostTrace) -> tuple[Int64, Int64, tuple[str, ...]]:
    """The ranges of compiled graphs that name their graph.

    Until 2.6 torch wrote the graph not into the name of the range but beside it, as its "context".

    Returns:
        int64[n], rows of `host.events`, ascending; int64[n], which graph each names; and the graphs, such as "0/0".
    """
    events, rows = host.events, slice_rows(host)
    in_name = {row: match[1] or "" for row, text in host.used(events.name[rows]) if (match := _REGION.match(text))}
    nothing = np.empty(0, np.int64)
    if not in_name:
        return nothing, nothing, ()
    is_region = np.zeros(len(host.strings), np.bool_)
    is_region[list(in_name)] = True
    rows = rows[is_region[events.name[rows]]]
    pairs, of_row = np.unique(events.name[rows].astype(np.int64) * len(host.strings) + events.context[rows], return_inverse=True)
    ids: dict[str, int] = {"": 0}
    of_pair = [
        ids.setdefault(in_name[name] or _in_context(host.strings[context]), len(ids))
        for name, context in (divmod(pair, len(host.strings)) for pair in pairs.tolist())
    ]
    graph = np.array(of_pair, np.int64)[of_row] if len(rows) else nothing
    return rows[graph > 0], graph[graph > 0] - 1, tuple(ids)[1:]


def _in_context(text: str) -> str:
    """The graph that a context names, which may repeat what the range is called; "" = none.

    >>> _in_context('"0/0"'), _in_context('"Torch-Compiled Region: 1/0"'), _in_context("")
    ('0/0', '1/0', '')
    """
    text = text.strip('"')
    again = _REGION.match(text)
    return (again[1] or "") if again else text.partition(" ")[0]
