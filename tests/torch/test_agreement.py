"""The profile that a run wrote and the trace that torch exported say the same as torch said in the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from rblnpb import converters
from rblnpb.converters.timeline import Timeline
from tests.torch.runs import NEEDS_TORCH, Run, the_profile

pytestmark = [pytest.mark.torch, NEEDS_TORCH]

SCRIPTS = (
    "profile_matmul.py",
    "transformer_train.py",
    "convnet.py",
    "scheduled.py",
    "exception.py",
    "dataloader_fork.py",
    "every_option.py",
)


@pytest.fixture(scope="module", params=SCRIPTS)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Run]:
    """The runs of a script, by whether device time was put on operators in the process."""
    folder = tmp_path_factory.mktemp("runs")
    return {False: Run.of(request.param, folder / "plain"), True: Run.of(request.param, folder / "attributed", "--attribute")}


def joined(run: Run) -> Timeline:
    return converters.merge(the_profile(run.folder), converters.read_host(run.folder / "bare.json"))


def exported(run: Run) -> Timeline:
    return converters.merge(None, converters.read_host(run.folder / "trace.json"))


def tables(timeline: Timeline, run: Run, device_time: str) -> dict[str | None, str]:
    summary = converters.summarize(timeline, device_time=device_time)
    return {key: summary.table(key, row_limit=-1) for key in run.tables}


def test_the_joined_files_give_torchs_table_char_for_char(runs: dict[bool, Run]) -> None:
    assert tables(joined(runs[True]), runs[True], "attributed") == runs[True].tables
    assert tables(joined(runs[False]), runs[False], "recorded") == runs[False].tables


def test_the_exported_trace_gives_torchs_table_char_for_char(runs: dict[bool, Run]) -> None:
    for run in runs.values():
        assert tables(exported(run), run, "recorded") == run.tables


def test_launch_ids_attribute_what_the_vendors_release_leaves_open(runs: dict[bool, Run]) -> None:
    run = runs[False]

    assert tables(exported(run), run, "attributed") == tables(joined(run), run, "attributed")


def test_the_joined_files_have_the_device_events_of_the_process(runs: dict[bool, Run]) -> None:
    for run in runs.values():
        timeline = joined(run)
        slices, is_work = timeline.slices, timeline.is_work()
        names = [name.decode() for name in slices.names.take(is_work).render().tolist()]
        rows = zip(names, slices.start_ns[is_work].tolist(), slices.duration_ns[is_work].tolist(), strict=True)
        assert sorted(rows) == sorted(run.events)
        assert len(run.events) > 0


def test_every_launch_is_on_an_operator(runs: dict[bool, Run]) -> None:
    for run in runs.values():
        timeline = joined(run)
        assert (timeline.launches.host_row >= 0).all()
        assert timeline.findings == ()


def test_a_step_of_training_launches_from_three_threads(tmp_path: Path) -> None:
    run = Run.of("transformer_train.py", tmp_path / "run")

    # The main thread, the one of the other model, and torch's own for the backward pass of a device.
    assert len(set(the_profile(run.folder).launches.thread_id.tolist())) == 3
