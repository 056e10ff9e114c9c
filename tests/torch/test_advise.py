"""Advice on runs of the simulated device: scans that nobody wrote, and what leaves them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from rblnpb import converters
from rblnpb.converters.results import AdviceReport
from rblnpb.profile import HostActivity
from tests.torch.runs import NEEDS_TORCH, SCRIPTS, rblnpb_run, the_profile

pytestmark = [pytest.mark.torch, NEEDS_TORCH]

EXAMPLE = str(SCRIPTS / "profile_matmul.py")


def advised(folder: Path) -> AdviceReport:
    host = converters.read_host(folder / "trace.json")
    return converters.advise(converters.merge(the_profile(folder), host)).values


def codes(report: AdviceReport) -> set[str]:
    return {one.code for one in (*report.advice, *report.below_threshold)}


def test_three_products_scan_six_inputs_and_a_deployed_run_none(tmp_path: Path) -> None:
    checked, deployed = tmp_path / "checked", tmp_path / "deployed"
    for folder, settings in ((checked, {}), (deployed, {"TORCH_RBLN_DEPLOY": "ON"})):
        folder.mkdir()
        assert rblnpb_run(EXAMPLE, cwd=folder, RBLN_PROFILER="1", **settings).returncode == 0
    (scans,) = [one for one in advised(checked).advice if one.code == "nan-inf-checks"]
    split = advised(checked).host_split
    assert split is not None
    assert (scans.count, scans.place, scans.cost_ns) == (6, "aten::mm", split.by_class["checks"])
    assert "nan-inf-checks" not in codes(advised(deployed))
    assert "serialised-by-profiling" in codes(advised(deployed))


def test_the_runtimes_time_is_told_apart_from_that_of_operators(tmp_path: Path) -> None:
    assert rblnpb_run(EXAMPLE, cwd=tmp_path, RBLN_PROFILER="1", TORCH_RBLN_DEPLOY="ON").returncode == 0
    split, profile = advised(tmp_path).host_split, the_profile(tmp_path)
    assert split is not None

    def took_ns(activity: HostActivity) -> int:
        return int(profile.host_slices.duration_ns[profile.host_slices.activity == activity].sum())

    # Whatever the runtime recorded lies in an operator here.
    assert split.by_class["submit"] == took_ns(HostActivity.SUBMIT)
    assert split.by_class["wait"] == took_ns(HostActivity.WAIT)
    assert split.by_class["download"] >= took_ns(HostActivity.COPY_OUT) > 0


def test_hidden_work_is_advised_on_by_reason(tmp_path: Path) -> None:
    assert rblnpb_run(str(SCRIPTS / "hidden_work.py"), cwd=tmp_path, RBLN_PROFILER="1").returncode == 0
    report = converters.advise(converters.merge(the_profile(tmp_path))).values
    titles = {one.title for one in (*report.advice, *report.below_threshold)}
    assert {"aten::sub.out runs on the CPU: dtype-not-fp16", "aten::relu runs on the CPU: nan/inf input"} <= titles
    assert {"cpu-fallback", "copy-through-host"} <= codes(report)
