"""Which slices belong together, on slices made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.converters.analyze.slices.slice_groups import (
    chiplet,
    engine_groups,
    family_groups,
    kind_name,
    layer_groups,
    stage_groups,
)
from rblnpb.converters.timeline import Track
from tests.support.slice_summary_oracle import members
from tests.support.timelines import slices, timeline

TRACKS = (
    Track("rbln:0", "Neural Engine Clusters (chiplet 0)", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Neural Engine Clusters (chiplet 1)", "neural_engine_clusters", is_work=True, order=1),
    Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=2),
    Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=3),
)


ROWS: tuple[dict[str, Any], ...] = (
    {"track": 0, "stage": "linear_0"},
    {"track": 1, "stage": "linear_0"},
    {"track": 2, "stage": "linear_0"},
    {"track": 3, "stage": "linear_0"},
    {"track": 0, "stage": "linear_7"},
)


def test_a_stage_is_a_layer_on_one_kind_of_engine_and_waits_are_in_none() -> None:
    groups = stage_groups(timeline(slices=slices(*ROWS), tracks=TRACKS))
    assert list(groups.keys) == ["name", "engine"]
    assert members(groups) == {
        ("linear_0", "Neural Engine Clusters"): [0, 1],
        ("linear_0", "Neural DMA"): [2],
        ("linear_7", "Neural Engine Clusters"): [4],
    }


def test_a_layer_is_over_all_engines() -> None:
    assert members(layer_groups(timeline(slices=slices(*ROWS), tracks=TRACKS))) == {("linear_0",): [0, 1, 2], ("linear_7",): [4]}


def test_a_family_is_over_all_layers_of_its_sort() -> None:
    assert members(family_groups(timeline(slices=slices(*ROWS), tracks=TRACKS))) == {("linear",): [0, 1, 2, 4]}


def test_an_engine_has_its_device_its_kind_and_its_chiplet() -> None:
    groups = engine_groups(timeline(slices=slices(*ROWS), tracks=TRACKS))
    assert list(groups.keys) == ["name", "device", "kind", "chiplet"]
    assert members(groups) == {
        ("Neural Engine Clusters (chiplet 0)", "rbln:0", "neural_engine_clusters", 0): [0, 4],
        ("Neural Engine Clusters (chiplet 1)", "rbln:0", "neural_engine_clusters", 1): [1],
        ("Neural DMA (chiplet 1)", "rbln:0", "neural_dma", 1): [2],
    }


@pytest.mark.parametrize(
    ("row", "layer", "sort"),
    [
        ({"name": "i1_0_W0_linear_7_3"}, "linear_7", "linear"),
        ({"name": "12_linear_196_0"}, "linear_196", "linear"),
        ({"name": "Memcpy HtoD"}, "Memcpy HtoD", "Memcpy HtoD"),
        ({"name": "gemm_64_0"}, "gemm_64_0", "gemm"),
        ({"name": "other", "stage": "mm"}, "mm", "mm"),
        ({}, "(unknown)", "(unknown)"),
    ],
)
def test_a_whole_name_is_taken_apart_where_it_is_of_the_grammar(row: dict[str, Any], layer: str, sort: str) -> None:
    source = timeline(slices=slices(row))
    assert (layer_groups(source).keys["name"], family_groups(source).keys["name"]) == ((layer,), (sort,))


def test_one_layer_told_by_part_and_by_whole_name_is_one_group() -> None:
    source = timeline(slices=slices({"stage": "mm"}, {"name": "0_W0_mm_1"}, {"name": "1_W0_mm_1"}))
    assert members(layer_groups(source)) == {("mm",): [0, 1, 2]}


@pytest.mark.parametrize(
    ("name", "number"), [("Neural DMA (chiplet 3)", 3), ("Neural DMA", None), ("stream 7", None), ("(chiplet x)", None)]
)
def test_a_track_names_its_chiplet(name: str, number: int | None) -> None:
    assert chiplet(Track("rbln:0", name, "neural_dma", is_work=True, order=0)) == number


def test_kinds_are_spelled_as_the_vendor_does_where_he_has_a_word() -> None:
    assert [kind_name(kind) for kind in ("external_hdma", "copy", "annotation")] == ["External HDMA", "copy", "annotation"]
