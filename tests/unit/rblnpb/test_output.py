"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from rblnpb.errors import OutputError
from rblnpb.output import open_output


def test_a_file_has_its_name_when_the_block_ends_and_not_before(tmp_path: Path) -> None:
    target = tmp_path / "a.pb"

    with open_output(target) as file:
        file.write(b"whole")
        assert not target.exists()

    assert target.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [target]


def test_a_block_that_fails_leaves_nothing_and_what_was_there_stays(tmp_path: Path) -> None:
    target = tmp_path / "a.pb"
    target.write_bytes(b"before")

    def write_half() -> None:
        with open_output(target, force=True) as file:
            file.write(b"half")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="middle"):
        write_half()

    assert target.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_is_there_is_kept_without_force(tmp_path: Path) -> None:
    target = tmp_path / "a.pb"
    target.write_bytes(b"before")

    with pytest.raises(OutputError) as raised, open_output(target):
        pass

    assert str(raised.value) == f"{target} exists already; force=True overwrites it"
    assert target.read_bytes() == b"before"


def test_force_overwrites(tmp_path: Path) -> None:
    target = tmp_path / "a.pb"
    target.write_bytes(b"before")

    with open_output(target, force=True) as file:
        file.write(b"after")

    assert target.read_bytes() == b"after"


def test_a_folder_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as raised, open_output(tmp_path, force=True):
        pass

    assert str(raised.value) == f"cannot write {tmp_path}: it is a folder"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "a.pb"

    with pytest.raises(OutputError) as raised, open_output(target):
        pass

    assert str(raised.value) == f"cannot write {target}: No such file or directory"


def test_a_device_is_written_straight_into() -> None:
    with open_output("/dev/null", force=True) as file:
        file.write(b"gone")

    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        with open_output(tmp_path / "a.pb") as file:
            file.write(b"x")
    finally:
        os.umask(mask)

    assert stat.S_IMODE((tmp_path / "a.pb").stat().st_mode) == 0o640


def test_a_long_name_is_no_hindrance(tmp_path: Path) -> None:
    target = tmp_path / ("a" * 255)

    with open_output(target) as file:
        file.write(b"x")

    assert target.read_bytes() == b"x"
