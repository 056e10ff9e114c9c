"""A secret in every place of a trace and of a profile where somebody's text can stand, and a slow redaction to compare with."""

from __future__ import annotations

import gzip
import io
import json
import re
from dataclasses import replace
from typing import Any

import rblnpb
from rblnpb.clock import Clock
from rblnpb.columns import ABSENT
from rblnpb.converters.sinks._redacted_values import RedactedValues
from rblnpb.profile import Profile
from tests.support import profiles

SECRET = "Zq0Secret"
_ESCAPED = r"\u005aq0Secret"
S = SECRET

_EVENTS: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": f"python {S}"}},
    {"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "args": {"labels": S}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": f"thread 2 ({S})", S: 1}},
    {"ph": "M", "name": f"{S}_name", "pid": 1, "tid": 2, "args": S},
    {"ph": "X", "cat": "cpu_op", "name": f"acme_{S}::op", "pid": 1, "tid": 2, "ts": 10, "dur": 50, "args": {"External id": 1}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 12, "dur": 8, "args": {
        "External id": 2, "Input Dims": [[2, 3], S], "Input type": ["float", S], "Concrete Inputs": ["", "[1, 1]", S],
        "Call stack": f"/srv/{S}/a.py(1): {S};b.py(2): f", "Module Hierarchy": f"TOP({S})::forward", S: 3,
        "pin": {"deep": [S, {S: S}]}, "Ev Idx": S, "stream": [1, {S: 2}],
    }},
    {"ph": "X", "cat": "user_annotation", "name": f"## {S} ##", "pid": 1, "tid": 2, "ts": 5, "dur": 90},
    {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{S}", "pid": 1, "tid": 2, "ts": 4, "dur": 95},
    {"ph": "X", "cat": "python_function", "name": f"/srv/{S}/x.py(7): {S}", "pid": 1, "tid": 2, "ts": 6, "dur": 60},
    {"ph": "X", "cat": "python_function", "name": f"<built-in method {S} of {S} object at 0x7f>",
     "pid": 1, "tid": 2, "ts": 7, "dur": 9},
    {"ph": "X", "cat": "python_function", "name": f"nn.Module: {S}_0", "pid": 1, "tid": 2, "ts": 7, "dur": 9},
    {"ph": "X", "cat": "cuda_runtime", "name": f"launch {S}", "pid": 1, "tid": 2, "ts": 13, "dur": 2,
     "args": {"correlation": 7, "kernel": S}},
    {"ph": "X", "cat": "kernel", "name": f"void {S}::kernel<float>()", "pid": 0, "tid": 7, "ts": 20, "dur": 4,
     "args": {"correlation": 7, "External id": 2, "stream": 7}},
    {"ph": "X", "cat": "gpu_memcpy", "name": f"i1_0_W0_{S}_3_2", "pid": 0, "tid": 7, "ts": 25, "dur": 4, "args": {"stage": S}},
    {"ph": "X", "cat": S, "name": S, "pid": S, "tid": S, "ts": 30, "dur": 1, "args": [S, {S: S}]},
    {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": S, "pid": 1, "tid": 2, "ts": 13},
    {"ph": "b", "cat": "async", "name": S, "id2": {"local": S, S: 1}, "pid": 1, "tid": 2, "ts": 13, "scope": S},
    {"ph": "C", "name": f"bytes of {S}", "pid": 1, "ts": 14, "args": {S: 5, "note": S}},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 2, "ts": 15, "s": S, "args": {"Bytes": 8, "Addr": 9},
     S: [S], "stack": S, "cname": S},
    {"ph": S, "name": S, "pid": 1, "tid": 2, "ts": S, "dur": S},
    {"ph": "X", "cat": "cpu_op", "name": {S: S}, "pid": [S], "tid": {S: 1}, "ts": 31, "dur": 1},
]  # fmt: skip
_METADATA: dict[str, Any] = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": S, "totalGlobalMem": 5, S: 1, "extra": {S: [S]}}],
    "distributedInfo": {
        "backend": "nccl",
        "rank": 1,
        "world_size": 2,
        "pg_config": [{"pg_name": S, "pg_desc": S, "ranks": [0, 1]}],
        S: S,
    },
    "host_name": S,
    "username": S,
    "traceName": f"/srv/{S}/trace.json",
    "trace_id": S,
    "displayTimeUnit": S,
    S: S,
    "cmd line": [f"python {S}.py", {"--key": S}],
    "env": {S: S},
    "baseTimeNanoseconds": 1_790_000_000_000_000_000,
}


def secret_trace() -> bytes:
    """A trace with the secret in all its forms, escaped ones among them, and in text that is no Unicode."""
    text = json.dumps({**_METADATA, "traceEvents": _EVENTS})
    odd = text.replace(f'"## {S} ##"', f'"{_ESCAPED} \\/{S}\\/ \\ud800"').replace(f'"{S}": 3', f'"{_ESCAPED}": 3')
    assert odd.count(_ESCAPED) == 2
    return odd.encode().replace(b'"launch ', b'"\xff\xfe launch ')


def secret_profile() -> Profile:
    """A profile with the secret in every text, and in a string that nothing refers to."""
    whole = profiles.full()
    slices = whole.device_slices
    texts = [text and f"{S}{row}" for row, text in enumerate(whole.strings)]
    assert (slices.event_ordinal == ABSENT).all()
    return whole.replace(
        session=replace(
            whole.session,
            host_name=S,
            boot_id=S,
            process_name=S,
            tool_name=S,
            tool_version=S,
            npu=S,
            settings=((S, "1"), ("RBLN_PROFILER_DIR", f"/srv/{S}")),
        ),
        strings=(*texts, f"{S} alone"),
        clocks=(*(replace(clock, name=S) for clock in whole.clocks), Clock(77, f"of {S}")),
        devices=tuple(replace(device, name=f"{S}:0") for device in whole.devices),
        engines=tuple(replace(engine, name=f"{S} (chiplet 1)") for engine in whole.engines),
        programs=tuple(replace(program, name=f"{S}_1", op=f"{S}::op", compile_id=S) for program in whole.programs),
        threads=((42, f"{S} worker"),),
    )


def texts_of(data: bytes) -> bytes:
    """Everything that can be read in a file: its bytes, what they are compressed of, the texts of a profile and the trace in it."""
    found = [data]
    if data.startswith(b"\x1f\x8b"):
        found.append(gzip.decompress(data))
    if data.startswith(b"\x0a"):
        profile = rblnpb.read(io.BytesIO(data))
        found.append(repr((profile, profile.strings, profile.trace_document)).encode())
        found += [column.text.tobytes() for column in (profile.trace_events.arguments, profile.trace_events.text)]
    whole = b"\n".join(found)
    return (
        whole
        + re.sub(rb"\\u00([0-9a-f]{2})", lambda escape: bytes([int(escape[1], 16) & 0x7F]), whole)
        + whole.replace(b"\\/", b"/")
    )


def slow_event(text: bytes, values: RedactedValues) -> dict[str, Any]:
    """An event, redacted one value after the other."""
    event, made = json.loads(text), []
    category, phase = (json.dumps(event[key]).encode() if key in event else b"" for key in ("cat", "ph"))
    for key, value in event.items():
        raw = json.dumps(value).encode()
        if key == "args" and isinstance(value, dict):
            inner = [values.argument(phase, name, json.dumps(one).encode()) for name, one in value.items()]
            made.append(b'"args":{%s}' % b",".join(filter(None, inner)))
        else:
            made.append(values.member(category, key, raw))
    redacted: dict[str, Any] = json.loads(b"{%s}" % b",".join(made))
    return redacted
