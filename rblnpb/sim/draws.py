"""Chance by count: integers from a seeded bit generator, the same in every version of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Draws"]


class Draws:
    """A stream of integers, from the raw output of the bit generator: that one numpy keeps, its distributions it may change."""

    def __init__(self, *seed: int) -> None:
        """Equal seeds give equal streams. Each is a number of any size, from 0."""
        self._source = np.random.PCG64(np.random.SeedSequence(seed))

    def between(self, low: npt.ArrayLike, high: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """int64; one number from `low` to `high`, both included, for each element of the two (broadcast) arrays.

        The spans must be below 2**31.
        """
        least, most = np.broadcast_arrays(np.asarray(low, np.int64), np.asarray(high, np.int64))
        raw = self._raw(least.size).reshape(least.shape) >> np.uint64(33)
        span = (most - least + 1).astype(np.uint64)
        drawn: npt.NDArray[np.int64] = (raw * span >> np.uint64(31)).astype(np.int64) + least
        return drawn

    def one(self, low: int, high: int) -> int:
        """One number from `low` to `high`, both included."""
        return int(self.between([low], [high])[0])

    def around(self, value: npt.ArrayLike, percent: int) -> npt.NDArray[np.int64]:
        """int64; each value moved by at most this many percent."""
        middle = np.asarray(value, np.int64)
        reach = middle * percent // 100
        return self.between(middle - reach, middle + reach)

    def identity(self) -> int:
        """A number from 1 to 2**64 - 1."""
        return int(self._raw(1)[0]) or 1

    def _raw(self, count: int) -> npt.NDArray[Any]:
        return np.asarray(self._source.random_raw(count), np.uint64)
