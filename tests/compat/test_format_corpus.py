"""Files of every version of the format that was released read to the numbers that were read then, in every way of reading."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rblnpb
from rblnpb.clock import ClockKind
from rblnpb.columns import DeviceSlices
from rblnpb.container import SCHEMA_VERSION
from rblnpb.errors import Severity
from rblnpb.naming import NameStyle
from rblnpb.profile import KINDS, EngineKind, HostActivity, LossReason, OverheadKind
from tests.support.format_corpus import CORPUS, as_json, kept_numbers
from tests.support.format_numbers import differences, numbers, numbers_of
from tests.support.format_specimens import specimens
from tests.support.packed_columns import VALUES
from tests.support.profiles import payloads

SPEC = importlib.util.spec_from_file_location("release_corpus", CORPUS.parents[2] / "scripts" / "release_corpus.py")
assert SPEC is not None
assert SPEC.loader is not None
SCRIPT: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SCRIPT)

OWN = CORPUS / f"v{SCHEMA_VERSION[0]}.{SCHEMA_VERSION[1]}"
FILES = [path for version in sorted(CORPUS.iterdir()) for path in sorted(version.glob("*.pb"))]
CASES = pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.stem}" for path in FILES])
WHOLE = {"everything_raw", "everything_none", "everything_zlib", "everything_zstd", "archive", "display", "simulated", "clocks"}


def kept_of(path: Path) -> Any:
    return kept_numbers(path.parent)[path.stem]


# --- what was written once -----------------------------------------------------------------------------------------


@CASES
def test_a_file_reads_to_the_numbers_that_were_kept(path: Path) -> None:
    assert list(differences(kept_of(path), numbers(path.read_bytes()))) == []


@CASES
def test_slices_that_stay_in_the_file_and_chunks_one_by_one_are_the_same_numbers(path: Path) -> None:
    kept = [session["records"]["device_slices"] for session in kept_of(path)]

    with rblnpb.open_profile(path) as file:
        pairs = [file.profile_and_slices(session_id) for session_id in file.session_ids]
        stored = [numbers_of(profile.replace(device_slices=slices.take(slice(None)))) for profile, slices in pairs]
        counts = dict.fromkeys(file.session_ids, 0)
        for chunk in file.chunks(DeviceSlices):
            assert chunk.records is not None
            counts[chunk.frame.session_id] += len(chunk.records)

    assert list(differences(kept, [session["records"]["device_slices"] for session in stored])) == []
    assert list(counts.values()) == [table["count"] for table in kept]


@CASES
def test_a_window_of_all_time_holds_the_same_numbers(path: Path) -> None:
    with rblnpb.open_profile(path) as file:
        for session, kept in zip(file.session_ids, kept_of(path), strict=True):
            found = numbers_of(file.profile(session, window=(-(2**70), 2**70)))

            # Dependencies refer by row to slices that are there, which are all.
            assert list(differences(kept["records"], found["records"])) == []


@CASES
def test_a_file_that_is_read_and_written_again_reads_to_the_same_numbers(path: Path) -> None:
    for profile in rblnpb.read_all(path.read_bytes()):
        file = io.BytesIO()
        rblnpb.write(profile, file)
        expected = numbers_of(profile)
        # What was found about the file is not about the recording, and who writes it follows the own version.
        found = numbers_of(rblnpb.read(file.getvalue()))
        expected["session"]["schema_version"] = found["session"]["schema_version"]

        assert list(differences({**expected, "findings": []}, found)) == []


@CASES
def test_a_file_that_is_whole_has_nothing_wrong_in_it(path: Path) -> None:
    found = {finding.code for profile in rblnpb.read_all(path.read_bytes()) for finding in profile.findings}
    errors = {
        finding.code
        for profile in rblnpb.read_all(path.read_bytes())
        for finding in profile.findings
        if finding.severity is Severity.ERROR
    }

    # Some name no clock for their records.
    assert errors <= {"unplaced-clock"}
    assert not (path.stem in WHOLE and found & {"unknown-field", "unknown-value", "truncated", "not-ended"})


# --- what this version writes --------------------------------------------------------------------------------------


def test_the_files_of_this_version_are_kept_and_are_what_is_written_today() -> None:
    """Where this fails after a change of the schema: raise its version and run scripts/release_corpus.py."""
    made, kept = specimens(), kept_numbers(OWN)

    assert set(kept) == set(made) == {path.stem for path in OWN.glob("*.pb")}
    assert [line for name, data in made.items() for line in differences(kept[name], numbers(data), name)] == []


def test_the_files_of_a_version_are_small() -> None:
    sizes = {version.name: sum(path.stat().st_size for path in version.iterdir()) for version in CORPUS.iterdir()}

    assert max(sizes.values()) <= SCRIPT.LIMIT_BYTES


def stored_columns(data: bytes) -> Iterator[tuple[str, str, Any]]:
    """Kind, name and message of each column in a file."""
    for part in payloads(data):
        if part.WhichOneof("body") == "chunk":
            columns = getattr(part.chunk, part.chunk.WhichOneof("records"))
            yield from ((columns.DESCRIPTOR.name, field.name, value) for field, value in columns.ListFields())


def form(column: Any) -> str:
    return str(next((field.name for field, _ in column.ListFields() if field.name != "validity"), ""))


def test_every_column_of_every_kind_is_there_in_raw_and_in_packed_form() -> None:
    schema = {(table.kind, name) for table in KINDS.values() for name in table.schema() if name != "clock_id"}
    packed = {"none", "zlib", "zstd"}

    for codec in ("raw", *packed):
        data = (OWN / f"everything_{codec}.pb").read_bytes()
        found = {
            (field.number, name)
            for part in payloads(data)
            if part.WhichOneof("body") == "chunk"
            for field, columns in part.chunk.ListFields()
            if field.number in KINDS
            for name in (inner.name for inner, _ in columns.ListFields())
        }
        # Layouts are strings of a form of their own; the archived trace has them.
        assert schema - found == {(23, "layout_strindex")}
        forms = {form(column) for _, _, column in stored_columns(data) if column.DESCRIPTOR.name == "Column"}
        assert ("packed" in forms) == (codec in packed)
    assert "layout_strindex" in {name for _, name, _ in stored_columns((OWN / "archive.pb").read_bytes())}


def test_every_form_codec_transform_and_validity_is_there() -> None:
    whole = [path for path in OWN.glob("*.pb") if path.stem != "cut"]
    columns = [column for path in whole for _, _, column in stored_columns(path.read_bytes())]
    plain = [column for column in columns if column.DESCRIPTOR.name == "Column"]
    packed = [column.packed for column in plain if form(column) == "packed"]

    assert {form(column) for column in plain} == {"u8", "u32", "u64", "f64", "packed", "constant"}
    assert {(one.codec, tuple(one.transforms)) for one in packed} >= {
        (codec, transforms) for codec in (0, 1, 2) for transforms in ((), (0,), (1,), (2,), (1, 2))
    }
    assert {(one.value_width, one.stored_width) for one in packed} == {(wide, stored) for wide in VALUES for stored in VALUES}
    assert {column.validity.codec for column in plain if column.HasField("validity")} == {0, 1, 2}
    assert {column.codec for column in columns if column.DESCRIPTOR.name == "TextColumn"} == {0, 1, 2}


def test_every_value_of_every_enum_is_there() -> None:
    profiles = [profile for path in OWN.glob("*.pb") for profile in rblnpb.read_all(path)]
    everything = rblnpb.read(OWN / "everything_raw.pb")

    assert {profile.session.name_style for profile in profiles} == set(NameStyle)
    assert {clock.kind for clock in everything.clocks} == set(ClockKind)
    assert {engine.kind for engine in everything.engines} == set(EngineKind)
    assert set(everything.commands.engine_kind[1:].tolist()) == set(EngineKind)
    assert {loss.reason for loss in everything.losses} == set(LossReason)
    assert set(everything.host_slices.activity.tolist()) == set(HostActivity)
    assert set(everything.overheads.overhead.tolist()) == set(OverheadKind)


def test_the_largest_numbers_are_there() -> None:
    *_, wide = rblnpb.read_all(OWN / "widths_raw.pb")

    assert int(wide.device_slices.start_ticks.max()) == 2**64 - 1
    assert int(wide.device_slices.launch_id.max()) == 2**63 - 1
    assert int(wide.launches.start_ns.min()) == -(2**63 - 1)
    assert int(wide.trace_events.id_number.max()) == 2**63 - 1


# --- the script ----------------------------------------------------------------------------------------------------


def test_a_version_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SCRIPT.release(tmp_path, force=False) == 1
    assert "exists and is a promise" in capsys.readouterr().err


def test_a_version_without_files_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SCRIPT.check(tmp_path / "v9.9") == 1
    assert capsys.readouterr().err == "v9.9 is not there: run this without --check\n"


def test_files_of_the_same_numbers_name_the_first_of_them(tmp_path: Path) -> None:
    (tmp_path / "numbers.json").write_text(as_json({"a": [1], "b": [2], "c": [1]}))

    assert (tmp_path / "numbers.json").read_text() == '{\n"a": [1],\n"b": [2],\n"c": "a"\n}\n'
    assert kept_numbers(tmp_path) == {"a": [1], "b": [2], "c": [1]}


def test_what_differs_is_named_by_its_place_and_what_is_new_is_not() -> None:
    kept = [{"count": 2, "a": [1, None], "findings": ["x"]}]

    assert list(differences(kept, [{"count": 2, "a": [1, None], "b": [], "findings": ["x", "y"]}])) == []
    assert list(differences(kept, [{"a": [1, 0], "findings": []}], "f")) == [
        "f[0].count is gone",
        "f[0].a[1] is 0 and was None",
        "f[0]: no finding x",
    ]
    assert list(differences([1], [1, 2], "f")) == ["f is [1, 2] and was [1]"]
    assert list(differences([1], [True], "f")) == ["f[0] is True and was 1"]
