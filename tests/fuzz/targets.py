"""What is fuzzed: for each reader the inputs to begin with, how they are changed, and what must hold whatever they are."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rblnpb.container import BODY_NAMES, scan
from tests.fuzz import ways
from tests.fuzz.mutations import broken, exchanged, good_files, mutated
from tests.fuzz.odd_messages import odd_chunk, odd_profile
from tests.support.archives import archive
from tests.support.profiles import encode, specimen

__all__ = ["CORPUS", "TARGETS", "Target", "replayed"]

CORPUS: Final = Path(__file__).parent / "corpus"
"""Inputs that once broke something, in a folder for each target."""

Mutate = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes:
        ways: How an input is read; see `rblnpb.tests.fuzz.ways.seen`.
        seeds: Inputs to begin with.
        mutate: Makes another input of one.
        tokens: A dictionary for mutators that know none of the format.
        max_bytes: Largest input that is worth the time.
    """

    ways: Callable[[], Iterable[ways.Way]]
    seeds: Callable[[], list[bytes]]
    mutate: Mutate
    tokens: tuple[bytes, ...] = ()
    max_bytes: int = 1 << 14

    def read(self, data: bytes) -> list[str]:
        """What was met; anything but our own errors escapes."""
        return list(ways.seen(self.ways(), data))


def _mutated(data: bytes, draw: random.Random) -> bytes:
    """Bytes broken anywhere, a body broken under a checksum that fits, or fields that are odd in whole messages."""
    return odd_profile(data, draw) if draw.random() < 0.6 else mutated(data, draw.randrange(1 << 30))


def _mixed(odd: Mutate) -> Mutate:
    return lambda data, draw: odd(data, draw) if draw.random() < 0.7 else broken(data, draw)


def _chunks() -> list[bytes]:
    return [
        data[frame.start : frame.end] for data in good_files() for frame in scan(data).frames if BODY_NAMES[frame.body] == "chunk"
    ]


# --- traces --------------------------------------------------------------------------------------------------------

JSON_TOKENS: Final = (
    *(
        b'"traceEvents"',
        b'"ph"',
        b'"X"',
        b'"M"',
        b'"s"',
        b'"f"',
        b'"b"',
        b'"C"',
        b'"B"',
        b'"E"',
        b'"i"',
        b'"ts"',
        b'"dur"',
        b'"pid"',
        b'"tid"',
    ),
    *(
        b'"name"',
        b'"cat"',
        b'"args"',
        b'"id"',
        b'"bp"',
        b'"cpu_op"',
        b'"kernel"',
        b'"python_function"',
        b'"ac2g"',
        b'"baseTimeNanoseconds"',
    ),
    *(
        b'"External id"',
        b'"correlation"',
        b'"launch_id"',
        b'"Sequence number"',
        b'"process_name"',
        b'"thread_name"',
        b'"deviceProperties"',
    ),
    *(b'"Input Dims"', b'"distributedInfo"', b'"schemaVersion"', b'"displayTimeUnit"', b'"stream"', b'"device"', b'"Trace"'),
    *(b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"NaN", b"-Infinity", b"-0", b"1e400", b"1e-400", b"0.0005", b"1E3"),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"9223372036854775.807", b"1.0000000000000000001"),
    *(
        b'"\\ud800"',
        b'"\\u0000"',
        b'"\\x"',
        b'"',
        b"\\",
        b"\x00",
        b"\x1a",
        b"\x1as3",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"{}",
        b"[]",
    ),
)
_TRACE: Final = {
    "schemaVersion": 1,
    "baseTimeNanoseconds": 1_790_000_000_000_000_000,
    "deviceProperties": [{"id": 0, "name": "x"}],
    "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 41, "tid": 0, "ts": 0.5, "args": {"name": "python"}},
        {"ph": "M", "name": "thread_name", "pid": 41, "tid": 42, "args": {"name": "main"}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 41, "tid": 42, "ts": 1.001, "dur": 9.5, "args": {"External id": 1}},
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 4, "dur": 2, "args": {"correlation": 3, "stream": 7}},
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 3, "pid": 41, "tid": 42, "ts": 1.001},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 3, "pid": 0, "tid": 7, "ts": 4, "bp": "e"},
        {"ph": "C", "name": "memory", "pid": 0, "ts": 3, "args": {"bytes": 12}},
        {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "Trace", "ts": 11},
    ],
    "traceName": "trace.json",
}


def _traces() -> list[bytes]:
    events = _TRACE["traceEvents"]
    return [
        json.dumps(_TRACE).encode(),
        json.dumps(_TRACE, indent=2).encode(),
        json.dumps(events, separators=(",", ":")).encode(),
        b'{"traceEvents":[]}',
    ]


