"""Files that can be sent away: the same records and events, with pseudonyms in the place of names."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from rblnpb.errors import OutputError, UsageError

from ..sinks.redacted_profile import redacted_profile
from ..sinks.redacted_trace import KEPT_NAMES, RedactedNames, write_redacted_trace
from ..sources.kineto import read_document
from ..timeline import HostTrace
from .inputs import Inputs, Progress

__all__ = ["KEPT_NAMES", "Redacted", "redact"]

_BLOCK_BYTES: Final = 1 << 17
_DAY_S: Final = 86_400
_LEAST_SHIFT_S: Final = 30 * _DAY_S
_SHIFTS_S: Final = 7_000 * _DAY_S
"""Up to nineteen years: a time of today stays one that is told to be Unix time."""


@dataclass(frozen=True, eq=False)
class Redacted:
    """What came of a redaction.

    Attributes:
        inputs: Profile and host trace without what is not public, to be written.
        replaced: How many different texts of each kind were replaced, by kind.
        shift_s: Seconds that Unix times were moved back.
    """

    inputs: Inputs
    replaced: dict[str, int]
    shift_s: int


def redact(
    inputs: Inputs,
    key: bytes,
    *,
    kept: Collection[str] = (),
    without_shapes: bool = False,
    rebase_times: bool = False,
    progress: Progress | None = None,
) -> Redacted:
    """Replace every name that is not public.

    Whatever is not known to be a word of PyTorch, of its profiler or of a maker's runtime gets a pseudonym, which follows from the
    key and the name: names of two files that were redacted with one key can be compared, and a profile still joins the host trace
    of its run. Numbers stay, those of processes and threads among them.

    Args:
        inputs: A profile, a host trace, or both.
        key: Of any length. Who knows it can test guesses of names.
        kept: Kinds of names that stay as they are; of `KEPT_NAMES`.
        without_shapes: Leave out shapes, types and numbers that operators were called with.
        rebase_times: Move Unix times back by whole seconds that follow from the key, so that none tells when it was.
        progress: Called with (events done, events in all).

    Raises:
        UsageError: A kind of names that there is not.
        FormatError: The host trace cannot be read again.
        OutputError: There is no room for a temporary copy of the trace.

    Example:
        >>> from rblnpb import converters
        >>> inputs = converters.read_inputs(["rblnpb/data/transformer_step.json.gz"])
        >>> redacted = redact(inputs, b"a key")
        >>> len(redacted.inputs.host.events) == len(inputs.host.events)
        True
    """
    if unknown := sorted(set(kept) - set(KEPT_NAMES)):
        raise UsageError(f"there are no names of kind {unknown[0]!r} to keep; there are {', '.join(KEPT_NAMES)}")
    names = RedactedNames(key, kept)
    shift_s = _LEAST_SHIFT_S + names.number("time", _SHIFTS_S) if rebase_times else 0
    profile, host = inputs.profile, inputs.host
    if profile is not None:
        profile = redacted_profile(profile, names, shift_s=shift_s)
    if host is not None:
        host = _redacted_trace(host, names, shift_s, without_shapes=without_shapes, progress=progress)
    return Redacted(Inputs(profile, host, ("redacted",)), names.counts(), shift_s)


@dataclass(frozen=True, eq=False)
class _SpooledDocument:
    """The text of a redacted trace, in a temporary file that has no name and ends with this object."""

    name: str
    spool: BinaryIO

    def blocks(self) -> Iterator[bytes]:
        position = 0
        while True:
            # Passes share the position of the file.
            self.spool.seek(position)
            block = self.spool.read(_BLOCK_BYTES)
            if not block:
                return
            position += len(block)
            yield block


def _redacted_trace(
    host: HostTrace, names: RedactedNames, shift_s: int, *, without_shapes: bool, progress: Progress | None
) -> HostTrace:
    spool = tempfile.TemporaryFile(prefix="rblnpb-")  # noqa: SIM115  # lives as long as the document
    document = _SpooledDocument("the redacted trace", spool)
    weakref.finalize(document, spool.close)
    try:
        write_redacted_trace(host, spool, names, shift_s=shift_s, without_shapes=without_shapes, progress=progress)
        spool.flush()
    except OSError as error:
        raise OutputError(f"cannot write a temporary copy of the trace: {error.strerror or error}") from error
    return read_document(document, document.blocks())
