"""Dumps of `torch.rbln.explain()`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rblnpb.converters.analyze.explained import explained_totals
from rblnpb.converters.results import OverheadPart, OverheadTotal
from rblnpb.converters.sources.explain_dump import read_explain_dump
from rblnpb.errors import FormatError

NOTHING: dict[str, Any] = {"hidden_host_bounce": {"by_site": {}}, "dispatch": {"cpu_fallback": 0, "recompile_miss": 0}}
# As the vendor's package prints it, shortened; the numbers of its own sample.
WHOLE: dict[str, Any] = {
    "hidden_host_bounce": {
        "by_site": {
            "copy_d2d_host_bounce": {"count": 1600, "bytes": 12892},
            "copy_h2d_staging": {"count": 0, "bytes": 0},
            "v2v_batch_to_per_entry": {"count": 2, "bytes": 8},
        },
        "total_count": 1600,
        "total_bytes": 12892,
    },
    "dispatch": {"total": 1700, "cpu_fallback": 1200, "cpu_fallback_ns": 41084000, "warm_hit": 498, "recompile_miss": 2},
    "wall_ns": 2934000,
    "cpu_fallback_by_op": {"aten::mul.out": 400, "aten::sub.out": 800},
    "recompile_by_op": {"aten::add.out": 2},
    "cpu_fallback_reasons": {"dtype-not-fp16": 1200},
    "trace_by_op": {
        "aten::sub.out": "/a/file.py:1276(fn) <- /a/file.py:1423(caller)",
        "copy_d2d_host_bounce": "/a/attention.py:1126(build)",
    },
    "runtime_residency": {"available": True, "by_reason": {"src_not_on_device": {"count": 796, "bytes": 512}}},
    "notes": [],
}


def read(folder: Path, text: str | bytes) -> tuple[OverheadTotal, ...]:
    path = folder / "dump.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return explained_totals(read_explain_dump(path))


def test_a_dump_is_overheads_by_kind(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps(WHOLE)) == (
        OverheadTotal(
            "cpu_fallback",
            1200,
            None,
            41084000,
            (OverheadPart("aten::sub.out", 800, place="/a/file.py:1276(fn)"), OverheadPart("aten::mul.out", 400)),
            (OverheadPart("dtype-not-fp16", 1200),),
        ),
        OverheadTotal("recompilation", 2, None, None, (OverheadPart("aten::add.out", 2),), ()),
        OverheadTotal(
            "host_copy",
            2396,
            13404,
            None,
            (),
            (
                OverheadPart("copy_d2d_host_bounce", 1600, 12892, None, "/a/attention.py:1126(build)"),
                OverheadPart("src_not_on_device", 796, 512),
            ),
        ),
        OverheadTotal("batch_split", 2, 8, None, (), (OverheadPart("v2v_batch_to_per_entry", 2, 8),)),
    )


def test_a_clean_region_is_no_row(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps(NOTHING)) == ()


def test_a_runtime_that_is_not_linked_in_is_not_known(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps({**NOTHING, "runtime_residency": {"available": False}})) == ()


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]", b"\xff", b'{"traceEvents": []}', b'{"hidden_host_bounce": 1}'])
def test_what_is_no_dump_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(
        FormatError, match=r"it is no dump of torch\.rbln\.explain\(\): .+; json\.dump\(region\.dump\(\), file\) writes one"
    ):
        read(tmp_path, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"cannot read .*nowhere: no such file or directory"):
        read_explain_dump(tmp_path / "nowhere")
