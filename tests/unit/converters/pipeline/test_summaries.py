"""The key_averages table of a timeline."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from rblnpb import sim
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import SUMMARY_KEYS, SliceSummary, Summary, default_summary_key, device_bounds, summarize
from rblnpb.errors import Severity, UsageError
from rblnpb.profile import Device
from tests.support.vendor_traces import Launch, device_profile, first_emitter, host_trace, op

OPS = (op("aten::matmul", 1000, 3000, external_id=1), op("aten::mm", 1200, 2000, external_id=2))
RUN = (Launch(1, 1500, 2500),)


def of_vendor(**options: Any) -> Summary:
    summary: Summary = summarize(merge(None, host_trace([*OPS, *first_emitter(RUN)])), **options)
    return summary


def device_ns(summary: Summary) -> dict[str, tuple[int, int]]:
    """Self and total device time by name, where there is any."""
    table = summary.averages
    times = zip(table.self_device_time_total_ns.tolist(), table.device_time_total_ns.tolist(), strict=True)
    return {name: pair for name, pair in zip(table.name, times, strict=True) if any(pair)}


WORK = {"i1_0_W0_args_0_0": (100, 100), "i1_0_W0_mm_0": (700, 700), "i1_0_W0_output_0": (100, 100)}


def test_device_time_is_on_the_op_that_launched_it_and_on_those_around_it() -> None:
    # The frame, the wait and the host command of the launch are no device time.
    assert device_ns(of_vendor()) == {"aten::mm": (900, 900), "aten::matmul": (0, 900), **WORK}


def test_as_recorded_the_vendors_device_time_is_on_no_op() -> None:
    assert device_ns(of_vendor(device_time="recorded")) == WORK


def test_device_time_of_a_profile() -> None:
    summary = summarize(merge(device_profile(RUN), host_trace(OPS)))
    assert device_ns(summary) == {"aten::mm": (700, 700), "aten::matmul": (0, 700), "mm": (700, 700)}


def cells(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [name])


def test_the_text_shows_it_as_torch_does() -> None:
    assert cells(of_vendor().table(), "aten::mm")[6:9] == ["0.900us", "100.00%", "0.900us"]
    assert cells(of_vendor(device_time="recorded").table(), "aten::mm")[6:9] == ["0.000us", "0.00%", "0.000us"]


@pytest.mark.parametrize(
    ("device", "name", "title"), [("rbln:0", None, "RBLN"), ("atom:0", None, "ATOM"), ("rbln:0", "npu", "npu")]
)
def test_the_device_is_called_as_the_inputs_say_or_as_asked(device: str, name: str | None, title: str) -> None:
    profile = device_profile(RUN, devices=(Device(1, device),))
    assert summarize(merge(profile, host_trace(OPS)), device_name=name).averages.device_name == title


def test_the_default_order_is_by_self_device_time_where_there_is_any_else_by_self_cpu_time() -> None:
    first = [summary.averages.name[summary.rows()[0]] for summary in (of_vendor(), summarize(merge(None, host_trace(OPS))))]
    assert first == ["aten::mm", "aten::matmul"]


def test_rows_may_stay_in_order_of_first_appearance() -> None:
    summary = of_vendor()
    assert summary.rows(None, -1) == list(range(len(summary.averages)))
    assert summary.rows(None, 2) == [0, 1]


def test_json_and_csv_have_all_rows_unless_told_otherwise() -> None:
    summary = of_vendor()
    assert len(json.loads(summary.to_json())["rows"]) == len(summary.averages)
    assert len(summary.to_csv(None, 2).splitlines()) == 3


@pytest.mark.parametrize("render", ["table", "to_json", "to_csv"])
def test_an_unknown_sort_key_is_refused(render: str) -> None:
    with pytest.raises(UsageError, match="cannot sort by 'size'"):
        getattr(of_vendor(), render)("size")


def test_without_a_host_trace_there_are_no_ops() -> None:
    with pytest.raises(UsageError, match="needs the host trace of the same run"):
        summarize(merge(device_profile(RUN)))


def test_device_time_is_of_one_of_two_kinds() -> None:
    with pytest.raises(UsageError, match="'attributed' or 'recorded', not 'guessed'"):
        of_vendor(device_time="guessed")


def test_time_of_ops_that_torch_makes_one_of_is_told() -> None:
    # The launch at 1500 lies in the outer op alone, whose work torch gives up for that of the inner one.
    twins = (op("aten::mm", 1000, 3000, external_id=1), op("aten::mm", 2600, 2800, external_id=2))
    summary: Summary = summarize(merge(device_profile(RUN), host_trace(twins)))
    (found,) = [finding for finding in summary.findings if finding.code == "merged-ops"]
    assert (found.severity, found.count) == (Severity.WARNING, 700)
    assert found.message.startswith("700 ns of device time are of ops that lie directly inside one of their own name")
    assert "merged-ops" not in {finding.code for finding in of_vendor().findings}


def test_notes_of_the_trace_come_along() -> None:
    summary = summarize(merge(None, host_trace([op("ProfilerStep#1", 0, 9000), *OPS])))
    assert [finding.code for finding in summary.findings] == ["accumulated-cycles-unknown"]


# --- slices of the device ----------------------------------------------------------------------------------------------


def of_slices(by: str = "stage") -> SliceSummary:
    summary = summarize(merge(device_profile(RUN)), by)
    assert isinstance(summary, SliceSummary)
    return summary


@pytest.mark.parametrize("by", SUMMARY_KEYS[1:])
def test_slices_are_summed_up_without_a_host_trace(by: str) -> None:
    summary = of_slices(by)
    assert (summary.values.by, summary.values.totals.total_ns, summary.findings) == (by, 700, ())
    assert summary.text(None, "total", -1) == str(summary)
    assert json.loads(summary.to_json("name", 1))["rows"][0]["total_ns"] == 700
    assert len(summary.to_csv(None, 1).splitlines()) == 2


@pytest.mark.parametrize(
    ("by", "names"), [("stage", {"args_0", "mm", "output"}), ("program", {"rbln_run"}), ("step", {"(whole window)"})]
)
def test_the_vendors_trace_is_summed_up_as_a_profile_is(by: str, names: set[str]) -> None:
    summary = summarize(merge(None, host_trace([*OPS, *first_emitter(RUN)])), by)
    assert isinstance(summary, SliceSummary)
    assert (set(summary.values.name), summary.values.totals.total_ns) == (names, 900)


def test_options_of_ops_are_refused_for_slices() -> None:
    several: tuple[dict[str, Any], ...] = ({"device_time": "recorded"}, {"group_by_input_shape": True}, {"device_name": "npu"})
    for options in several:
        with pytest.raises(UsageError, match="are of the summary by op"):
            summarize(merge(device_profile(RUN)), "stage", **options)


def test_a_summary_is_by_what_there_is() -> None:
    with pytest.raises(UsageError, match="not by 'kernel'"):
        summarize(merge(device_profile(RUN)), "kernel")


def test_who_does_not_say_gets_ops_where_there_are_any_else_stages() -> None:
    device_rows = [row for row in first_emitter(RUN) if row.get("pid") == 0]
    traces = {"ops": OPS, "nothing": (), "device": device_rows, "both": (*OPS, *device_rows)}
    found = {name: default_summary_key(merge(None, host_trace(events))) for name, events in traces.items()}
    assert found == {"ops": "op", "nothing": "op", "device": "stage", "both": "op"}
    assert default_summary_key(merge(device_profile(RUN))) == "stage"
    assert default_summary_key(merge(device_profile(RUN), host_trace(OPS))) == "op"


def test_what_bounds_the_device_is_told_as_text_and_as_values() -> None:
    bounds = device_bounds(merge(sim.simulate(program="all_reduce"), None), "stage")
    assert str(bounds).startswith("What bounds the device while it works: dma-bound (")
    assert bounds.to_values()["rows"][0]["bound"] == "dma-bound"


@pytest.mark.parametrize(("method", "package"), [("to_pandas", "pandas"), ("to_arrow", "pyarrow")])
def test_a_data_frame_needs_its_package(monkeypatch: pytest.MonkeyPatch, method: str, package: str) -> None:
    # None stands for a package that cannot be imported.
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=f"this needs {package}, which is not installed"):
        getattr(of_slices(), method)()
