"""What `check` says of Perfetto is what Perfetto does: its own importer is asked."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from rblnpb.converters.analyze.checks.time_checks import seen_by_perfetto
from rblnpb.converters.analyze.checks.viewer_checks import seen_track
from rblnpb.converters.pipeline import check_file
from rblnpb.converters.timeline import HostTrack, Id
from tests.browser.viewers import perfetto_query
from tests.support.checked_traces import document, event, x
from tests.support.shared_traces import needs_shared, shared_file
from tests.support.vendor_traces import Json

pytestmark = pytest.mark.browser

STATS = "select name, value from stats where value != 0"
SHOWN = "select (select count(*) from slice) + (select count(*) from counter) as n"

LEFT_OUT: dict[str, tuple[Json, str]] = {
    "crossing-slices": (x("a", 5, 10, pid=1), "slice_drop_overlapping_complete_event"),
    "negative-time": (x("a", -5, 1, pid=2), "trace_sorter_negative_timestamp_dropped"),
    "no-time": ({"ph": "X", "name": "a", "dur": 1, "pid": 3, "tid": 1}, "json_tokenizer_failure"),
    "no-duration": (event("X", 1, name="a", pid=4), "json_parser_failure"),
    "async-without-id": (event("b", 1, name="a", cat="c", pid=5), "json_parser_failure"),
    "end-without-begin": (event("E", 1, name="a", pid=6), ""),
    "counter-without-value": (event("C", 1, name="a", pid=7, args={}), ""),
    "counter-not-a-number": (event("C", 1, name="a", pid=8, args={"v": "x"}), "json_parser_failure"),
}
"""Code -> an event that Perfetto does not show, and what it counts of it."""


def test_what_is_said_to_be_left_out_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(document([x("whole", 0, 10, pid=1), *(one for one, _ in LEFT_OUT.values())]))
    found = {one.code: one.count for one in check_file(path).findings}
    assert {code: found.get(code) for code in LEFT_OUT} == dict.fromkeys(LEFT_OUT, 1)
    stats, shown = perfetto_query(path, STATS, SHOWN)
    expected = Counter(counter for _, counter in LEFT_OUT.values() if counter)
    assert expected.items() <= {row["name"]: row["value"] for row in stats}.items()
    assert shown == [{"n": 1}]


Step = tuple[str, int, int, bool]
"""Phase, time, thread, and whether it says that it means the slice around it."""

FLOWS: dict[str, tuple[list[Step], str, int]] = {
    "": ([("s", 1, 1, False), ("f", 20, 2, True)], "", 1),
    "flow-without-start": ([("f", 20, 2, True)], "flow_end_without_start", 0),
    "flow-started-twice": ([("s", 1, 1, False), ("s", 2, 1, False), ("f", 20, 2, True)], "flow_duplicate_id", 1),
    "flow-id-reused": ([("s", 1, 1, False), ("f", 2, 1, True), ("s", 3, 1, False), ("f", 20, 2, True)], "flow_duplicate_id", 2),
    "flow-to-next-slice": ([("s", 1, 1, False), ("f", 20, 2, False)], "", 0),
    "flow-outside-slices": ([("s", 1, 3, False), ("f", 20, 2, True)], "flow_no_enclosing_slice", 0),
}
"""Code -> an arrow that it is found of, what Perfetto counts of it, and how many arrows Perfetto draws."""


def test_what_is_said_of_arrows(tmp_path: Path) -> None:
    events = []
    for pid, (steps, _, _) in enumerate(FLOWS.values(), start=1):
        events += [x("a", 0, 10, pid=pid), x("b", 20, 10, pid=pid, tid=2)]
        for phase, ts, tid, is_around in steps:
            bound = {"bp": "e"} if is_around else {}
            events.append(event(phase, ts, name="f", cat="c", id=pid, pid=pid, tid=tid, **bound))
    events.append(event("s", 1, name="f", cat="c", id=None, pid=1))
    path = tmp_path / "t.json"
    path.write_bytes(document(events))
    assert {*FLOWS, "flow-without-id"} - {""} <= {one.code for one in check_file(path).findings}
    stats, flows = perfetto_query(path, STATS, "select count(*) as n from flow")
    counted = {row["name"]: row["value"] for row in stats if row["name"].startswith("flow")}
    # The arrow whose start is in no slice has none for Perfetto.
    assert counted == {**Counter(one for _, one, _ in FLOWS.values() if one), "flow_end_without_start": 2, "flow_invalid_id": 1}
    assert flows == [{"n": sum(drawn for _, _, drawn in FLOWS.values())}]


def test_times_are_rounded_as_is_said() -> None:
    random = Random(7)
    written = sorted({random.randrange(2**50, 2**61) // 10 ** random.randrange(4) for _ in range(400)})
    text = ",".join(
        f'{{"ph":"i","s":"t","name":"{number}","pid":1,"tid":1,"ts":{ns // 1000}' + (f".{ns % 1000:03d}" if ns % 1000 else "") + "}"
        for number, ns in enumerate(written)
    )
    (rows,) = perfetto_query(f'{{"traceEvents":[{text}]}}'.encode(), "select ts, name from slice")
    shown = {int(row["name"]): row["ts"] for row in rows}
    assert [shown[number] for number in range(len(written))] == seen_by_perfetto(np.array(written)).tolist()


def test_rows_become_one_as_is_said() -> None:
    ids: list[Id] = [-1, 0, 1, 7, 2**31, 2**32 - 1, 2**32, 2**40, "1", "p", None]
    tracks = [HostTrack(pid, tid) for pid in ids for tid in ids]
    events = [
        {"ph": "X", "name": str(row), "ts": row, "dur": 0.5, "pid": one.pid, "tid": one.tid} for row, one in enumerate(tracks)
    ]
    (rows,) = perfetto_query(
        json.dumps({"traceEvents": events}).encode(), "select slice.name as name, track_id as track from slice order by slice.id"
    )
    shown = {int(row["name"]): row["track"] for row in rows}
    by_perfetto = {frozenset(row for row in shown if shown[row] == track) for track in shown.values()}
    seen = [seen_track(track) for track in tracks]
    assert by_perfetto == {frozenset(row for row, one in enumerate(seen) if one == key) for key in seen}


@needs_shared
def test_arrows_without_a_start_are_those_that_perfetto_counts() -> None:
    path = shared_file("traces", "public", "tracelens", "tests", "traces", "h100", "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz")
    (stats,) = perfetto_query(path, STATS)
    counted = {row["name"]: row["value"] for row in stats}
    found = {one.code: one.count for one in check_file(path).findings}
    assert found["flow-without-start"] == counted["flow_end_without_start"] == 1230
    # Perfetto leaves out the first one that crosses, and takes those around it for whole then.
    assert found["crossing-slices"] >= counted["slice_drop_overlapping_complete_event"] > 0
