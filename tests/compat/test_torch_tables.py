"""torch's own tables, character for character, from the traces that it wrote beside them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rblnpb.converters.analyze.torch_table.key_averages import event_rows, key_averages
from rblnpb.converters.analyze.torch_table.torch_notes import notes
from rblnpb.converters.results import KeyAverages
from rblnpb.converters.sinks.torch_table import render
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace
from tests.support.shared_traces import SHARED, needs_shared

pytestmark = needs_shared

HOST = SHARED / "traces" / "host"
PUBLIC = SHARED / "traces" / "public"
TABLES = sorted(HOST.glob("*/*table*.txt"))

# Folder -> the note that warns of it.
EXCEPTED = {"jit_fork_async": "async-rows-unknown", "schedule_acc_events": "accumulated-cycles-unknown"}
# torch writes names with quotes as they are.
NO_JSON = "odd_names"

ASKED: dict[str, dict[str, Any]] = {
    "events_table_top_level": {"sort_by": "cpu_time_total", "row_limit": 20, "top_level_events_only": True},
    "table_none": {"row_limit": -1},
    "table_by_shape": {"sort_by": "cpu_time_total", "row_limit": -1},
    "table_by_stack3": {"sort_by": "cpu_time_total", "row_limit": 50},
    "table_ms_header": {
        "sort_by": "self_cpu_time_total",
        "row_limit": 5,
        "max_name_column_width": 20,
        "time_unit": "ms",
        "header": "HDR",
    },
}


def asked(table: str) -> dict[str, Any]:
    """What torch was asked for, by the name of the file it went to."""
    if table.startswith("table_top10_"):
        return {"sort_by": table.removeprefix("table_top10_"), "row_limit": 10}
    return ASKED.get(table) or {"sort_by": table.removeprefix("table_"), "row_limit": -1}


@cache
def trace(folder: Path) -> HostTrace:
    return read_host(next(iter(sorted(folder.glob("trace.json*")))))


def our_table(path: Path) -> str:
    host, table = trace(path.parent), path.stem
    rows = event_rows(host) if table.startswith("events") else key_averages(host, group_by_input_shape=table == "table_by_shape")
    return render(rows, **asked(table))


def torch_table(path: Path) -> str:
    return path.read_bytes().decode()


def names(paths: list[Path]) -> list[str]:
    return [f"{path.parent.name}/{path.stem}" for path in paths]


EQUAL = [path for path in TABLES if path.parent.name not in {*EXCEPTED, NO_JSON}]
DIFFERENT = [path for path in TABLES if path.parent.name in EXCEPTED]


@pytest.mark.parametrize("path", EQUAL, ids=names(EQUAL))
def test_the_table_is_torchs(path: Path) -> None:
    assert our_table(path) == torch_table(path)


@pytest.mark.parametrize("path", DIFFERENT, ids=names(DIFFERENT))
def test_the_table_differs_and_a_note_says_why(path: Path) -> None:
    assert our_table(path) != torch_table(path)
    assert EXCEPTED[path.parent.name] in [note.code for note in notes(trace(path.parent))]


def test_a_trace_that_is_no_json_has_every_row_but_that_of_the_event_that_is_lost() -> None:
    expected = torch_rows(HOST / NO_JSON)
    found = our_rows(key_averages(trace(HOST / NO_JSON)), len(expected[0]))

    # The exporter spells names in its own way, so they are not compared.
    whole = [row for row in expected if row[0] != 'quote"d']
    assert sum(row[1] for row in found) == sum(row[1] for row in whole)
    assert sorted(row[2] for row in found if row[0] != "unknown") == sorted(
        row[2] for row in whole if row[0] not in ("tab\tx", "한글 이름")
    )


@pytest.mark.parametrize("folder", sorted({path.parent for path in EQUAL}), ids=lambda folder: folder.name)
def test_only_a_schedule_is_noted_where_the_tables_are_equal(folder: Path) -> None:
    expected = ["accumulated-cycles-unknown"] if folder.name == "schedule_cycle0" else []

    assert [note.code for note in notes(trace(folder))] == expected


def torch_rows(folder: Path) -> list[tuple[Any, ...]]:
    rows = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
    keys = ("name", "count", "self_cpu_us", "cpu_total_us", "self_device_us", "device_total_us")
    more = ("cpu_mem", "self_cpu_mem", "flops", "is_async", "is_user_annotation")
    return [tuple(row[key] for key in keys + more if key in row) for row in rows]


def our_rows(table: KeyAverages, width: int) -> list[tuple[Any, ...]]:
    columns = [
        table.name,
        table.count.tolist(),
        table.self_cpu_time_total_us.tolist(),
        table.cpu_time_total_us.tolist(),
        table.self_device_time_total_us.tolist(),
        table.device_time_total_us.tolist(),
        table.cpu_memory_bytes.tolist(),
        table.self_cpu_memory_bytes.tolist(),
        table.flops.tolist(),
        table.is_async.tolist(),
        table.is_annotation.tolist(),
    ]
    return list(zip(*columns[:width], strict=True))


ROWS = [path.parent for path in sorted(HOST.glob("*/rows.json")) if path.parent.name not in {*EXCEPTED, NO_JSON}]


@pytest.mark.parametrize("folder", ROWS, ids=lambda folder: folder.name)
def test_every_number_is_torchs_to_the_last_bit(folder: Path) -> None:
    expected = torch_rows(folder)

    assert our_rows(key_averages(trace(folder)), len(expected[0])) == expected


def test_the_other_exporter_tells_the_same_but_for_the_moment_it_counts_from() -> None:
    folder = HOST / "python_export_native"
    other = key_averages(read_host(folder / "trace_python_export.json.gz"))
    native = key_averages(trace(folder))

    for column in ("name", "count", "self_cpu_time_total_ns", "cpu_time_total_ns"):
        assert list(getattr(other, column)) == list(getattr(native, column)), column
    assert other.cpu_time_total_us.tolist() == pytest.approx(native.cpu_time_total_us.tolist(), abs=1e-6)


def test_operators_of_a_gpu_trace_of_2021_are_those_of_torchs_tensorboard_plugin() -> None:
    host = read_host(PUBLIC / "kineto/tb_plugin/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz")
    expected = json.loads((PUBLIC / "expected_resnet50_num_workers_0.json").read_text(encoding="utf-8"))["operators"]
    durations = ("device_self_duration", "device_total_duration", "host_self_duration", "host_total_duration")

    table = key_averages(host)

    columns = (
        table.count,
        table.self_device_time_total_ns,
        table.device_time_total_ns,
        table.self_cpu_time_total_ns,
        table.cpu_time_total_ns,
    )
    ours = {name: tuple(int(column[row]) for column in columns) for row, name in enumerate(table.name) if table.kind[row] == "op"}
    assert table.device_name == "CUDA"
    assert len(expected) == 76
    assert {row["name"]: ours[row["name"]] for row in expected} == {
        row["name"]: (row["calls"], *(row[duration] * 1000 for duration in durations)) for row in expected
    }


@pytest.mark.parametrize(
    "name",
    [
        "h100/Falconsai_nsfw_image_detection__1016002",
        "mi300/Falconsai_nsfw_image_detection__1016002",
        "h100/Qwen_Qwen1.5-0.5B-Chat__1016005",
    ],
)
def test_direct_device_time_of_ops_is_tracelens(name: str) -> None:
    folder = PUBLIC / "tracelens/tests/traces"
    lines = (folder / f"{name}_perf_report_csvs" / "ops_summary.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines]
    column = rows[0].index("total_direct_kernel_time_sum")
    expected = {row[0]: float(row[column]) for row in rows[1:]}
    table = key_averages(read_host(folder / f"{name}.json.gz"))

    ours: dict[str, float] = {}
    for row, op in enumerate(table.name):
        ours[op] = ours.get(op, 0.0) + (0.0 if table.is_device[row] else int(table.self_device_time_total_ns[row]) / 1000)

    # TraceLens reads times as floats: its sums are right to 0.01 %.
    assert {op: ours[op] for op in expected} == pytest.approx(expected, rel=1e-4)


def test_a_session_with_no_event_has_an_empty_table() -> None:
    assert render(key_averages(read_host(HOST / "empty.json"))) == ""


def test_no_table_is_left_out() -> None:
    assert (len(EQUAL), len(DIFFERENT), len(TABLES)) == (66, 14, 87)


def test_single_events_end_where_torchs_end() -> None:
    folder = HOST / "transformer_train_full"
    with gzip.open(folder / "events.jsonl.gz", "rt", encoding="utf-8") as lines:
        expected = [json.loads(line) for line in lines]
    table = event_rows(trace(folder))

    assert [event["name"] for event in expected] == list(table.name)
    assert [event["mem"] for event in expected] == table.cpu_memory_bytes.tolist()
    assert [event["end"] - event["start"] for event in expected] == table.cpu_time_total_us.tolist()
    assert [event["parent"] is None for event in expected] == table.is_top_level.tolist()
