"""Small files that say all that the format can say, and what a reader makes of a file as plain JSON.

scripts/release_corpus.py writes them once a version; tests/compat/test_format_corpus.py reads those of every version.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import rblnpb
from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import ABSENT, CHUNK_LIMIT, Counters, DeviceSlices, Launches, Table, TextArray
from rblnpb.naming import NameStyle
from rblnpb.profile import (
    KINDS,
    Commands,
    Device,
    Engine,
    EngineKind,
    HostActivity,
    Loss,
    LossReason,
    OverheadKind,
    Profile,
    Program,
    Session,
    TraceDocument,
)
from rblnpb.sim import simulate
from tests.support.archives import archive
from tests.support.packed_columns import packed_chunks
from tests.support.profiles import CODECS, encode, packets, payloads, stream, tiny

__all__ = ["specimens"]

STRINGS: Final = ("", "rbln:0", "aten::mm", "µ—漢𝄞", "args_0", "x" * 300)
COUNT: Final = 6
"""Records of each kind: as many as the enum of records with the most values has."""
TOP: Final = 2**63 - 1


def specimens() -> dict[str, bytes]:
    """Files by name, as they are written today; the same at every call."""
    made: dict[str, bytes] = {}
    for codec in CODECS:
        made[f"everything_{codec}"] = encode(everything(), codec)
    for codec in ("raw", "zstd"):
        made[f"widths_{codec}"] = b"".join(
            encode(_of_width(*row), codec)
            for row in ((NameStyle.PLAIN, 255), (NameStyle.SINGLE_STREAM, 2**32 - 1), (NameStyle.LEGACY, 2**64 - 1))
        )
        made[f"nullable_{codec}"] = b"".join(encode(_nullable(*row), codec) for row in ((1, "none"), (2, "all"), (3, "some")))
    made["clocks"] = encode(_clocks(), "zstd")
    made["long"] = encode(_long(), "zstd")
    made["transforms"] = _transforms()
    made["sessions"] = _taking_turns(encode(tiny()), encode(tiny(session=Session(9))))
    made["cut"] = made["everything_zlib"][: -len(b"".join(packets(made["everything_zlib"])[-2:])) - 5]
    made["without_end"] = b"".join(packets(made["everything_none"])[:-1])
    made["archive"] = archive(_TRACE)
    made["display"] = _shown(simulate(calls=1))
    made["empty"] = encode(Profile(Session(7)))
    made["simulated"] = encode(simulate(calls=2, instances=2), "zstd")
    return made


# --- tables of which every column says something -------------------------------------------------------------------


def _is_reference(name: str) -> bool:
    return name.endswith(("_strindex", "_ordinal")) or name in ("command_row", "engine_id", "program_id", "device_id", "phase")


def _referring(name: str, row: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Values of a column that refers: to something that `everything` defines."""
    if name == "layout_strindex":
        return row * 0
    if name == "phase":
        return np.array([ord(letter) for letter in "XMsfCi"])[row % 6]
    limit = {"engine_id": len(EngineKind), "command_row": len(EngineKind), "program_id": 2, "device_id": 2}
    return 1 + row % (limit.get(name, len(STRINGS) - 1)) if not name.endswith("_ordinal") else row % COUNT


Values = Callable[[str, "tuple[int, int]", npt.NDArray[np.int64]], Any]
"""What a column of integers holds: of its name, its least and greatest value, and the rows."""


def _filled(table: type[Table], values: Values, clock_id: int = 16) -> Any:
    row = np.arange(COUNT)
    columns: dict[str, Any] = {}
    for name, (dtype, _) in table.schema().items():
        if name == "clock_id":
            columns[name] = clock_id
        elif dtype is None:
            columns[name] = TextArray.of([b"", b'{"a":1}', b"\xff\0", b"[]", b"y" * 200, b""])
        elif dtype.kind == "f":
            columns[name] = np.array([0.1, -0.0, 1e308, 5e-324, -1.5, float(2**53)])
        elif _is_reference(name):
            columns[name] = _referring(name, row)
        elif name in ("activity", "overhead"):
            columns[name] = row % len(HostActivity if name == "activity" else OverheadKind)
        else:
            columns[name] = values(name, table.limits()[name], row)
    return table.of(**columns)


def _records(values: Values) -> dict[str, Any]:
    return {table.label: _filled(table, values) for table in KINDS.values()}


def _usual(name: str, _: tuple[int, int], row: npt.NDArray[np.int64]) -> Any:
    """Numbers of four bytes that ascend; where a column may be empty the second is 0 and the third is not there."""
    found = 1_000 * (1 + row)
    if any(table.schema().get(name, (None, False))[1] for table in KINDS.values()):
        found = np.where(row == 1, 0, np.where(row == 2, ABSENT, found))
        may_be_empty = [table.schema()[name][1] for table in KINDS.values() if name in table.schema()]
        return found if all(may_be_empty) else np.where(found == ABSENT, 7, found)
    return found


