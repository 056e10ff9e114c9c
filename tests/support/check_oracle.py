"""What a check should find in a few events, told the slow way: by definition, one event against all others."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from tests.support.vendor_traces import Json

__all__ = ["slow_findings"]


def slow_findings(events: list[Json]) -> dict[str, list[int]]:
    """Code of a finding -> the events that it is about, by their place in the list, ascending.

    Of slices, duplicates, arrows and pairs. Every event has a time; times are whole numbers.
    """
    timed = {row: event for row, event in enumerate(events) if event["ph"] != "M"}
    slices = {row: event for row, event in timed.items() if event["ph"] == "X"}
    found = {
        "crossing-slices": [row for row, event in slices.items() if any(_crosses(event, other) for other in slices.values())],
        "duplicate-events": _repeated({row: event for row, event in timed.items() if event["ph"] not in "stf"}),
        "unfinished-slices": _unfinished(slices),
        **_pairs(timed),
    }
    found |= _arrows(timed, [*slices.values(), *_paired(timed)])
    return {code: sorted(rows) for code, rows in found.items() if rows}


def _thread(event: Json) -> tuple[Any, Any]:
    return event["pid"], event["tid"]


def _end(event: Json) -> int:
    return int(event["ts"] + event["dur"])


def _crosses(event: Json, other: Json) -> bool:
    return _thread(event) == _thread(other) and other["ts"] < event["ts"] < _end(other) < _end(event)


def _repeated(events: dict[int, Json]) -> list[int]:
    texts = {row: repr(event) for row, event in events.items()}
    return [row for row, text in texts.items() if any(texts[before] == text for before in texts if before < row)]


def _unfinished(slices: dict[int, Json]) -> list[int]:
    keys = {row: (_thread(event), event["name"], _end(event)) for row, event in slices.items() if event["dur"]}
    counts = Counter(keys.values())
    return [row for row, key in keys.items() if counts[key] >= 3]


def _in_time(events: dict[int, Json], phases: str) -> list[int]:
    return sorted((row for row, event in events.items() if event["ph"] in phases), key=lambda row: events[row]["ts"])


def _stacks(events: dict[int, Json]) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pairs, begins without an end, ends without a begin."""
    stacks: dict[Any, list[int]] = defaultdict(list)
    pairs, alone = [], []
    for row in _in_time(events, "BE"):
        stack = stacks[_thread(events[row])]
        if events[row]["ph"] == "B":
            stack.append(row)
        elif stack:
            pairs.append((stack.pop(), row))
        else:
            alone.append(row)
    return pairs, [row for stack in stacks.values() for row in stack], alone


def _pairs(events: dict[int, Json]) -> dict[str, list[int]]:
    pairs, unended, unbegun = _stacks(events)
    return {
        "begin-without-end": unended,
        "end-without-begin": unbegun,
        "pair-names-differ": [end for begin, end in pairs if events[begin]["name"] != events[end]["name"]],
        "begin-end-pairs": [begin for begin, _ in pairs],
    }


def _paired(events: dict[int, Json]) -> list[Json]:
    return [{**events[begin], "dur": events[end]["ts"] - events[begin]["ts"]} for begin, end in _stacks(events)[0]]


def _arrows(events: dict[int, Json], slices: list[Json]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    started: dict[Any, int] = {}
    has_ended: set[int] = set()
    for row in _in_time(events, "stf"):
        event = events[row]
        arrow = event["id"], event["cat"], event["name"]
        if event["ph"] != "s":
            if arrow not in started:
                found["flow-without-start"].append(row)
            else:
                has_ended.add(started[arrow])
        else:
            if arrow in started:
                before = events[started[arrow]]
                is_harmless = started[arrow] in has_ended or (before["ts"], _thread(before)) == (event["ts"], _thread(event))
                found["flow-id-reused" if is_harmless else "flow-started-twice"].append(row)
            started[arrow] = row
        if event["ph"] == "f" and event.get("bp") != "e":
            found["flow-to-next-slice"].append(row)
        elif not any(_thread(one) == _thread(event) and one["ts"] <= event["ts"] <= _end(one) for one in slices):
            found["flow-outside-slices"].append(row)
    found["flow-without-end"] = [row for row in started.values() if row not in has_ended]
    return found
