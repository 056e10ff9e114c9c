"""The vendor's first example shows here what it shows there."""

from __future__ import annotations

import json
import os
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rblnpb import converters
from tests.torch.runs import NEEDS_TORCH, ROOT, SCRIPTS, Run, python, rblnpb_run, the_profile

pytestmark = [pytest.mark.torch, NEEDS_TORCH]

EXAMPLE = str(SCRIPTS / "profile_matmul.py")
FIRST = "18 device events, for example: ['i1_0_W0_args_0_0', 'i1_0_W0_args_0_1', 'i1_0_W0_args_0_2', 'i1_0_W0_mm_0']"
COUNTS = {
    "aten::mm": 6,
    "aten::matmul": 3,
    "aten::abs": 12,
    "aten::isinf": 6,
    "aten::isnan": 6,
    "aten::ne": 6,
    "aten::to": 15,
    "aten::_to_copy": 15,
    "aten::copy_": 21,
    "aten::_copy_from": 9,
}
CHECKS = ("aten::abs", "aten::isinf", "aten::isnan", "aten::ne")


def counts(folder: Path) -> dict[str, int]:
    averages = converters.summarize(converters.merge(None, converters.read_host(folder / "trace.json"))).averages
    return dict(zip(averages.name, averages.count.tolist(), strict=True))


def columns(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


@pytest.fixture(scope="module")
def attributed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("attributed")
    done = rblnpb_run("--attribute", EXAMPLE, cwd=folder, RBLN_PROFILER="1")
    assert (done.returncode, done.stderr) == (0, "")
    return folder, done.stdout


def test_the_report_comes_before_the_table_and_the_events(attributed: tuple[Path, str]) -> None:
    folder, said = attributed
    (profile,) = folder.glob("rbln_*.pb")
    lines = said.splitlines()
    saved = lines.index(f"Saved: {profile.name}")

    assert lines[0] == "RBLN Profiler Generation Status Report"
    assert columns(lines[saved + 2])[6:10] == ["Self RBLN", "Self RBLN %", "RBLN total", "RBLN time avg"]
    assert lines[-1] == FIRST


def test_device_time_stands_on_the_operator_once(attributed: tuple[Path, str]) -> None:
    lines = [columns(line) for line in attributed[1].splitlines()]
    rows = {line[0]: line[6:8] for line in lines if line[0].startswith("aten::")}
    total = next(line[0] for line in lines if line[0].startswith("Self RBLN time total"))

    assert rows["aten::mm"] == [total.partition(": ")[2], "100.00%"]
    assert [row for name, row in rows.items() if name != "aten::mm"] == [["0.000us", "0.00%"]] * (len(rows) - 1)


def test_host_rows_are_counted_as_on_the_page(attributed: tuple[Path, str]) -> None:
    found = counts(attributed[0])

    assert {name: found[name] for name in COUNTS} == COUNTS


def test_the_gap_from_submission_to_device_is_that_of_the_profile(attributed: tuple[Path, str]) -> None:
    folder = attributed[0]
    events: list[dict[str, Any]] = json.loads((folder / "trace.json").read_bytes(), parse_float=Decimal)["traceEvents"]
    markers = {event["args"]["launch_id"]: event for event in events if event["name"] == "rbln_run"}
    first = {event["args"]["launch_id"]: event for event in reversed(events) if event.get("cat") == "gpu_memcpy"}
    gaps_ns = [int(1_000 * (first[launch]["ts"] - markers[launch]["ts"])) for launch in sorted(markers)]
    timeline = converters.merge(the_profile(folder))
    start_ns = [int(timeline.slices.start_ns[timeline.slices.launch == row].min()) for row in range(len(timeline.launches))]

    assert gaps_ns == [start - launch for start, launch in zip(start_ns, timeline.launches.start_ns.tolist(), strict=True)]
    assert {(event["pid"], event["tid"]) for event in first.values()}.isdisjoint(
        {(event["pid"], event["tid"]) for event in events if event.get("cat") == "cpu_op"}
    )


def test_the_vendors_release_puts_no_device_time_on_operators(tmp_path: Path) -> None:
    run = Run.of("profile_matmul.py", tmp_path / "run")
    lines = [columns(line) for line in (run.tables["cpu_time_total"]).splitlines()]

    assert {tuple(line[6:8]) for line in lines if line[0].startswith("aten::")} == {("0.000us", "0.00%")}
    assert not lines[-1][0].endswith(" 0.000us")


def test_unprofiled_there_is_no_column_no_event_no_file_and_one_line_of_advice(tmp_path: Path) -> None:
    done = rblnpb_run(EXAMPLE, cwd=tmp_path)

    assert done.returncode == 0
    assert "RBLN" not in done.stdout
    assert done.stdout.splitlines()[-1] == "0 device events, for example: []"
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]
    assert done.stderr == "rblnpb: the device was not recorded; RBLN_PROFILER=1 rblnpb run ... records it\n"


