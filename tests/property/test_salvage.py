"""Broken traces: nothing that is good is lost, everything that is lost is told, and what is written of them is sound."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.converters.pipeline.output import write_host_trace
from rblnpb.converters.sources._json_text import mended_text
from rblnpb.converters.sources.kineto import DAMAGE_CODES, read_host, read_mended
from rblnpb.converters.timeline import HostTrace
from rblnpb.errors import CheckError, FormatError
from tests.property.test_archive import traces
from tests.property.test_kineto_source import documents
from tests.support.broken_traces import (
    STYLES,
    Broken,
    broken_gzip,
    cut_documents,
    cut_gzip,
    damaged_events,
    damaged_frames,
    document,
    event,
    names,
)
from tests.support.json_events import events_of, slow_events


def read(data: bytes, *, strict: bool = False) -> HostTrace:
    return read_host(io.BytesIO(data), strict=strict)


def names_of(host: HostTrace) -> tuple[str, ...]:
    return tuple(host.strings[row] for row in host.events.name.tolist())


def lost_of(host: HostTrace) -> int:
    # A text that ends early may have lost none.
    return sum(
        finding.count
        for finding in host.findings
        if finding.code in ("lost-events", "cut-short")
        and not ("behind its last" in finding.message or "0 events lost" in finding.message)
    )


def text_of(host: HostTrace) -> bytes:
    return b"".join(host.document.blocks())


def refuse_constant(word: str) -> None:
    raise AssertionError(word)


def is_json(text: bytes) -> bool:
    try:
        json.loads(text.decode("utf-8-sig"), parse_constant=refuse_constant)
    except (ValueError, AssertionError):
        return False
    return True


def assert_sound(host: HostTrace) -> None:
    """What `repair` writes is JSON, the columns tell of it, and it has nothing more to be mended."""
    text = text_of(host)
    json.loads(text.decode("utf-8-sig"), parse_constant=refuse_constant)
    assert [(one.name, one.offset, one.length) for one in events_of(host)] == [
        (one.name, one.offset, one.length) for one in slow_events(text)
    ]
    written = io.BytesIO()
    write_host_trace(host, written)
    again = read(written.getvalue())
    assert [finding.code for finding in again.findings if finding.code in DAMAGE_CODES] == []
    assert text_of(again) == text


def tally(cases: Iterable[Broken]) -> Counter[str]:
    """Read all of them, and count what came of it."""
    counts: Counter[str] = Counter()
    for case in cases:
        host = read(case.document)
        assert (case.kind, names_of(host)) == (case.kind, case.kept)
        assert (case.kind, len(host.events) + lost_of(host)) == (case.kind, len(case.present))
        assert (case.kind, any(finding.code in DAMAGE_CODES for finding in host.findings)) == (case.kind, True)
        assert_sound(read_mended(io.BytesIO(case.document)))
        with pytest.raises((FormatError, CheckError)):
            read(case.document, strict=True)
        counts += Counter(tried=1, present=len(case.present), kept=len(case.kept), lost=lost_of(host))
    return counts


@pytest.mark.parametrize("style", STYLES)
def test_a_fault_in_one_event_takes_that_event_at_most(style: str) -> None:
    counts = tally(damaged_events(style))
    places = 3 if style == "kineto" else 1
    assert counts == Counter(tried=32 * places, present=96 * places, kept=86 * places, lost=10 * places)


@pytest.mark.parametrize("style", STYLES)
def test_a_fault_between_events_takes_none(style: str) -> None:
    counts = tally(damaged_frames(style))
    assert counts["kept"] == counts["present"] - 3
    assert counts["lost"] == 3


@pytest.mark.parametrize("style", STYLES)
def test_a_trace_cut_anywhere_has_all_that_was_whole(style: str) -> None:
    counts = tally(cut_documents(style))
    assert counts["kept"] + counts["lost"] == counts["present"]


def test_gzip_data_with_a_broken_frame_gives_all_there_is() -> None:
    assert tally(broken_gzip()) == Counter(tried=4, present=160, kept=160)


def test_gzip_data_cut_anywhere_gives_what_comes_out_of_it() -> None:
    for size, packed, text in cut_gzip():
        whole = sum(text.find(event(number)) >= 0 for number in range(40))
        if not whole:
            with pytest.raises(FormatError):
                read(packed)
            continue
        host = read(packed)
        assert (size, names_of(host)) == (size, names(whole))
        assert "cut-gzip" in [finding.code for finding in host.findings]


@settings(max_examples=60)
@given(st.data())
def test_whatever_is_done_to_a_trace_what_is_read_is_sound(data: st.DataObject) -> None:
    style = data.draw(st.sampled_from(sorted(STYLES)))
    text = bytearray(document([event(number, style) for number in range(4)], style))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        size = data.draw(st.sampled_from((0, 0, 1, 3, 60)))
        text[at : at + size] = data.draw(
            st.sampled_from((b"", b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"\xff", b"NaN", b'{"ph":', b"\n"))
        )
    try:
        host = read(bytes(text))
    except FormatError:
        return
    assert_sound(read_mended(io.BytesIO(text)))
    assert is_json(bytes(text)) or any(finding.code in DAMAGE_CODES for finding in host.findings)
    # Only a text that is no JSON is another one when it is read; odd characters alone are left to whoever copies it.
    assert text_of(host) == text or not is_json(text.decode(errors="replace").encode())


@settings(max_examples=40)
@given(traces() | documents())
def test_a_text_that_is_json_is_mended_in_its_odd_characters_alone(document: bytes) -> None:
    try:
        host = read_mended(io.BytesIO(document))
    except FormatError:
        return
    assert text_of(host) == mended_text(document)


@settings(max_examples=30)
@given(st.integers(1, 3), st.lists(st.integers(0, 40), min_size=1, max_size=6, unique=True), st.integers(1, 5000))
def test_events_that_are_whole_stay_byte_for_byte(repeat: int, places: list[int], junk_bytes: int) -> None:
    """Many events, so that the blocks that are looked at at once grow and shrink."""
    events = [event(number) for number in range(41)]
    for place in places:
        events[place] = events[place].replace(b'"e', b'"q"' * repeat + b"x" * junk_bytes, 1)
    host = read(document(events))
    text = text_of(host)
    assert names_of(host) == names(41, *places)
    assert lost_of(host) == len(places)
    assert all(events[number] in text for number in range(41) if number not in places)
