"""Values as every JSON reader can take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["exact"]


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
