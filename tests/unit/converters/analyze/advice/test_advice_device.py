"""Rules on what the device did, and on what it waited for."""

from __future__ import annotations

from typing import Any

from rblnpb.converters.analyze.advice.advice_device import lost_records, starved_device, uneven_slices
from rblnpb.converters.analyze.launches.launch_work import launch_work
from rblnpb.converters.results import Advice
from rblnpb.converters.timeline import AlignedLoss, RecordCount, Timeline, Track
from tests.support.timelines import launches, slices, timeline

TRACKS = (
    Track("rbln:0", "Neural DMA (chiplet 0)", "neural_dma", is_work=True, order=0),
    Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=1),
    Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=2),
)
ARGUMENTS = ("size_bytes", "compute_cycles")


def told(advice: list[Advice]) -> list[tuple[str, int | None, int, str]]:
    return [(one.code, one.cost_ns, one.count, one.place) for one in advice]


def paused(*pauses_ns: int, **parts: Any) -> list[Advice]:
    """Advice on launches of 1,000 ns of work each, with pauses between them."""
    starts = [0]
    for pause_ns in pauses_ns:
        starts.append(starts[-1] + 1_010 + pause_ns)
    work = [{"start": start + 10, "duration": 1_000, "launch": at} for at, start in enumerate(starts)]
    given = timeline(launches=launches(*({"start": start} for start in starts)), slices=slices(*work), **parts)
    return list(starved_device(given, launch_work(given), None))


def moved(*rows: dict[str, Any]) -> Timeline:
    """Transfers and commands: track, stage, command, duration and what they counted."""
    return timeline(tracks=TRACKS, argument_names=ARGUMENTS, slices=slices(*rows, argument_names=ARGUMENTS))


def test_a_pause_far_beyond_the_usual_is_a_stall() -> None:
    (found,) = paused(100, 120, 250_000, 110, is_serialised=True)
    assert told([found]) == [("host-stall", 250_000 - 110, 1, "")]
    assert found.evidence == "1 of 4 pauses; the longest 250,000 ns, usual 110 ns"


def test_a_pause_that_is_usual_or_short_is_none() -> None:
    assert paused(300_000, 310_000, 290_000, is_serialised=True) == []
    assert paused(100, 200_000, 100, is_serialised=True) == []


def test_a_device_that_has_nothing_to_do_a_fifth_of_the_time_waits_for_launches() -> None:
    (found,) = paused(500, 500, 500)
    assert told([found]) == [("launch-bound", 1_500, 3, "")]
    assert found.evidence == "nothing was submitted for 1,500 of 5,540 ns (27.1 %)"
    assert paused(200, 200, 200) == []


def test_stalls_and_waiting_for_launches_do_not_count_twice() -> None:
    stall, bound = paused(100, 100, 300_000)
    assert (stall.cost_ns, bound.cost_ns) == (299_900, 300)


def test_of_a_recording_that_waits_the_program_is_not_blamed() -> None:
    assert paused(500, 500, 500, is_serialised=True) == []


def test_a_transfer_far_below_the_rate_of_its_size_is_slow() -> None:
    rows = [{"stage": "linear_0", "duration": 1_000, "size_bytes": 1 << 20} for _ in range(6)]
    slow = {"stage": "linear_3", "duration": 8_000, "size_bytes": 1 << 20, "track": 1}
    (found,) = uneven_slices(moved(*rows, slow))
    assert told([found]) == [("slow-dma", 7_000, 1, "linear_3 on Neural DMA (chiplet 1)")]
    assert found.evidence == "1 transfer of 1,048,576 bytes took 8,000 ns, usual are 1,000 ns"


def test_small_transfers_are_slow_by_nature() -> None:
    small = [{"stage": "a", "duration": 420, "size_bytes": 1_024} for _ in range(6)]
    large = [{"stage": "b", "duration": 1_400, "size_bytes": 1 << 20} for _ in range(6)]
    assert list(uneven_slices(moved(*small, *large))) == []


def test_a_large_transfer_is_held_against_smaller_ones() -> None:
    small = [{"stage": "a", "duration": 1_000, "size_bytes": 1 << 20} for _ in range(6)]
    (found,) = uneven_slices(moved(*small, {"stage": "b", "duration": 40_000, "size_bytes": 8 << 20}))
    assert told([found]) == [("slow-dma", 32_000, 1, "b on Neural DMA (chiplet 0)")]


def test_equal_transfers_say_what_is_usual() -> None:
    rows = [{"stage": "a", "duration": 1_000 + at, "size_bytes": 1 << 20} for at in range(5)]
    rows += [{"stage": "b", "duration": 1_500, "size_bytes": (1 << 20) + 64} for _ in range(4)]
    (found,) = uneven_slices(moved(*rows, {"stage": "b", "duration": 9_000, "size_bytes": (1 << 20) + 64}))
    assert told([found]) == [("slow-dma", 7_500, 1, "b on Neural DMA (chiplet 0)")]


def test_transfers_of_other_devices_and_without_bytes_say_nothing() -> None:
    rows = [{"stage": "a", "duration": 1_000} for _ in range(6)]
    assert list(uneven_slices(moved(*rows, {"stage": "a", "duration": 9_000}))) == []


def test_a_command_beyond_twice_its_median_is_an_outlier() -> None:
    usual = [{"track": 2, "stage": "mm", "duration": 1_000 + at, "compute_cycles": 1_500} for at in range(5)]
    (found,) = uneven_slices(moved(*usual, {"track": 2, "stage": "mm", "duration": 2_500, "compute_cycles": 3_200}))
    assert told([found]) == [("cycle-outliers", 1_498, 1, "mm on Neural Engine Clusters")]
    assert found.evidence == "1 command took 2,500 ns, usual are 1,002 ns; 1 with twice the cycles"


def test_commands_are_compared_with_themselves() -> None:
    usual = [{"track": 2, "stage": "mm", "duration": 1_000, "compute_cycles": 1_500} for _ in range(5)]
    other = [{"track": 2, "stage": "mm", "command": 1, "duration": 9_000, "compute_cycles": 1_500} for _ in range(5)]
    assert list(uneven_slices(moved(*usual, *other))) == []


def test_four_runs_do_not_say_what_is_usual() -> None:
    usual = [{"track": 2, "stage": "mm", "duration": 1_000, "compute_cycles": 1_500} for _ in range(3)]
    assert list(uneven_slices(moved(*usual, {"track": 2, "stage": "mm", "duration": 9_000, "compute_cycles": 1_500}))) == []


def test_a_name_without_cycles_may_stand_for_work_of_any_size() -> None:
    usual = [{"track": 2, "name": "gemm", "duration": 1_000} for _ in range(5)]
    assert list(uneven_slices(moved(*usual, {"track": 2, "name": "gemm", "duration": 9_000}))) == []


def test_records_that_are_missing_are_named_with_the_reason() -> None:
    counts = (RecordCount("launches", 5, 0), RecordCount("device_slices", 5, 1_200), RecordCount("dependencies", 5, 3))
    losses = (AlignedLoss("device_slices", "buffer_full", 1_200), AlignedLoss("dependencies", "buffer_full", 3))
    (found,) = lost_records(timeline(counts=counts, losses=losses))
    assert told([found]) == [("lost-records", None, 1_203, "")]
    assert found.evidence == "1,200 device_slices, 3 dependencies (buffer full)"


def test_without_losses_there_is_no_advice() -> None:
    assert list(lost_records(timeline(counts=(RecordCount("launches", 5, 0),)))) == []
