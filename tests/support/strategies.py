"""Whole profiles for hypothesis: every kind, every column, the edges of every width."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import ABSENT, Table, TextArray
from rblnpb.naming import NameStyle
from rblnpb.profile import (
    KINDS,
    Commands,
    Device,
    Engine,
    EngineKind,
    Loss,
    LossReason,
    Profile,
    Program,
    Session,
    TraceDocument,
)

__all__ = ["columns_of", "profiles", "texts"]

_EDGES = (0, 1, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)
_INT64 = (-(2**63) + 1, 2**63 - 1)

texts = st.text(st.characters(codec="utf-8"), max_size=6)
nanoseconds = st.integers(*_INT64)
_BOOLEANS, _COUNTS = st.booleans(), st.integers(0, 9)


@functools.cache
def _numbers(low: int, high: int) -> st.SearchStrategy[int]:
    edges = [sign * edge for edge in _EDGES for sign in (1, -1) if low <= sign * edge <= high]
    return st.one_of(st.sampled_from(edges), st.integers(low, high), st.integers(max(low, -9), min(high, 9)))


# To make a strategy takes longer than to draw from it.
@functools.cache
def columns_of(dtype: np.dtype[Any], count: int, *, nullable: bool, signed: bool) -> st.SearchStrategy[Any]:
    """Columns of `count` values that the schema allows: of numbers of all widths, or of one number."""
    if dtype.kind == "f":
        one: st.SearchStrategy[Any] = st.floats(allow_nan=False, allow_infinity=False)
    else:
        low, high = (_INT64[0] if signed else 0), int(np.iinfo(dtype).max)
        one = st.one_of(*(_numbers(max(low, -top), min(high, top)) for top in (255, 2**32 - 1, 2**64 - 1)))
        one = st.one_of(one, st.just(ABSENT)) if nullable else one
    many = st.lists(one, min_size=count, max_size=count)
    return st.one_of(many, one.map(lambda value: [value] * count)).map(lambda values: np.array(values, dtype))


@functools.cache
def _places(limit: int, count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, limit - 1), min_size=count, max_size=count)


@functools.cache
def _bytes(count: int) -> st.SearchStrategy[list[bytes]]:
    return st.lists(st.binary(max_size=300), min_size=count, max_size=count)


@st.composite
def _table(draw: st.DrawFn, table: type[Table], limits: dict[str, Sequence[int]]) -> Table:
    count = draw(_COUNTS)
    columns: dict[str, Any] = {}
    for name, (dtype, nullable) in table.schema().items():
        if dtype is None:
            columns[name] = TextArray.of(draw(_bytes(count)))
        elif name in limits:
            places = draw(_places(len(limits[name]), count))
            columns[name] = np.array([limits[name][place] for place in places], dtype)
        elif draw(_BOOLEANS):
            values = draw(columns_of(dtype, count, nullable=nullable, signed=name in table.signed_columns()))
            columns[name] = np.minimum(values, _INT64[1]).astype(dtype) if name == "launch_id" else values
    return table.of(count, **columns)


@st.composite
def _programs(draw: st.DrawFn, strings: tuple[str, ...]) -> tuple[tuple[Program, ...], Commands]:
    programs: list[Program] = []
    rows: list[tuple[int, ...]] = [(0, 0, 0, 0, ABSENT, ABSENT)]
    ends, predecessors = [0], list[int]()
    rows_of_strings = st.integers(0, len(strings) - 1)
    for program_id in draw(st.lists(st.integers(1, 2**32 - 1), max_size=3, unique=True)):
        first, count = len(rows), draw(st.integers(0, 3))
        name, op, compile_id = (strings[draw(rows_of_strings)] for _ in range(3))
        programs.append(Program(program_id, name, op, compile_id, first if count else 0, count))
        for _ in range(count):
            planned = [draw(st.sampled_from((ABSENT, 0, 2**32, 2**63 - 1))), draw(st.sampled_from((ABSENT, 0, 3)))]
            rows.append((program_id, draw(rows_of_strings), draw(_numbers(0, 2**32 - 1)), draw(st.integers(0, 14)), *planned))
            predecessors += [first + before for before in draw(st.lists(st.integers(0, count - 1), max_size=3))]
            ends.append(len(predecessors))
    columns = list(zip(*rows, strict=True))
    return tuple(programs), Commands(
        program_id=np.array(columns[0], np.uint32),
        layer_strindex=np.array(columns[1], np.uint32),
        command_index=np.array(columns[2], np.uint32),
        engine_kind=np.array(columns[3], np.uint32),
        size_bytes=np.array(columns[4], np.int64),
        chiplet=np.array(columns[5], np.int64),
        predecessor_ends=np.array(ends, np.int64),
        predecessor_rows=np.array(predecessors, np.uint32),
    )


def _sessions(*, is_complete: bool) -> st.SearchStrategy[Session]:
    end = nanoseconds if is_complete else st.just(0)
    return st.builds(
        Session,
        session_id=st.integers(1, 2**64 - 1),
        started_real_ns=nanoseconds,
        started_monotonic_ns=nanoseconds,
        ended_real_ns=end,
        ended_monotonic_ns=end,
        host_name=texts,
        boot_id=texts,
        process_id=_numbers(0, 2**32 - 1),
        process_name=texts,
        rank=st.sampled_from((None, 0, 2**32 - 1)),
        world_size=st.sampled_from((None, 0, 8)),
        tool_name=texts,
        tool_version=texts,
        name_style=st.sampled_from(NameStyle),
        drained_after_each_run=st.sampled_from((None, False, True)),
        settings=st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
        npu=texts,
        file_ordinal=_numbers(0, 2**32 - 1),
    )


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Profiles that refer to nothing that they do not define, and whose strings hold every name: as read from a file."""
    is_complete = draw(st.booleans())
    # Rows that repeat one or are empty are legal: a file that lost a packet has them.
    strings = ("", *draw(st.lists(texts, max_size=6)))
    name = st.sampled_from(strings)
    uint32 = _numbers(0, 2**32 - 1)
    ids = st.lists(st.integers(1, 2**32 - 1), max_size=3, unique=True)
    devices = tuple(Device(i, draw(name), draw(uint32), draw(uint32), 0) for i in draw(ids))
    clock_ids = draw(st.lists(st.integers(16, 40), max_size=3, unique=True))
    hz = st.sampled_from((0, 1, 10**9, 2**64 - 1))
    clocks = tuple(
        Clock(i, draw(name), draw(hz), draw(st.sampled_from((1, 32, 48, 63, 64))), 0, draw(st.sampled_from(ClockKind)))
        for i in clock_ids
    )
    chiplets = st.sampled_from((None, 0, 3))
    engines = tuple(Engine(i, 0, draw(st.sampled_from(EngineKind)), draw(name), draw(chiplets), draw(uint32)) for i in draw(ids))
    programs, commands = draw(_programs(strings))
    snapshots = st.builds(
        ClockSnapshot, st.sampled_from([HOST_REALTIME, *clock_ids]), _numbers(0, 2**64 - 1), nanoseconds, nanoseconds
    )
    moments = st.sampled_from((None, 0, -1, 2**63 - 1))
    losses = st.builds(
        Loss, st.integers(0, 23), st.sampled_from(LossReason), _numbers(0, 2**64 - 1), uint32, st.booleans(), moments, moments
    )
    limits: dict[str, Sequence[int]] = {name: range(len(strings)) for name in _STRING_COLUMNS} | {
        "clock_id": [1, 2, *clock_ids],
        "command_row": range(len(commands)),
        "engine_id": [0, *(engine.engine_id for engine in engines)],
        "program_id": [0, *(program.program_id for program in programs)],
        "device_id": [0, *(device.device_id for device in devices)],
    }
    tables: dict[str, Any] = {}
    for table in KINDS.values():
        if table.label == "dependencies":
            ordinals = range(len(tables["device_slices"]))
            if not ordinals:
                continue
            limits |= {"predecessor_ordinal": ordinals, "successor_ordinal": ordinals}
        tables[table.label] = draw(_table(table, limits))
    return Profile(
        session=draw(_sessions(is_complete=is_complete)),
        strings=strings,
        clocks=clocks,
        devices=devices,
        engines=engines,
        programs=programs,
        commands=commands,
        threads=tuple(draw(st.lists(st.tuples(_numbers(0, 2**64 - 1), name), max_size=2))),
        clock_snapshots=tuple(draw(st.lists(snapshots, max_size=4))),
        losses=tuple(draw(st.lists(losses, max_size=3))),
        trace_document=draw(st.one_of(st.none(), st.builds(TraceDocument, st.binary(), st.binary(), texts, moments))),
        is_complete=is_complete,
        **tables,
    )


_STRING_COLUMNS = (
    "name_strindex",
    "stage_strindex",
    "op_strindex",
    "reason_strindex",
    "place_strindex",
    "category_strindex",
    "process_strindex",
    "thread_strindex",
    "id_strindex",
    "layout_strindex",
)