def everything() -> Profile:
    """Every kind of record, every column, every field of what a session defines; every value of every enum but styles of names."""
    row = np.arange(len(EngineKind) + 1, dtype=np.uint32)
    commands = Commands(
        program_id=np.minimum(row, 1),
        layer_strindex=row % np.uint32(len(STRINGS)),
        command_index=row,
        engine_kind=np.maximum(row, 1) - 1,
        size_bytes=np.where(row % 3 == 1, 2**40 + row.astype(np.int64), ABSENT),
        chiplet=np.where(row % 4 == 1, row.astype(np.int64) % 3, ABSENT),
        predecessor_ends=np.maximum(row, 1).astype(np.int64) - 1,
        predecessor_rows=row[1:-1],
    )
    session = Session(
        session_id=0x0123_4567_89AB_CDEF,
        started_real_ns=1_790_000_000_000_000_000,
        started_monotonic_ns=900,
        ended_real_ns=1_790_000_000_000_020_000,
        ended_monotonic_ns=20_900,
        host_name="host",
        boot_id="b-1",
        process_id=41,
        process_name="python",
        rank=0,
        world_size=8,
        tool_name="by hand",
        tool_version="1",
        name_style=NameStyle.MULTI_STREAM,
        drained_after_each_run=False,
        settings=(("RBLN_PROFILER", "1"), ("EMPTY", "")),
        npu="rebel100",
        file_ordinal=2,
    )
    return Profile(
        session=session,
        strings=STRINGS,
        clocks=tuple(Clock(16 + kind, "rbln:0", 10**9 * (kind < 2), 48 - kind, 1, kind) for kind in ClockKind),
        devices=(Device(1, "rbln:0", 0, 4, 16), Device(2, "", 2**32 - 1)),
        engines=tuple(Engine(1 + kind, 1, kind, "" if kind % 2 else "aten::mm", kind % 3 or None, kind) for kind in EngineKind),
        programs=(Program(1, "args_0", "aten::mm", "args_0", 1, len(EngineKind)), Program(2, "")),
        commands=commands,
        threads=((42, "args_0"), (2**64 - 1, "")),
        clock_snapshots=(
            ClockSnapshot(HOST_REALTIME, 1_790_000_000_000_001_010, 1_000, 1_020),
            ClockSnapshot(16, 0, 1_000, 1_020),
            ClockSnapshot(16, 10_000, 11_000, 11_020),
        ),
        losses=tuple(
            Loss(17 * (reason != 0), reason, 2**63 if reason else 1, int(reason), reason == 2, -reason or None, reason or None)
            for reason in LossReason
        ),
        trace_document=TraceDocument(b'{"traceEvents":[', b"]}\xff", "trace.json", -1),
        **_records(_usual),
    )


