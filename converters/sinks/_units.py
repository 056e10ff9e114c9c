"""Where nanoseconds, bytes and counts become what people read; nowhere else does a number get a unit.

Two families live here. `torch_…` texts are torch's own, digit for digit, for tables that must equal torch's; the others
are ours. Exact integers come in everywhere else than in torch's texts, whose input is torch's float microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Final

__all__ = [
    "TORCH_TIME_UNITS",
    "format_bytes",
    "format_count",
    "format_ns",
    "format_part",
    "format_rate",
    "format_share",
    "format_unix_ns",
    "torch_flops_scale",
    "torch_memory",
    "torch_share",
    "torch_time",
]

TORCH_TIME_UNITS: Final = {"s": 1e6, "ms": 1e3, "us": 1.0}
"""Microseconds in each unit that torch's tables can be told to use throughout."""

_FLOPS_UNITS: Final = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def format_ns(ns: int) -> str:
    """A length of time in the unit in which it has one to three digits before the point.

    >>> format_ns(1_234_567), format_ns(999), format_ns(999_999_999), format_ns(90_000_000_000)
    ('1.235 ms', '999 ns', '1.000 s', '90.000 s')
    """
    sign, size = ("-" if ns < 0 else ""), abs(ns)
    if size < 1000:
        return f"{sign}{size} ns"
    for unit, length in (("µs", 1000), ("ms", 1000_000), ("s", 1000_000_000)):
        # In thousandths of the unit, and in integers: 999.9996 µs must come out as 1.000 ms.
        thousandths = (size * 1000 + length // 2) // length
        if thousandths < 1_000_000 or unit == "s":
            break
    return f"{sign}{thousandths // 1000:,}.{thousandths % 1000:03d} {unit}"


def format_unix_ns(time_ns: int) -> str:
    """A moment in Unix time, as a date with all its digits.

    >>> format_unix_ns(1_795_962_120_123_000_000)
    '2026-11-29 14:22:00.123000000 UTC'
    """
    seconds, rest = divmod(time_ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M:%S}.{rest:09d} UTC"


def format_bytes(size_bytes: int) -> str:
    """An amount of memory in powers of 1024.

    >>> format_bytes(1536), format_bytes(12), format_bytes(-3 * 2**30)
    ('1.50 KiB', '12 B', '-3.00 GiB')
    """
    power = min(max(abs(size_bytes).bit_length() - 1, 0) // 10, 5)
    if power == 0:
        return f"{size_bytes} B"
    return f"{size_bytes / 1024**power:.2f} {'KMGTP'[power - 1]}iB"


def format_count(count: int) -> str:
    """A number of things, its digits in threes.

    >>> format_count(1234567)
    '1,234,567'
    """
    return f"{count:,}"


def format_rate(per_second: int, unit: str) -> str:
    """How much of something there is in a second, in powers of 1000.

    Args:
        per_second: How much.
        unit: Such as "B/s" or "Hz".

    >>> format_rate(1_577_287_066, "Hz"), format_rate(1_200_000_000_000, "B/s"), format_rate(640, "B/s")
    ('1.58 GHz', '1.20 TB/s', '640 B/s')
    """
    if per_second < 1000:
        return f"{per_second} {unit}"
    for prefix, size in (("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12)):
        # In hundredths and in integers: 999.999 kHz must come out as 1.00 MHz.
        hundredths = (per_second * 100 + size // 2) // size
        if hundredths < 100_000 or prefix == "T":
            break
    return f"{hundredths // 100:,}.{hundredths % 100:02d} {prefix}{unit}"


def format_share(part: float) -> str:
    """A part of a whole in percent.

    >>> format_share(0.12345), format_share(1)
    ('12.3 %', '100.0 %')
    """
    return f"{part * 100:.1f} %"


def format_part(part: int, whole: int) -> str:
    """The same of two amounts; of nothing, there is none.

    >>> format_part(1, 8), format_part(0, 0)
    ('12.5 %', '')
    """
    return format_share(part / whole) if whole else ""


def torch_time(time_us: float, unit: str | None = None) -> str:
    """A time in torch's words: three decimals, seconds from 1 s on, milliseconds from 1 ms on, negative times in us.

    Args:
        time_us: Microseconds.
        unit: One of `TORCH_TIME_UNITS` to keep to; None: by size.

    >>> torch_time(1840163.0), torch_time(-63.033), torch_time(2240690.878, "ms")
    ('1.840s', '-63.033us', '2240.691ms')
    """
    if unit is None:
        unit = "s" if time_us >= 1e6 else "ms" if time_us >= 1e3 else "us"
    return f"{time_us / TORCH_TIME_UNITS[unit]:.3f}{unit}"


def torch_share(part_us: float, whole_us: float) -> str:
    """A part in percent, in torch's words; of nothing, there is none.

    >>> torch_share(1.0, 3.0), torch_share(0.0, 0.0)
    ('33.33%', 'NaN')
    """
    return "NaN" if whole_us == 0 else f"{part_us * 100.0 / whole_us:.2f}%"


def torch_memory(size_bytes: int) -> str:
    """An amount of memory in torch's words, with powers of 1024 under the names of those of 1000.

    >>> torch_memory(267776), torch_memory(-8)
    ('261.50 KB', '-8 B')
    """
    for unit, size in (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024)):
        if abs(size_bytes) >= size:
            return f"{size_bytes / size:.2f} {unit}"
    return f"{size_bytes} B"


def torch_flops_scale(flops: Sequence[int]) -> tuple[float, str] | None:
    """Factor and unit for a column of operation counts; torch picks them by the smallest positive one.

    Args:
        flops: Counts of all rows.

    Returns:
        None where no row has any.

    >>> torch_flops_scale([0, 2560, 36700160])
    (0.001, 'KFLOPs')
    """
    smallest = min((count for count in flops if count > 0), default=0)
    if smallest == 0:
        return None
    thousands = min(math.floor(math.log10(smallest) / 3), len(_FLOPS_UNITS) - 1)
    return 10 ** (thousands * -3.0), _FLOPS_UNITS[thousands]
