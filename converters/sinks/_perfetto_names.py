"""Texts of a Perfetto trace that stand in it once: events refer to them by a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.perfetto_wire import field, number, utf8

from ..timeline import Int32

__all__ = ["ANNOTATION_NAMES", "ANNOTATION_TEXTS", "CATEGORIES", "EVENT_NAMES", "Interning"]

CATEGORIES: Final = 1
EVENT_NAMES: Final = 2
ANNOTATION_NAMES: Final = 3
ANNOTATION_TEXTS: Final = 29
"""Kinds of texts, as the fields of `InternedData`."""


class Interning:
    """The texts of a trace, by kind.

    Attributes:
        definitions: The fields that define them, in the order in which they were asked for.
    """

    def __init__(self) -> None:
        self.definitions: list[bytes] = []
        self._numbers: dict[tuple[int, str], int] = {}

    def number(self, kind: int, text: str) -> int:
        """The number of a text, from 1 on."""
        found = self._numbers.get((kind, text))
        if found is None:
            found = self._numbers[kind, text] = len(self._numbers) + 1
            self.definitions.append(field(kind, number(1, found) + field(2, utf8(text))))
        return found

    def table(self, kind: int, texts: Sequence[str], used: npt.NDArray[np.integer[Any]], nameless: str = "") -> Int32:
        """Numbers of texts by their row.

        Args:
            kind: What the texts are for.
            texts: A table of texts; row 0 is none.
            used: int[n]; rows that are used.
            nameless: What stands for none; where it is empty, none has number 0.

        Returns:
            int32[len(texts)]; 0 for rows that are not used.
        """
        is_used = np.zeros(len(texts), np.bool_)
        is_used[used] = True
        found = np.zeros(len(texts), np.int32)
        for row in np.flatnonzero(is_used).tolist():
            text = texts[row] or nameless
            found[row] = self.number(kind, text) if text else 0
        return found

    def packets(self, sequence_id: int, defaults: bytes) -> bytes:
        """The packets that define all texts; the first says too what holds for all packets that follow it.

        Args:
            sequence_id: Who writes them.
            defaults: Fields of `TracePacketDefaults`.
        """
        first = field(1, number(10, sequence_id) + number(13, 1) + field(59, defaults))
        parts = [self.definitions[at : at + _PACKET_TEXTS] for at in range(0, len(self.definitions), _PACKET_TEXTS)]
        return first + b"".join(field(1, number(10, sequence_id) + number(13, 2) + field(12, b"".join(part))) for part in parts)


_PACKET_TEXTS: Final = 1024
