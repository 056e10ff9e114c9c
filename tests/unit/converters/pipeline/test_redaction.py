"""Files that can be sent away: whatever is analysed, the numbers are those of the files that they were made of."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rblnpb
from rblnpb.converters import pipeline
from rblnpb.converters.pipeline.inputs import Inputs
from rblnpb.converters.pipeline.redaction import redact
from rblnpb.errors import UsageError
from tests.support import vendor_profiles
from tests.support.device_dialects import DIALECTS, Dialect
from tests.support.redaction import SECRET, secret_profile, secret_trace, texts_of
from tests.support.shared_traces import BUNDLED_TRACE, host_trace_paths
from tests.support.small_run import small_profile, small_trace
from tests.support.vendor_traces import Launch, host_trace, op


def numbers(value: Any) -> Any:
    """A report without its texts; lists in the order of what is left, for names break ties."""
    if isinstance(value, str):
        return ""
    if isinstance(value, list):
        return sorted(json.dumps(numbers(one), sort_keys=True) for one in value)
    if isinstance(value, dict):
        return {key: numbers(one) for key, one in value.items() if key != "sources"}
    return value


def reports(inputs: Inputs) -> dict[str, Any]:
    """Every analysis, by name."""
    timeline = inputs.merge()
    keys = [key for key in pipeline.SUMMARY_KEYS if timeline.host is not None or key != "op"]
    found = {f"summary {key}": pipeline.summarize(timeline, by=key).to_json() for key in keys}
    found |= {f"attribution {key}": pipeline.attribute(timeline, key).to_json() for key in ("op", "module", "python", "all")}
    for analysis in (pipeline.idle, pipeline.measure_latency, pipeline.advise, pipeline.status):
        found[analysis.__name__] = analysis(timeline).to_json()
    return {name: numbers(json.loads(text)) for name, text in found.items()}


RUN = (Launch(1, 1_500, 2_500), Launch(2, 5_500, 6_500))
OPS = (op("aten::mm", 1_200, 2_000, external_id=1), op("acme::op", 5_000, 7_000, external_id=2))
INPUTS = {
    "small run": lambda: Inputs(small_profile(), small_trace(), ()),
    "profile": lambda: Inputs(small_profile(), None, ()),
    "bundled": lambda: pipeline.read_inputs([BUNDLED_TRACE]),
}


@pytest.mark.parametrize("name", INPUTS)
def test_every_analysis_gives_the_same_numbers(name: str) -> None:
    inputs = INPUTS[name]()
    redacted = redact(inputs, b"key").inputs
    assert reports(redacted) == reports(inputs)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_what_any_maker_of_devices_writes_is_read_the_same(dialect: Dialect) -> None:
    inputs = Inputs(None, host_trace([*OPS, *dialect.rows(RUN)]), ())
    redacted = redact(inputs, b"key").inputs
    assert reports(redacted) == reports(inputs)
    before, after = inputs.merge(), redacted.merge()
    assert [track.kind for track in after.tracks] == [track.kind for track in before.tracks]
    assert after.is_work().tolist() == before.is_work().tolist()


@pytest.mark.parametrize("name", [name for name in host_trace_paths() if name not in ("odd_names", "transformer_train_rbln_sim")])
def test_every_analysis_of_a_real_trace_gives_the_same_numbers(name: str) -> None:
    inputs = pipeline.read_inputs([host_trace_paths()[name]])
    assert reports(redact(inputs, b"key").inputs) == reports(inputs)


@pytest.mark.parametrize("rebase_times", [False, True])
def test_files_redacted_apart_with_one_key_still_join(rebase_times: bool) -> None:
    profile, host = small_profile(), small_trace()
    apart = [redact(inputs, b"key", rebase_times=rebase_times) for inputs in (Inputs(profile, None, ()), Inputs(None, host, ()))]
    joined = Inputs(apart[0].inputs.profile, apart[1].inputs.host, ())
    before, after = reports(Inputs(profile, host, ())), reports(joined)
    assert apart[0].shift_s == apart[1].shift_s
    # Of the others some tell when something was.
    same = [name for name in before if name in ("advise", "measure_latency", "summary op", "summary stage", "attribution all")]
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert len(same) == 5
    assert rebase_times or after == before


def test_another_key_moves_times_by_other_seconds() -> None:
    inputs = Inputs(small_profile(), None, ())
    first, second = (redact(inputs, key, rebase_times=True) for key in (b"1", b"2"))
    moved = [
        inputs.profile.session.started_real_ns - one.inputs.profile.session.started_real_ns
        for one in (first, second)
        if inputs.profile is not None and one.inputs.profile is not None
    ]
    assert moved == [first.shift_s * 10**9, second.shift_s * 10**9]
    assert first.shift_s != second.shift_s > 0


def test_the_same_file_and_key_give_the_same_bytes() -> None:
    files = []
    for _ in range(2):
        file = io.BytesIO()
        redacted = redact(Inputs(small_profile(), small_trace(), ()), b"key").inputs
        pipeline.write_profile(redacted.profile, redacted.host, file)
        files.append(file.getvalue())
    assert files[0] == files[1]


# --- secrets -----------------------------------------------------------------------------------------------------------


def secret_inputs(kind: str, folder: Path) -> list[Path]:
    """Files of a kind with the secret in them."""
    trace, device, both = folder / "t.json", folder / "d.pb", folder / "b.pb"
    trace.write_bytes(secret_trace())
    profile = secret_profile().replace(trace_events=rblnpb.columns.TraceEvents.empty(), trace_document=None)
    rblnpb.write(profile, device, display=True)
    pipeline.write_profile(profile, pipeline.read_inputs([trace]).host, both)
    if kind == "archive":
        pipeline.write_profile(None, pipeline.read_inputs([trace]).host, both, force=True)
    if kind == "vendor":
        slices = [
            replace(one, name=one.name.replace("mm", SECRET), arguments={SECRET: SECRET}, categories=(SECRET,))
            for one in vendor_profiles.run("current")
        ]
        assert any(SECRET in one.name for one in slices)
        device.write_bytes(vendor_profiles.vendor_file([*slices, replace(slices[0], track=SECRET, device=f"{SECRET} 0")]))
    return {"trace": [trace], "profile": [device], "two files": [device, trace], "vendor": [device]}.get(kind, [both])


@pytest.mark.parametrize("kind", ["trace", "profile", "two files", "both in one", "archive", "vendor"])
@pytest.mark.parametrize("suffix", ["json", "json.gz", "pb", "pftrace"])
def test_no_secret_is_left_in_any_output_of_any_input(kind: str, suffix: str, tmp_path: Path) -> None:
    files = secret_inputs(kind, tmp_path)
    inputs = pipeline.read_inputs(files)
    redacted = redact(inputs, b"key", rebase_times=True).inputs
    out = tmp_path / f"out.{suffix}"
    if suffix == "pb":
        pipeline.write_profile(redacted.profile, redacted.host, out)
    else:
        write = pipeline.write_perfetto_trace if suffix == "pftrace" else pipeline.write_chrome_trace
        write(redacted.merge(), out)
    data = out.read_bytes()
    found = texts_of(data) if suffix != "pftrace" else data
    assert all(SECRET.encode() in (path.read_bytes() if kind == "vendor" else texts_of(path.read_bytes())) for path in files)
    assert SECRET.encode() not in found


def test_kinds_of_names_to_keep_are_known() -> None:
    with pytest.raises(UsageError, match="there are no names of kind 'mine' to keep; there are annotations, "):
        redact(Inputs(small_profile(), None, ()), b"key", kept=["mine"])


def test_what_was_replaced_is_told_by_kind() -> None:
    redacted = redact(Inputs(None, host_trace([op("acme::op", 1_000, 2_000)]), ()), b"key")
    assert redacted.replaced["op"] == 2
