"""The split leaves no rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from rblnpb.converters import merge, read_host, summarize
from rblnpb.converters.analyze.host.host_classes import CLASSES, host_classes
from rblnpb.converters.analyze.host.host_split import host_split
from rblnpb.converters.analyze.host.host_stack import host_stack
from rblnpb.converters.timeline import HostTrace
from tests.support.shared_traces import BUNDLED_TRACE, host_trace_paths, needs_shared, shared_file
from tests.support.vendor_traces import host_trace, op


@pytest.mark.parametrize("path", [BUNDLED_TRACE, *host_trace_paths().values()], ids=lambda path: path.parent.name)
def test_the_parts_are_the_self_time_of_torchs_table(path: Path) -> None:
    host = read_host(path)
    timeline = merge(None, host)
    split = host_split(host, host_classes(timeline, host))
    assert split.total_ns == int(summarize(timeline).averages.self_cpu_time_total_ns.sum())
    assert sum(split.by_class.values()) == split.total_ns == sum(share.total_ns for share in split.threads)
    assert [sum(share.by_class.values()) for share in split.threads] == [share.total_ns for share in split.threads]


@needs_shared
def test_scans_are_the_rows_that_torch_names() -> None:
    host = read_host(shared_file("traces", "host", "profile_matmul_rbln_sim_vendorlike", "trace.json"))
    split = host_split(host, host_classes(merge(None, host), host))
    averages = summarize(merge(None, host)).averages
    total_ns = dict(zip(averages.name, averages.cpu_time_total_ns.tolist(), strict=True))
    # The scans' copies are rows of aten::to like those of .cpu(), so they are bounded rather than known.
    scanned_ns = total_ns["aten::isinf"] + total_ns["aten::isnan"]
    assert scanned_ns < split.by_class["checks"] < scanned_ns + total_ns["aten::to"]
    assert split.by_class["checks"] + split.by_class["copy"] == scanned_ns + total_ns["aten::to"] - _below_eq_ns(host)


def _below_eq_ns(host: HostTrace) -> int:
    """Time of the copies within `aten::eq`, a part of `aten::isinf` that `aten::to` counts again."""
    stack = host_stack(host)
    duration_ns = stack.end_ns - stack.start_ns
    within = stack.named("aten::to") & stack.named("aten::eq")[stack.op_parent]
    return int(duration_ns[within].sum())


def test_times_beyond_64_bits_in_all_are_exact() -> None:
    host = host_trace([op("a", 0, 2**62 // 1000 * 1000, tid=tid) for tid in range(3)], window_ns=None)
    assert host_split(host, host_classes(merge(None, host), host)).total_ns == 3 * (2**62 // 1000 * 1000)


def test_classes_are_those_of_the_result() -> None:
    assert CLASSES[:3] == ("dispatch", "checks", "fallback")
