"""What the bench prints and keeps: a row says what was measured and nothing else."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.bench.__main__ import main
from tests.bench.case import ROOT, Case, Process, Side, Work
from tests.bench.cases import case_named
from tests.bench.measure import Measured, measure
from tests.bench.saved import save
from tests.bench.table import BEGIN, END, CaseRun, put_into, table

PLAIN_S, OURS_S, C_S = 0.3, 0.1, 0.05


def case(**values: Any) -> Case:
    return Case(
        **{"name": "sort", "what": "sort", "plain_way": "by hand", "set_up": lambda size, folder: Work(Side(list)), **values}
    )


def measured(of: Case, size: int, ours_s: float = OURS_S, **seconds: list[float]) -> Measured:
    return Measured(of, size, size, {"ours": [9.0, ours_s, ours_s / 10], **seconds}, 12.0, is_whole=False, figures={"bytes": 5.5})


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_tells_medians_ratios_growth_and_whether_the_bar_is_met() -> None:
    sorting = case(bar={"ns": 100, "bytes": 6.5})
    small, large = measured(sorting, 100_000, 0.008), measured(sorting, 1_000_000, plain=[PLAIN_S], c=[C_S])
    heading, _, row = table([CaseRun(sorting, (small, large))]).splitlines()

    assert dict(zip(cells(heading), cells(row), strict=True)) == {
        "work": "sort",
        "n": "1,000,000",
        "ns each": "100",
        "bar": "<= 100 ns, <= 6.50 B",
        "met": "yes",
        "the plain way": "by hand",
        "plain ns": "300",
        "plain / ours": "3.00",
        "C ns": "50.0",
        "ours / C": "2.00",
        "peak MiB": "+12.0",
        "growth": "1.25",
        "besides": "5.50 bytes",
    }


def test_a_bar_that_is_missed_is_told_with_the_figure() -> None:
    sorting = case(bar={"ns": 99, "of plain": 0.5, "peak MiB": 11, "CPU s": 1})
    row = table([CaseRun(sorting, (measured(sorting, 1_000_000, plain=[PLAIN_S]),))]).splitlines()[-1]

    assert cells(row)[4] == "no: 100 ns, 12.0 MiB"


def test_a_plain_way_that_is_slow_is_told_at_its_own_size() -> None:
    sorting = case(plain_limit=1_000)
    row = table([CaseRun(sorting, (measured(sorting, 100_000),), measured(sorting, 1_000, 0.001, plain=[0.03]))]).splitlines()[-1]

    assert cells(row)[6:8] == ["30,000 (n = 1,000)", "30.0"]


def test_a_process_is_measured_with_its_start_and_its_peak(tmp_path: Path) -> None:
    hog = Process((sys.executable, "-c", "x = b'x' * (64 << 20); print(len(x))"))
    found = measure(case(set_up=lambda size, folder: Work(Side(hog))), 1, tmp_path, rounds=1)

    assert hog() == b"67108864\n"
    assert found.peak_mib is not None
    assert 64 < found.peak_mib < 128
    assert found.is_whole


def test_a_process_that_fails_ends_the_run_with_what_it_said() -> None:
    with pytest.raises(RuntimeError, match=r"exit code 3: .*oh dear"):
        Process((sys.executable, "-c", "import sys; sys.stderr.write('oh dear'); sys.exit(3)"))()


def test_the_page_keeps_what_stands_around_the_figures() -> None:
    page = put_into(f"before\n{BEGIN}\nold\n{END}\nafter\n", "new")

    assert page == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    with pytest.raises(ValueError, match="no two lines"):
        put_into("no markers", "new")


def test_the_page_of_the_repository_has_both_markers() -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")

    assert put_into(page, "new").count("new") >= 1


def test_a_run_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["launch-join", "union", "--sizes", "200,2e3", "--rounds", "1"])

    heading, _, *rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert code == 0
    assert cells(heading)[0] == "work"
    assert [cells(row)[1] for row in rows] == ["2,000", "2,000"]
    # Every row has a time, a peak and a growth.
    assert all(cells(row)[2] and cells(row)[10] and cells(row)[11] for row in rows)


def test_a_run_that_is_stopped_prints_what_there_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(size: int, folder: Path) -> Work:
        raise KeyboardInterrupt

    monkeypatch.setattr("tests.bench.__main__.CASES", (case_named("union"), case(set_up=stopped)))
    assert main(["--sizes", "100", "--rounds", "1"]) == 0

    told = capsys.readouterr()
    assert "stopped after 1 of 2 cases" in told.err
    assert "time that any slice covers" in told.out


def test_a_profile_tells_the_functions_of_our_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--profile", "union", "help", "--sizes", "1000"]) == 0

    out = capsys.readouterr().out
    assert "union, n = 1,000: " in out
    assert "analyze/intervals.py:" in out
    assert "help: a process of its own" in out


def test_a_case_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["no-such-case"])

    assert "there is no case no-such-case; there are write-pb, " in capsys.readouterr().err


def comparison() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_compare", ROOT / "scripts" / "bench_compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_two_saved_runs_are_compared(tmp_path: Path) -> None:
    pytest.importorskip("pytest_benchmark", reason="pytest-benchmark is not installed (dependency group bench)")
    sorting, other = case(), case(name="scan")
    save(tmp_path / "before.json", [measured(sorting, 1000, 0.2, plain=[0.4])])
    # The machine is twice as slow, and we need a quarter of what we needed.
    save(tmp_path / "after.json", [measured(sorting, 1000, 0.1, plain=[0.8]), measured(other, 1000)])
    script = [sys.executable, "scripts/bench_compare.py", str(tmp_path / "before.json"), str(tmp_path / "after.json")]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True)

    assert [line.split() for line in done.stdout.splitlines()[1:]] == [
        ["scan", "1,000", "not", "there", "100,000.0"],
        ["sort", "1,000", "200,000.0", "100,000.0", "0.50", "0.25", "of", "plain"],
    ]


def test_a_file_that_is_no_run_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    for text in ("{}", "[1", '{"benchmarks": [{}]}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(SystemExit, match=r"other\.json is no run that python -m tests\.bench --save wrote$"):
            comparison().medians(path)
    with pytest.raises(SystemExit, match=r"^cannot read .*missing\.json: No such file"):
        comparison().medians(tmp_path / "missing.json")


def test_a_saved_run_is_in_the_form_of_pytest_benchmark(tmp_path: Path) -> None:
    pytest.importorskip("pytest_benchmark", reason="pytest-benchmark is not installed (dependency group bench)")
    save(tmp_path / "run.json", [measured(case(), 1000, plain=[0.4])])
    entries = json.loads((tmp_path / "run.json").read_bytes())["benchmarks"]

    assert [(entry["name"], entry["stats"]["rounds"], entry["stats"]["median"]) for entry in entries] == [
        ("sort[1000-ours]", 3, 0.1),
        ("sort[1000-plain]", 1, 0.4),
    ]
