"""Whatever a timeline holds comes back out of its Perfetto trace: every slice, on a row where it crosses nothing."""

from __future__ import annotations

import io
import re
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.sinks._json_annotations import is_plain
from rblnpb.converters.sinks.perfetto_trace import write_perfetto_trace
from rblnpb.converters.timeline import SliceDependencies, Timeline, Track
from tests.support.perfetto_packets import ShownTrace, shown
from tests.support.timelines import host_trace, slices, timeline

TRACKS = tuple(Track("rbln:0", f"engine {row}", "compute", is_work=True, order=row) for row in range(2))
ARGUMENTS = ("launch_id", "size_bytes")

times = st.integers(0, 12)
device_slices = st.lists(
    st.fixed_dictionaries(
        {"start": times, "duration": times, "track": st.integers(0, 1), "sequence": st.integers(-1, 2)},
        optional={"launch_id": st.integers(0, 2), "size_bytes": st.sampled_from([0, 127, 128, 2**40])},
    ),
    max_size=12,
)
host_events = st.lists(
    st.fixed_dictionaries(
        {
            "ph": st.sampled_from("XXXXBBEEiibneC"),
            "ts": times,
            "dur": st.integers(-1, 12),
            "pid": st.sampled_from([10, -1, "a"]),
            "tid": st.sampled_from([11, 12, 0]),
            "name": st.sampled_from(["x", "y"]),
            "id": st.integers(0, 1),
        },
        optional={"args": st.dictionaries(st.sampled_from("ab"), st.one_of(st.integers(-(2**64), 2**64), st.text(max_size=3)))},
    ),
    max_size=20,
)


def written(source: Timeline) -> ShownTrace:
    file = io.BytesIO()
    write_perfetto_trace(source, file)
    return shown(file.getvalue())


@given(device_slices, st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=6))
def test_device_slices_come_back(rows: list[dict[str, Any]], pairs: list[tuple[int, int]]) -> None:
    edges = np.array([pair for pair in pairs if max(pair) < len(rows)], np.int64).reshape(-1, 2)
    table = slices(*({"stage": f"s{row['track']}", **row} for row in rows), argument_names=ARGUMENTS)
    source = timeline(
        slices=table, argument_names=ARGUMENTS, tracks=TRACKS, dependencies=SliceDependencies(*np.ascontiguousarray(edges.T))
    )
    names = [name.decode() for name in table.names.render().tolist()]
    wanted = Counter(
        (
            f"engine {row['track']}",
            name,
            row["start"],
            row["start"] + row["duration"],
            row.get("launch_id") or None,
            row.get("size_bytes"),
        )
        for row, name in zip(rows, names, strict=True)
    )
    trace = written(source)
    found = Counter(
        (
            one.path[1].partition(" (")[0],
            one.name,
            one.start_ns,
            one.end_ns,
            one.arguments.get("launch_id"),
            one.arguments.get("size_bytes"),
        )
        for one in trace.slices
    )

    assert found == wanted
    spans = [(row["start"], row["start"] + row["duration"]) for row in rows]
    arrows = Counter(((one.start_ns, one.end_ns), (other.start_ns, other.end_ns)) for one, other in trace.arrows)
    joined = [(spans[one], spans[other]) for one, other in edges.tolist()]
    # What is over before an arrow to it begins has none; of two at one moment it depends on which is written first.
    assert arrows <= Counter(joined)
    assert arrows >= Counter((one, other) for one, other in joined if one[0] < max(other) and other[0] < other[1])


@given(host_events, st.integers(1, 200))
def test_host_events_come_back(events: list[dict[str, Any]], block_bytes: int) -> None:
    host = host_trace(*events, block_bytes=block_bytes)
    source = timeline(host, tracks=())
    found = written(source)
    file = io.BytesIO()
    lost = {finding.code: finding.count for finding in write_perfetto_trace(source, file)}

    single = Counter(
        (event["name"], event["ts"] * 1000, (event["ts"] + (max(event["dur"], 0) if event["ph"] == "X" else 0)) * 1000)
        for event in events
        if event["ph"] in "Xin"
    )
    begins = Counter((event["name"], event["ts"] * 1000) for event in events if event["ph"] in "Bb")
    rest = Counter((one.name, one.start_ns, one.end_ns) for one in found.slices) - single
    assert Counter((name, start) for name, start, _ in rest.elements()) == begins
    assert len(found.slices) == sum(single.values()) + sum(begins.values())
    ends = sum(event["ph"] in "Ee" for event in events)
    assert ends - lost.get("host-ends-without-begin", 0) + lost.get("host-slices-without-end", 0) == sum(begins.values())


@given(st.lists(st.text('0123456789eE+.{"\\nul', max_size=60).map(str.encode), min_size=1, max_size=5))
def test_every_long_number_is_seen(texts: list[bytes]) -> None:
    odd = re.compile(rb"(?<![\d.])\d{19}|\d[eE]\+?\d{3}|\\|null")
    texts = [b"{" + text for text in texts]
    plain = is_plain(texts, np.array(list(map(len, texts))))

    assert not any(is_so and odd.search(text) for is_so, text in zip(plain.tolist(), texts, strict=True))
