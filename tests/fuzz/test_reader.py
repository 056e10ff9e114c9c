"""Whatever bytes are read, nothing but our own errors comes out, and what comes out can be written and read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.mutations import good_files, mutated, read_every_way

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.pb"))
FILES = good_files()


@pytest.mark.parametrize("row", range(len(FILES)))
def test_a_mutated_file_ends_in_a_profile_or_in_one_of_our_errors(row: int) -> None:
    seen = {name for seed in range(120) for name in read_every_way(mutated(FILES[row], seed))}

    # That the faults are of many kinds is part of the test.
    assert {"CheckError", "FormatError"} <= seen


@given(st.binary(max_size=200))
def test_any_bytes_end_in_one_of_our_errors(data: bytes) -> None:
    assert list(read_every_way(data)) != []


@given(st.binary(max_size=60), st.integers(0, len(FILES[0])))
def test_any_bytes_inside_a_file_end_in_a_profile_or_in_one_of_our_errors(inserted: bytes, at: int) -> None:
    # What fails here is an exception of somebody else's that escapes.
    list(read_every_way(FILES[0][:at] + inserted + FILES[0][at:]))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_bytes_that_once_escaped_do_not_again(path: Path) -> None:
    list(read_every_way(path.read_bytes()))
