"""rblnpb latency: what goes to which stream, and which code comes back."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.support.command_line import Run
from tests.support.shared_traces import needs_shared, shared_file


def test_text_names_the_sources_and_what_is_odd(rblnpb_: Run) -> None:
    code, out, err = rblnpb_("latency", "a.pb", "--host", "t.json")
    assert (code, out.splitlines()[1]) == (0, "  a.pb + t.json")
    assert "mean   2.775 µs                  2.250 µs       525 ns" in out.splitlines()
    assert ("[device-before-launch]" in out, err) == (True, "")


def test_json_has_the_figures_and_on_request_the_queue_over_time(rblnpb_: Run) -> None:
    plain = json.loads(rblnpb_("latency", "a.pb", "t.json", "--format", "json")[1])
    series = json.loads(rblnpb_("latency", "a.pb", "t.json", "--format", "json", "--series")[1])
    assert (plain["schema"], plain["latency"]["sum_ns"], plain["queue"]["max_length"]) == ("rblnpb.latency/1", 11_100, 2)
    assert "series" not in plain["queue"]
    assert series["queue"]["series"]["length"] == [1, 0, 1, 2, 1, 0, 1, 0]


def test_csv_has_a_line_a_group(rblnpb_: Run) -> None:
    code, out, err = rblnpb_("latency", "a.pb", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, [(row["group"], row["name"], row["tid"]) for row in rows]) == (
        0,
        [("all", "", ""), ("program", "mm", ""), ("program", "mul", ""), ("thread", "", "4242"), ("thread", "", "4243")],
    )
    assert "[clock-skew]" in err


def test_the_series_has_no_place_in_a_table(rblnpb_: Run) -> None:
    code, out, err = rblnpb_("latency", "a.pb", "--series")
    assert (code, out, err) == (2, "", "rblnpb: --series goes with --format json\n")


def test_a_trace_without_a_device_has_nothing_to_tell(rblnpb_: Run) -> None:
    code, out, _ = rblnpb_("latency", "t.json")
    assert (code, "there is no latency to tell" in out) == (0, True)


@needs_shared
def test_launches_of_a_trace_whose_device_rows_were_launched_before_it_are_left_out(rblnpb_: Run) -> None:
    trace = next(shared_file("traces", "public", "tracelens").rglob("Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"))
    found = json.loads(rblnpb_("latency", trace, "--format", "json", "--series")[1])
    assert found["counts"] == {"launches": 1198, "launches_without_work": 0, "slices_without_launch": 509}
    assert min(found["queue"]["series"]["length"]) == 0
    assert found["waiting"]["sum_ns"] + found["submission"]["sum_ns"] == found["latency"]["sum_ns"]


@needs_shared
@pytest.mark.parametrize("name", ["mtia_inference_rank_0.json.gz", "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"])
def test_devices_that_start_inside_their_launch_are_no_negative_latency(rblnpb_: Run, name: str) -> None:
    trace = next(shared_file("traces", "public", "hta").rglob(name))
    found = json.loads(rblnpb_("latency", trace, "--format", "json", "--series")[1])
    assert found["latency"]["count"] > 0
    assert found["latency"]["min_ns"] >= 0
    assert min(found["queue"]["series"]["length"]) >= 0
    assert sum(step["time_ns"] for step in found["queue"]["time_at_length"]) == found["queue"]["span_ns"]