def _of_width(style: NameStyle, top: int) -> Profile:
    """Every number of a record at the ends of what so many bits hold, as far as its column does."""

    def values(_: str, limits: tuple[int, int], row: npt.NDArray[np.int64]) -> Any:
        low, high = limits
        if low < 0:
            ends = [max(low, -(top // 2) - (top < TOP)), min(high, top // 2), 0, -1, 1, min(high, top // 2)]
        else:
            ends = [0, min(high, top), 1, min(high, top), 127, min(high, top) - 1]
        return np.array([ends[place] for place in row], np.int64 if high <= TOP else np.uint64)

    return _with_records(Session(100 + style, name_style=style), _records(values))


def _with_records(session: Session, records: dict[str, Any]) -> Profile:
    """As little besides as these may refer to."""
    records["device_slices"] = records["device_slices"].replace(command_row=np.zeros(COUNT, np.uint32))
    engines = tuple(Engine(1 + kind, 1, kind) for kind in EngineKind)
    defined: dict[str, Any] = {
        "strings": STRINGS,
        "devices": (Device(1), Device(2)),
        "programs": (Program(1, ""), Program(2, "")),
        "engines": engines,
    }
    return Profile(session, clocks=(Clock(16, nominal_hz=10**9),), **defined, **records)


def _nullable(session_id: int, which: str) -> Profile:
    """Columns that may be empty: everywhere, nowhere, and where the row is even."""

    def values(_: str, __: tuple[int, int], row: npt.NDArray[np.int64]) -> Any:
        return 70_000 * row

    tables = {}
    for label, table in _records(values).items():
        is_empty = {"none": np.ones(COUNT, bool), "all": np.zeros(COUNT, bool), "some": np.arange(COUNT) % 2 == 0}[which]
        nullable = [name for name, (_, may_be_empty) in table.schema().items() if may_be_empty]
        tables[label] = table.replace(**{name: np.where(is_empty, ABSENT, getattr(table, name)) for name in nullable})
    return _with_records(Session(session_id), tables)


# --- other files ---------------------------------------------------------------------------------------------------


def _clocks() -> Profile:
    """Two devices whose counters run at other rates and wrap, beside the host's clocks; a chunk begins where the clock changes."""
    clocks = (
        Clock(16, "one", 10**9, 32, 1, ClockKind.DEVICE),
        Clock(17, "two", 24_000_000, 64, 2, ClockKind.DEVICE),
        Clock(2**32 - 1, "unread", 0, 1, 0),
    )
    second = 10**9
    snapshots = [ClockSnapshot(HOST_REALTIME, 1_790_000_000 * second + 5, 0, 10)]
    for step in range(4):
        at = step * second
        snapshots += [
            ClockSnapshot(16, (2**32 - 5 + at) % 2**32, at, at + 20),
            ClockSnapshot(17, 7 + step * 24_000_000, at, at + 30),
        ]
    slices = DeviceSlices.of(
        clock_id=np.array([16, 16, 17, 17, 16, 1, 2]),
        engine_id=np.array([1, 1, 2, 2, 1, 1, 1]),
        start_ticks=np.array([2**32 - 1, 3, 10, 2**33, 2**31, 5, 1_790_000_000 * second + 9], np.uint64),
        duration_ticks=np.arange(7),
        name_strindex=2,
    )
    engines = (Engine(1, 1, EngineKind.COMPUTE), Engine(2, 2, EngineKind.COPY))
    return Profile(
        session=Session(5),
        strings=STRINGS,
        clocks=clocks,
        devices=(Device(1, "rbln:0", 0, 1, 16), Device(2, "rbln:1", 1, 1, 17)),
        engines=engines,
        clock_snapshots=tuple(snapshots),
        device_slices=slices,
        counters=Counters.of(
            clock_id=np.array([1, 2, 17]), name_strindex=2, time_ticks=np.array([5, 6, 7]), value=np.arange(3) / 3
        ),
    )


def _long() -> Profile:
    """More records than a chunk holds."""
    row = np.arange(CHUNK_LIMIT + 3)
    slices = DeviceSlices.of(
        clock_id=16, engine_id=1, start_ticks=100 * row, duration_ticks=row % 7, launch_id=1 + row // 4096, name_strindex=3
    )
    launch = np.arange(17)
    launches = Launches.of(launch_id=1 + launch, start_ns=1_000 + 409_600 * launch, thread_id=42)
    return tiny(device_slices=slices, launches=launches)


def _transforms() -> bytes:
    """A chunk for each codec, order of transforms and pair of widths, also those that no writer of this package takes."""
    header, definitions, readings, *_ = payloads(encode(tiny()))
    parts = [header, definitions, readings]
    for chunk in packed_chunks():
        part = type(header)(session_id=header.session_id, sequence=len(parts))
        part.chunk.CopyFrom(chunk)
        parts.append(part)
    closing = type(header)(session_id=header.session_id, sequence=len(parts))
    closing.closing.totals.add(kind=DeviceSlices.kind, written=sum(part.chunk.count for part in parts))
    return stream([*parts, closing])


def _taking_turns(one: bytes, other: bytes) -> bytes:
    return b"".join(packet for pair in zip(packets(one), packets(other), strict=True) for packet in pair)


def _shown(profile: Profile) -> bytes:
    file = io.BytesIO()
    rblnpb.write(profile, file, codec="zstd", display=True)
    return file.getvalue()


_EVENTS: Final[list[Mapping[str, Any]]] = [
    {"ph": "M", "name": "process_name", "pid": 41, "tid": 0, "ts": 0, "args": {"name": "µ"}},
    *(
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 41, "tid": 42, "ts": ts, "dur": 1.25, "args": {"External id": ts}}
        for ts in range(3)
    ),
    {"ph": "s", "id": 2**63, "pid": 41, "tid": "x", "ts": 1e-3, "cat": "ac2g", "name": "ac2g"},
    {
        "ph": "X",
        "name": "\ud800",
        "cat": "kernel",
        "ts": -1.5,
        "dur": 0.0005,
        "pid": None,
        "tid": [],
        "args": {"a": {"b": [1, None]}},
    },
]
_TRACE: Final = json.dumps(
    {"baseTimeNanoseconds": 1_790_000_000_000_000_000, "traceEvents": _EVENTS, "after": "é"}, indent=1
).encode()
