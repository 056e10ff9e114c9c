"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.arch.tree import place, python_files


def modules_with_examples() -> list[str]:
    """Names to import of the modules that hold an example."""
    paths = [path for path in python_files("rblnpb", "converters") if ">>> " in path.read_text(encoding="utf-8")]
    dotted = [place(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in paths]
    return [f"rblnpb.{name}" if name.startswith("converters") else name for name in dotted]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))

    assert result.attempted > 0
    assert result.failed == 0
