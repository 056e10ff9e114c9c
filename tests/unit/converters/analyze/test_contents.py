"""What is in a file."""

from __future__ import annotations

import pytest

from rblnpb.converters.analyze.contents import profile_contents, trace_contents
from rblnpb.profile import Loss, LossReason, Session
from tests.support.vendor_traces import (
    BASE_NS,
    HOST_PID,
    MAIN,
    NEWER_LANES,
    Launch,
    device_profile,
    host_trace,
    metadata,
    newer_emitter,
    op,
    unix_ns,
)

RUN = (Launch(1, 1500, 2500), Launch(2, 5500, 6500))


def test_the_facts_of_a_profile() -> None:
    session = Session(
        session_id=0x2A, npu="rebel100", host_name="h", process_id=41, rank=0, world_size=8, drained_after_each_run=False,
        tool_name="sim", tool_version="1", settings=(("RBLN_PROFILER", "1"),), started_real_ns=5, ended_real_ns=9,
    )  # fmt: skip
    losses = (Loss(17, LossReason.BUFFER_FULL, 3),)
    assert profile_contents(device_profile(RUN, session=session, losses=losses)) == {
        "format": "rblnpb profile, schema 1.0",
        "session": {
            "id": "000000000000002a",
            "tool": "sim 1",
            "npu": "rebel100",
            "host_name": "h",
            "process_id": 41,
            "process_name": "",
            "rank": 0,
            "world_size": 8,
            "started_real_ns": 5,
            "ended_real_ns": 9,
            "is_complete": True,
            "drained_after_each_run": False,
            "settings": {"RBLN_PROFILER": "1"},
        },
        "devices": [{"name": "rbln:0", "chiplet_count": 4, "engine_count": 2}],
        "engines": {"Neural Engine Clusters": 2},
        "programs": [{"name": "mm", "op": "", "command_count": 0}],
        "counts": {"launches": 2, "device_slices": 2},
        "archived_trace": None,
        "dropped": {"device_slices": 3},
        "clocks": [{"name": "rbln:0", "nominal_hz": 10**9, "width_bits": 64, "snapshot_count": 2}],
        "finding_count": 0,
    }


@pytest.mark.parametrize(
    ("tool", "version", "expected"),
    [
        ("RBLN Profiler", (0, 0), "vendor profile (Perfetto track events)"),
        ("", (0, 0), "profile of no known schema"),
        ("RBLN Profiler", (0, 1), "rblnpb profile, schema 0.1"),
    ],
)
def test_whose_format_it_is_comes_first(tool: str, version: tuple[int, int], expected: str) -> None:
    session = Session(session_id=7, tool_name=tool, schema_version=version)
    assert next(iter(profile_contents(device_profile(RUN, session=session)).items())) == ("format", expected)


def test_slices_of_an_unknown_engine_are_counted_as_such() -> None:
    assert profile_contents(device_profile(RUN, engines=()))["engines"] == {"unknown": 2}


def test_what_is_not_known_is_null_and_what_is_false_stays() -> None:
    session = profile_contents(device_profile(RUN, session=Session(session_id=7), is_complete=False))["session"]
    assert session == {
        "id": "0000000000000007",
        "tool": "",
        "npu": "",
        "host_name": "",
        "process_id": None,
        "process_name": "",
        "rank": None,
        "world_size": None,
        "started_real_ns": None,
        "ended_real_ns": None,
        "is_complete": False,
        "drained_after_each_run": None,
        "settings": {},
    }


def test_the_facts_of_a_trace() -> None:
    rows = [op("aten::mm", 1000, 2000), metadata("thread_name", HOST_PID, MAIN, name="main"), *newer_emitter(RUN[:1])]
    lanes = [{"pid": 0, "tid": tid, "name": name} for tid, name in enumerate(NEWER_LANES)]
    assert trace_contents(host_trace(rows, host_name="h", with_flops=1, distributedInfo={"rank": 0})) == {
        "format": "host trace (Chrome trace event JSON, as torch.profiler exports it)",
        "host_name": "h",
        "has_base_time": True,
        "base_time_ns": BASE_NS,
        "first_ns": unix_ns(0),
        "last_ns": unix_ns(1_000_000),
        "threads": [{"pid": HOST_PID, "tid": MAIN, "name": "main"}, *lanes],
        "counts": {
            "events": 24,
            "by_phase": {"M": 9, "X": 7, "f": 4, "s": 4},
            "by_category": {
                "(none)": 9,
                "cpu_op": 1,
                "kernel": 1,
                "ac2g": 8,
                "gpu_memcpy": 1,
                "privateuse1_runtime": 2,
                "privateuse1_driver": 1,
                "Trace": 1,
            },
            "device_rows": 4,
        },
        "metadata": {
            "schemaVersion": 1,
            "displayTimeUnit": "ms",
            "host_name": "h",
            "with_flops": 1,
            "baseTimeNanoseconds": BASE_NS,
            "traceName": "trace.json",
        },
        "finding_count": 0,
    }


def test_a_trace_without_times_has_no_range() -> None:
    found = trace_contents(host_trace([], base_time=False, window_ns=None))
    assert (found["base_time_ns"], found["first_ns"], found["last_ns"], found["finding_count"]) == (None, None, None, 2)
