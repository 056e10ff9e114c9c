"""What a category of an event says of it: what was at work, and whether that is the device's or the host's.

The vendor's are not public; one that is called like an engine is taken for it. Traces of torch.profiler bring torch's own along
into Perfetto's format, and those that we write for viewers have them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rblnpb.profile import EngineKind

from ..dialect.categories import ANNOTATIONS, DEVICE_KINDS, OPS, OWN_FRAME, OWN_RUNTIME, OWN_WAIT, SHARED_KINDS
from ._perfetto_tracks import kind_of

__all__ = ["NO_CATEGORY", "OUR_CATEGORIES", "Category", "category_of"]

OUR_CATEGORIES: Final = frozenset({OWN_RUNTIME, OWN_FRAME, OWN_WAIT})
"""What our own traces for viewers call what is no work; the vendor has no such names."""

_ENGINE_KINDS: Final = {
    "compute": EngineKind.COMPUTE,
    "copy": EngineKind.COPY,
    "collective": EngineKind.COLLECTIVE,
    "sync": EngineKind.SYNC,
    "host": EngineKind.HOST,
}
_FRAMES: Final = frozenset({OWN_FRAME, *(text for text, kind in DEVICE_KINDS.items() if kind == "annotation")})
"""What stands around work: a range around kernels is to them what a frame is to commands."""

_HOSTS: Final = frozenset({*OPS, *ANNOTATIONS, OWN_RUNTIME, "Trace"})


@dataclass(frozen=True)
class Category:
    """What a category says of its events.

    Attributes:
        kind: What was at work on the device; UNKNOWN = it says nothing of that.
        is_frame: Whether that stands around work, on whatever track it is.
        is_devices: Whether the events are a device's wherever they stand.
        is_hosts: Whether they are the host's wherever they stand.
        makes_host: Whether all else in their process is the host's, too, unless it says otherwise itself.
    """

    kind: EngineKind = EngineKind.UNKNOWN
    is_frame: bool = False
    is_devices: bool = False
    is_hosts: bool = False
    makes_host: bool = False

    def __bool__(self) -> bool:
        return self != NO_CATEGORY


NO_CATEGORY: Final = Category()
"""One that says nothing."""


def category_of(text: str) -> Category:
    """What a category says.

    >>> category_of("kernel").kind.name, category_of("Task DMA").kind.name, category_of("cpu_op").is_hosts, bool(category_of("x"))
    ('COMPUTE', 'TASK_DMA', True, False)
    """
    if text in _HOSTS:
        # Kineto writes Python functions whose thread it does not know into the process of the first device.
        return Category(is_hosts=True, makes_host=text in (*OPS, "user_annotation", OWN_RUNTIME))
    if text in _FRAMES:
        return Category(EngineKind.WORKLOAD, is_frame=True, is_devices=True)
    if text in DEVICE_KINDS:
        return Category(_ENGINE_KINDS[DEVICE_KINDS[text]], is_devices=True)
    if text in SHARED_KINDS:
        return Category(_ENGINE_KINDS[SHARED_KINDS[text]])
    return Category(kind_of(text))
