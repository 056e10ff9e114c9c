"""Rules that another tool holds, asked from here so that the tests alone say when one is broken."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from tests.arch.tree import ROOT, run


def test_rooms_import_only_downward() -> None:
    if importlib.util.find_spec("importlinter") is None:
        pytest.skip("import-linter is not installed (dependency group lint)")
    done = run("lint-imports", "--no-cache")

    assert done.returncode == 0, done.stdout + done.stderr


def test_generated_code_is_what_the_schema_gives() -> None:
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("grpcio-tools is not installed (dependency group proto)")
    done = run(sys.executable, "scripts/regen_proto.py", "--check")

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_schema_keeps_its_newest_promise() -> None:
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("buf is not installed (dependency group proto)")
    done = run(sys.executable, "scripts/release_schema.py", "--check")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("session", "uint32 device_id = 5", "int32 device_id = 5"),
        ("session", "uint32 device_id = 5", "optional uint32 device_id = 5"),
        ("session", "uint32 device_id = 5", "uint32 owner_id = 5"),
        ("session", "uint32 device_id = 5", "uint32 device_id = 99"),
        ("columns", "CODEC_ZLIB", "CODEC_DEFLATE"),
    ],
)
def test_a_change_of_what_was_promised_is_refused(tmp_path: Path, name: str, before: str, after: str) -> None:
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("buf is not installed (dependency group proto)")
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    schema = tmp_path / "proto" / "rblnpb" / "v1" / f"{name}.proto"
    text = schema.read_text(encoding="utf-8")
    assert before in text
    schema.write_text(text.replace(before, after), encoding="utf-8")

    done = run("buf", "breaking", str(tmp_path), "--against", str(ROOT / "proto" / "released" / "v1.0.binpb"))

    assert done.returncode == 100, done.stdout + done.stderr