def _exchanged(data: bytes, draw: random.Random) -> bytes:
    return exchanged(data, draw, JSON_TOKENS) if draw.random() < 0.7 else broken(data, draw)


def _archives() -> list[bytes]:
    return [archive(trace) for trace in _traces()[:3]]


# --- dumps and names -----------------------------------------------------------------------------------------------

DUMP_TOKENS: Final = (
    *(
        b'"hidden_host_bounce"',
        b'"by_site"',
        b'"dispatch"',
        b'"cpu_fallback"',
        b'"recompile_miss"',
        b'"cpu_fallback_ns"',
        b'"count"',
        b'"bytes"',
    ),
    *(
        b'"cpu_fallback_by_op"',
        b'"recompile_by_op"',
        b'"cpu_fallback_reasons"',
        b'"trace_by_op"',
        b'"runtime_residency"',
        b'"by_reason"',
    ),
    *(b"{}", b"[]", b"null", b"1e999", b"9223372036854775808", b"-1", b"1.5", b'"\\ud800"', b"\xff", b"\\"),
)
_DUMP: Final = {
    "hidden_host_bounce": {"by_site": {"to(cpu)": {"count": 2, "bytes": 4096}}},
    "dispatch": {"cpu_fallback": 3, "recompile_miss": 1, "cpu_fallback_ns": 900},
    "cpu_fallback_by_op": {"aten::sub.out": 3},
    "recompile_by_op": {"aten::mm": 1},
    "cpu_fallback_reasons": {"dtype-not-fp16": 3},
    "trace_by_op": {"aten::mm": "a.py:1(f)"},
    "runtime_residency": {"by_reason": {"copy": {"count": 1, "bytes": 8}}},
}
NAME_TOKENS: Final = (
    *(
        b"i1_",
        b"0_",
        b"W0_",
        b"mm",
        b"_0",
        b"_",
        b"999999999999999999",
        b"9999999999999999999",
        b"fused(",
        b"+",
        b")",
        b"rbln:",
        b"NPU 3",
    ),
    *(b"Device Workload 3", b"Chiplet ", b"\xd9\xa3", b"\xff", b"\n", b"\0", b"10ms", b":", b"1.5s", b"1_000us", b"-", b".", b"e9"),
)


def _names() -> list[bytes]:
    return [
        b"i1_0_W0_mm_0",
        b"0_W1_args_0_2",
        b"12_linear_196_0",
        b"fused(rms_norm_1+rope_2)_40_0",
        b"RBLN NPU 3",
        b"10ms:25ms",
        b"1.5s:",
    ]


def _vendor_ways() -> Iterable[ways.Way]:
    from tests.fuzz.vendor_ways import vendor_ways

    return vendor_ways


def _vendor_files() -> list[bytes]:
    from tests.fuzz.vendor_ways import FILES

    return FILES


def _odd_packets(data: bytes, draw: random.Random) -> bytes:
    from tests.fuzz.vendor_ways import odd_packets

    return odd_packets(data, draw)


TARGETS: Final = {
    "container": Target(lambda: ways.container_ways, good_files, _mutated),
    "chunk": Target(lambda: ways.chunk_ways, _chunks, _mixed(odd_chunk)),
    "profile": Target(lambda: ways.profile_ways, lambda: [*good_files(), encode(specimen(), "none")], _mutated),
    "window": Target(lambda: ways.window_ways, good_files, _mutated),
    "archive": Target(lambda: ways.archived_ways, _archives, _mutated),
    "converted": Target(lambda: ways.converted_ways, lambda: [*good_files(), encode(specimen(), "none")], _mutated),
    "host": Target(lambda: ways.host_ways, _traces, _exchanged, JSON_TOKENS),
    "host-converted": Target(lambda: ways.host_converted_ways, _traces, _exchanged, JSON_TOKENS),
    "explain": Target(
        lambda: ways.explain_ways,
        lambda: [json.dumps(_DUMP).encode()],
        lambda data, draw: exchanged(data, draw, DUMP_TOKENS) if draw.random() < 0.7 else broken(data, draw),
        DUMP_TOKENS,
    ),
    "names": Target(
        lambda: ways.name_ways,
        _names,
        lambda data, draw: exchanged(data, draw, NAME_TOKENS) if draw.random() < 0.6 else broken(data, draw),
        NAME_TOKENS,
        max_bytes=1 << 10,
    ),
    "vendor": Target(_vendor_ways, _vendor_files, _mixed(_odd_packets)),
}
"""By name, as scripts/fuzz_reader.py takes it."""


def replayed() -> Iterator[tuple[str, Path]]:
    """Every input of the corpus with the name of its target."""
    for folder in sorted(CORPUS.iterdir()):
        if folder.is_dir():
            yield from ((folder.name, path) for path in sorted(folder.iterdir()))
