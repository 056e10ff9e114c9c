"""Where files of released versions of the format are kept, and how their numbers are written down beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

__all__ = ["CORPUS", "NUMBERS", "as_json", "kept_numbers"]

CORPUS: Final = Path(__file__).parent.parent / "compat" / "format"
"""A folder a version."""
NUMBERS: Final = "numbers.json"


def as_json(told: dict[str, Any]) -> str:
    """Numbers by file, a line each; a file that holds the same as one before it names that one."""
    lines: list[str] = []
    names: dict[str, str] = {}
    for name, value in told.items():
        text = json.dumps(value, separators=(",", ":"))
        same = names.setdefault(text, name)
        lines.append(f'"{name}": {text if same == name else json.dumps(same)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def kept_numbers(folder: Path) -> dict[str, Any]:
    """Numbers by file, as `as_json` wrote them."""
    told = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))
    return {name: told[value] if isinstance(value, str) else value for name, value in told.items()}
