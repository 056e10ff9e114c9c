"""Values as every JSON reader can take them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import orjson

__all__ = ["exact", "json_report", "known_share"]


def exact(value: Any) -> Any:
    """The value with every integer beyond 64 bits, at any depth, written out as text: JSON writers refuse it, readers round it.

    >>> exact({"id": 1 << 64, "ids": (7,)})
    {'id': '18446744073709551616', 'ids': [7]}
    """
    if isinstance(value, Mapping):
        return {key: exact(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [exact(one) for one in value]
    return str(value) if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64 else value


def json_report(value: Mapping[str, Any]) -> bytes:
    r"""A report as one JSON object, indented, with a newline behind it; as of `exact`.

    >>> json_report({"id": 1 << 64})
    b'{\n  "id": "18446744073709551616"\n}\n'
    """
    return orjson.dumps(exact(value), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


_DIGITS: Final = 6
"""Decimals of a share: it is no exact number anyway."""


def known_share(part: float) -> float | None:
    """A share with as many decimals as are told; None where it is not known.

    >>> known_share(1 / 3), known_share(math.nan)
    (0.333333, None)
    """
    return None if math.isnan(part) else round(part, _DIGITS)
