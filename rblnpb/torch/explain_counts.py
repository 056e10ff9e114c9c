"""Counts of what the device did that the program did not ask for: process-wide, always on, read as differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from rblnpb.process_lock import ProcessLock

__all__ = ["BOUNCES", "SLOW_COPIES", "Counts", "Group", "Key", "Sum", "Tally"]

BOUNCES: Final = (
    "copy_d2d_host_bounce",
    "copy_h2d_staging",
    "copy_h2d_noncontig_dst",
    "strided_v2v_cpu_fallback",
    "v2v_batch_to_per_entry",
    "host_batch_to_per_entry",
)
"""Places in the vendor's runtime where a copy takes a way that nobody asked for; the simulated device comes by the first three."""

SLOW_COPIES: Final = ("src_not_on_device", "src_device_only_real_d2h", "src_synced_host_served")
"""Where the source was when the runtime could not copy it on the device."""


class Group(str, Enum):
    """What a count is about; in brackets what `Key.name` and `Key.reason` are. Texts, because those are hashed fast."""

    FALLBACK = "cpu_fallback"
    """(operator, why)"""
    RECOMPILATION = "recompile"
    """(operator, why)"""
    BOUNCE = "host_bounce"
    """(one of `BOUNCES`, "")"""
    SLOW_COPY = "v2v_slow"
    """(one of `SLOW_COPIES`, why the copy on the device was rejected)"""
    CROSSING = "crossing"
    """("d2h" or "h2d", ""): bytes that such a copy took between device and host."""
    PRIMITIVE = "primitive"
    """(call into the runtime, "")"""
    WARM = "warm_hit"
    """("", ""): programs that were compiled already."""


class Key(NamedTuple):
    """What is counted."""

    group: Group
    name: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Sum:
    """How often, with how many bytes and how much time."""

    count: int = 0
    size_bytes: int = 0
    duration_ns: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.count + other.count, self.size_bytes + other.size_bytes, self.duration_ns + other.duration_ns)

    def __sub__(self, other: Sum) -> Sum:
        return Sum(self.count - other.count, self.size_bytes - other.size_bytes, self.duration_ns - other.duration_ns)


@dataclass(frozen=True)
class Tally:
    """Sums at a moment, or between two, and the lines of the program that led to them where those were asked for."""

    sums: Mapping[Key, Sum] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)

    def since(self, earlier: Tally) -> Tally:
        """What came after an earlier moment; nothing stays of what did not change."""
        gone = {key: total - earlier.sums.get(key, Sum()) for key, total in self.sums.items()}
        return Tally({key: total for key, total in gone.items() if total.count}, self.places)

    def total(self, group: Group, name: str | None = None) -> Sum:
        """Sum of a group, or of one name in it."""
        own = (total for key, total in self.sums.items() if key.group is group and name in (None, key.name))
        return sum(own, Sum())

    def by_name(self, group: Group) -> dict[str, Sum]:
        """Sums of a group by name, the largest count first."""
        names = dict.fromkeys(key.name for key in self.sums if key.group is group)
        return _by_count({name: self.total(group, name) for name in names})

    def by_reason(self, group: Group) -> dict[str, Sum]:
        """Sums of a group by reason, the largest count first."""
        sums: dict[str, Sum] = {}
        for key, total in self.sums.items():
            if key.group is group:
                sums[key.reason] = sums.get(key.reason, Sum()) + total
        return _by_count(sums)


def _by_count(sums: dict[str, Sum]) -> dict[str, Sum]:
    return dict(sorted(sums.items(), key=lambda item: -item[1].count))


class Counts:
    """The counters of a process. Any thread may count."""

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._sums: dict[Key, list[int]] = {}
        self._places: dict[str, str] = {}
        self._is_open = False
        self._is_tracing = False

    @property
    def is_tracing(self) -> bool:
        """Whether lines of the program are asked for."""
        return self._is_tracing

    def add(self, key: Key, *, size_bytes: int = 0, duration_ns: int = 0) -> None:
        """Count one thing."""
        with self._lock:
            total = self._sums.setdefault(key, [0, 0, 0])
            total[0] += 1
            total[1] += size_bytes
            total[2] += duration_ns

    def place(self, name: str, place: str) -> None:
        """Keep the first place of an operator or a kind of copy in the open region."""
        with self._lock:
            self._places.setdefault(name, place)

    def open_region(self, *, is_tracing: bool) -> Tally:
        """Begin the region of which there is one at a time, because what it reads belongs to the whole process.

        Raises:
            RuntimeError: There is one already.
        """
        with self._lock:
            if self._is_open:
                raise RuntimeError(
                    "a region of torch.rbln.explain() is open already, and they cannot overlap: they count for the whole process; "
                    "stop that one first"
                )
            self._is_open, self._is_tracing = True, is_tracing
            self._places = {}
            return Tally(self._now())

    def close_region(self) -> Tally:
        """End the region; gives the sums of now and the places that were kept."""
        with self._lock:
            self._is_open = self._is_tracing = False
            return Tally(self._now(), self._places)

    def _now(self) -> dict[Key, Sum]:
        return {key: Sum(*total) for key, total in self._sums.items()}
