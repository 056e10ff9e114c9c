"""Counters of a Chrome trace: sampled values of devices, drawn as curves under the rows of their process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import orjson

from ..json_text import TextTable, inside_json_string, join_rows, microseconds
from ..timeline import Id, Timeline
from ._chrome_ids import id_text

__all__ = ["counter_blocks"]

_BLOCK_ROWS: Final = 8192


def counter_blocks(timeline: Timeline, processes: dict[str, Id], base_time_ns: int) -> Iterator[tuple[int, bytes]]:
    """The samples as events, each with a comma and a newline before it, in blocks of bounded size.

    Args:
        timeline: Its counters.
        processes: Process of each device.
        base_time_ns: Zero of the output; no sample was taken before it.

    Yields:
        How many samples, and their text. A value that JSON cannot hold, such as NaN, is passed over.
    """
    counters = timeline.counters
    curves, curve = np.unique(np.stack((counters.device, counters.name)), axis=1, return_inverse=True)
    curve = curve.reshape(-1)
    prefixes = TextTable(
        [
            b',\n{"ph":"C","pid":%s,"name":"%s","ts":'
            % (id_text(processes[timeline.strings[device]]), inside_json_string(timeline.strings[name]))
            for device, name in curves.T.tolist()
        ]
    )
    rows = np.flatnonzero(np.isfinite(counters.value))
    for first in range(0, len(rows), _BLOCK_ROWS):
        block = rows[first : first + _BLOCK_ROWS]
        values = orjson.dumps(counters.value[block].tolist())[1:-1].split(b",")
        times = microseconds(counters.time_ns[block] - base_time_ns)
        columns = (prefixes.take(curve[block]), times, b',"args":{"value":', TextTable(values).take(np.arange(len(block))), b"}}")
        yield len(block), join_rows(len(block), *columns)
