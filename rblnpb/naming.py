"""Names of device slices in the vendor's grammar: put together from their parts, and taken apart again.

Since 0.12.0 the vendor spells `i{instance}_{sequence}_W{workload}_{layer}_{command}` in a file of several runtime instances and
leaves the instance out in a file of one; commands on the host have no `W` part; up to 0.11 the name was
`{sequence}_{layer}_{command}` (docs.rbln.ai, software/profiler/perfetto/analysis.html). Names are for people: nothing computes
with one where the parts are known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["CALL_PARTS", "NameParts", "NameStyle", "device_ordinal", "family", "parse", "render"]


class NameStyle(IntEnum):
    """How a slice name is put together; values as in the schema's NameStyle."""

    PLAIN = 0
    MULTI_STREAM = 1
    SINGLE_STREAM = 2
    LEGACY = 3


_INSTANCE, _SEQUENCE, _WORKLOAD = ("i", "instance", "_"), ("", "sequence", "_"), ("W", "workload", "_")

CALL_PARTS: Final = {
    NameStyle.PLAIN: (),
    NameStyle.LEGACY: (_SEQUENCE,),
    NameStyle.SINGLE_STREAM: (_SEQUENCE, _WORKLOAD),
    NameStyle.MULTI_STREAM: (_INSTANCE, _SEQUENCE, _WORKLOAD),
}
"""What stands before layer and command in a name of each style, in order: a text, the part whose number follows, and a text. Of a
negative sequence or workload nothing is said."""


@dataclass(frozen=True)
class NameParts:
    """What a name says. Parts that it does not have are None."""

    style: NameStyle
    layer: str
    command: int
    instance: int | None = None
    sequence: int | None = None
    workload: int | None = None


_GRAMMAR = re.compile(
    r"(?:i(?P<instance>N)_)?(?:(?P<sequence>N)_)?(?:W(?P<workload>N)_)?(?P<layer>.+)_(?P<command>N)".replace("N", "[0-9]{1,18}"),
    re.S,
)
"""Numbers have at most 18 digits, so that each fits in 64 bits; a longer run of digits is part of the layer."""


def parse(name: str) -> NameParts | None:
    """The parts of a name, or None when it is not of the grammar.

    >>> parse("i1_0_W0_args_0_2")
    NameParts(style=<NameStyle.MULTI_STREAM: 1>, layer='args_0', command=2, instance=1, sequence=0, workload=0)
    >>> parse("12_linear_196_0").layer
    'linear_196'
    >>> parse("Memcpy HtoD") is None
    True
    """
    match = _GRAMMAR.fullmatch(name)
    if match is None or (match["sequence"] is None and (match["instance"] or match["workload"])):
        return None
    if match["instance"] is not None:
        style = NameStyle.MULTI_STREAM
    elif match["workload"] is not None:
        style = NameStyle.SINGLE_STREAM
    else:
        style = NameStyle.LEGACY if match["sequence"] is not None else NameStyle.PLAIN
    numbers = {key: None if match[key] is None else int(match[key]) for key in ("instance", "sequence", "workload")}
    return NameParts(style, match["layer"], int(match["command"]), **numbers)


_LAYER = re.compile(r"[\w.:/-]+(?:\([\w.:/+-]*\)[0-9_]*)?")
"""A word, or a word around several that `+` joins, as fused layers are called; anything else is not of the vendor's making."""

_ORDINALS = re.compile(r"(?:^|(?<=[+(]))(?:[0-9]+_)+|(?P<behind>(?:_[0-9]+)+)", re.ASCII)
"""Numbers before a word, and numbers behind one or inside: which of the two is asked once a match, or long names take long."""


def family(name: str) -> str:
    """What sort of layer a name speaks of: the layer without the numbers around it that tell it from others of its sort.

    Numbers inside a word stay (`conv2d`), and so does every name that does not look like a layer's.

    Args:
        name: A layer, or the whole name of a slice in any of the vendor's spellings.

    >>> family("linear_196"), family("12_linear_196_0"), family("i1_0_W0_paged_attn_prefill_7_3")
    ('linear', 'linear', 'paged_attn_prefill')
    >>> family("fused(rms_norm_1+rope_2)_40"), family("Memcpy HtoD (Pageable -> Device)")
    ('fused(rms_norm+rope)', 'Memcpy HtoD (Pageable -> Device)')
    """
    parts = parse(name)
    layer = name if parts is None or parts.sequence is None else parts.layer
    return layer if _LAYER.fullmatch(layer) is None else _ORDINALS.sub(_inside_a_word, layer) or layer


def _inside_a_word(match: re.Match[str]) -> str:
    """Numbers that stay, since a word goes on behind them; nothing for others."""
    is_inside = match["behind"] is not None and match.string[match.end() : match.end() + 1] not in ("", "+", "(", ")")
    return match["behind"] if is_inside else ""


_DEVICE_ORDINAL = re.compile(r"\b(?:rbln|npu|device)[\s:#_-]*([0-9]{1,9})\b", re.IGNORECASE)


def device_ordinal(name: str) -> int | None:
    """Which device of its host a name means; None where it does not say.

    >>> device_ordinal("RBLN NPU 3"), device_ordinal("rbln:0"), device_ordinal("python")
    (3, 0, None)
    """
    match = _DEVICE_ORDINAL.search(name)
    return int(match[1]) if match else None


def _digits(values: npt.NDArray[Any], prefix: bytes, suffix: bytes) -> npt.NDArray[np.bytes_]:
    """prefix + decimal + suffix for each value; each distinct value is printed once."""
    distinct, row = np.unique(values, return_inverse=True)
    printed = np.array([b"%s%d%s" % (prefix, value, suffix) for value in distinct.tolist()], dtype=np.bytes_)
    return printed[row] if len(printed) else np.empty(0, "S1")


def render(
    style: NameStyle,
    *,
    layer: npt.NDArray[np.bytes_],
    command: npt.NDArray[Any],
    instance: npt.NDArray[Any],
    sequence: npt.NDArray[Any],
    workload: npt.NDArray[Any],
) -> npt.NDArray[np.bytes_]:
    """Names of n slices as UTF-8 byte strings.

    Args:
        style: How they are put together.
        layer: S[n]; layer name of each.
        command: int[n]; command index of each.
        instance: int[n]; runtime instance of each, from 1.
        sequence: int[n]; ordinal of the call; negative = the part is left out.
        workload: int[n]; ordinal of the runtime call; negative = the part is left out, as for host commands.

    Returns:
        S[n], in the order given.

    >>> one = np.array([1])
    >>> render(NameStyle.MULTI_STREAM, layer=np.array([b"mm"]), command=one - 1, instance=one, sequence=one - 1, workload=one - 1)
    array([b'i1_0_W0_mm_0'], dtype='|S12')
    """
    body = np.strings.add(layer, _digits(command, b"_", b""))
    numbers = {"instance": instance, "sequence": sequence, "workload": workload}
    for before, part, behind in reversed(CALL_PARTS[style]):
        texts = _digits(numbers[part], before.encode(), behind.encode())
        body = np.strings.add(texts if part == "instance" else np.where(numbers[part] < 0, b"", texts), body)
    return body
