"""What the time of each step was spent on, by the convention of Kineto's TensorBoard plugin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["STEP_PARTS", "StepBreakdown"]

STEP_PARTS: Final = ("kernel", "memcpy", "memset", "runtime", "data_loader", "cpu", "other")
"""Parts of a step; a moment that several of them cover belongs to the first of these."""


@dataclass(frozen=True)
class StepBreakdown:
    """One step of a trace.

    Attributes:
        name: Such as "ProfilerStep#5".
        start_ns, end_ns: Trace clock. A step ends with the device work that it launched, if that is later than its range on
            the host, and the next begins no earlier.
        parts_ns: Time of each of `STEP_PARTS`; they add up to the length of the step.
    """

    name: str
    start_ns: int
    end_ns: int
    parts_ns: tuple[int, ...]

    @property
    def duration_ns(self) -> int:
        """Length of the step."""
        return self.end_ns - self.start_ns
