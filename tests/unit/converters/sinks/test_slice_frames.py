"""Summaries of device slices as data frames: with stand-ins for the packages, and with the packages where they are."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from rblnpb.converters.analyze.slices.slice_summary import slice_summary
from rblnpb.converters.results import SliceRows
from rblnpb.converters.sinks._slice_columns import row_columns
from rblnpb.converters.sinks.slice_frames import slices_to_arrow, slices_to_pandas
from tests.support.timelines import slices, timeline


def rows(*durations: int) -> SliceRows:
    return slice_summary(timeline(slices=slices(*({"stage": "mm", "duration": one} for one in durations))), "program")


HUGE = (2**62, 2**62, 2**62)


def told(frame: dict[str, Any], *names: str) -> list[Any]:
    return [frame[name] for name in names]


COLUMNS = ("name", "compile_id", "total_ns", "device_time_share", "compute_use", "size_bytes", "bound")


@pytest.mark.parametrize(
    ("durations", "total"), [((5, 6), ("Int64", [11])), (HUGE, (object, [str(3 * 2**62)]))], ids=["whole", "beyond 64 bits"]
)
def test_columns_of_pandas_keep_whole_numbers_whole(
    monkeypatch: pytest.MonkeyPatch, durations: tuple[int, ...], total: tuple[Any, list[Any]]
) -> None:
    fake = SimpleNamespace(DataFrame=dict, Series=lambda values, dtype: (dtype, values))
    monkeypatch.setitem(sys.modules, "pandas", fake)
    assert told(slices_to_pandas(rows(*durations)), *COLUMNS) == [
        (object, ["(unknown)"]),
        (object, [""]),
        total,
        ("float64", [1.0]),
        ("float64", [None]),
        ("Int64", [None]),
        (object, ["unknown"]),
    ]


@pytest.mark.parametrize(
    ("durations", "total"), [((5, 6), ("int64", [11])), (HUGE, ("string", [str(3 * 2**62)]))], ids=["whole", "beyond 64 bits"]
)
def test_columns_of_arrow_have_their_types(
    monkeypatch: pytest.MonkeyPatch, durations: tuple[int, ...], total: tuple[str, list[Any]]
) -> None:
    fake = SimpleNamespace(
        table=dict,
        array=lambda values, kind: (kind, values),
        string=lambda: "string",
        float64=lambda: "float64",
        int64=lambda: "int64",
    )
    monkeypatch.setitem(sys.modules, "pyarrow", fake)
    assert told(slices_to_arrow(rows(*durations)), *COLUMNS) == [
        ("string", ["(unknown)"]),
        ("string", [""]),
        total,
        ("float64", [1.0]),
        ("float64", [None]),
        ("int64", [None]),
        ("string", ["unknown"]),
    ]


@pytest.mark.parametrize("durations", [(), (5, 6), HUGE])
def test_pandas_itself_takes_them(durations: tuple[int, ...]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = slices_to_pandas(rows(*durations))
    assert isinstance(frame, pandas.DataFrame)
    assert (list(frame), frame["count"].dtype.name, frame.shape[0]) == (
        list(row_columns(rows(*durations))),
        "Int64",
        len(rows(*durations)),
    )


@pytest.mark.parametrize("durations", [(), (5, 6), HUGE])
def test_arrow_itself_takes_them(durations: tuple[int, ...]) -> None:
    arrow = pytest.importorskip("pyarrow")
    table = slices_to_arrow(rows(*durations))
    assert isinstance(table, arrow.Table)
    assert (table.schema.names, str(table.schema.field("count").type)) == (list(row_columns(rows(*durations))), "int64")
