"""Windows as they are typed."""

from __future__ import annotations

import pytest

from rblnpb.converters.pipeline.windows import Window, parse_window
from rblnpb.errors import UsageError
from tests.support.timelines import slices, timeline


@pytest.mark.parametrize(
    ("text", "start_ns", "end_ns"),
    [
        ("10ms:25ms", 10_000_000, 25_000_000),
        ("1.5s:", 1_500_000_000, None),
        (":300us", None, 300_000),
        ("2:3", 2_000_000, 3_000_000),
        ("7 ns:1_000 ns", 7, 1000),
        ("0.0000015s:1s", 1500, 10**9),
        ("1,795,993,599,516,004,242:1,795,993,599,521,004,242", 1795993599516004242, 1795993599521004242),
        (":", None, None),
    ],
)
def test_a_window_is_two_times(text: str, start_ns: int | None, end_ns: int | None) -> None:
    assert parse_window(text) == Window(start_ns, end_ns)


@pytest.mark.parametrize(
    "text", ["", "10ms", "a:b", "5ms:5ms", "6ms:5ms", "1:2:3", "1h:2h", "1..2:3", "99999999999s:", "9" * 5000 + ":"]
)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="window"):
        parse_window(text)


def test_times_count_from_the_first_event_unless_they_are_unix_times() -> None:
    assert Window(5, 9).times(100) == (105, 109)
    assert Window(None, 10**18 + 5).times(100) == (None, 10**18 + 5)
    made = timeline(slices=slices(*({"start": at, "duration": 1} for at in (100, 104, 108))))
    assert parse_window("3ns:6ns").of(made).slices.start_ns.tolist() == [104]


def test_the_first_of_several_is_taken_and_that_is_told() -> None:
    made = timeline(slices=slices(*({"start": at, "duration": 1, "stage": "mm"} for at in (100, 104))))
    cut = Window(around="mm").of(made)
    assert cut.slices.start_ns.tolist() == [100]
    assert [finding.code for finding in cut.findings] == ["window", "window-of-several"]


def test_nothing_has_no_beginning() -> None:
    nothing = timeline()
    assert Window(1, 2).of(nothing) is nothing
