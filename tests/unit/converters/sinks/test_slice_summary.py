"""Summaries of device slices as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.slices.slice_summary import slice_summary
from rblnpb.converters.results import SliceRows
from rblnpb.converters.sinks._slice_columns import row_columns, row_order
from rblnpb.converters.sinks.slice_summary import render_slices_csv, render_slices_json, render_slices_text
from rblnpb.converters.timeline import Track
from rblnpb.errors import UsageError
from tests.support.timelines import launches, slices, timeline

ARGUMENTS = ("compute_cycles", "size_bytes", "planned_bytes")
TRACKS = (
    Track("rbln:0", "Neural Engine Clusters (chiplet 0)", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=1),
)
ROWS: tuple[dict[str, Any], ...] = (
    {"stage": "linear_0", "track": 0, "start": 1000, "duration": 3000, "compute_cycles": 4500},
    {"stage": "linear_0", "track": 0, "start": 5000, "duration": 1000, "compute_cycles": 1500},
    {"stage": "linear_0", "track": 1, "start": 0, "duration": 2000, "size_bytes": 1_800_000},
    {"stage": "linear_0", "track": 1, "start": 2000, "duration": 2000, "planned_bytes": 1_800_000},
    {"stage": "out", "track": 0, "start": 6000, "duration": 1},
)


def rows_by(by: str, *rows: dict[str, Any], **parts: Any) -> SliceRows:
    given = slices(*(rows or ROWS), argument_names=ARGUMENTS)
    return slice_summary(timeline(slices=given, tracks=TRACKS, argument_names=ARGUMENTS, **parts), by)


def lines(text: str) -> list[list[str]]:
    """Words of each line."""
    return [line.split() for line in text.splitlines()]


def test_the_text_has_a_line_a_row_and_the_totals_of_all() -> None:
    text = render_slices_text(rows_by("stage"))
    found = text.splitlines()
    assert found[0] == "By stage: 3 rows, 5 slices of work; device time 8.001 µs, busy 5.001 µs of 6.001 µs"
    assert found[2].split("   ")[0] == "stage"
    assert " ".join(found[4].split()) == (
        "linear_0 Neural Engine Clusters 2 4.000 µs 50.0 % 2.000 µs 1.000 µs 1.000 µs 3.000 µs 3.000 µs 3.000 µs 4.000 µs 66.7 % "
        "6,000 1.50 GHz balanced 4.000 µs 4.000 µs"
    )
    assert " ".join(found[5].split()) == (
        "linear_0 Neural DMA 2 4.000 µs 50.0 % 2.000 µs 2.000 µs 2.000 µs 2.000 µs 2.000 µs 2.000 µs 4.000 µs 66.7 % "
        "3.43 MiB 900.00 GB/s 75.0 % balanced 4.000 µs 4.000 µs"
    )
    assert " ".join(found[6].split()) == (
        "out Neural Engine Clusters 1 1 ns 0.0 % 1 ns 1 ns 1 ns 1 ns 1 ns 1 ns 1 ns 0.0 % unknown"
    )
    assert " ".join(found[8].split()) == "total 5 8.001 µs 100.0 % 5.001 µs 83.3 % 3.43 MiB 6,000"


def test_notes_say_what_the_columns_mean_and_where_figures_come_from() -> None:
    text = render_slices_text(rows_by("stage"))
    assert "p50, p90, p99: nearest rank" in text
    assert "bytes: 1.72 MiB of them planned by the compiler, not measured." in text
    assert "of peak: Rebel100: 4.8 TB/s of HBM3E over 4 chiplets" in text
    assert "bandwidth" not in render_slices_text(rows_by("stage", {"stage": "mm", "duration": 5}))


def test_what_is_not_shown_is_counted_and_still_in_the_totals() -> None:
    text = render_slices_text(rows_by("stage"), row_limit=1)
    assert "2 more rows (--row-limit -1 shows all); the total is of all rows" in text
    assert next(line[:4] for line in lines(text) if line[:1] == ["total"]) == ["total", "5", "8.001", "µs"]
    assert "1 more row (" in render_slices_text(rows_by("stage"), row_limit=2)
    assert "more row" not in render_slices_text(rows_by("stage"), row_limit=-1)


def test_a_narrow_terminal_gets_the_columns_that_matter_and_is_told_of_the_others() -> None:
    text = render_slices_text(rows_by("stage"), width=80)
    table = [line for line in text.splitlines() if line.startswith(("stage", "linear", "out", "total", "─"))]
    assert max(map(len, table)) <= 80
    assert table[0].split() == ["stage", "engine", "count", "total", "share", "bound"]
    assert "Left out for want of width: mean, min, p50, " in text


def test_names_fold_and_lose_their_middle_where_there_is_no_room_for_them() -> None:
    name = "start_" + "x" * 100 + "_end"
    wide = render_slices_text(rows_by("layer", {"stage": name, "duration": 5}))
    narrow = render_slices_text(rows_by("layer", {"stage": name, "duration": 5}), width=60)
    assert name in wide
    assert name not in narrow
    assert "…" in narrow
    assert "start_" in narrow


def test_control_characters_of_a_name_stay_on_its_line() -> None:
    assert "a\\x0ab\\x1b" in render_slices_text(rows_by("layer", {"stage": "a\nb\x1b", "duration": 5}))


def test_nothing_to_sum_up_is_one_line() -> None:
    assert render_slices_text(slice_summary(timeline(), "stage")) == "By stage: no slice of work\n"


def test_a_bound_that_nothing_tells_is_no_column() -> None:
    text = render_slices_text(rows_by("program", {"duration": 5}))
    assert "bound" not in text


def test_calls_are_listed_with_their_programs_and_the_first_against_the_later_ones() -> None:
    made = [{"launch": at, "start": 1000 + 100 * at, "duration": 40 - 10 * at} for at in range(3)]
    summary = rows_by("call", *made, launches=launches(*[{"name": 1}] * 3), strings=("", "decoder"))
    text = render_slices_text(summary, sort_by="start")
    found = lines(text)
    assert found[2][:4] == ["program", "call", "at", "count"]
    assert [row[:4] for row in found[4:7]] == [["decoder", str(at), str(100 * at), "ns"] for at in range(3)]
    assert ["decoder", "3", "40", "ns", "20", "ns", "2.00"] in found
    assert "program   calls   first   later (p50)   first by later" in text


def test_an_overview_is_limited_as_the_rows_are() -> None:
    made = [{"launch": at, "duration": 5} for at in range(3)]
    launched = launches(*({"name": at} for at in (1, 2, 3)))
    text = render_slices_text(rows_by("call", *made, launches=launched, strings=("", "a", "b", "c")), row_limit=1)
    assert text.count("2 more rows (") == 2


ALL_KEYS = [
    *("name", "engine", "count", "total_ns", "device_time_share", "mean_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"),
    *("busy_ns", "span_share", "size_bytes", "planned_bytes", "bandwidth_bytes_per_s", "peak_bandwidth_share", "compute_cycles"),
    *("frequency_hz", "bound", "needed_compute_ns", "needed_dma_ns", "compute_use", "dma_use", "compute_engine", "dma_engine"),
]


def test_json_has_exact_integers_with_their_units_and_null_where_nothing_is_known() -> None:
    value = json.loads(render_slices_json(rows_by("stage")))
    assert (value["schema"], value["by"], value["percentiles"]) == ("rblnpb.summary/1", "stage", "nearest-rank")
    assert [list(row) for row in value["rows"]] == [ALL_KEYS] * 3
    assert value["rows"][1] == {
        "name": "linear_0",
        "engine": "Neural DMA",
        "count": 2,
        "total_ns": 4000,
        "device_time_share": 0.499938,
        "mean_ns": 2000,
        "min_ns": 2000,
        "p50_ns": 2000,
        "p90_ns": 2000,
        "p99_ns": 2000,
        "max_ns": 2000,
        "busy_ns": 4000,
        "span_share": 0.666556,
        "size_bytes": 3_600_000,
        "planned_bytes": 1_800_000,
        "bandwidth_bytes_per_s": 900_000_000_000,
        "peak_bandwidth_share": 0.75,
        "compute_cycles": None,
        "frequency_hz": None,
        "bound": "balanced",
        "needed_compute_ns": 4000,
        "needed_dma_ns": 4000,
        "compute_use": 1.0,
        "dma_use": 1.0,
        "compute_engine": "Neural Engine Clusters (chiplet 0)",
        "dma_engine": "Neural DMA (chiplet 1)",
    }
    assert value["totals"] == {
        "row_count": 3,
        "count": 5,
        "total_ns": 8001,
        "busy_ns": 5001,
        "span_ns": 6001,
        "size_bytes": 3_600_000,
        "planned_bytes": 1_800_000,
        "compute_cycles": 6000,
    }
    assert (value["hidden_row_count"], value["overview"], value["findings"]) == (0, None, [])
    assert "docs.rbln.ai" in value["peak_basis"]


def test_json_of_fewer_rows_says_how_many_it_hides() -> None:
    value = json.loads(render_slices_json(rows_by("stage"), sort_by="name", row_limit=1))
    assert ([row["name"] for row in value["rows"]], value["hidden_row_count"], value["totals"]["count"]) == (["linear_0"], 2, 5)


def test_json_of_calls_has_its_overview() -> None:
    value = json.loads(
        render_slices_json(rows_by("call", {"launch": 0, "duration": 5}, launches=launches({"name": 1}), strings=("", "a")))
    )
    assert value["overview"] == {
        "by": "program",
        "rows": [
            {
                "name": "a",
                "compile_id": "",
                "call_count": 1,
                "first_span_ns": 5,
                "later_p50_span_ns": None,
                "first_by_later": None,
                "compile_ns": None,
            }
        ],
    }


def test_sums_beyond_64_bits_are_whole_in_every_format() -> None:
    summary = rows_by("layer", *[{"stage": "mm", "duration": 2**62}] * 3)
    assert json.loads(render_slices_json(summary))["rows"][0]["total_ns"] == 3 * 2**62
    assert summary.statistics.total_ns.dtype == object
    assert f",{3 * 2**62}," in render_slices_csv(summary)
    assert "s" in render_slices_text(summary)


def test_csv_has_the_columns_of_json_and_is_empty_where_nothing_is_known() -> None:
    table = list(csv.reader(io.StringIO(render_slices_csv(rows_by("stage"), sort_by=None))))
    assert table[0] == ALL_KEYS
    assert [row[:4] for row in table[1:]] == [
        ["linear_0", "Neural Engine Clusters", "2", "4000"],
        ["linear_0", "Neural DMA", "2", "4000"],
        ["out", "Neural Engine Clusters", "1", "1"],
    ]
    assert table[1][ALL_KEYS.index("size_bytes")] == ""


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_a_name_that_looks_like_a_formula_is_made_harmless(name: str) -> None:
    assert render_slices_csv(rows_by("layer", {"stage": name})).splitlines()[1].startswith(f"'{name},")


def test_a_name_with_a_line_break_stays_one_cell() -> None:
    (_, row) = csv.reader(io.StringIO(render_slices_csv(rows_by("layer", {"stage": 'a\rb,"c"\nd'})), newline=""))
    assert row[0] == 'a\rb,"c"\nd'


def names(summary: SliceRows, sort_by: str | None) -> list[Any]:
    return [summary.name[row] for row in row_order(summary, sort_by)]


MANY = (
    {"stage": "b", "duration": 5, "size_bytes": 10},
    {"stage": "a", "duration": 2},
    {"stage": "a", "duration": 2},
    {"stage": "a", "duration": 2},
    {"stage": "c", "duration": 6, "size_bytes": 9},
    {"stage": "d", "duration": 5},
)


@pytest.mark.parametrize(
    ("key", "order"),
    [
        ("total", "acbd"),
        ("total_ns", "acbd"),
        ("count", "abcd"),
        ("max", "cbda"),
        ("mean", "cbda"),
        ("name", "abcd"),
        ("bytes", "bcad"),
        ("size", "bcad"),
        (None, "bacd"),
    ],
)
def test_rows_are_ordered_by_any_column(key: str | None, order: str) -> None:
    found = rows_by("layer", *MANY)
    # Rows come in the order of their texts' numbers: that of first mention.
    assert "".join(names(found, key)) == order


def test_moments_and_ordinals_come_from_the_least() -> None:
    made = [{"launch": at, "start": start} for at, start in enumerate((30, 10, 20))]
    summary = rows_by("call", *made, launches=launches(*[{"name": 1, "launch_id": 9 - at} for at in range(3)]), strings=("", "x"))
    keys = {key: [summary.keys["call"][row] for row in row_order(summary, key)] for key in ("start", "call", "launch_id")}
    assert keys == {"start": [0, 1, 2], "call": [0, 1, 2], "launch_id": [1, 0, 2]}


def test_an_unknown_sort_key_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="cannot sort by 'totl': did you mean total\\? the keys by layer are name, count, total,"):
        row_order(rows_by("layer"), "totl")


def test_columns_are_those_of_the_rows_that_are_asked_for() -> None:
    columns = row_columns(rows_by("layer", *MANY), [2, 0])
    assert (columns["name"], columns["total_ns"], columns["mean_ns"]) == (["c", "b"], [6, 5], [6, 5])


def test_a_mean_is_rounded_to_the_nearest_nanosecond_halves_up() -> None:
    for durations, mean in (((1, 2), 2), ((1, 1, 2), 1), ((1, 2, 2), 2)):
        assert row_columns(rows_by("layer", *({"stage": "x", "duration": one} for one in durations)))["mean_ns"] == [mean]


def test_all_shares_add_up_to_the_whole() -> None:
    shares = row_columns(rows_by("layer", *MANY))["device_time_share"]
    assert np.isclose(sum(shares), 1, atol=1e-5)
