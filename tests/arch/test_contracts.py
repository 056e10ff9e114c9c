"""Rules that another tool holds, asked from here so that the tests alone say when one is broken."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from tests.arch.tree import run


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
