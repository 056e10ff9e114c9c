"""`torch.rbln.explain()`: what the device did that nobody asked for, and the same from the profile alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rblnpb import converters
from rblnpb.converters.analyze.explained import explained_totals
from rblnpb.converters.results import OverheadPart, OverheadTotal
from rblnpb.converters.sources.explain_dump import read_explain_dump
from tests.torch.runs import NEEDS_TORCH, SCRIPTS, rblnpb_run, the_profile

pytestmark = [pytest.mark.torch, NEEDS_TORCH]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explained")
    done = rblnpb_run(str(SCRIPTS / "hidden_work.py"), cwd=folder, RBLN_PROFILER="1")
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def explained(folder: Path) -> Any:
    return json.loads((folder / "explained.json").read_bytes())


def run_lines(tmp_path: Path, *lines: str, **settings: str) -> list[str]:
    """What a script prints, a line each."""
    (tmp_path / "script.py").write_text("\n".join(("import torch", *lines)), encoding="utf-8")
    done = rblnpb_run("script.py", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def moved(count: int, size_bytes: int) -> dict[str, int]:
    return {"count": count, "bytes": size_bytes}


def test_the_cpu_computes_what_the_device_cannot(explained: Any) -> None:
    dump = explained["cold"]["dump"]
    assert dump["cpu_fallback_by_op"] == {"aten::sub.out": 3, "aten::mul.out": 1, "aten::add.out": 1, "aten::relu": 1}
    assert dump["cpu_fallback_reasons"] == {"dtype-not-fp16": 4, "all-scalar inputs": 1, "nan/inf input": 1}
    assert dump["dispatch"]["cpu_fallback_ns"] > 0


def test_the_first_call_of_a_shape_and_type_compiles(explained: Any) -> None:
    counts = {name: explained[name]["dump"]["dispatch"] for name in ("cold", "warm", "clean")}
    assert {name: (count["recompile_miss"], count["warm_hit"], count["total"]) for name, count in counts.items()} == {
        "cold": (2, 0, 8),
        "warm": (0, 2, 8),
        "clean": (0, 1, 1),
    }
    assert explained["cold"]["dump"]["recompile_by_op"] == {"aten::mm": 1, "aten::add.out": 1}


def test_copies_through_the_host_are_told_by_their_way(explained: Any) -> None:
    dump = explained["cold"]["dump"]
    assert {site: found for site, found in dump["hidden_host_bounce"]["by_site"].items() if found["count"]} == {
        "copy_d2d_host_bounce": moved(2, 40 + 512),
        "copy_h2d_staging": moved(2, 1024 + 1024),
        "copy_h2d_noncontig_dst": moved(1, 128),
    }
    assert dump["hidden_host_bounce"]["total_bytes"] == 2728
    residency = dump["runtime_residency"]
    assert residency["by_reason"]["src_device_only_real_d2h"] == moved(1, 512)
    assert residency["reject"] == {"user_actionable": {"dtype_mismatch": moved(1, 512)}, "internal_fallback": moved(0, 0)}
    # The transposed one and the converted one; whole numbers never were on the device.
    assert (residency["real_host_sync_d2h"], residency["real_host_sync_h2d"]) == (moved(2, 1024), moved(1, 512))


def code_of(line: int) -> str:
    """A line of the script, without the comment."""
    return (SCRIPTS / "hidden_work.py").read_text(encoding="utf-8").splitlines()[line - 1].partition("  #")[0].strip()


def test_the_report_has_the_layout_of_the_vendors(explained: Any) -> None:
    text = re.sub(r"\d+\.\d+(us|ms|s)\b", "TIME", explained["cold"]["report"])
    text = re.sub(r"(?<=TIME/)\d+|\d+\.\d(?=% of region)|\d+(\.\d+)?(?= K?B peak)", "N", text)
    text = re.sub(r"  ! host over.*\n.*\n", "", text)
    text = re.sub(r"hidden_work\.py:\d+", lambda found: code_of(int(found[0].partition(":")[2])), text)
    assert re.sub(r"    (v2h|h2v|v2v) TIME/N.*", "    CALLS", text) == (
        "[overhead: 4 signals]  RBLN EXPLAIN   (region wall TIME | device mem N KB peak, reserved)\n"
        "\n"
        "  rebel runtime: TIME in librbln (N% of region wall)\n"
        "    CALLS\n"
        "  host->device push (runtime): 1 pushes, 512 B\n"
        "\n"
        "----------------------------------  -----  -------  -----------------------------------------------------------------\n"
        "Signal                              Count    Bytes  Note\n"
        "----------------------------------  -----  -------  -----------------------------------------------------------------\n"
        "host_bounce/d2d_copy                    2    552 B  see physical d2h below | try: make contiguous, or v2v engine\n"
        "host_bounce/copy_h2d_staging            2  2.00 KB  see physical d2h below | try: contiguous source of the same dtype\n"
        "host_bounce/copy_h2d_noncontig_dst      1    128 B  see physical d2h below | try: contiguous target\n"
        "runtime/v2v_slow                        1    512 B  see physical d2h below\n"
        "dispatch/cpu_fallback                   6       --  try: graph mode, or a supported dtype\n"
        "dispatch/recompile                      2       --  try: stabilize shapes, or graph mode\n"
        "----------------------------------  -----  -------  -----------------------------------------------------------------\n"
        "\n"
        "  host_bounce/d2d_copy:\n"
        "    at /.../scripts/index.to(torch.int32)(work) <- /.../scripts/work()(<module>)\n"
        "\n"
        "  host_bounce/copy_h2d_staging:\n"
        '    at /.../scripts/host.to("rbln", torch.float16)(work) <- /.../scripts/work()(<module>)\n'
        "\n"
        "  host_bounce/copy_h2d_noncontig_dst:\n"
        "    at /.../scripts/x[:, :4] = host_half[:, :4].contiguous()(work) <- /.../scripts/work()(<module>)\n"
        "\n"
        "  runtime/v2v_slow:\n"
        "    state:  src_device_only_real_d2h 1\n"
        "    reject: dtype_mismatch 1 -> align the src/dst dtype\n"
        "\n"
        "  dispatch/cpu_fallback:  (sum TIME wall)\n"
        "    aten::sub.out  3  at /.../scripts/index - 1(work) <- /.../scripts/work()(<module>)\n"
        "    aten::mul.out  1  at /.../scripts/wide * 2(work) <- /.../scripts/work()(<module>)\n"
        "    aten::add.out  1  at /.../scripts/x + x(work) <- /.../scripts/work()(<module>)\n"
        "    aten::relu     1  at /.../scripts/odd.relu()(work) <- /.../scripts/work()(<module>)\n"
        "    why: dtype-not-fp16 4  all-scalar inputs 1  nan/inf input 1\n"
        "    candidates (no fast-path handler): sub.out, mul.out, add.out, relu\n"
        "\n"
        "  dispatch/recompile:\n"
        "    aten::mm       1  at /.../scripts/x @ x(work) <- /.../scripts/work()(<module>)\n"
        "    aten::add.out  1  at /.../scripts/x + x(work) <- /.../scripts/work()(<module>)\n"
        "\n"
        "  >> physical d2h (real transfer): 2 copies, 1.00 KB -- real device crossing (see runtime/v2v_slow)\n"
        "\n"
        "  (detail: p.help(signal) | raw: p.dump())"
    )


def test_without_stacks_the_report_says_how_to_get_them(explained: Any) -> None:
    assert explained["warm"]["dump"]["trace_by_op"] == {}
    assert explained["warm"]["report"].endswith(
        "\n\n  where? -> rerun with explain(with_stack=True)\n  (detail: p.help(signal) | raw: p.dump())"
    )


def test_a_clean_region_says_what_was_looked_for(explained: Any) -> None:
    first, *rest = explained["clean"]["report"].splitlines()
    assert first.startswith("[clean]  RBLN EXPLAIN   (region wall ")
    assert rest == [
        "  checked: host_bounce, v2v_slow, cpu_fallback, recompile -- none fired",
        '  note: clean = no hidden host overhead, not "fast"',
    ]


def test_the_verdict_is_for_checks(explained: Any) -> None:
    verdict = explained["cold"]["verdict"]
    notes = verdict.pop("notes")
    assert [note["signal"] for note in notes] == [
        *("host_bounce/d2d_copy", "host_bounce/copy_h2d_staging", "host_bounce/copy_h2d_noncontig_dst"),
        *("runtime/v2v_slow:src_device_only_real_d2h", "runtime/v2v_reject:dtype_mismatch"),
        *("dispatch/cpu_fallback", "dispatch/recompile"),
    ]
    assert explained["help"].splitlines() == [f"{note['signal']}: {note['fix']}" for note in notes]
    assert verdict == {
        "clean": False,
        "hidden_host_bounces": 5,
        "hidden_host_bounce_bytes": 2728,
        "runtime_hidden_d2h": 1,
        "runtime_hidden_by_reason": explained["cold"]["dump"]["runtime_residency"]["by_reason"],
        "cpu_fallbacks": 6,
        "recompiles": 2,
        "reasons": [
            "host bounces: 5, 2,728 bytes",
            "device copies served by the host: 1",
            "physical d2h: 2, 1,024 bytes",
            "recompilations: 2",
            "operators on the CPU: 6",
        ],
    }
    assert explained["clean"]["verdict"]["clean"] is True


def test_a_difference_tells_what_recurs(explained: Any) -> None:
    assert explained["diff"].splitlines()[:14] == [
        "RBLN EXPLAIN DIFF   (A -> B; you placed both points)",
        "",
        "--------------------  -  -  -------  -------  -----------",
        "Signal                A  B  A bytes  B bytes",
        "--------------------  -  -  -------  -------  -----------",
        "host_bounce           5  5  2.66 KB  2.66 KB  >> persists",
        "runtime/v2v_slow      1  1    512 B    512 B  >> persists",
        "runtime/physical_d2h  2  2  1.00 KB  1.00 KB  >> persists",
        "runtime/h2d_push      1  1    512 B    512 B  >> persists",
        "cpu_fallback          6  6       --       --  >> persists",
        "recompile             2  0       --       --  gone in B",
        "--------------------  -  -  -------  -------  -----------",
        "",
        "  >> persists across your two points -> recurring overhead, act on these:",
    ]


def known_to_the_dump(total: OverheadTotal) -> OverheadTotal:
    """What a dump can know of hidden work: counts by operator and reason, bytes by way of copy, the time of fallbacks."""
    is_copy, is_fallback = total.kind == "host_copy", total.kind == "cpu_fallback"
    parts = [OverheadPart(part.name, part.count, part.size_bytes if is_copy else None) for part in total.reasons]
    return replace(
        total,
        duration_ns=total.duration_ns if is_fallback else None,
        ops=() if is_copy else tuple(OverheadPart(part.name, part.count) for part in total.ops),
        reasons=tuple(parts) if is_copy or is_fallback else (),
    )


def test_the_profile_alone_tells_the_same(tmp_path: Path) -> None:
    body = (SCRIPTS / "hidden_work.py").read_text(encoding="utf-8").partition("\nwith torch")[0].splitlines()
    first = body.index("HALF = {") if "HALF = {" in body else next(at for at, line in enumerate(body) if line.startswith("HALF"))
    dump = "import json; json.dump(region.dump(), open('dump.json', 'w'))"
    run_lines(
        tmp_path, "region = torch.rbln.explain().start()", *body[first:], "work(); work()", "region.stop()", dump, RBLN_PROFILER="1"
    )

    status = converters.status(converters.merge(the_profile(tmp_path)))

    assert [total.kind for total in status.values.overheads] == ["cpu_fallback", "recompilation", "host_copy"]
    assert tuple(map(known_to_the_dump, status.values.overheads)) == explained_totals(read_explain_dump(tmp_path / "dump.json"))


def test_the_profile_says_where(folder: Path) -> None:
    profile = the_profile(folder)
    places = {profile.strings[row].rpartition("/")[2] for row in profile.overheads.place_strindex.tolist()}
    lines = [int(line) for line in re.findall(r"^hidden_work\.py:(\d+)\(work\)$", "\n".join(sorted(places)), re.MULTILINE)]
    assert [code_of(line) for line in lines] == [
        *("x @ x", "x + x", "index - 1", "wide * 2", "scalar + scalar", "odd.relu()", "x.to(torch.float32)"),
        *("index.to(torch.int32)", "torch.empty(16, 16, **HALF).copy_(x.t())", 'host.to("rbln", torch.float16)'),
        *('host_half.t().to("rbln", memory_format=torch.contiguous_format)', "x[:, :4] = host_half[:, :4].contiguous()"),
    ]


def test_what_starts_a_program_is_no_place_in_it(tmp_path: Path) -> None:
    assert run_lines(
        tmp_path,
        "with torch.rbln.explain(with_stack=True) as p: torch.ones(2, device='rbln') + 1",
        "print(p.dump()['trace_by_op'])",
    ) == ["{'aten::add.out': 'script.py:2(<module>)'}"]


def test_regions_do_not_overlap(tmp_path: Path) -> None:
    assert run_lines(
        tmp_path,
        "with torch.rbln.explain():",
        "    try: torch.rbln.explain().start()",
        "    except RuntimeError as error: print(str(error)[:58])",
        "with torch.rbln.explain() as later: pass",
        "print(later.verdict()['clean'])",
        "for early in (torch.rbln.explain().stop, torch.rbln.explain().dump):",
        "    try: early()",
        "    except RuntimeError: print('too early')",
    ) == ["a region of torch.rbln.explain() is open already, and they", "True", "too early", "too early"]


def test_an_exception_ends_the_region(tmp_path: Path) -> None:
    assert run_lines(
        tmp_path,
        "p = torch.rbln.explain()",
        "try:",
        "    with p: torch.ones(2, device='rbln') + 1; raise ValueError",
        "except ValueError: print(p.dump()['cpu_fallback_by_op'])",
        "with torch.rbln.explain(): pass",
    ) == ["{'aten::add.out': 1}"]


def test_all_threads_count(tmp_path: Path) -> None:
    assert run_lines(
        tmp_path,
        "import threading",
        "x = torch.ones(2, device='rbln')",
        "with torch.rbln.explain() as p:",
        "    threads = [threading.Thread(target=lambda: [x + 1 for _ in range(50)]) for _ in range(4)]",
        "    [thread.start() for thread in threads]; [thread.join() for thread in threads]",
        "print(p.dump()['dispatch']['cpu_fallback'])",
    ) == ["200"]


def test_steady_state_is_the_later_of_two_regions(tmp_path: Path) -> None:
    assert run_lines(
        tmp_path,
        "x, calls = torch.ones(4, 4, device='rbln', dtype=torch.float16), []",
        "def fn(): calls.append(1); x @ x",
        "rbln = torch.rbln",
        "cold, warm = rbln.explain_steady(fn, warmup=3, return_cold=True)",
        "print(len(calls), cold.verdict()['recompiles'], warm.verdict()['clean'])",
        "print(type(rbln.explain_steady(fn)).__name__, type(rbln.explain_steady(fn, as_diff=True)).__name__)",
        "print(rbln.profile(trace=True).__class__ is rbln.RBLNProfile is rbln.RBLNExplain)",
    ) == ["5 1 True", "RBLNExplain RBLNDiff", "True"]


def test_memory_is_counted_while_tensors_live(tmp_path: Path) -> None:
    assert run_lines(
        tmp_path,
        "rbln = torch.rbln",
        "x = torch.empty(1000, device='rbln', dtype=torch.float16)",
        "view = x[10:]; del x; print(rbln.memory_allocated(), rbln.max_memory_allocated())",
        "y = view.cpu(); z = view.float(); print(rbln.memory_allocated(), rbln.memory_reserved())",
        "del z; print(rbln.memory_allocated(), rbln.max_memory_allocated())",
        "rbln.reset_peak_memory_stats(); rbln.empty_cache(); del view",
        "print(rbln.memory_allocated(), rbln.max_memory_reserved(), sorted(rbln.memory_stats().values()))",
        "print(rbln.device_count(), rbln.synchronize())",
    ) == ["2000 2000", "5960 5960", "2000 5960", "0 2000 [0, 0, 2000, 2000]", "1 None"]
