"""Reports and differences of regions whose counts are made by hand: what the simulated device never does, the vendor's may."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.torch.explain_counts import Counts, Group, Key, Sum, Tally
from rblnpb.torch.explain_diff import RBLNDiff
from rblnpb.torch.explain_dump import dump_of, verdict_of
from rblnpb.torch.explain_memory import DeviceMemory
from rblnpb.torch.explain_report import format_time, render_report, short_place


@pytest.fixture(autouse=True)
def eight_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = {"cores": 1, "torch_threads": 8, "intended_threads": 8, "oversubscribed": True}
    monkeypatch.setattr("rblnpb.torch.explain_dump._host_threads", lambda: threads)


def dump(sums: dict[Key, Sum], places: dict[str, str] | None = None, wall_ns: int = 2_934_000) -> dict[str, Any]:
    memory = DeviceMemory()
    memory.peak_bytes = 5_433_133_170
    return dump_of(Tally(sums, places or {}), wall_ns, memory)


# The figures of the sample of the vendor's layout.
SAMPLE = {
    Key(Group.BOUNCE, "copy_d2d_host_bounce"): Sum(1600, 12892, 5),
    Key(Group.SLOW_COPY, "src_not_on_device"): Sum(796, 0, 5),
    Key(Group.SLOW_COPY, "src_device_only_real_d2h", "dtype_mismatch"): Sum(1, 512, 5),
    Key(Group.CROSSING, "d2h"): Sum(1, 512),
    Key(Group.CROSSING, "h2d"): Sum(3, 4096),
    Key(Group.FALLBACK, "aten::sub.out", "dtype-not-fp16"): Sum(800, 0, 20_084_000),
    Key(Group.FALLBACK, "aten::clamp.out", "dtype-not-fp16"): Sum(800, 0, 21_000_000),
    Key(Group.RECOMPILATION, "aten::add.out", "first call"): Sum(2),
    Key(Group.PRIMITIVE, "h2v"): Sum(3600, 0, 7_300_000),
    Key(Group.PRIMITIVE, "acquire"): Sum(2400, 0, 5_500_000),
    Key(Group.PRIMITIVE, "v2v"): Sum(400, 0, 4_100_000),
    Key(Group.PRIMITIVE, "return"): Sum(4400, 0, 3_500_000),
    Key(Group.PRIMITIVE, "borrow"): Sum(2000, 0, 2_250_000),
    Key(Group.PRIMITIVE, "v2h"): Sum(1600, 0, 2_023_000),
}
PLACES = {
    "copy_d2d_host_bounce": "/a/b/y/flash_attention.py:1126(build)",
    "aten::sub.out": "/a/b/c/file.py:1276(fn) <- /a/b/c/file.py:1423(caller)",
}


def test_the_sample_of_the_layout_line_by_line() -> None:
    assert render_report(dump(SAMPLE, PLACES, wall_ns=6_000_000_000)) == (
        "[overhead: 4 signals]  RBLN EXPLAIN   (region wall 6.000s | device mem 5.06 GB peak, reserved)\n"
        "\n"
        "  ! host oversubscription: 8 threads / 1 core -> host latency may be inflated\n"
        "    (tune affinity / OMP_NUM_THREADS)\n"
        "  rebel runtime: 24.673ms in librbln (0.4% of region wall)\n"
        "    h2v 7.3ms/3600  acquire 5.5ms/2400  v2v 4.1ms/400  return 3.5ms/4400  +2 more\n"
        "  host->device push (runtime): 3 pushes, 4.00 KB\n"
        "\n"
        "---------------------  -----  --------  ------------------------------------------------------------\n"
        "Signal                 Count     Bytes  Note\n"
        "---------------------  -----  --------  ------------------------------------------------------------\n"
        "host_bounce/d2d_copy   1,600  12.59 KB  see physical d2h below | try: make contiguous, or v2v engine\n"
        "runtime/v2v_slow         797     512 B  see physical d2h below\n"
        "dispatch/cpu_fallback  1,600        --  try: graph mode, or a supported dtype\n"
        "dispatch/recompile         2        --  try: stabilize shapes, or graph mode\n"
        "---------------------  -----  --------  ------------------------------------------------------------\n"
        "\n"
        "  host_bounce/d2d_copy:\n"
        "    at /.../y/flash_attention.py:1126(build)\n"
        "\n"
        "  runtime/v2v_slow:\n"
        "    state:  src_not_on_device 796  src_device_only_real_d2h 1\n"
        "    reject: dtype_mismatch 1 -> align the src/dst dtype | internal_fallback 796 (runtime-internal, not user-fixable)\n"
        "\n"
        "  dispatch/cpu_fallback:  (sum 41.084ms wall)\n"
        "    aten::sub.out    800  at /.../c/file.py:1276(fn) <- /.../c/file.py:1423(caller)\n"
        "    aten::clamp.out  800\n"
        "    why: dtype-not-fp16 1,600\n"
        "    candidates (no fast-path handler): sub.out, clamp.out\n"
        "\n"
        "  dispatch/recompile:\n"
        "    aten::add.out  2\n"
        "\n"
        "  >> physical d2h (real transfer): 1 copies, 512 B -- real device crossing (see runtime/v2v_slow)\n"
        "\n"
        "  (detail: p.help(signal) | raw: p.dump())"
    )


def test_what_the_host_served_costs_little() -> None:
    text = render_report(dump({Key(Group.BOUNCE, "copy_d2d_host_bounce"): Sum(1, 8)}))
    assert "  8 B  no DMA (low cost) | try: make contiguous, or v2v engine\n" in text
    assert "\n  >> physical d2h (real transfer): 0 -- everything above served on host, no crossing\n" in text
    assert text.startswith("[overhead: 1 signal]  RBLN EXPLAIN ")


def test_what_alone_crossed_is_costly() -> None:
    bounce = {Key(Group.BOUNCE, "copy_d2d_host_bounce"): Sum(1, 8), Key(Group.CROSSING, "d2h"): Sum(1, 8)}
    text = render_report(dump(bounce))
    assert "  8 B  real d2h DMA (costly) | try: " in text
    assert "1 copies, 8 B -- real device crossing (see host_bounce/d2d_copy)\n" in text


def test_facts_are_left_out_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rblnpb.torch.explain_dump._host_threads", lambda: {"oversubscribed": False})
    lines = render_report(dump({Key(Group.RECOMPILATION, "aten::mm", ""): Sum(1)})).splitlines()
    assert lines[1:3] == ["", "------------------  -----  -----  ------------------------------------"]
    assert not any("candidates" in line or ">>" in line for line in lines)


def test_operators_with_a_kernel_of_their_own_are_no_candidates() -> None:
    text = render_report(dump({Key(Group.FALLBACK, "aten::mm", "dtype-not-fp16"): Sum(1, 0, 7)}))
    assert "    aten::mm  1\n    why: dtype-not-fp16 1\n\n" in text


def test_a_difference_marks_what_recurs_and_what_is_gone() -> None:
    early = dump({Key(Group.RECOMPILATION, "aten::mm", ""): Sum(2), Key(Group.BOUNCE, "copy_h2d_staging"): Sum(1, 2048)})
    late = dump({Key(Group.FALLBACK, "aten::sub.out", "dtype-not-fp16"): Sum(1600)}, PLACES)
    diff = RBLNDiff(early, late)
    assert str(diff) == (
        "RBLN EXPLAIN DIFF   (A -> B; you placed both points)\n"
        "\n"
        "------------  -  -----  -------  -------  -----------\n"
        "Signal        A      B  A bytes  B bytes\n"
        "------------  -  -----  -------  -------  -----------\n"
        "host_bounce   1      0  2.00 KB       --  gone in B\n"
        "cpu_fallback  0  1,600       --       --  >> persists\n"
        "recompile     2      0       --       --  gone in B\n"
        "------------  -  -----  -------  -------  -----------\n"
        "\n"
        "  >> persists across your two points -> recurring overhead, act on these:\n"
        "    cpu_fallback: aten::sub.out 1,600  at /.../c/file.py:1276(fn) <- /.../c/file.py:1423(caller)"
    )
    assert diff.dump() == {
        "signals": {
            "host_bounce": {"a": 1, "b": 0, "a_bytes": 2048, "b_bytes": 0},
            "cpu_fallback": {"a": 0, "b": 1600},
            "recompile": {"a": 2, "b": 0},
        },
        "persists": ["cpu_fallback"],
        "gone": ["host_bounce", "recompile"],
        "appeared": ["cpu_fallback"],
        "persists_by_op": [{"signal": "cpu_fallback", "op": "aten::sub.out", "count": 1600, "at": PLACES["aten::sub.out"]}],
        "device_memory": {"a_peak_bytes": 5_433_133_170, "b_peak_bytes": 5_433_133_170},
    }


def test_where_nothing_recurs_that_is_said() -> None:
    assert str(RBLNDiff(dump(SAMPLE), dump({}))).endswith("\n\n  nothing persists across your two points")


def test_a_clean_region_is_clean() -> None:
    assert verdict_of(dump({}))["reasons"] == ["no host bounce, no operator on the CPU, no recompilation"]


@pytest.mark.parametrize(("time_ns", "text"), [(999_999, "999.999us"), (10**6, "1.000ms"), (10**9, "1.000s"), (0, "0.000us")])
def test_times_have_three_decimals(time_ns: int, text: str) -> None:
    assert format_time(time_ns) == text


@pytest.mark.parametrize("place", ["a.py:1(f)", "/a/b.py:1(f)", "<stdin>:1(<module>)", ""])
def test_places_that_are_short_stay(place: str) -> None:
    assert short_place(place) == place


def test_a_region_is_what_changed_while_it_was_open() -> None:
    counts, key, other = Counts(), Key(Group.FALLBACK, "a", "b"), Key(Group.WARM)
    counts.add(key, size_bytes=1, duration_ns=10)
    counts.add(other)
    before = counts.open_region(is_tracing=True)
    counts.add(key, size_bytes=2, duration_ns=20)
    counts.place("a", "first")
    counts.place("a", "second")
    assert counts.is_tracing
    assert counts.close_region().since(before) == Tally({key: Sum(1, 2, 20)}, {"a": "first"})
    assert not counts.is_tracing


def test_regions_do_not_overlap() -> None:
    counts = Counts()
    counts.open_region(is_tracing=False)
    with pytest.raises(RuntimeError, match="open already"):
        counts.open_region(is_tracing=False)
    counts.close_region()
    counts.open_region(is_tracing=False)
