"""Events that are read by their patterns are those that are decoded: every column, every table and its order, every finding."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.converters.host_trace import ALL_COLUMNS, CORE_COLUMNS
from rblnpb.converters.sources import _event_scanner, _pattern_learning, _pattern_scan
from rblnpb.converters.sources._event_array import CutSizes
from tests.property.test_kineto_source import documents, read_by_one, read_by_several

Patches = tuple[tuple[Any, str, Any], ...]
Template = tuple[list[tuple[str, bytes | None]], list[tuple[str, bytes | None]] | None, tuple[str, str]]

EAGER: Patches = (
    (_event_scanner, "_LEARN_EVENTS", 0),
    (_event_scanner, "_MOST_UNREAD", 1),
    (_event_scanner, "FEWEST_EVENTS", 1),
    (_pattern_scan, "FEWEST_EVENTS", 1),
    (_pattern_learning, "_LEAST_COVERED", 0),
)
"""Patterns are learned from the first block, and looked for in every one, however few events have any."""
NEVER: Patches = ((_event_scanner, "_LEARN_EVENTS", 1 << 60),)

NUMBERS = (
    *("0", "7", "42", "1234567", "12345678", "123456789", "1234567890123456", "12345678901234567", "9223372036854776"),
    *("0.5", "12.5", "12.25", "12.125", "12.0625", "0.000", "1234567.125", "12345678.125", "123456789012345.5"),
    *("1790857026000000.007", "9223372036854774.807", "9223372036854775.807", "9223372036854775.808", "8796093022208.0005"),
    *("-1", "-0", "-0.5", "1e3", "1E-2", "2.5e0", "0.1234567890123456789012", "0.12345678901234567890123"),
    *("1.123456789012345678901234", "null", "true", '"5"', "[1, 2]", "{}", '{"a": 1}'),
)
BROKEN_NUMBERS = (
    *("00", "01", "0012.5", "1.", ".5", "1..5", "1.5.5", "+1", "1_0", "12a", "", "0x10", "1.e5", "--1", "1\x00", "1/", "1:"),
)
NAMES = (
    *("", "a", "aten::mm", "1234567", "12345678", "123456789", "x" * 31, "x" * 32, "x" * 33, "y" * 159, "y" * 160, "y" * 161),
    *('a"b', "a\\b", "\\", "tab\t", "ü漢𝄞", "ü" * 16, "},\n  {", "}, {", '", "pid": 1', "\x7f", "y" * 400),
)
BROKEN_NAMES = (b'"a\nb"', b'"a\x00b"', b'"a\x00\x00"', b'"\xff\xfe"', b'"a\\q"', b'"a', b"a", b'"\\"', b'"a\\"')

FIXED = {
    "ph": ('"X"', '"X"', '"X"', '"s"', '"f"', '"t"', '"M"', '"i"'),
    "cat": ('"cpu_op"', '"kernel"', '"fwdbwd"', '"ü"', '"a\\u0062"'),
    "pid": ("0", "1", '"Spans"', "null"),
    "bp": ('"e"', '"x"'),
    "s": ('"t"', "7"),
}
FIXED_ARGS = {
    "Device Type": ("0", "1", "-1"),
    "context": ("1", '"0/0"'),
    "Input Dims": ("[[2, 3], []]", "[]"),
    "Input dims": ("[[1]]",),
    "Concrete Inputs": ('["", "True"]',),
    "grid": ("[1, 2, 3]", '["01", {"x": 5}]', "1.25"),
    "name": ('"main"', "5"),
    "labels": ('"a"',),
}
USUAL = {**FIXED_ARGS, **FIXED}
TOP = (*("ph", "cat", "name", "pid", "tid", "ts", "dur"), *("id", "bp", "s", "stack", "ev\\u0069l", "name"))
ARGS = (
    *("External id", "Ev Idx", "Sequence number", "Record function id", "correlation", "launch_id", "Bytes", "grid", "context"),
    *("external id", "External Id", "Device Type", "Input Dims", "Input dims", "Concrete Inputs", "name", "labels", "Ev Idx"),
)
STYLES = ((", ", ": "), (",", ":"), (",\n    ", ": "), (" , ", " :"))


class Writer:
    """Writes traces of many events of a few kinds, as a program would, and now and then as none would.

    Hypothesis draws the seed only: that many values one by one would take it minutes.
    """

    def __init__(self, seed: int, *, is_broken: bool) -> None:
        self.random = Random(seed)
        self.broken = 0.003 if is_broken else 0.0
        self.odd = self.random.choice((0.0, 0.01, 0.05))
        self.is_unicode = self.random.random() < 0.7
        names = self.random.sample(NAMES, self.random.randint(1, 6))
        self.names = [*names, "aten::mm", "aten::addmm_backward_of_some_length"]

    def number(self, digits: int) -> str:
        return str(self.random.randrange(10 ** self.random.randint(1, digits)))

    def value(self, key: str) -> bytes:
        side = self.random.random()
        if key == "name":
            if side < self.broken:
                return self.random.choice(BROKEN_NAMES)
            name = self.random.choice(self.names) if side < 0.98 else f"step#{self.number(9)}"
            return json.dumps(name, ensure_ascii=not self.is_unicode).encode()
        if key in USUAL:
            return self.random.choice(USUAL[key]).encode()
        if side < self.broken + self.odd:
            return self.random.choice(BROKEN_NUMBERS if side < self.broken else NUMBERS).encode()
        if key in {"ts", "dur"}:
            return f"{self.number(13)}.{self.random.randrange(1000):03}".encode()
        return (self.random.choice("123") if key == "tid" else self.number(10)).encode()

    def members(self, keys: Sequence[str], fixed: dict[str, tuple[str, ...]]) -> list[tuple[str, bytes | None]]:
        def value(key: str) -> bytes | None:
            if key in fixed:
                return self.random.choice(fixed[key]).encode()
            return self.random.choice(NUMBERS).encode() if self.random.random() < 0.02 else None

        if self.random.random() < 0.1:
            # Each event has a value of its own where there is mostly one for all.
            return [(key, None) for key in keys]

        return [(key, value(key)) for key in keys]

    def template(self) -> Template:
        """How one place in the program writes: keys, and the values of those that are always the same."""
        top = [*TOP[:7]] if self.random.random() < 0.7 else self.random.sample(TOP, self.random.randint(0, len(TOP)))
        top += self.random.sample(TOP[7:11], self.random.choice((0, 0, 0, 1, 2)))
        count = self.random.choice((1, 3, 5, 9))
        args = self.random.sample(ARGS[:9] if self.random.random() < 0.7 else ARGS, count)
        return (
            self.members(top, FIXED),
            self.members(args, FIXED_ARGS) if self.random.random() < 0.8 else None,
            self.random.choice(STYLES),
        )

    def event(self, template: Template) -> bytes:
        top, args, (comma, colon) = template

        def written(members: list[tuple[str, bytes | None]]) -> bytes:
            pairs = [f'"{key}"{colon}'.encode() + (self.value(key) if value is None else value) for key, value in members]
            return comma.encode().join(pairs)

        parts = [written(top)] if top else []
        parts += [f'"args"{colon}{{'.encode() + written(args) + b"}"] if args is not None else []
        return b"{" + comma.encode().join(parts) + b"}"

    def document(self) -> bytes:
        found = [self.template() for _ in range(self.random.randint(1, 3))]
        comma = self.random.choice((b",", b",\n  ", b" ,\t"))
        parts = [comma] * (2 * self.random.randint(10, 120) + 1)
        for place in range(0, len(parts), 2):
            parts[place] = self.event(self.random.choice(found))
        if self.broken and self.random.random() < 0.3:
            at = self.random.randrange(len(parts))
            part = parts[at]
            changes = (b"", b",", b', "k": ', b",x", part + b" x", b"x " + part, part[:-1], part + b"}", b'"k": ' + part)
            parts[at] = self.random.choice(changes)
        return b'{"traceEvents": [' + b"".join(parts) + b"]}"


@contextmanager
def patched(patches: Patches) -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, value in patches:
            stack.enter_context(mock.patch.object(module, name, value))
        yield


def read(document: bytes, sizes: CutSizes, patches: Patches, columns: frozenset[str] = ALL_COLUMNS) -> dict[str, Any] | None:
    with patched(patches):
        return read_by_one(document, sizes, columns)


seeds = st.integers(0, 1 << 32)
sizes = st.builds(CutSizes, st.integers(1000, 12_000), st.integers(1000, 100_000))


@settings(max_examples=400)
@given(seeds, sizes)
def test_alike_events_are_the_same_by_patterns(seed: int, sizes: CutSizes) -> None:
    document = Writer(seed, is_broken=False).document()

    assert read(document, sizes, EAGER) == read(document, sizes, NEVER)


@settings(max_examples=400)
@given(seeds, sizes)
def test_what_is_broken_is_no_less_so_by_patterns(seed: int, sizes: CutSizes) -> None:
    document = Writer(seed, is_broken=True).document()

    assert read(document, sizes, EAGER) == read(document, sizes, NEVER)


@given(seeds, sizes, st.sets(st.sampled_from(sorted(ALL_COLUMNS))))
def test_columns_are_the_same_by_patterns_whichever_others_are_read(seed: int, sizes: CutSizes, some: set[str]) -> None:
    document = Writer(seed, is_broken=False).document()

    assert read(document, sizes, EAGER, CORE_COLUMNS | some) == read(document, sizes, NEVER, CORE_COLUMNS | some)


@settings(max_examples=200)
@given(seeds, st.integers(1000, 12_000), st.integers(1000, 20_000), st.integers(1, 3))
def test_segments_are_the_same_by_patterns_that_others_taught(seed: int, step_bytes: int, segment_bytes: int, readers: int) -> None:
    document = Writer(seed, is_broken=False).document()
    sizes = CutSizes(step_bytes, segment_bytes)

    with patched(EAGER):
        together = read_by_several(document, sizes, readers, is_packed=False)

    assert together in (None, read(document, sizes, NEVER))


def test_an_eighth_of_the_events_at_least_is_read_by_patterns() -> None:
    """Otherwise nothing here would say anything. The first block of each document is not, nor what is odd."""
    read_events = 0

    class Counting(_pattern_scan.PatternScan):
        def __init__(self, *args: Any) -> None:
            nonlocal read_events
            super().__init__(*args)
            is_read = np.zeros(len(self.threads), np.bool_)
            for events, _ in self.ends:
                is_read[events] = True
            read_events += int(is_read.sum())

    documents = [Writer(seed, is_broken=False).document() for seed in range(40)]
    for document in documents:
        read(document, CutSizes(3000), (*EAGER, (_event_scanner, "PatternScan", Counting)))

    assert read_events > sum(document.count(b'"args"') for document in documents) / 8


@given(documents(), sizes)
def test_any_events_are_the_same_by_patterns(document: bytes, sizes: CutSizes) -> None:
    assert read(document, sizes, EAGER) == read(document, sizes, NEVER)