def test_the_setting_inside_the_script_is_too_late(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    example = Path(EXAMPLE).read_text(encoding="utf-8")
    script.write_text(f"import os\nos.environ['RBLN_PROFILER'] = '1'\n{example}", encoding="utf-8")
    done = rblnpb_run(str(script), cwd=tmp_path)

    assert done.stdout.splitlines()[-1] == "0 device events, for example: []"
    assert list(tmp_path.glob("*.pb")) == []
    assert "the script sets RBLN_PROFILER, which is too late" in done.stderr


def test_deployed_the_checks_are_gone_and_the_device_events_are_not(tmp_path: Path) -> None:
    done = rblnpb_run(EXAMPLE, cwd=tmp_path, RBLN_PROFILER="1", TORCH_RBLN_DEPLOY="ON")

    assert done.stdout.splitlines()[-1] == FIRST
    assert set(counts(tmp_path)).isdisjoint(CHECKS)


def test_atom_has_no_bridge_and_the_two_files_give_the_full_picture(tmp_path: Path) -> None:
    done = rblnpb_run("--npu", "atom", EXAMPLE, cwd=tmp_path, RBLN_PROFILER="1")
    host = converters.read_host(tmp_path / "trace.json")
    timeline = converters.merge(the_profile(tmp_path), host)

    assert "0 device events, for example: []\n" in done.stdout
    assert len(converters.merge(None, host).slices) == 0
    # The warm-up is in the profile too, and was launched before the window.
    assert sum((timeline.launches.host_row >= 0).tolist()) == 3
    assert sum((timeline.slices.host_row >= 0).tolist()) == 18
    assert [finding.code for finding in timeline.findings] == ["unmatched-outside-window", "out-of-window"]


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """A folder that makes the package an installed one, with its entry points."""
    metadata = tmp_path / "site" / "rblnpb-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: rblnpb\nVersion: 0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[torch.backends]\nrblnpb = rblnpb.torch.autoload:autoload\n", encoding="utf-8")
    return os.pathsep.join([str(tmp_path / "site"), str(ROOT)])


def test_a_plain_python_brings_the_device_up_through_the_entry_point(tmp_path: Path, installed: str) -> None:
    done = python(EXAMPLE, cwd=tmp_path, PYTHONPATH=installed, RBLNPB_SIM="1", RBLN_PROFILER="1")

    assert done.stdout.splitlines()[0] == "RBLN Profiler Generation Status Report"
    assert done.stdout.splitlines()[-1] == FIRST


def test_a_setting_ahead_of_the_import_is_too_late_as_well(tmp_path: Path, installed: str) -> None:
    program = f"import os, runpy\nos.environ['RBLN_PROFILER'] = '1'\nrunpy.run_path({EXAMPLE!r})"
    done = python("-c", program, cwd=tmp_path, PYTHONPATH=installed, RBLNPB_SIM="1")

    assert done.stdout.splitlines()[-1] == "0 device events, for example: []"


def test_importing_torch_is_not_touched_unless_it_is_asked_for(tmp_path: Path, installed: str) -> None:
    program = "import torch, sys; print(torch._C._get_privateuse1_backend_name(), 'rblnpb.torch.activation' in sys.modules)"
    done = python("-c", program, cwd=tmp_path, PYTHONPATH=installed)

    assert (done.stdout, done.stderr) == ("privateuseone False\n", "")
