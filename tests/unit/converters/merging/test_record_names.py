"""Names as numbers that two tables share."""

from __future__ import annotations

import numpy as np

from rblnpb.converters.merging.record_names import NameNumbers, device_ordinals
from rblnpb.converters.timeline import SliceNames
from rblnpb.naming import NameStyle


def names(*parts: tuple[str, int, str]) -> SliceNames:
    """Each (layer, command, whole name); an empty text: it has none."""
    texts = ["", *dict.fromkeys(text for layer, _, whole in parts for text in (layer, whole) if text)]
    zero = np.zeros(len(parts), np.int64)
    rows = [[texts.index(part[at]) for part in parts] for at in (0, 2)]  # type: ignore[arg-type]  # the texts of the three
    return SliceNames(
        NameStyle.LEGACY,
        tuple(texts),
        stage=np.array(rows[0], np.int32),
        command=np.array([part[1] for part in parts], np.int32),
        instance=zero.astype(np.int32),
        sequence=zero,
        workload=zero - 1,
        override=np.array(rows[1], np.int32),
    )


def test_what_is_called_the_same_has_the_same_number_whatever_its_parts() -> None:
    numbers = NameNumbers()
    assert numbers.of(names(("mm", 1, "0_mm_1"), ("mm", 0, "other")), by_layer=False).tolist() == [0, 1]
    first, second, third = numbers.of(names(("mm", 1, ""), ("", 0, "other"), ("mm", 2, "")), by_layer=False).tolist()
    assert (first, second, third not in (0, 1)) == (0, 1, True)


def test_by_layer_the_command_does_not_count() -> None:
    numbers = NameNumbers()
    assert numbers.of(names(("mm", 1, "0_mm_1"), ("mm", 2, "1_mm_2"), ("", 0, "mm")), by_layer=True).tolist() == [0, 0, 0]


def test_of_no_names_there_are_no_numbers() -> None:
    assert NameNumbers().of(names(), by_layer=False).tolist() == NameNumbers().of(names(), by_layer=True).tolist() == []


def test_devices_are_told_by_their_number() -> None:
    assert device_ordinals(["RBLN NPU 3", "NPU 0 (17)", "rbln:1", "python (4242)", ""]).tolist() == [3, 0, 1, -1, -1]
