"""Numbers as people read them."""

from __future__ import annotations

import pytest

from rblnpb.converters.sinks._units import (
    format_bytes,
    format_count,
    format_ns,
    format_rate,
    format_share,
    torch_flops_scale,
    torch_memory,
    torch_share,
    torch_time,
)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1000, "1.000 µs"),
        (999_999, "999.999 µs"),
        (1_234_567, "1.235 ms"),
        (999_999_400, "999.999 ms"),
        (999_999_999, "1.000 s"),
        (-1_500_000, "-1.500 ms"),
        (7_200_000_000_000, "7,200.000 s"),
    ],
)
def test_a_length_of_time_takes_the_unit_that_fits_after_rounding(ns: int, text: str) -> None:
    assert format_ns(ns) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (-1536, "-1.50 KiB"), (3 * 2**30, "3.00 GiB"), (2**62, "4096.00 PiB")],
)
def test_an_amount_of_memory_takes_powers_of_1024(size: int, text: str) -> None:
    assert format_bytes(size) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0, "0 B/s"),
        (999, "999 B/s"),
        (999_999, "1.00 MB/s"),
        (433_300_000_000, "433.30 GB/s"),
        (1_200_000_000_000, "1.20 TB/s"),
        (1_234_567 * 10**12, "1,234,567.00 TB/s"),
    ],
)
def test_a_rate_takes_the_power_of_1000_that_fits_after_rounding(rate: int, text: str) -> None:
    assert format_rate(rate, "B/s") == text


def test_a_share_is_in_percent() -> None:
    assert [format_share(part) for part in (0, 0.1234, 1, 1.5)] == ["0.0 %", "12.3 %", "100.0 %", "150.0 %"]


def test_a_number_of_things_has_its_digits_in_threes() -> None:
    assert format_count(1234567) == "1,234,567"


@pytest.mark.parametrize(
    ("time_us", "unit", "text"),
    [
        (999.9996, None, "1000.000us"),
        (1000.0, None, "1.000ms"),
        (1e6, None, "1.000s"),
        (-63033.0, None, "-63033.000us"),
        (1500.0, "s", "0.002s"),
        (1.5, "ms", "0.002ms"),
        (1e9, "us", "1000000000.000us"),
    ],
)
def test_torchs_times_round_after_the_unit_is_chosen(time_us: float, unit: str | None, text: str) -> None:
    assert torch_time(time_us, unit) == text


def test_a_share_of_nothing_is_none() -> None:
    assert (torch_share(1.0, 8.0), torch_share(-0.001, 100.0), torch_share(0.0, 0.0)) == ("12.50%", "-0.00%", "NaN")


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (-1023, "-1023 B"), (1024, "1.00 KB"), (-(2**20), "-1.00 MB"), (2**40, "1024.00 GB")]
)
def test_torchs_memory_calls_powers_of_1024_by_the_names_of_1000(size: int, text: str) -> None:
    assert torch_memory(size) == text


@pytest.mark.parametrize(
    ("flops", "scale"),
    [
        ([], None),
        ([0], None),
        ([0, 999], (1.0, "FLOPs")),
        ([1000, 10**12], (1e-3, "KFLOPs")),
        ([10**15], (1e-15, "PFLOPs")),
        ([9 * 10**18], (1e-15, "PFLOPs")),
    ],
)
def test_the_smallest_count_sets_the_unit_of_all(flops: list[int], scale: tuple[float, str] | None) -> None:
    assert torch_flops_scale(flops) == scale
