"""What a trace may have to change or leave out so that a viewer shows the rest of it right: the same words in every format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rblnpb.errors import Finding, Severity

__all__ = ["changes"]

_CHANGED: Final = {
    "flow-ids-repeated": "flows of the host start under an id that is in use; they get another one",
    "flows-outside-slices": "flow events of the host stand in no slice of their thread; they are left out",
    "flows-without-start": "flow steps and ends of the host have no start before them; they are left out",
    "host-ends-without-begin": "events of the host end a slice that never began; they are left out",
    "host-events-not-shown": "events of the host are of phases that Perfetto has no place for; left out",
    "host-events-without-phase": "events of the host do not say what they are; they are left out",
    "host-events-without-time": "events of the host have no time; they are left out",
    "host-flows-moved": "flow events of the host go to the row of the slice that they stand for",
    "host-ids-renumbered": "of the host's process and thread ids would get lost in Perfetto; names tell what they were",
    "host-slices-cut": "slices of the host would end beyond all time; they end with it now",
    "host-slices-moved": "slices of the host cross another of their thread; they go to a further row",
    "host-slices-without-end": "slices of the host never end; they do with the trace now",
    "host-slices-without-length": "slices of the host have no duration or a negative one; it is 0 now",
}
"""Changes that lose nothing which could be shown."""

_LOST: Final = {
    "counters-not-finite": "counter samples are no finite number and are left out",
    "host-samples-not-numbers": "values of the host's counters are no finite numbers; left out",
    "host-text-mended": "pieces of the host trace are no UTF-8; replacement characters stand there",
}
"""Changes that lose something."""


def changes(counts: Mapping[str, int]) -> tuple[Finding, ...]:
    """A finding for each change that was made at all.

    Args:
        counts: How often each was made, by its code.

    >>> [str(finding) for finding in changes({"host-slices-cut": 0, "counters-not-finite": 2})]
    ['warning: 2 counter samples are no finite number and are left out [counters-not-finite]']
    """
    return tuple(
        Finding(Severity.WARNING, code, f"{count} {_LOST[code]}", count)
        if code in _LOST
        else Finding(Severity.INFO, code, f"{count} {_CHANGED[code]}", count)
        for code, count in counts.items()
        if count
    )
