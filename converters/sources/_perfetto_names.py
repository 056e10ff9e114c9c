"""Names of slices of the vendor's, both generations, as columns: who ran what, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT, Int64
from rblnpb.naming import NameStyle, parse
from rblnpb.profile import EngineKind
from rblnpb.strings import StringTable

from ._perfetto_tracks import kind_of

__all__ = ["NameColumns", "name_columns", "style_of"]

_FRAME: Final = re.compile(r"(?:\bi(?P<instance>N)_)?(?:\b|_)(?P<sequence>N)_W(?P<workload>N)\b".replace("N", "[0-9]{1,18}"))
_UINT32_LIMIT: Final = 1 << 32


@dataclass(frozen=True, eq=False)
class NameColumns:
    """A row a distinct name; all columns have the same length m.

    Attributes:
        text: int64[m]; row of the profile's strings: the whole name.
        stage: int64[m]; row of the profile's strings: the layer; 0 = the name is not of the vendor's grammar.
        instance: int64[m]; 0 = unknown.
        sequence, workload: int64[m]; ABSENT = none.
        style: int64[m]; number of a NameStyle.
        is_frame: bool[m]; whether it is the name of a frame around commands, wherever it stands.
    """

    text: Int64
    stage: Int64
    instance: Int64
    sequence: Int64
    workload: Int64
    style: Int64
    is_frame: np.ndarray[tuple[int], np.dtype[np.bool_]]


def name_columns(names: Iterable[str], strings: StringTable) -> NameColumns:
    """What names say, each by itself.

    Args:
        names: Distinct names.
        strings: Where their texts go.
    """
    rows = [_row(name, strings) for name in names]
    columns = np.array(rows, np.int64).reshape(len(rows), 7)
    text, stage, instance, sequence, workload, style, is_frame = columns.T
    return NameColumns(text, stage, instance, sequence, workload, style, is_frame.astype(np.bool_))


def _row(name: str, strings: StringTable) -> tuple[int, ...]:
    text = strings.intern(name or "[no name]")
    parts = parse(name)
    is_frame = name[:6].casefold() == "device" and kind_of(name) is EngineKind.WORKLOAD
    if parts is not None and not is_frame:
        said = (parts.instance, parts.sequence, parts.workload)
        return text, strings.intern(parts.layer), *_numbers(*said), int(parts.style), is_frame
    frame = _FRAME.search(name)
    found = frame.group("instance", "sequence", "workload") if frame else (None, None, None)
    instance, sequence, workload = (int(one) if one else None for one in found)
    return text, 0, *_numbers(instance, sequence, workload), int(NameStyle.PLAIN), is_frame


def _numbers(instance: int | None, sequence: int | None, workload: int | None) -> tuple[int, int, int]:
    return (
        instance if instance is not None and instance < _UINT32_LIMIT else 0,
        ABSENT if sequence is None else sequence,
        ABSENT if workload is None else workload,
    )


def style_of(styles: Int64) -> NameStyle:
    """How the names of a recording are put together: as the fullest of them."""
    used = set(np.unique(styles).tolist())
    order = (NameStyle.MULTI_STREAM, NameStyle.SINGLE_STREAM, NameStyle.LEGACY)
    return next((style for style in order if int(style) in used), NameStyle.PLAIN)
