"""The table's text, from rows written by hand."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from rblnpb.converters.results import KeyAverages
from rblnpb.converters.sinks.torch_table import SORT_KEYS, render, sort_order
from rblnpb.errors import UsageError


def rows_with(**changes: Any) -> KeyAverages:
    """Two rows, `aten::mm` and `aten::t`, with what a test says otherwise; the exact times are not for the text."""
    names = changes.get("name", ("aten::mm", "aten::t"))
    zeros, no = np.zeros(len(names), np.int64), np.zeros(len(names), np.bool_)
    columns: dict[str, Any] = {column.name: zeros for column in fields(KeyAverages)}
    columns |= {column: zeros.astype(np.float64) for column in columns if column.endswith("_us")}
    columns |= {column: no for column in columns if column.startswith("is_")}
    columns |= {"name": names, "kind": ("op",) * len(names), "input_shapes": ("",) * len(names), "findings": ()}
    columns |= {"device_name": "RBLN", "profile_memory": False, "with_flops": False}
    if len(names) == 2:
        columns |= {
            "count": np.array([2, 1]),
            "self_cpu_time_total_us": np.array([1500.0, 500.0]),
            "cpu_time_total_us": np.array([2000.0, 500.0]),
            "cpu_memory_bytes": np.array([2048, -8]),
            "self_cpu_memory_bytes": np.array([2056, -8]),
            "is_top_level": np.array([True, False]),
        }
    return KeyAverages(**{**columns, **changes})


def lines(text: str) -> list[str]:
    """Lines without the gap at their end, which every line of columns must have."""
    found = text.split("\n")
    assert found.pop() == ""
    return [line.removesuffix("  ") for line in found]


def titles(rows: KeyAverages) -> list[str]:
    return [title.strip() for title in lines(render(rows))[1].split("  ") if title.strip()]


def column(rows: KeyAverages, title: str) -> list[str]:
    """The cells under a title; columns end where the title ends."""
    table = lines(render(rows))
    stop = table[1].index(title) + len(title)
    return [line[:stop].rsplit("  ", 1)[-1].strip() for line in table[3:-2] if not line.startswith("-")]


def test_a_table_of_cpu_times() -> None:
    rule = "------------  " * 7

    assert render(rows_with()) == (
        f"{rule}\n"
        "        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
        f"{rule}\n"
        "    aten::mm        75.00%       1.500ms       100.00%       2.000ms       1.000ms             2  \n"
        "     aten::t        25.00%     500.000us        25.00%     500.000us     500.000us             1  \n"
        f"{rule}\n"
        "Self CPU time total: 2.000ms\n"
    )


def test_no_rows_no_table() -> None:
    assert render(rows_with(name=())) == ""


def test_a_header_and_a_note_stand_above_under_rulers_of_the_tables_width() -> None:
    table = lines(render(rows_with(), header="HDR", top_level_events_only=True))

    assert table[:4] == ["=" * 96, "HDR", "=" * 96, "This report only display top-level ops statistics"]
    assert len(table[4]) == 96


def test_called_rows_are_left_out_of_a_top_level_report_but_not_of_its_sums() -> None:
    table = lines(render(rows_with(is_top_level=np.array([False, True])), top_level_events_only=True, row_limit=1))

    assert [line.split()[0] for line in table[5:6]] == ["aten::t"]
    assert table[7] == "Self CPU time total: 2.000ms"


@pytest.mark.parametrize(
    ("limit", "expected"), [(-1, ["aten::mm", "aten::t"]), (0, []), (1, ["aten::mm"]), (9, ["aten::mm", "aten::t"])]
)
def test_the_limit_counts_printed_rows(limit: int, expected: list[str]) -> None:
    assert [line.split()[0] for line in lines(render(rows_with(), row_limit=limit))[3:-2]] == expected


def test_long_names_are_cut_three_before_the_limit() -> None:
    rows = rows_with(name=("a" * 17, "b" * 16))

    table = lines(render(rows, max_name_column_width=20))

    assert [line.split()[0] for line in table[3:5]] == ["a" * 17 + "...", "b" * 16]
    assert table[0].split()[0] == "-" * 20


def test_without_a_limit_no_name_is_cut() -> None:
    table = lines(render(rows_with(name=("a" * 90, "b")), max_name_column_width=None))

    assert table[3].split()[0] == "a" * 90
    assert table[0].split()[0] == "-" * 94


@pytest.mark.parametrize(("unit", "expected"), [("s", "0.002s"), ("ms", "1.500ms"), ("us", "1500.000us")])
def test_one_unit_for_all_times(unit: str, expected: str) -> None:
    assert lines(render(rows_with(), time_unit=unit))[3].split()[2] == expected


def test_an_unknown_unit_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="unknown time unit 'ns': the units are s, ms, us"):
        render(rows_with(), time_unit="ns")


def test_of_no_time_at_all_there_is_no_share() -> None:
    rows = rows_with(self_cpu_time_total_us=np.zeros(2), cpu_time_total_us=np.zeros(2))

    assert column(rows, "Self CPU %") == ["NaN", "NaN"]


def test_an_asynchronous_row_has_a_bare_zero_for_its_total_share() -> None:
    assert column(rows_with(is_async=np.array([True, False])), "CPU total %") == ["0", "25.00%"]


def test_device_columns_come_with_device_time_and_count_work_once() -> None:
    rows = rows_with(
        self_device_time_total_us=np.array([30.0, 30.0]),
        device_time_total_us=np.array([30.0, 30.0]),
        is_device=np.array([False, True]),
    )

    assert titles(rows)[6:10] == ["Self RBLN", "Self RBLN %", "RBLN total", "RBLN time avg"]
    assert column(rows, "Self RBLN %") == ["100.00%", "100.00%"]
    assert column(rows, "RBLN time avg") == ["15.000us", "30.000us"]
    assert lines(render(rows))[-1] == "Self RBLN time total: 30.000us"


def test_annotations_on_the_device_are_shown_but_not_summed() -> None:
    rows = rows_with(
        self_device_time_total_us=np.array([30.0, 70.0]),
        is_device=np.array([True, True]),
        is_annotation=np.array([False, True]),
    )

    assert lines(render(rows))[-1] == "Self RBLN time total: 30.000us"


def test_memory_columns_come_with_the_option_and_those_of_the_device_with_its_use() -> None:
    host = rows_with(profile_memory=True)
    both = rows_with(profile_memory=True, self_device_memory_bytes=np.array([0, 1]), device_memory_bytes=np.array([1, 1]))

    assert titles(host)[6:8] == ["CPU Mem", "Self CPU Mem"]
    assert column(host, "CPU Mem") == ["2.00 KB", "-8 B"]
    assert titles(both)[6:10] == ["CPU Mem", "Self CPU Mem", "RBLN Mem", "Self RBLN Mem"]


def test_shapes_have_a_column_as_wide_as_they_need_or_the_limit() -> None:
    rows = rows_with(input_shapes=("[[2, 3], [3, 4]]", "[]"))

    assert lines(render(rows))[0].split()[-1] == "-" * 20
    assert lines(render(rows))[3].endswith("      [[2, 3], [3, 4]]")
    assert lines(render(rows, max_shapes_column_width=5))[3].endswith("  [[2, ")


def test_shapes_that_are_all_empty_have_no_column() -> None:
    assert "Input Shapes" not in titles(rows_with(input_shapes=("[]", "[]")))


def test_operations_share_the_unit_of_the_smallest() -> None:
    rows = rows_with(with_flops=True, flops=np.array([36_700_160, 0]))

    assert column(rows, "Total MFLOPs") == ["36.700", "--"]
    assert "FLOPs" not in render(rows_with(with_flops=True))


def test_the_largest_comes_first_and_ties_keep_their_order() -> None:
    rows = rows_with(name=("a", "b"), count=np.array([3, 3]))

    assert sort_order(rows, "count").tolist() == [0, 1]
    assert sort_order(rows_with(), "self_cpu_time_total").tolist() == [0, 1]
    assert sort_order(rows_with(count=np.array([1, 9])), "cpu_time").tolist() == [0, 1]
    assert sort_order(rows_with(), None).tolist() == [0, 1]


@pytest.mark.parametrize("key", ["device_time_total", "cuda_time_total", "xpu_time_total", "privateuse1_time_total"])
def test_every_word_for_the_device_sorts_by_the_device(key: str) -> None:
    assert sort_order(rows_with(device_time_total_us=np.array([1.0, 2.0])), key).tolist() == [1, 0]


@pytest.mark.parametrize("key", SORT_KEYS)
def test_every_key_sorts(key: str) -> None:
    assert sorted(sort_order(rows_with(), key).tolist()) == [0, 1]


def test_an_unknown_key_is_refused_with_the_nearest_and_all() -> None:
    with pytest.raises(UsageError) as caught:
        render(rows_with(), sort_by="self_cpu_time")

    assert str(caught.value) == (
        "cannot sort by 'self_cpu_time': did you mean self_cpu_time_total? the keys are cpu_time, cpu_time_total, "
        "self_cpu_time_total, device_time, device_time_total, self_device_time_total, cpu_memory_usage, "
        "self_cpu_memory_usage, device_memory_usage, self_device_memory_usage, count, flops"
    )


def test_shares_are_of_the_sum_in_the_order_of_the_table() -> None:
    # Nothing is left of 1 beside 1e16; after sorting by count, the two ones come first and make 2.
    times = np.array([1.0, 1e16, 1.0])
    rows = rows_with(name=("a", "b", "c"), count=np.array([2, 1, 3]), self_cpu_time_total_us=times, cpu_time_total_us=times)

    assert lines(render(rows, time_unit="us"))[-1] == "Self CPU time total: 10000000000000000.000us"
    assert lines(render(rows, time_unit="us", sort_by="count"))[-1] == "Self CPU time total: 10000000000000002.000us"
