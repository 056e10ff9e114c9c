"""Patterns of events: how the events of a trace are written, with gaps for what differs from one to the next.

The events of a file come from few places in one program, each of which prints the same text around other values. Patterns that
begin alike share that, so that together they are a tree of steps. Events are read by patterns; they are written by layouts
(`event_layouts`), which have marks for what columns give.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ..timeline import Id
from ._known_texts import LONG_BYTES, SHORT_BYTES
from ._text_numbers import LONGEST_NUMBER_BYTES, NUMBER_BYTES
from ._text_words import WORD_BYTES, FixedText


class Kind(Enum):
    """What stands in a gap."""

    NAME = "name"
    THREAD = "thread"
    TIME = "time"
    NUMBER = "number"
    IGNORED = "ignored"


@dataclass(frozen=True)
class Slot:
    """A gap of a pattern.

    Attributes:
        kind: What stands there.
        column: Of `HostEvents`, whose value it is; None of a number that is ignored.
    """

    kind: Kind
    column: str | None

    @property
    def window_bytes(self) -> int:
        """How much of the text it takes to read what is there, or to see that it is longer."""
        return SHORT_BYTES if self.kind in {Kind.NAME, Kind.THREAD} else NUMBER_BYTES

    @property
    def longest_bytes(self) -> int:
        """As much as can stand there, or more."""
        return LONG_BYTES if self.kind in {Kind.NAME, Kind.THREAD} else LONGEST_NUMBER_BYTES


@dataclass(frozen=True)
class Constants:
    """What all events of one pattern share.

    Attributes:
        phase, category, pid: Theirs.
        tid: Theirs, if `has_tid`.
        has_tid: Whether it is the same for all of them; otherwise a gap is for it.
        binding_point: Theirs, if arrows end at them.
        device_type: Theirs, if they have one.
        texts: JSON values of theirs by the column that their text belongs to.
    """

    phase: str
    category: str
    pid: Id
    tid: Id
    has_tid: bool
    binding_point: int | None
    device_type: int | None
    texts: tuple[tuple[str, str], ...]


@dataclass
class Step:
    """A part of patterns that begin alike, and what may follow it.

    Attributes:
        fixed: The text that comes first.
        slot: The gap behind it; None: the event ends there.
        constants: Of the pattern that ends here.
        following: The next steps, the likeliest first.
    """

    fixed: FixedText
    slot: Slot | None
    constants: Constants | None = None
    following: list[Step] = field(default_factory=list)

    @property
    def window_bytes(self) -> int:
        """How much of the text it takes to look for it, in whole words."""
        size = len(self.fixed.text) + (self.slot.window_bytes if self.slot else 0)
        return -(-size // WORD_BYTES) * WORD_BYTES
