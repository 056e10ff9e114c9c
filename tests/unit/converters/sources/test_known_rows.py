"""Names and threads that are recognised, with their rows."""

from __future__ import annotations

import pytest

from rblnpb.converters.sources import _known_rows
from rblnpb.converters.sources._known_rows import KnownRows
from rblnpb.converters.sources._known_texts import KnownTexts
from rblnpb.converters.timeline import Id
from tests.support.laid_out_texts import BEFORE, laid_out


def number_of(known: KnownTexts, text: bytes) -> int:
    windows, document, at = laid_out([text])
    return int(known.find(windows, len(BEFORE), document, at)[0][0])


def test_names_that_have_rows_are_known() -> None:
    known = KnownRows()
    known.know(["aten::mm", "new", "aten::mm"], {"": 0, "cpu_op": 1, "aten::mm": 2}, {})

    assert [number_of(known.names, name) for name in (b'aten::mm"', b'new"', b'cpu_op"')] == [2, -1, -1]
    known.know(["new"], {"": 0, "cpu_op": 1, "aten::mm": 2, "new": 3}, {})
    assert number_of(known.names, b'new"') == 3


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\tb", "a\x00"])
def test_names_that_json_writes_in_other_ways_are_not(name: str) -> None:
    known = KnownRows()
    known.know([name], {name: 1}, {})

    assert number_of(known.names, name.encode() + b'"') == -1


def test_rows_of_tracks_are_those_of_their_process() -> None:
    tracks: dict[tuple[Id, Id], int] = {(7, 7): 0, (7, "Spans"): 1, (8, 7): 2, (7, -1): 3, (7, None): 4, (8, 12): 5}
    known = KnownRows()
    known.know([], {}, tracks)

    seven, twelve = number_of(known.threads, b"7,"), number_of(known.threads, b"12,")
    assert {pid: known.track_rows(pid, tracks)[[seven, twelve]].tolist() for pid in (7, 8, 9)} == {
        7: [0, -1],
        8: [2, 5],
        9: [-1, -1],
    }
    tracks[7, 12] = 6
    known.know([], {}, tracks)
    assert known.track_rows(7, tracks)[[seven, twelve]].tolist() == [0, 6]


def test_of_many_threads_the_first_ones_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_known_rows, "_MOST_THREADS", 3)
    tracks: dict[tuple[Id, Id], int] = {(1, 10): 0, (1, 11): 1}
    known = KnownRows()
    known.know([], {}, tracks)
    tracks.update({(1, tid): tid - 10 for tid in range(12, 20)})
    known.know([], {}, tracks)

    assert [number_of(known.threads, b"%d," % tid) for tid in (10, 11, 12, 13, 19)] == [0, 1, 2, -1, -1]
    assert known.track_rows(1, tracks).tolist() == [0, 1, 2]
