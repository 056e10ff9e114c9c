"""Traces that are broken in every way that is known of real ones, each with what of it has to be kept."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

STYLES: Final = {
    "kineto": (b'{\n  "schemaVersion": 1,\n  "traceEvents": [\n  ', b",\n  ", b'\n  ],\n  "traceName": "t.json"\n}'),
    "compact": (b'{"traceEvents":[', b",", b'],"displayTimeUnit":"ms"}'),
    "bare": (b"[\n", b",\n", b"\n]\n"),
}
"""Head, what is between two events, and tail."""


@dataclass(frozen=True)
class Broken:
    """A trace that is no JSON.

    Attributes:
        kind: What was done to it.
        document: Its bytes as they are stored.
        present: Names of all events that somebody wrote whole or in part.
        kept: Names of those that have to be read.
    """

    kind: str
    document: bytes
    present: tuple[str, ...]
    kept: tuple[str, ...]


def event(number: int, style: str = "kineto") -> bytes:
    """A slice with shapes, a list of objects and a text with escapes, so that brackets, braces and quotes stand in it."""
    args = {"External id": number + 1, "Input Dims": [[2, 3], []], "stack": [{"name": "f", "line": 1}], "file": 'a "b", {c}\n'}
    whole = {
        "ph": "X",
        "cat": "cpu_op",
        "name": f"e{number}",
        "pid": 1,
        "tid": 2,
        "ts": 10 * number + 0.5,
        "dur": 3.25,
        "args": args,
    }
    return json.dumps(whole, indent=2 if style == "kineto" else None, separators=None if style == "kineto" else (",", ":")).encode()


def document(events: list[bytes], style: str = "kineto") -> bytes:
    head, between, tail = STYLES[style]
    return head + between.join(events) + tail


def names(count: int, *without: int) -> tuple[str, ...]:
    return tuple(f"e{number}" for number in range(count) if number not in without)


def _exchanged(word: str, text: bytes) -> bytes:
    return text.replace(b"3.25", word.encode())


_WORDS: Final = (
    "NaN",
    "-Infinity",
    "inf",
    "-nan",
    "N/A",
    "undefined",
    "None",
    "1.#QNAN",
    "nan(ind)",
    "3.",
    ".5",
    "+3",
    "007",
    "True",
)
_MENDED: Final[dict[str, Callable[[bytes], bytes]]] = {
    **{f"word {word}": partial(_exchanged, word) for word in _WORDS},
    "no value": lambda text: text.replace(b"3.25", b""),
    "escape": lambda text: text.replace(b"{c}", b"C:\\path\\u12zz"),
    "control byte": lambda text: text.replace(b"{c}", b"a\x01\tb\nc"),
    "no utf-8": lambda text: text.replace(b"{c}", b"\xff\xfe \xe2\x82"),
    "surrogate": lambda text: text.replace(b"{c}", b"\\ud800"),
    "comma in object": lambda text: text[:-1].rstrip() + b",}",
    "commas first": lambda text: text.replace(b"{", b"{,", 1),
    "commas in array": lambda text: text.replace(b"[]", b"[,,]"),
}
"""Faults that take no event."""

_LOST: Final[dict[str, Callable[[bytes], bytes]]] = {
    "quote in name": lambda text: text.replace(b'"e', b'"f("x")e', 1),
    "object in name": lambda text: text.replace(b'"e', b'"f({"a": 1, "ph": [2]})e', 1),
    "lone quote": lambda text: text.replace(b'"e', b'"q"e', 1),
    "no closing brace": lambda text: text[:-1],
    "no quote": lambda text: text.replace(b'"cpu_op"', b'"cpu_op', 1),
    "wrong bracket": lambda text: text.replace(b"[]", b"[}", 1),
    "single quotes": lambda text: text.replace(b'"', b"'"),
    "comment": lambda text: text.replace(b'"cat"', b'/* why */ "cat"'),
    "middle gone": lambda text: text[: len(text) // 3] + text[len(text) // 2 :],
    "garbage": lambda text: text[:40] + b"\0\0\xff{{[[" + text[60:],
}
"""Faults that take the event."""


def damaged_events(style: str, count: int = 3) -> Iterator[Broken]:
    """Every fault of one event: of the style of Kineto in every event, else in one."""
    for at in range(count) if style == "kineto" else [1]:
        for kind, damage in (*_MENDED.items(), *_LOST.items()):
            events = [event(number, style) for number in range(count)]
            events[at] = damage(events[at])
            kept = names(count) if kind in _MENDED else names(count, at)
            yield Broken(f"{style}: {kind} in {at}", document(events, style), names(count), kept)


def damaged_frames(style: str, count: int = 4) -> Iterator[Broken]:
    """Faults between events and around them."""
    events = [event(number, style) for number in range(count)]
    head, between, tail = STYLES[style]
    whole = document(events, style)
    every = names(count)
    for kind, text in {
        "comma last": head + between.join(events) + b"," + tail,
        "commas last": head + between.join(events) + b",,\n," + tail,
        "comma first": head + b"," + between.join(events) + tail,
        "commas between": head + between.join(events[:2]) + b",,," + between.join(events[2:]) + tail,
        "no comma": head + between.join(events[:2]) + b" " + between.join(events[2:]) + tail,
        "brace too many": head + between.join(events[:2]) + b"}" + between + between.join(events[2:]) + tail,
        "text between": head + between.join(events[:2]) + b" oops " + between + between.join(events[2:]) + tail,
        "two documents": whole + whole,
        "text behind": whole + b"\nlog: done\n",
    }.items():
        yield Broken(f"{style}: {kind}", text, every, every)
    if style != "bare":
        yield Broken(f"{style}: no bracket", whole[::-1].replace(b"]", b"", 1)[::-1], every, every)
        yield Broken(
            f"{style}: bracket early",
            head + between.join(events[:2]) + b"]" + between + between.join(events[2:]) + tail,
            every,
            every,
        )
        yield Broken(f"{style}: word in head", whole.replace(b"{", b'{"device": NaN, ', 1), every, every)
        yield Broken(f"{style}: quote in head", whole.replace(b"{", b'{"device": "a "b" c", ', 1), every, every)
        yield Broken(f"{style}: quote in tail", whole[:-1] + b', "x": "a "b" c"}', every, every)
    # The end of one writer's event, and the beginning of another's, within each other.
    first, second = event(1, style), event(2, style)
    for part in (2, 3, 4):
        mixed = first[: len(first) // part] + second + first[len(first) // part :]
        yield Broken(
            f"{style}: two writers {part}", head + between.join([events[0], mixed, events[3]]) + tail, every, names(count, 1)
        )


def cut_documents(style: str, count: int = 3) -> Iterator[Broken]:
    """A trace cut at every byte from behind its first event on."""
    events = [event(number, style) for number in range(count)]
    whole = document(events, style)
    ends = [whole.index(one) + len(one) for one in events]
    for size in range(ends[0], len(whole.rstrip())):
        kept = names(sum(end <= size for end in ends))
        begun = names(sum(whole.index(one) < size for one in events))
        yield Broken(f"{style}: cut at {size}", whole[:size], begun, kept)


def broken_gzip(count: int = 40) -> Iterator[Broken]:
    """Compressed traces whose frame is broken; what is kept is all of them."""
    whole = document([event(number) for number in range(count)])
    packed = gzip.compress(whole, mtime=0)
    every = names(count)
    half = whole.index(b'{\n  "ph"', len(whole) // 2)
    wrong = bytearray(packed)
    wrong[-6] ^= 0x55
    yield Broken("gzip: checksum", bytes(wrong), every, every)
    yield Broken("gzip: cut trailer", packed[:-5], every, every)
    yield Broken("gzip: garbage behind", packed + b"garbage", every, every)
    yield Broken("gzip: second member cut", gzip.compress(whole[:half]) + gzip.compress(whole[half:])[:-3], every, every)


def cut_gzip(count: int = 40) -> Iterator[tuple[int, bytes, bytes]]:
    """A compressed trace cut at many bytes: where, the bytes, and the text that can be inflated of them."""
    packed = gzip.compress(document([event(number) for number in range(count)]), mtime=0)
    for size in range(40, len(packed) - 8, 7):
        yield size, packed[:size], zlib.decompressobj(wbits=31).decompress(packed[:size])
