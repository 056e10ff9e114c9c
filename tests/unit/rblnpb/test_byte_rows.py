"""Rows put together from columns are what Python's bytes would be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rblnpb.byte_rows
from rblnpb.byte_rows import Column, Entries, Joiner, Optional, Padded, join, row_sizes, stack


def test_stacked_columns_stand_side_by_side() -> None:
    table = stack(2, [b"a", np.array([[1, 2, 3], [4, 5, 6]], np.uint8), b"", b"bc", np.array([[7], [8]], np.uint8)])

    assert table.tolist() == [[97, 1, 2, 3, 98, 99, 7], [97, 4, 5, 6, 98, 99, 8]]


def padded(*texts: bytes) -> Padded:
    width = max(map(len, texts), default=0)
    table = np.frombuffer(b"".join(text.ljust(width, b"?") for text in texts), np.uint8)
    return Padded(table.reshape(len(texts), width), np.array(list(map(len, texts)), np.int64))


def entries(*rows: list[bytes]) -> Entries:
    pieces = np.frombuffer(b"".join(piece for row in rows for piece in row), np.uint8).reshape(-1, 4)
    return Entries(pieces, np.array(list(map(len, rows)), np.int64))


texts = st.binary(max_size=9)


@given(st.lists(st.tuples(texts, st.integers(0, 3), st.binary(min_size=2, max_size=2)), min_size=1, max_size=9), st.booleans())
def test_rows_are_joined_as_pythons_bytes_would_be(rows: list[tuple[bytes, int, bytes]], has_entries: bool) -> None:
    two = np.frombuffer(b"".join(row[2] for row in rows), np.uint8).reshape(-1, 2)
    is_odd = np.array([count % 2 == 1 for _, count, _ in rows])
    columns: list[Column] = [
        b"<",
        Optional([b"?", two], is_odd),
        Optional([b"!"], ~is_odd | is_odd),
        padded(*(row[0] for row in rows)),
    ]
    columns += [b"|", two, Optional([b"even"], ~is_odd)]
    wanted = [
        (b"<?" + end if count % 2 else b"<") + b"!" + text + b"|" + end + (b"" if count % 2 else b"even")
        for text, count, end in rows
    ]
    if has_entries and any(count for _, count, _ in rows):
        columns.append(entries(*([b"(xy)"] * count for _, count, _ in rows)))
        wanted = [begin + b"(xy)" * count for begin, (_, count, _) in zip(wanted, rows, strict=True)]

    assert join(len(rows), columns).tobytes() == b"".join(wanted)
    assert np.broadcast_to(row_sizes(columns), len(rows)).tolist() == list(map(len, wanted))


@given(st.lists(texts, min_size=1, max_size=9), st.integers(1, 4), st.sampled_from([0, 4, 256]))
def test_rows_that_end_with_their_text_are_joined_some_at_a_time(ends: list[bytes], few_rows: int, short: int) -> None:
    one = np.arange(len(ends), dtype=np.uint8)[:, None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rblnpb.byte_rows, "_FEW_ROWS", few_rows)
        patch.setattr(rblnpb.byte_rows, "_SHORT", short)
        joined = join(len(ends), [b"<", one, b">", padded(*ends)])

    assert joined.tobytes() == b"".join(b"<%c>" % row + end for row, end in enumerate(ends))


def test_nothing_joins_to_nothing() -> None:
    assert join(0, [b"x", padded(), entries()]).tobytes() == b""
    assert join(0, [b"x"]).tobytes() == b""


def test_rows_with_more_choices_than_a_byte_has_bits() -> None:
    one = np.arange(4)
    columns: list[Column] = [Optional([bytes([97 + bit])], one >> (bit % 2) & 1 == 1) for bit in range(20)]

    assert join(4, [*columns, b";"]).tobytes() == b";acegikmoqs;bdfhjlnprt;abcdefghijklmnopqrst;"


def test_blocks_joined_one_after_the_other_do_not_mix() -> None:
    joiner = Joiner()
    for at in range(30):
        rows = np.full((1 + at % 3, 1), 97 + at % 5, np.uint8)
        columns: list[Column] = [bytes([65 + at % 11]), rows, padded(*[b"x" * at] * len(rows))]

        assert joiner.join(len(rows), columns).tobytes() == (bytes([65 + at % 11, 97 + at % 5]) + b"x" * at) * len(rows)
