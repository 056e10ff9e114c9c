"""Slices of a Chrome trace, written a column at a time, are those that are written one by one."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.columns import ABSENT
from rblnpb.converters.sinks import chrome_trace
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.converters.timeline import AlignedSlices, DeferredSlices, SliceNames, Timeline
from rblnpb.naming import NameStyle
from tests.support.timelines import launches, microseconds, timeline

TEXTS = ("", "mm", 'say "µ"\n', "a name of so many words that no other is as long, 大 wide as it is")
ARGUMENTS = ("cycles", "bytes")
LAUNCHES = ({"launch_id": 0}, {"launch_id": 7}, {"launch_id": 2**62})

Row = dict[str, int]

numbers = st.integers(0, 12) | st.integers(0, 2**31 - 1)
large_numbers = numbers | st.integers(-(2**63) + 1, 2**63 - 1) | st.just(ABSENT)
rows = st.fixed_dictionaries(
    {
        "start_ns": st.integers(0, 12) | st.integers(0, 10**9 - 1),
        "duration_ns": st.integers(0, 3) | st.integers(0, 2**50),
        "track": st.integers(0, 0),
        "stage": st.integers(0, 3),
        "command": numbers,
        "instance": numbers,
        "sequence": st.just(-1) | numbers | st.integers(0, 2**62),
        "workload": st.just(-1) | numbers,
        "override": st.just(0) | st.integers(0, 3),
        "launch": st.integers(-1, 2),
        "cycles": large_numbers,
        "bytes": large_numbers,
    }
)


def slices(style: NameStyle, drawn: list[Row]) -> AlignedSlices:
    def column(name: str, kind: type[np.generic] = np.int64) -> Any:
        return np.array([row[name] for row in drawn], kind)

    parts = {name: column(name, np.int32) for name in ("stage", "command", "instance", "override")}
    none = np.full(len(drawn), -1)
    return AlignedSlices(
        column("start_ns"),
        column("duration_ns"),
        column("track", np.int32),
        SliceNames(style, TEXTS, sequence=column("sequence"), workload=column("workload"), **parts),
        column("launch"),
        none,
        np.zeros(len(drawn), np.int32),
        none,
        np.stack([column(name) for name in ARGUMENTS], axis=1),
    )


def slow_event(style: NameStyle, row: Row, tid: int) -> str:
    call = [(style is NameStyle.MULTI_STREAM, f"i{row['instance']}_")]
    call += [(style is not NameStyle.PLAIN and row["sequence"] >= 0, f"{row['sequence']}_")]
    call += [(style in (NameStyle.MULTI_STREAM, NameStyle.SINGLE_STREAM) and row["workload"] >= 0, f"W{row['workload']}_")]
    name = "".join(text for is_told, text in call if is_told) + f"{TEXTS[row['stage']]}_{row['command']}"
    args: dict[str, object] = {"stage": TEXTS[row["stage"]]} if row["stage"] else {}
    if row["launch"] > 0:
        args["launch_id"] = told(LAUNCHES[row["launch"]]["launch_id"])
    args |= {key: told(row[key]) for key in ARGUMENTS if row[key] != ABSENT}
    written = json.dumps(
        {"ph": "X", "cat": "kernel", "pid": 1, "tid": tid, "name": TEXTS[row["override"]] or name, "ts": 1, "dur": 2, "args": args},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    times = [microseconds(row[key]) for key in ("start_ns", "duration_ns")]
    return written.replace('"ts":1,"dur":2', f'"ts":{times[0]},"dur":{times[1]}')


def told(number: int) -> int | str:
    return number if abs(number) <= 2**53 else str(number)


def deferred(table: AlignedSlices) -> DeferredSlices:
    def read(rows: Any) -> tuple[SliceNames, Any]:
        return table.names.take(rows), table.arguments[rows]

    places = (table.start_ns, table.duration_ns, table.track, table.launch, table.rule)
    return DeferredSlices(*places, np.full(len(LAUNCHES), -1), read, table.strings, table.text_rows())


def written(source: Timeline) -> bytes:
    file = io.BytesIO()
    write_chrome_trace(source, file)
    return file.getvalue()


@settings(max_examples=50)
@given(st.sampled_from(NameStyle), st.lists(rows, min_size=1, max_size=12), st.integers(1, 5))
def test_slices_are_those_written_one_by_one(style: NameStyle, drawn: list[Row], block_rows: int) -> None:
    source = timeline(slices=slices(style, drawn), launches=launches(*LAUNCHES), argument_names=ARGUMENTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chrome_trace, "BLOCK_ROWS", block_rows)
        text = written(source)
        of_deferred = written(replace(source, slices=deferred(source.slices)))
    lines = text.decode().split("\n")
    events = [line.removesuffix(",") for line in lines if line.startswith('{"ph":"X"')]
    tids = [json.loads(event)["tid"] for event in events]

    assert events == [slow_event(style, row, tid) for row, tid in zip(drawn, tids, strict=True)]
    assert of_deferred == text
