"""The file-only join against a run whose links the profiler in the process knew: 797 launches on two threads."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import rblnpb
from rblnpb.converters.merging import merge
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import MATCH_RULES, Timeline
from tests.support.launch_oracle import recorded_run
from tests.support.shared_traces import needs_shared, shared_file

pytestmark = needs_shared


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> tuple[Timeline, list[dict[str, int]]]:
    """The run through files of both formats, and what was recorded of its launches."""
    profile, trace, launches = recorded_run(shared_file("traces", "host", "transformer_train_rbln_sim"))
    folder = tmp_path_factory.mktemp("run")
    (folder / "host.json").write_text(json.dumps(trace))
    buffer = io.BytesIO()
    rblnpb.write(profile, buffer)
    return merge(rblnpb.read(buffer.getvalue()), read_host(Path(folder / "host.json"))), launches


def test_every_launch_lies_on_the_op_that_the_profiler_named(joined: tuple[Timeline, list[dict[str, int]]]) -> None:
    timeline, launches = joined
    assert timeline.host is not None
    external = np.append(timeline.host.events.external_id, 0)[timeline.launches.host_row]
    assert external.tolist() == [launch["corr"] for launch in launches]


def test_the_one_launch_in_an_annotation_stays_unattributed_with_its_reason(
    joined: tuple[Timeline, list[dict[str, int]]],
) -> None:
    timeline, _ = joined
    reasons = Counter(MATCH_RULES[code] for code in timeline.launches.reason.tolist())
    assert reasons == {"innermost-op": 796, "annotation-only": 1}


def test_device_times_come_back_to_the_nanosecond(joined: tuple[Timeline, list[dict[str, int]]]) -> None:
    timeline, launches = joined
    assert timeline.slices.start_ns.tolist() == [launch["launch_ns"] + 4000 for launch in launches]
