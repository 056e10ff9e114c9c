"""Parts become one table that is held once."""

from __future__ import annotations

import numpy as np

from rblnpb.columns import Launches, TextArray, TraceEvents
from rblnpb.table_builder import TableBuilder


def test_a_table_that_was_built_is_held_once() -> None:
    builder = TableBuilder(Launches, 2)
    builder.append(Launches.of(start_ns=[1, 2]))

    assert np.shares_memory(builder.table().columns()["start_ns"], builder._arrays["start_ns"])


def test_a_builder_fills_arrays_of_the_final_size() -> None:
    builder = TableBuilder(TraceEvents, 5)
    for n in (3, 1):
        builder.append(TraceEvents.of(start_ns=np.arange(n), arguments=TextArray.of([b"x"] * n)))

    table = builder.table()

    assert isinstance(table, TraceEvents)
    assert table.start_ns.tolist() == [0, 1, 2, 0]
    assert table.arguments.text.tobytes() == b"xxxx"
