"""Real traces in profiles: every byte comes back, in a tenth of the size or less, and what is made of the archive is the same."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import pytest

import rblnpb
from rblnpb.converters.analyze.torch_table.key_averages import event_rows, key_averages
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline.archives import unpack
from rblnpb.converters.sinks.torch_table import render
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace, Timeline
from tests.compat.test_torch_tables import EQUAL, asked, names, torch_table
from tests.support.archives import archive_of
from tests.support.json_events import events_of
from tests.support.shared_traces import SHARED, host_trace_paths, needs_shared

pytestmark = needs_shared

ROOT = SHARED / "traces"
TRACES = sorted(
    path for path in (*ROOT.glob("host/*.json"), *ROOT.glob("host/*/trace*.json*"), *ROOT.glob("public/*/**/*.json.gz"))
)
SMALL_BYTES = 280_000
"""Below, what a profile says of itself, and strings that occur once, are a good part of it."""


@cache
def archived(path: Path) -> tuple[bytes, HostTrace]:
    data = archive_of(read_host(path))
    own, host = unpack(rblnpb.read(data))
    assert own is None
    assert host is not None
    return data, host


def label(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parts[-2:])


@pytest.mark.parametrize("path", TRACES, ids=label)
def test_every_byte_comes_back_from_a_tenth_of_them(path: Path) -> None:
    host = read_host(path)
    data, back = archived(path)
    whole = hashlib.sha256()
    size_bytes = 0
    for block in host.document.blocks():
        whole.update(block)
        size_bytes += len(block)

    assert hashlib.sha256(b"".join(back.document.blocks())).digest() == whole.digest()
    assert size_bytes < SMALL_BYTES or len(data) * 10 <= size_bytes
    assert archive_of(back) == data
    assert rblnpb.read(data).findings == ()
    assert not (rblnpb.read(data).trace_events.layout_strindex == 0).any()


@pytest.mark.parametrize("path", [path for path in TRACES if path.stat().st_size < 600_000], ids=label)
def test_what_is_read_and_merged_is_the_same(path: Path) -> None:
    host, (data, back) = read_host(path), archived(path)
    mine, theirs = merge(None, host), merge(None, back)

    assert events_of(back) == events_of(host)
    # What was lost of a text that is no JSON is said once, when that text is read.
    findings = tuple(finding for finding in host.findings if finding.code != "lost-events")
    assert (back.findings, back.metadata, back.thread_names) == (findings, host.metadata, host.thread_names)
    assert slices_of(theirs) == slices_of(mine)
    # Whoever reads the format alone finds the same slices on the same engines.
    profile = rblnpb.read(data)
    engines = {engine.engine_id: (engine.kind.name.lower(), engine.name) for engine in profile.engines}
    slices = profile.device_slices
    assert [
        (start, duration, *engines[engine], profile.strings[name], event)
        for start, duration, engine, name, event in zip(
            slices.start_ticks.tolist(),
            slices.duration_ticks.tolist(),
            slices.engine_id.tolist(),
            slices.name_strindex.tolist(),
            slices.event_ordinal.tolist(),
            strict=True,
        )
    ] == [row for row in slices_of(mine) if row[0] >= 0]


def slices_of(timeline: Timeline) -> list[tuple[int, int, str, str, str, int]]:
    slices = timeline.slices
    tracks = [timeline.tracks[row] for row in slices.track.tolist()]
    return [
        (start, duration, "workload" if track.kind == "annotation" else track.kind, track.name, name.decode(), event)
        for start, duration, track, name, event in zip(
            slices.start_ns.tolist(),
            slices.duration_ns.tolist(),
            tracks,
            slices.names.render().tolist(),
            slices.event.tolist(),
            strict=True,
        )
    ]


@pytest.mark.parametrize("path", EQUAL, ids=names(EQUAL))
def test_torchs_tables_come_out_of_an_archive(path: Path) -> None:
    _, host = archived(host_trace_paths()[path.parent.name])
    table = path.stem
    rows = event_rows(host) if table.startswith("events") else key_averages(host, group_by_input_shape=table == "table_by_shape")

    assert render(rows, **asked(table)) == torch_table(path)
