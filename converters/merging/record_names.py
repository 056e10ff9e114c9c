"""Names of slices of two tables as numbers: what is called the same has the same number."""

from __future__ import annotations

import numpy as np

from rblnpb.naming import device_ordinal

from ..timeline import Int64, SliceNames

__all__ = ["NameNumbers", "device_ordinals"]


def device_ordinals(names: list[str]) -> Int64:
    """int64[n]; which device of its host each name means; -1 where it does not say."""
    found = map(device_ordinal, names)
    return np.array([-1 if ordinal is None else ordinal for ordinal in found], np.int64)


class NameNumbers:
    """Numbers of texts, handed out once each.

    Args of its methods are names of slices; `by_layer` asks for the layer alone, which two generations of names have in common.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, names: SliceNames, *, by_layer: bool) -> Int64:
        """int64[n]; a number for each name, from 0 on; names without a layer have their whole text for one."""
        whole = names.override.astype(np.int64)
        if by_layer:
            rows = np.where(names.stage > 0, names.stage, whole)
            return self._of_rows(rows, names.strings)
        numbers = self._of_rows(whole, names.strings)
        made = np.flatnonzero(whole == 0)
        if len(made):
            texts = [text.decode("utf-8", "replace") for text in names.take(made).render().tolist()]
            numbers[made] = [self._number(text) for text in texts]
        return numbers

    def _of_rows(self, rows: Int64, strings: tuple[str, ...]) -> Int64:
        distinct, of_name = np.unique(rows, return_inverse=True)
        numbers = np.array([self._number(strings[row]) for row in distinct.tolist()], np.int64)
        return numbers[of_name] if len(rows) else np.empty(0, np.int64)

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))
