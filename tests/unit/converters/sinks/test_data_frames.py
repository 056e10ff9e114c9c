"""Reports as data frames: the columns of their CSV, typed."""

from __future__ import annotations

import csv
import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from rblnpb import converters, sim
from rblnpb.converters.sinks.data_frames import columns_of
from rblnpb.converters.timeline import Timeline
from tests.support.timelines import timeline


def simulated() -> Timeline:
    return converters.merge(sim.simulate(program="mm", calls=3))


def reports(of: Timeline) -> dict[str, Any]:
    return {"idle": converters.idle(of, top=-1), "latency": converters.measure_latency(of), "stacks": converters.attribute(of)}


def test_kinds_of_columns_are_told_by_values_and_where_there_are_none_by_names() -> None:
    names = ("name", "share", "total_ns", "calls", "far")
    rows = [("mm", 0.5, 7, None, 2**63), (None, None, -1, 3, None)]
    assert columns_of(names, rows) == {
        "name": ("text", ["mm", None]),
        "share": ("share", [0.5, None]),
        "total_ns": ("number", [7, -1]),
        "calls": ("number", [None, 3]),
        "far": ("text", [str(2**63), None]),
    }
    assert [kind for kind, _ in columns_of(names, []).values()] == ["text", "text", "number", "number", "text"]


@pytest.mark.parametrize("name", ["idle", "latency", "stacks"])
def test_columns_are_those_of_the_csv(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict, Series=lambda values, dtype: values))
    report = reports(simulated())[name]
    frame = report.to_pandas()
    lines = list(csv.DictReader(io.StringIO(report.to_csv() if name != "stacks" else report.to_csv(None))))
    assert len(lines) > 0
    told = {column: ["" if value is None else str(value) for value in values] for column, values in frame.items()}
    assert told == {column: [line[column] for line in lines] for column in frame}


@pytest.mark.parametrize("of", [simulated, timeline], ids=["records", "nothing"])
@pytest.mark.parametrize("name", ["idle", "latency", "stacks"])
def test_the_packages_themselves_take_them(name: str, of: Any) -> None:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    report = reports(of())[name]
    frame, table = report.to_pandas(), report.to_arrow()
    assert (isinstance(frame, pandas.DataFrame), isinstance(table, arrow.Table)) == (True, True)
    assert (list(frame), len(frame)) == (table.schema.names, table.num_rows)
