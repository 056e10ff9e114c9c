"""Archived traces given back from what is left of a profile, and what cannot be told named."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb.columns import TextArray, TraceEvents
from rblnpb.converters.sources import archive as source
from rblnpb.converters.sources.archive import archived_trace
from rblnpb.errors import FormatError, Severity
from rblnpb.profile import Profile, Session, TraceDocument
from tests.support.archives import archive
from tests.support.profiles import packets
from tests.support.vendor_traces import document, op

FRAME = TraceDocument(b'{"traceEvents":[', b"]}")
STRINGS = ("", "aten::mm", '{"ph":"X","name":\x1an,"ts":\x1as0}', ',{"ph":"X","name":\x1an,"ts":\x1as0}', "\x1az")


def profile(events: TraceEvents, **changes: Any) -> Profile:
    return Profile(Session(7), strings=STRINGS, trace_document=FRAME, trace_events=events).replace(**changes)


def two_events(**columns: Any) -> TraceEvents:
    return TraceEvents.of(
        2, phase=ord("X"), name_strindex=1, start_ns=np.array([1_000, 2_500]), **{"layout_strindex": np.array([2, 3]), **columns}
    )


def text_of(found: Profile) -> bytes:
    return b"".join(archived_trace(found).document.blocks())


def test_events_are_written_by_their_layouts_between_what_was_around_them() -> None:
    expected = b'{"traceEvents":[{"ph":"X","name":"aten::mm","ts":1},{"ph":"X","name":"aten::mm","ts":2.5}]}'

    assert text_of(profile(two_events())) == expected


def test_a_document_can_be_read_as_often_as_wanted() -> None:
    host = archived_trace(profile(two_events()), "x.pb")

    assert list(host.document.blocks()) == list(host.document.blocks())
    assert host.document.name == "x.pb"


def test_without_a_name_messages_speak_of_the_session() -> None:
    assert archived_trace(profile(two_events())).document.name == "session 0000000000000007"


def test_blocks_are_those_of_a_file() -> None:
    text = document([op("aten::mm", at, at + 5) for at in range(0, 20_000, 10)])
    blocks = list(archived_trace(rblnpb.read(archive(text))).document.blocks())

    assert b"".join(blocks) == text
    assert {len(block) for block in blocks[:-1]} == {1 << 17}


def test_events_that_cannot_be_told_are_left_out_and_counted() -> None:
    host = archived_trace(profile(two_events(layout_strindex=np.array([0, 3]))))

    assert host.events.start_ns.tolist() == [2_500]
    (finding,) = (finding for finding in host.findings if finding.code == "events-not-told")
    assert (finding.severity, finding.count) == (Severity.ERROR, 1)


def test_a_trace_without_its_frame_gets_a_plain_one() -> None:
    assert text_of(profile(two_events(), trace_document=None)).startswith(b'{"traceEvents":[{"ph"')


def test_an_event_that_is_kept_as_it_is_stands_among_the_others() -> None:
    events = two_events(layout_strindex=np.array([2, 0]), text=TextArray.of([b"", b' , {"ph": "X"}']))

    assert text_of(profile(events)).endswith(b'"ts":1} , {"ph": "X"}]}')


def test_a_layout_of_a_newer_version_is_refused_by_name() -> None:
    with pytest.raises(FormatError, match=r"cannot read new\.pb: a layout has the mark '\\x1az', .* a newer version wrote it"):
        archived_trace(profile(two_events(layout_strindex=np.array([2, 4]))), "new.pb")


def test_layouts_that_make_no_json_are_refused_with_the_place() -> None:
    with pytest.raises(FormatError, match="the JSON is broken"):
        archived_trace(profile(two_events(layout_strindex=np.array([2, 1]))))


def test_a_text_far_longer_than_its_columns_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_LEAST_LIMIT_BYTES", 1)
    monkeypatch.setattr(source, "_MOST_GROWTH", 0)

    with pytest.raises(FormatError, match="made to fill the memory"):
        archived_trace(profile(two_events()))


@pytest.mark.parametrize("lost", [0, 1])
def test_what_is_left_of_a_damaged_archive_is_a_trace(lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rblnpb.converters.sinks._archive_texts._STEP_ROWS", 2)
    monkeypatch.setattr("rblnpb.converters.sinks._archive_events.CHUNK_LIMIT", 2)
    text = document([op(f"aten::op{row}", row, row + 1) for row in range(4)])
    whole = archived_trace(rblnpb.read(archive(text)))
    parts = packets(archive(text))
    chunks = [place for place, part in enumerate(parts) if len(rblnpb_chunks(part))]
    del parts[chunks[lost]]
    left = rblnpb.read(b"".join(parts))
    found = archived_trace(left)

    kept = np.delete(np.arange(len(whole.events)), slice(2 * lost, 2 * lost + 2))
    names = [whole.strings[row] for row in whole.events.name[kept].tolist()]
    assert [found.strings[row] for row in found.events.name.tolist()] == names
    assert {"missing-packet", "total-differs"} <= {finding.code for finding in left.findings}


def rblnpb_chunks(packet: bytes) -> list[Any]:
    """What a packet alone has of chunks of events."""
    try:
        with rblnpb.open_profile(packets(archive(b"[]"))[0] + packet) as file:
            return list(file.chunks(TraceEvents))
    except FormatError:
        return []


def test_a_trace_that_is_cut_gives_its_whole_events() -> None:
    data = archive(document([op("aten::mm", at, at + 5) for at in range(100)]))
    cut = rblnpb.read(data[:-40])

    assert "truncated" in {finding.code for finding in cut.findings}
    assert len(archived_trace(cut).events) == len(archived_trace(rblnpb.read(data)).events)


def test_a_trace_without_events_comes_back() -> None:
    for text in (b"[]", b' {"traceEvents": [ \n ], "a": 1}\n', b"[ ]"):
        assert text_of(rblnpb.read(archive(text))) == text
        assert len(archived_trace(rblnpb.read(archive(text)), "x").events) == 0


def test_a_gzip_trace_is_archived_as_the_text_that_it_is() -> None:
    import gzip

    text = document([op("aten::mm", 1, 5)])
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        file.write(text)

    assert archive(packed.getvalue()) == archive(text)
