"""What a purpose asks for of a host trace is all that it takes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from rblnpb.converters.host_trace import ALL_COLUMNS, TABLE_COLUMNS, VIEW_COLUMNS
from rblnpb.converters.pipeline import summarize, write_chrome_trace, write_perfetto_trace
from rblnpb.converters.pipeline.inputs import read_inputs
from rblnpb.converters.timeline import Timeline
from tests.support.shared_traces import BUNDLED_TRACE, shared_file


def chrome(timeline: Timeline) -> bytes:
    file = io.BytesIO()
    write_chrome_trace(timeline, file)
    return file.getvalue()


def perfetto(timeline: Timeline) -> bytes:
    file = io.BytesIO()
    write_perfetto_trace(timeline, file)
    return file.getvalue()


def table(timeline: Timeline) -> str:
    return summarize(timeline).table(row_limit=-1)


PURPOSES = [(VIEW_COLUMNS, chrome), (VIEW_COLUMNS, perfetto), (TABLE_COLUMNS, table)]


def same_with_fewer_columns(path: Path, columns: frozenset[str], made: Callable[[Timeline], bytes | str]) -> bool:
    return made(read_inputs([path], columns=columns).merge()) == made(read_inputs([path], columns=ALL_COLUMNS).merge())


@pytest.mark.parametrize(("columns", "made"), PURPOSES)
def test_the_columns_of_a_purpose_are_enough(columns: frozenset[str], made: Callable[[Timeline], bytes | str]) -> None:
    assert same_with_fewer_columns(BUNDLED_TRACE, columns, made)


@pytest.mark.parametrize(("columns", "made"), PURPOSES)
@pytest.mark.parametrize("name", ["hta/tests/data/mtia_inference_trace/mtia_inference_rank_0.json.gz"])
def test_they_are_enough_for_device_rows_of_others(
    name: str, columns: frozenset[str], made: Callable[[Timeline], bytes | str]
) -> None:
    assert same_with_fewer_columns(shared_file("traces", "public", name), columns, made)
