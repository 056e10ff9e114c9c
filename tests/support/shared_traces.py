"""Real traces with known right answers, which stand beside the repository in ../shared and not in it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
BUNDLED_TRACE = ROOT / "rblnpb" / "data" / "transformer_step.json.gz"
BUNDLED_TABLE = ROOT / "rblnpb" / "data" / "transformer_step.table.txt"

# For a test or, as `pytestmark`, for a module.
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is not here: a clone alone does not have it")


def shared_file(*parts: str) -> Path:
    """A file or folder of ../shared; the asking test is skipped when ../shared is not here, and fails when only the file is not."""
    if not SHARED.is_dir():
        pytest.skip("../shared is not here: a clone alone does not have it")
    path = SHARED.joinpath(*parts)
    assert path.exists(), f"../shared has no {'/'.join(parts)}"
    return path


def host_trace_paths() -> dict[str, Path]:
    """Folder name -> trace of every situation in ../shared/traces/host, in order; empty when ../shared is not here.

    For `pytest.mark.parametrize`, which skips the test of an empty list and says so.
    """
    folders = sorted(path for path in (SHARED / "traces" / "host").glob("*") if path.is_dir())
    return {folder.name: next(iter(sorted(folder.glob("trace.json*")))) for folder in folders}
