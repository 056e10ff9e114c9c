"""Times of a trace."""

from __future__ import annotations

import io

import numpy as np

from rblnpb.converters.analyze.checks.time_checks import is_distant, seen_by_perfetto
from rblnpb.converters.analyze.checks.trace_checks import same_text_rows, trace_findings
from rblnpb.converters.sources.event_details import read_details
from rblnpb.converters.sources.kineto import read_host
from rblnpb.errors import Severity
from tests.support.checked_traces import checked, document, event, kernel, op, x

DAY_NS = 86_400 * 10**9


def test_times_since_boot_among_unix_times() -> None:
    unix = 1_700_000_000_000_000
    rows = [x("a", unix, 1), x("b", 5_000_000, 1), x("c", unix + 9, 1), event("M", 0, name="process_name", args={"name": "p"})]
    assert checked(rows) == {"distant-times": (Severity.ERROR, 1, [1])}


def test_a_pause_of_a_day_parts_times() -> None:
    assert not is_distant(np.array([0, DAY_NS, 2 * DAY_NS])).any()
    assert is_distant(np.array([0, DAY_NS + 1, DAY_NS + 2])).tolist() == [True, False, False]
    assert is_distant(np.array([0, DAY_NS + 1])).tolist() == [True, False]
    assert is_distant(np.array([-(2**62), 2**62 + 2**61, 2**62 + 2**61])).tolist() == [True, False, False]
    assert is_distant(np.array([], np.int64)).tolist() == []


def test_before_the_zero_of_the_file() -> None:
    assert checked([x("a", -5, 1), x("b", 5, 1)]) == {"negative-time": (Severity.WARNING, 1, [0])}


def test_a_base_time_does_not_change_what_is_written() -> None:
    assert checked([x("a", -5, 1)], baseTimeNanoseconds=10**18) == {"negative-time": (Severity.WARNING, 1, [0])}
    assert checked([kernel(0, 0)], baseTimeNanoseconds=10**18)["untimed-record"] == (Severity.WARNING, 1, [0])


def test_events_without_time() -> None:
    rows = [x("a", 0, 1), {"ph": "X", "name": "b", "dur": 1, "pid": 1, "tid": 1}, {"ph": "M", "name": "x", "pid": 1}]
    assert checked(rows) == {"no-time": (Severity.WARNING, 1, [1])}


def test_decimals_that_a_double_has_no_room_for() -> None:
    text = b'{"traceEvents":[%s]}' % b",".join(
        b'{"ph":"X","name":"a","pid":1,"tid":1,"ts":%s,"dur":0.2}' % ts
        for ts in (b"1712195495548418.946", b"1712195495548419.146", b"1712195495548420", b"1712195495548421.1", b"9007199254.993")
    )
    host = read_host(io.BytesIO(text))
    found = [one.finding for one in trace_findings(host, read_details(host, same_text_rows(host)), None)]
    (rounded,) = [one for one in found if one.code == "rounded-times"]
    assert (rounded.severity, rounded.count) == (Severity.WARNING, 3)
    assert "off by up to 182 ns; here they are exact" in rounded.message


def test_what_perfetto_makes_of_a_time() -> None:
    exact = np.array([0, 1, -1, 2**43 * 1000 - 1, 9_007_199_254_740_993_000, 1_700_000_000_000_000_000, -(2**62 // 1000 * 1000)])
    assert seen_by_perfetto(exact).tolist() == exact.tolist()
    rounded = {
        1_712_195_495_548_418_946: 1_712_195_495_548_419_000,
        1_712_195_495_548_419_146: 1_712_195_495_548_419_328,
        1_712_195_495_548_421_100: 1_712_195_495_548_421_000,
        9_007_199_254_740_993: 9_007_199_254_740_992,
    }
    assert seen_by_perfetto(np.array(list(rounded))).tolist() == list(rounded.values())


def test_the_order_of_a_file_is_harmless() -> None:
    host = read_host(io.BytesIO(document([op("a", 5, 1), op("b", 1, 1), op("c", 1, 1), op("d", 0, 1)])))
    found = [
        one for one in trace_findings(host, read_details(host, same_text_rows(host)), None) if one.finding.code != "no-base-time"
    ]
    assert [(one.finding.code, one.finding.severity, one.finding.count) for one in found] == [("unsorted-events", Severity.INFO, 2)]
    assert [place.row for place in found[0].places] == [1, 3]
    assert host.first_ns() == 0


def test_a_trace_of_metadata_alone_has_no_first_time() -> None:
    assert read_host(io.BytesIO(document([event("M", 5, name="process_name")]))).first_ns() is None
