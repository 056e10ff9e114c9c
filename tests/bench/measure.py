"""Times of the sides of a case, taken by turns, and the peak of its memory in a process of its own."""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.bench.case import Case, Process, Work

ROUNDS_AT_LEAST, ROUNDS_OF_JUDGED, ROUNDS_AT_MOST = 3, 5, 15
ROUND_BUDGET_S, SLOW_S = 0.3, 2.0
"""A side has more rounds than at least while they took less together, and fewer where they took more. Ours has more of them where
there is a bar: the median of three is that of a busy moment too often."""


@dataclass(frozen=True)
class Measured:
    """A case at one size.

    Attributes:
        case: Which.
        size: Of its input.
        count: Of what the times are divided by.
        seconds: CPU seconds of each round, by side.
        peak_mib: Our peak: of the whole process where our side is one, else what the work adds to that of a fresh process; None:
            not asked.
        is_whole: Which of the two.
        figures: What else there is to tell.
    """

    case: Case
    size: int
    count: int
    seconds: Mapping[str, list[float]]
    peak_mib: float | None
    is_whole: bool
    figures: Mapping[str, float]

    def cpu_s(self, side: str) -> float | None:
        """Median of a side; None where it did not take part."""
        return statistics.median(self.seconds[side]) if side in self.seconds else None

    def ns(self, side: str) -> float | None:
        """The same for each event."""
        seconds = self.cpu_s(side)
        return None if seconds is None else seconds * 1e9 / self.count

    def ratio(self, side: str) -> float | None:
        """How many times as long as we another side takes."""
        ours, other = self.cpu_s("ours"), self.cpu_s(side)
        return None if not ours or other is None else other / ours


def measure(case: Case, size: int, folder: Path, rounds: int | None = None, *, with_peak: bool = True) -> Measured:
    """Measure a case at one size.

    Args:
        case: Which.
        size: Of its input.
        folder: For inputs and outputs; inputs that it holds are used again.
        rounds: How many; None: as many as take little time, three where they do not take seconds.
        with_peak: Whether a fresh process tells its peak.
    """
    work = case.work(size, folder)
    seconds, figures, peak_mib = _turns(work, rounds, has_bar=bool(case.bar))
    count, is_whole = work.count or size, isinstance(work.ours.run, Process)
    # The other process makes an input of its own.
    del work
    if with_peak and not is_whole:
        # Large arrays go back to the system when they are freed, so that none of the input's is used again.
        quick_to_return = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
        command = [sys.executable, "-m", "tests.bench.fresh", case.name, str(size), str(folder)]
        peak_mib = json.loads(Process(command, {**os.environ, **quick_to_return})())
    return Measured(case, size, count, seconds, peak_mib, is_whole, figures)


def _turns(work: Work, rounds: int | None, *, has_bar: bool) -> tuple[dict[str, list[float]], dict[str, float], float | None]:
    """CPU seconds of each side, the figures, and the peak where each run is a process."""
    sides = work.sides()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    peaks_mib: list[float] = []
    result = None
    while due := [name for name, spent in seconds.items() if _is_due(spent, rounds, is_judged=has_bar and name == "ours")]:
        for name in due:
            gc.collect()
            usage = sides[name].use()
            seconds[name].append(usage.cpu_s)
            if name == "ours":
                result = usage.result
                peaks_mib += [usage.peak_mib] if usage.peak_mib is not None else []
            del usage
    return seconds, dict(work.figures(result)), max(peaks_mib, default=None)


def _is_due(spent_s: list[float], rounds: int | None, *, is_judged: bool) -> bool:
    if rounds is not None:
        return len(spent_s) < rounds
    rounds, slow_s = (ROUNDS_OF_JUDGED, 2 * SLOW_S) if is_judged else (ROUNDS_AT_LEAST, SLOW_S)
    # What takes seconds is noisy for a small part of them, so it is not repeated for minutes.
    at_least = rounds if sum(spent_s) < slow_s else 1
    return len(spent_s) < at_least or (len(spent_s) < ROUNDS_AT_MOST and sum(spent_s) < ROUND_BUDGET_S)
