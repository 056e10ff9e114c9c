"""Limits as they are typed, and what they refuse."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import rblnpb
from rblnpb.converters.pipeline import read_inputs
from rblnpb.converters.pipeline.limits import DEFAULT_READING_LIMITS, limit_names, parse_limits
from rblnpb.errors import FormatError, UsageError
from tests.support.vendor_traces import Launch, device_profile, document, op


def test_every_limit_has_a_name_and_takes_a_value() -> None:
    assert "json-depth" in limit_names()
    for name, (part, attribute) in limit_names().items():
        changed = parse_limits([f"{name}=7"])
        assert getattr(getattr(changed, part), attribute) == 7
    assert parse_limits([]) == DEFAULT_READING_LIMITS


@pytest.mark.parametrize(
    ("text", "value"), [("5", 5), ("1_000", 1000), ("2KB", 2000), ("2 KiB", 2048), ("3GiB", 3 << 30), ("1mb", 10**6)]
)
def test_values_may_have_units(text: str, value: int) -> None:
    assert parse_limits([f"profile-text-bytes={text}"]).profile.text_bytes == value


@pytest.mark.parametrize("text", ["", "json-depth", "depth=5", "json-depth=", "json-depth=-1", "json-depth=many", "json-depth=5TB"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"limit|value"):
        parse_limits([text])


def test_a_limit_refuses_what_it_names(tmp_path: Path) -> None:
    rblnpb.write(device_profile((Launch(1, 1500, 2500),)), tmp_path / "a.pb")
    with pytest.raises(FormatError, match="more than 10 bytes of records"):
        read_inputs([tmp_path / "a.pb"], limits=parse_limits(["profile-record-bytes=10", "profile-expansion=0"]))
    trace = document([op("aten::mm", 1000, 2000)] * 500)
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(trace))
    with pytest.raises(FormatError, match="made to fill the memory"):
        read_inputs([tmp_path / "t.json.gz"], limits=parse_limits(["json-expansion=2", "json-expansion-bytes=1000"]))
    assert read_inputs([tmp_path / "t.json.gz"]).host is not None
