"""proto/README.md holds what it says: its decoder decodes, its file reads, its tables are complete."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb import errors
from rblnpb.clock import Clock, ClockMap, ClockSnapshot
from rblnpb.columns import DeviceSlices
from rblnpb.container import SCHEMA_VERSION
from rblnpb.naming import render
from rblnpb.profile import KINDS
from tests.support.profiles import CODECS, RBLN, encode, full, specimen, tiny

ROOT = Path(__file__).parents[3]
README = (ROOT / "proto" / "README.md").read_text(encoding="utf-8")
PROSE = " ".join(README.split())
Decoder = Callable[[bytes], Iterable[int]]


def fenced(language: str) -> str:
    """The one block of the page between fences of this language."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    return str(block)


def section(title: str) -> str:
    """Text of the page from a heading to the next one."""
    found = re.search(rf"^## \d+\. {title}\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found.group(1)


def first_cells(text: str) -> list[str]:
    """What stands in back quotes in the first cell of each row of the tables of a text."""
    return re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)


@pytest.fixture(scope="module")
def start_ticks() -> Decoder:
    """The decoder of the page, run as it stands there."""
    names: dict[str, Any] = {}
    exec(compile(fenced("python"), "proto/README.md", "exec"), names)
    decoder: Decoder = names["start_ticks"]
    return decoder


def vector() -> bytes:
    return bytes.fromhex(re.sub(r"#.*", "", fenced("hex")))


def test_the_decoder_is_short() -> None:
    assert len([line for line in fenced("python").splitlines() if line and not line.startswith("import")]) <= 22


def test_the_decoder_reads_the_file_of_the_page(start_ticks: Decoder) -> None:
    assert list(start_ticks(vector())) == [500, 1_300, 3_000]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["tiny", "full", "many", "wide", "zero"])
def test_the_decoder_reads_what_is_written_with_every_codec(start_ticks: Decoder, codec: str, name: str) -> None:
    rows = np.arange(70_000)
    ticks = {
        "many": rows * 977 + rows % 251,
        "wide": np.array([2**64 - 1, 0, 2**63, 2**32, 5], np.uint64),
        "zero": np.zeros(3, np.uint64),
    }
    slices = tiny() if name == "tiny" else full()
    profile = slices if name not in ticks else tiny(device_slices=DeviceSlices.of(clock_id=16, start_ticks=ticks[name]))
    data = encode(profile, codec)

    assert list(start_ticks(data)) == rblnpb.read(data).device_slices.start_ticks.tolist()


def test_the_file_of_the_page_holds_what_its_table_says() -> None:
    profile = rblnpb.read(vector())

    assert profile.findings == ()
    assert profile.equals(specimen())


def test_the_file_of_the_page_is_what_is_written_today() -> None:
    assert encode(specimen(), "none") == vector()


def test_the_slices_of_the_page_are_placed_and_named_as_it_says() -> None:
    profile = specimen()
    slices = profile.device_slices
    start_ns, _ = ClockMap.of(RBLN, profile.clock_snapshots).span_to_ns(slices.start_ticks, slices.duration_ticks)
    layers = np.array([text.encode() for text in profile.strings])[profile.commands.layer_strindex]
    names = render(
        profile.session.name_style,
        layer=layers[slices.command_row],
        command=profile.commands.command_index[slices.command_row],
        instance=slices.instance,
        sequence=slices.sequence,
        workload=slices.workload,
    )

    assert f"they begin at monotonic {', '.join(map(str, start_ns.tolist()))} ns" in PROSE
    assert ", ".join(f"`{name.decode()}`" for name in names.tolist()) in README


def test_the_example_of_the_placing_rule_is_right() -> None:
    snapshots = (ClockSnapshot(16, 2**48 - 100, 1_000, 1_000), ClockSnapshot(16, 100, 1_200, 1_200))
    clock_map = ClockMap.of(Clock(16, "", 10**9, 48), snapshots)

    start_ns, duration_ns = clock_map.span_to_ns(np.array([2**48 - 20, 10], np.uint64), np.array([50, 1], np.uint64))

    assert "begins at 1,080 and lasts 50 ns; one with `start_ticks` 10 begins at 1,110" in PROSE
    assert (start_ns.tolist(), duration_ns.tolist()) == ([1_080, 1_110], [50, 1])


def test_the_page_lists_every_kind_of_record() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", section("Kinds of records"), re.MULTILINE)

    assert [(int(kind), label) for kind, label in rows] == [(kind, table.label) for kind, table in KINDS.items()]


def test_the_page_lists_every_error() -> None:
    classes = [name for name in errors.__all__ if name.endswith("Error")]

    assert sorted(classes) == sorted(name for name in first_cells(section("Errors and findings")) if name.endswith("Error"))


def test_the_page_lists_every_finding_with_its_severity() -> None:
    """Codes are stable, so a script may test for one: none is made without being written down."""
    made = {
        (code, severity.lower())
        for module in ("assembly", "invariants", "reader", "references", "session_packets", "writer")
        for severity, code in re.findall(
            r"Severity\.(\w+), \"([a-z0-9-]+)\"", (ROOT / "rblnpb" / f"{module}.py").read_text(encoding="utf-8")
        )
    }

    assert made == set(re.findall(r"^\| `([a-z0-9-]+)` \| (\w+) \|", section("Errors and findings"), re.MULTILINE))


def test_the_page_is_of_the_version_that_is_written() -> None:
    version = ".".join(map(str, SCHEMA_VERSION))

    assert README.startswith(f"# The rblnpb format, version {version}\n")
    assert f"This is **{version}**" in section("Versions")


def test_every_link_of_the_page_leads_somewhere() -> None:
    headings = {re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-") for line in re.findall(r"^## (.*)$", README, re.M)}
    links = re.findall(r"\]\(([^)]+)\)", re.sub(r"^```.*?^```", "", README, flags=re.DOTALL | re.MULTILINE))

    assert [link for link in links if link.startswith("#") and link[1:] not in headings] == []
    assert [link for link in links if not link.startswith("#") and not (ROOT / "proto" / link).exists()] == []
