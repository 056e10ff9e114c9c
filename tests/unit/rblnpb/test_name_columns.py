"""Names of many slices at once are those that `naming.render` spells one by one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb import name_columns
from rblnpb.name_columns import NameParts, Speller, distinct
from rblnpb.naming import NameStyle, render

TEXTS = (b"", b"mm", b"linear_1", "\u00b5".encode())

numbers = st.one_of(st.integers(0, 3), st.integers(0, 2**62))
slices = st.sampled_from([st.booleans(), st.just(False)]).flatmap(
    lambda is_whole: st.lists(
        st.tuples(st.integers(0, 3), is_whole, numbers, numbers, st.one_of(st.just(-1), numbers), st.one_of(st.just(-1), numbers)),
        min_size=1,
        max_size=12,
    )
)


def columns(rows: list[tuple[int, ...]]) -> dict[str, np.ndarray]:
    names = ("text", "is_whole", "command", "instance", "sequence", "workload")
    made = {name: np.array(values, np.int64) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
    return {**made, "is_whole": made["is_whole"].astype(np.bool_)}


def spelled(speller: Speller, parts: NameParts) -> list[bytes]:
    heads, tails, size = speller.spelled(parts)
    return [head.tobytes() + tail[:length].tobytes() for head, tail, length in zip(heads, tails, size.tolist(), strict=True)]


@pytest.mark.parametrize(("table_bytes", "places"), [(1 << 24, 1 << 21), (40, 1 << 21), (1 << 24, 20)])
@pytest.mark.parametrize("style", NameStyle)
@given(rows=slices, cuts=st.lists(st.integers(0, 12), max_size=3))
def test_names_are_those_of_the_grammar(
    style: NameStyle, table_bytes: int, places: int, cuts: list[int], rows: list[tuple[int, ...]]
) -> None:
    parts = columns(rows)
    layer = np.array([TEXTS[row] for row in parts["text"]], np.bytes_)
    others = {name: parts[name] for name in ("command", "instance", "sequence", "workload")}
    wanted = np.where(parts["is_whole"], layer, render(style, layer=layer, **others)).tolist()
    names = NameParts(**parts)
    if not parts["is_whole"].any():
        names = replace(names, is_whole=None)
    edges = [0, *sorted(cuts), len(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_columns, "_TABLE_BYTES", table_bytes)
        patch.setattr(name_columns, "_PLACES", places)
        speller = Speller(style, TEXTS)
        found = [name for low, high in itertools.pairwise(edges) for name in spelled(speller, names.take(slice(low, high)))]

    assert found == wanted


@pytest.mark.parametrize("first", [0, 3, 10, 96, 100, 999_998, 10**18, 2**63 - 8])
@pytest.mark.parametrize("slices_a_call", [1, 20])
@pytest.mark.parametrize("style", [NameStyle.MULTI_STREAM, NameStyle.SINGLE_STREAM, NameStyle.LEGACY])
def test_numbers_of_calls_may_be_of_one_length_or_not(style: NameStyle, slices_a_call: int, first: int) -> None:
    call = np.arange(8).repeat(slices_a_call)
    nothing = np.zeros_like(call)
    for instance in (nothing + 7, call + 10, call):
        layer = np.full(len(call), b"mm")
        wanted = render(style, layer=layer, command=nothing, instance=instance, sequence=first + call, workload=nothing)

        assert (
            spelled(Speller(style, (b"mm",)), NameParts(nothing, None, nothing, instance, first + call, nothing)) == wanted.tolist()
        )


def test_names_that_are_by_their_parts_throughout_need_no_mark() -> None:
    one = np.arange(3)
    parts = NameParts(one[::-1], None, one, one + 1, np.array([5, 5, 10]), one - 1)

    assert spelled(Speller(NameStyle.MULTI_STREAM, (b"a", b"b", b"c")), parts) == [b"i1_5_c_0", b"i2_5_W0_b_1", b"i3_10_W1_a_2"]


def test_a_block_is_cut_where_its_longest_name_would_make_all_others_long() -> None:
    speller = Speller(NameStyle.PLAIN, (b"short", b"n" * (1 << 22)))
    text = np.zeros(64, np.int64)
    text[20] = 1
    pieces = list(speller.pieces(text))

    assert [row for piece in pieces for row in range(piece.start, piece.stop)] == list(range(64))
    assert max(piece.stop - piece.start for piece in pieces if piece.start <= 20 < piece.stop) <= 4
    assert max(piece.stop - piece.start for piece in pieces) == 32


@given(st.lists(st.tuples(st.integers(-2, 2), st.one_of(st.integers(0, 2), st.integers(-(2**63), 2**63 - 1))), max_size=20))
def test_distinct_rows_are_those_of_a_set(rows: list[tuple[int, int]]) -> None:
    table = np.array(rows, np.int64).reshape(-1, 2)
    values, row = distinct(table[:, 0], table[:, 1])
    found = list(zip(*(column.tolist() for column in values), strict=True))

    assert found == sorted(set(rows))
    assert [found[number] for number in row.tolist()] == rows
