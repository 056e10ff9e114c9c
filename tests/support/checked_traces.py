"""Traces of a few events, checked: what is found, by code."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

from rblnpb.converters.analyze.checks.trace_checks import same_text_rows, trace_findings
from rblnpb.converters.merging import merge
from rblnpb.converters.sources.event_details import read_details
from rblnpb.converters.sources.kineto import read_host
from rblnpb.errors import Severity
from tests.support.vendor_traces import Json

__all__ = ["DEVICE", "HOST", "Found", "checked", "document", "event", "kernel", "op", "x"]

Found = dict[str, tuple[Severity, int, list[int]]]
"""Code -> severity, count and the first few rows."""

HOST, DEVICE = 10, 0


def event(phase: str, ts: Any, **members: Any) -> Json:
    """An event of the host's only thread, unless it says otherwise."""
    return {"ph": phase, "ts": ts, "pid": HOST, "tid": 1, **members}


def x(name: str, ts: Any, dur: Any, **members: Any) -> Json:
    """A complete slice."""
    return event("X", ts, dur=dur, name=name, **members)


def op(name: str, ts: Any, dur: Any, **args: Any) -> Json:
    """An operator."""
    return x(name, ts, dur, cat="cpu_op", args=args)


def kernel(ts: Any, dur: Any, *, tid: Any = 7, **args: Any) -> Json:
    """Work of the device."""
    return x("k", ts, dur, cat="kernel", pid=DEVICE, tid=tid, args=args)


def document(events: Iterable[Json], **head: Any) -> bytes:
    """A whole trace."""
    return json.dumps({**head, "traceEvents": [*events]}).encode()


def checked(events: Iterable[Json], **head: Any) -> Found:
    """What is found in a trace of these events, but for its missing base time and the order of its events."""
    host = read_host(io.BytesIO(document(events, **head)))
    return {
        one.finding.code: (one.finding.severity, one.finding.count, [place.row for place in one.places])
        for one in trace_findings(host, read_details(host, same_text_rows(host)), merge(None, host))
        if one.finding.code not in ("no-base-time", "unsorted-events")
    }
