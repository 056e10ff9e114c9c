"""The host trace that the package ships, beside what torch itself printed for the same run."""

from __future__ import annotations

import gzip
import json

from rblnpb.converters.analyze.torch_table.key_averages import key_averages
from rblnpb.converters.sinks.torch_table import render
from rblnpb.converters.sources.kineto import read_host
from tests.support.shared_traces import BUNDLED_TABLE, BUNDLED_TRACE


def test_its_table_is_torchs_own() -> None:
    table = render(key_averages(read_host(BUNDLED_TRACE)), sort_by=None, row_limit=-1)

    assert table == BUNDLED_TABLE.read_text(encoding="utf-8")


def test_it_names_no_machine_and_has_what_the_demo_shows() -> None:
    document = json.loads(gzip.decompress(BUNDLED_TRACE.read_bytes()))
    events = document["traceEvents"]

    assert (document["host_name"], document["traceName"]) == ("example-host", "transformer_step.json")
    assert len({event["tid"] for event in events if event.get("cat") == "cpu_op"}) == 2
    assert [event["name"] for event in events if event["name"].startswith("ProfilerStep#")] == ["ProfilerStep#0", "ProfilerStep#1"]


def test_it_is_small_and_packed_without_a_time() -> None:
    packed = BUNDLED_TRACE.read_bytes()

    assert len(packed) < 150_000
    assert packed[4:8] == bytes(4)
