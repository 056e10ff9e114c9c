"""From a profile to the events of a profiling window, and into a trace file; no torch is needed for it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rblnpb.errors import OutputError
from rblnpb.sim import simulate
from rblnpb.torch.activity import Activity, DeviceEvent, Lane, Launch, device_activity, owners
from rblnpb.torch.trace_file import add_device_rows

pytestmark = pytest.mark.torch

BASE_NS = 1_790_857_026_000_000_000
LANE = Lane(5, "Neural Engine Clusters (chiplet 0)", "Neural Engine Clusters", is_dma=False)
COPY = Lane(2, "External HDMA", "External HDMA", is_dma=True)
ACTIVITY = Activity(
    device="rbln:0",
    npu="rebel100",
    lanes=(COPY, LANE),
    launches=(Launch(7, BASE_NS + 1_001, 40, 41),),
    events=(
        DeviceEvent("i1_0_W0_args_0_0", BASE_NS + 5_002, BASE_NS + 6_002, lane=0, launch=0),
        DeviceEvent("i1_0_W0_mm_0", BASE_NS + 6_100, BASE_NS + 8_153, lane=1, launch=0),
        DeviceEvent("stray", BASE_NS + 9_000, BASE_NS + 9_500, lane=1, launch=-1),
    ),
)
TRACE = f"""{{
  "schemaVersion": 1,
  "baseTimeNanoseconds": {BASE_NS},
  "traceEvents": [
  {{
    "ph": "i", "name": "a ] , \\"traceName\\" \N{BLACK STAR}", "ts": 1.000, "pid": "", "tid": "", "s": "g"
  }}
  ],
  "traceName": "trace.json"
}}"""


def test_work_of_the_device_is_in_the_order_and_under_the_names_of_the_profile() -> None:
    profile = simulate(calls=2)
    activity = device_activity(profile)

    names = ["args_0_0", "args_0_1", "args_0_2", "mm_0", "mm_1", "mm_2"]
    assert [event.name for event in activity.events] == [f"i1_{call}_W0_{name}" for call in range(2) for name in names]
    assert [event.launch for event in activity.events] == [0] * 6 + [1] * 6
    assert [launch.launch_id for launch in activity.launches] == profile.launches.launch_id.tolist()
    assert sorted(activity.first_events) == [0, 6]
    kinds = {lane.category: lane.torch_category for lane in activity.lanes}
    assert (kinds["Task DMA"], kinds["Neural Engine Clusters"], "Device Workload" in kinds) == ("gpu_memcpy", "kernel", False)


def test_a_launch_belongs_to_the_innermost_operator_of_its_thread() -> None:
    launches = tuple(
        Launch(place, time_ns, 1, thread) for place, (time_ns, thread) in enumerate([(15, 4), (5, 4), (20, 4), (15, 9), (40, 4)])
    )
    ops = [(4, 0, 30, 11), (4, 10, 20, 12), (4, 10, 18, 13), (9, 0, 12, 14), (5, 0, 100, 15)]

    assert owners(Activity(launches=launches), ops) == (13, 11, 11, 0, 0)


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_rows_are_added_at_the_end_and_the_rest_stays(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    pack, unpack = (gzip.compress, gzip.decompress) if name.endswith(".gz") else (bytes, bytes)
    path.write_bytes(pack(TRACE.encode()))
    add_device_rows(str(path), ACTIVITY, (1234,))
    text = unpack(path.read_bytes()).decode()
    events = json.loads(text)["traceEvents"]

    assert text.startswith(TRACE.partition("\n  ],")[0])
    assert text.endswith(TRACE[TRACE.rindex("]") :])
    assert [(event["ph"], event["name"]) for event in events[1:]] == [
        ("M", "process_name"),
        ("M", "process_labels"),
        ("M", "process_sort_index"),
        *[("M", "thread_name"), ("M", "thread_sort_index")] * 2,
        ("i", "rbln_run"),
        ("s", "ac2g"),
        ("X", "i1_0_W0_args_0_0"),
        ("f", "ac2g"),
        ("X", "i1_0_W0_mm_0"),
        ("X", "stray"),
    ]


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_trace_to_which_nothing_can_be_added_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException
) -> None:
    def rows(*_: object) -> Iterator[bytes]:
        yield b"x" * 100_000
        raise error

    path = tmp_path / name
    before = gzip.compress(TRACE.encode()) if name.endswith(".gz") else TRACE.encode()
    path.write_bytes(before)
    monkeypatch.setattr("rblnpb.torch.trace_file._rows", rows)

    with pytest.raises((OutputError, KeyboardInterrupt)):
        add_device_rows(str(path), ACTIVITY, (1234,))

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_slice_says_what_a_plugin_of_kineto_would(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(TRACE, encoding="utf-8")
    add_device_rows(str(path), ACTIVITY, (1234,))
    events: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"), parse_float=str)["traceEvents"]
    marker, _, copy, _, compute, stray = events[8:]

    assert (marker["cat"], marker["ts"], marker["pid"], marker["tid"], marker["args"]) == (
        "privateuse1_runtime",
        "1.001",
        40,
        41,
        {"launch_id": 7},
    )
    assert (copy["cat"], copy["ts"], copy["dur"], copy["pid"], copy["tid"]) == ("gpu_memcpy", "5.002", "1.000", 5_000_000, 2)
    assert (compute["cat"], compute["ts"], compute["dur"], compute["tid"]) == ("kernel", "6.100", "2.053", 5)
    assert compute["args"] == {"categories": "Neural Engine Clusters", "launch_id": 7, "External id": 1234}
    assert stray["args"] == {"categories": "Neural Engine Clusters"}


@pytest.mark.parametrize("text", ["{}", '{"baseTimeNanoseconds": 5, "traceEvents": []}', ""])
def test_a_file_that_torch_did_not_write_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(text, encoding="utf-8")
    add_device_rows(str(path), ACTIVITY, (0,))

    assert path.read_text(encoding="utf-8") == text
