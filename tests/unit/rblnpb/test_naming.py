"""The vendor's grammar of slice names: put together, taken apart, and both."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.naming import NameParts, NameStyle, family, parse, render

NONE = -1


def rendered(style: NameStyle, layer: str, command: int, instance: int = 1, sequence: int = 0, workload: int = 0) -> str:
    columns = {"command": command, "instance": instance, "sequence": sequence, "workload": workload}
    arrays = {name: np.array([value]) for name, value in columns.items()}
    (name,) = render(style, layer=np.array([layer.encode()]), **arrays).tolist()
    return str(name, "utf-8")


@pytest.mark.parametrize(
    ("style", "workload", "name"),
    [
        (NameStyle.MULTI_STREAM, 3, "i1_12_W3_args_0_2"),
        (NameStyle.MULTI_STREAM, NONE, "i1_12_args_0_2"),
        (NameStyle.SINGLE_STREAM, 3, "12_W3_args_0_2"),
        (NameStyle.SINGLE_STREAM, NONE, "12_args_0_2"),
        (NameStyle.LEGACY, 3, "12_args_0_2"),
        (NameStyle.PLAIN, 3, "args_0_2"),
    ],
)
def test_a_name_is_spelled_by_its_style(style: NameStyle, workload: int, name: str) -> None:
    assert rendered(style, "args_0", 2, instance=1, sequence=12, workload=workload) == name


def test_a_call_that_is_not_known_is_left_out() -> None:
    assert rendered(NameStyle.SINGLE_STREAM, "mm", 0, sequence=NONE, workload=NONE) == "mm_0"


def test_many_names_are_rendered_in_their_order() -> None:
    sequence = np.array([10, 9, 10])
    names = render(
        NameStyle.LEGACY,
        layer=np.array([b"a", b"bcd", b"\xc3\xa4"]),
        command=np.array([100, 0, 100]),
        instance=sequence,
        sequence=sequence,
        workload=sequence,
    )

    assert names.tolist() == [b"10_a_100", b"9_bcd_0", b"10_\xc3\xa4_100"]


def test_no_names_are_rendered_of_nothing() -> None:
    none = np.empty(0, np.int64)
    layer = np.empty(0, "S1")

    names = render(NameStyle.MULTI_STREAM, layer=layer, command=none, instance=none, sequence=none, workload=none)

    assert names.tolist() == []


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("i2_0_W1_mm_0", NameParts(NameStyle.MULTI_STREAM, "mm", 0, instance=2, sequence=0, workload=1)),
        ("i2_0_args_0_2", NameParts(NameStyle.MULTI_STREAM, "args_0", 2, instance=2, sequence=0)),
        ("0_W1_mm_0", NameParts(NameStyle.SINGLE_STREAM, "mm", 0, sequence=0, workload=1)),
        ("12_linear_196_0", NameParts(NameStyle.LEGACY, "linear_196", 0, sequence=12)),
        ("linear_7", NameParts(NameStyle.PLAIN, "linear", 7)),
        ("1_a\nb_2", NameParts(NameStyle.LEGACY, "a\nb", 2, sequence=1)),
        ("0_a_999999999999999999", NameParts(NameStyle.LEGACY, "a", 10**18 - 1, sequence=0)),
    ],
)
def test_a_name_is_taken_apart(name: str, parts: NameParts) -> None:
    assert parse(name) == parts


@pytest.mark.parametrize(
    "name", ["", "mm", "_0", "Memcpy HtoD", "i1_mm_0", "W1_mm_0", "mm_", "mm_x", "a_" + "9" * 5_000, "a_²", "a_٣"]
)
def test_what_is_not_of_the_grammar_has_no_parts(name: str) -> None:
    assert parse(name) is None


layers = st.from_regex(r"[a-z][a-z_0-9]{0,8}", fullmatch=True).filter(lambda layer: not layer.startswith("i"))
ordinals = st.integers(0, 10**17)


@given(st.sampled_from(NameStyle), layers, ordinals, ordinals, ordinals, st.integers(-1, 10**17))
def test_a_name_that_is_put_together_comes_apart_again(
    style: NameStyle, layer: str, command: int, instance: int, sequence: int, workload: int
) -> None:
    parts = parse(rendered(style, layer, command, instance, sequence, workload))

    assert parts is not None
    assert (parts.layer, parts.command) == (layer, command)
    assert parts.sequence == (None if style is NameStyle.PLAIN else sequence)
    assert parts.instance == (instance if style is NameStyle.MULTI_STREAM else None)
    has_workload = style in {NameStyle.MULTI_STREAM, NameStyle.SINGLE_STREAM} and workload >= 0
    assert parts.workload == (workload if has_workload else None)


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("linear_196", "linear"),
        ("12_linear_196_0", "linear"),
        ("0_W1_conv2d_3_0", "conv2d"),
        ("i2_7_W0_paged_attn_prefill_12_3", "paged_attn_prefill"),
        ("args_0_2", "args"),
        ("_softmax_3", "_softmax"),
        ("resnet_50_conv_3", "resnet_50_conv"),
        ("fused()_3", "fused()"),
        ("fused(linear_3+silu_4+mul_5)_7", "fused(linear+silu+mul)"),
        ("3_W0_fused(rms_norm+1_rope)_40_0", "fused(rms_norm+rope)"),
        ("at::native::copy_4", "at::native::copy"),
    ],
)
def test_a_family_is_a_layer_without_its_numbers(name: str, sort: str) -> None:
    assert family(name) == sort


@pytest.mark.parametrize("name", ["", "mm", "_0", "12", "Memcpy HtoD", "void gemm<4, 2>(int)_7", "a b_3", "a(b(c_1))_2"])
def test_a_name_that_does_not_look_like_a_layer_is_its_own_family(name: str) -> None:
    assert family(name) == name


def test_a_slice_of_an_odd_layer_loses_what_the_runtime_put_around_it() -> None:
    assert family("i1_0_W0_a b_3_0") == "a b_3"


@given(layers)
def test_a_family_is_of_its_own_family(layer: str) -> None:
    assert family(family(layer)) == family(layer)


@pytest.mark.parametrize("name", ["1" * 300_000 + "!", "_1" * 150_000 + "x", "1_" * 150_000 + "!", "a(" + "1_+_1" * 60_000])
def test_long_names_take_time_in_proportion(name: str) -> None:
    """Seconds at a tenth of the length would not end here."""
    began = time.process_time()

    family(name)
    parse(name)

    assert time.process_time() - began < 5
