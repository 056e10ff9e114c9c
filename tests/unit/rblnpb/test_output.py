"""Files that appear whole or not at all."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from pathlib import Path

import pytest

from rblnpb.errors import OutputError
from rblnpb.output import open_output, require_writable


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

    assert str(raised.value) == f"cannot write {target}: there is no folder {target.parent}"


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


def test_a_file_that_is_overwritten_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "a.pb"
    target.write_bytes(b"secret")
    target.chmod(0o600)

    with open_output(target, force=True) as file:
        file.write(b"x")

    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"x", 0o600)


def test_only_what_is_overwritten_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []
    monkeypatch.setattr("os.fsync", lambda descriptor: synced.append(Path(f"/proc/self/fd/{descriptor}").read_bytes()))

    for content in (b"first", b"second"):
        with open_output(tmp_path / "a.pb", force=True) as file:
            file.write(content)

    assert synced == [b"second"]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_symbolic_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, is_there: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "b.pb", tmp_path / "a.pb"
    link.symlink_to("elsewhere/b.pb")
    if is_there:
        target.write_bytes(b"before")

    with open_output(link, force=is_there) as file:
        file.write(b"x")

    assert (link.is_symlink(), target.read_bytes(), list(target.parent.iterdir())) == (True, b"x", [target])


def test_what_a_link_leads_to_is_not_overwritten_without_force(tmp_path: Path) -> None:
    (tmp_path / "b.pb").write_bytes(b"before")
    (tmp_path / "a.pb").symlink_to("b.pb")

    with pytest.raises(OutputError, match=r"a\.pb exists already"), open_output(tmp_path / "a.pb"):
        pass


IMPOSSIBLE = {
    "a" * 256: "File name too long",
    "loop": "Too many levels of symbolic links",
    "file/a.pb": "Not a directory",
    "gone": "there is no folder .*nowhere",
    "\0": "embedded null",
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_an_impossible_name_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    (tmp_path / "gone").symlink_to("nowhere/a.pb")

    with pytest.raises(OutputError, match=f"cannot write .*{IMPOSSIBLE[name]}"):
        require_writable(tmp_path / name)
    with pytest.raises(OutputError, match=f"cannot write .*{IMPOSSIBLE[name]}"), open_output(tmp_path / name, force=True):
        pass


def test_a_folder_that_takes_no_file_is_refused_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write everywhere.
    monkeypatch.setattr("os.access", lambda path, mode: (Path(path), mode) != (tmp_path, os.W_OK | os.X_OK))

    with pytest.raises(OutputError) as raised:
        require_writable(tmp_path / "a.pb")

    text = f"cannot write {tmp_path / 'a.pb'}: no file can be made in its folder, check the permissions of {tmp_path}"
    assert str(raised.value) == text


def test_a_pipe_needs_no_force_and_gets_the_bytes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()

    with open_output(tmp_path / "pipe") as file:
        file.write(b"through")

    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_the_full_disk_behind_a_device_is_named() -> None:
    with pytest.raises(OutputError, match="cannot write /dev/full: No space left on device"), open_output("/dev/full") as file:
        file.write(b"x")


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_an_open_file_is_written_where_it_stands(tmp_path: Path, folder: str) -> None:
    with (tmp_path / "log").open("w+b", buffering=0) as log:
        log.write(b"before ")
        with open_output(f"{folder}/{log.fileno()}") as file:
            file.write(b"between")
        log.write(b" behind")

    assert (tmp_path / "log").read_bytes() == b"before between behind"
    assert list(tmp_path.iterdir()) == [tmp_path / "log"]


def test_a_file_descriptor_that_is_not_open_is_named() -> None:
    with pytest.raises(OutputError, match="cannot write /dev/fd/987: Bad file descriptor"), open_output("/dev/fd/987"):
        pass


def scratch_of(folder: Path) -> Path:
    (found,) = folder.glob(".rblnpb-*")
    return found


def left_over(folder: Path, age_seconds: int) -> Path:
    """What a process that is killed leaves behind, so long ago."""
    with open_output(folder / "a.pb"):
        found = scratch_of(folder)
        content, status = found.name, found.stat()
    left = folder / content
    left.write_bytes(b"half")
    os.utime(left, (status.st_atime, status.st_mtime - age_seconds))
    (folder / "a.pb").unlink()
    return left


@pytest.mark.parametrize(("age_seconds", "is_removed"), [(120, True), (10, False)])
def test_what_a_killed_process_left_is_removed_once_it_is_old(tmp_path: Path, age_seconds: int, is_removed: bool) -> None:
    left = left_over(tmp_path, age_seconds)

    with open_output(tmp_path / "b.pb") as file:
        file.write(b"x")

    assert left.exists() is not is_removed


def test_what_a_living_process_writes_is_left_alone_however_old(tmp_path: Path) -> None:
    with open_output(tmp_path / "slow.pb") as slow:
        held = scratch_of(tmp_path)
        os.utime(held, (0, 0))
        with open_output(tmp_path / "b.pb") as file:
            file.write(b"x")
        assert held.exists()
        slow.write(b"slow")

    assert (tmp_path / "slow.pb").read_bytes() == b"slow"
    with (tmp_path / "slow.pb").open("rb") as file:
        # And the lock is given back.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    for name in (".rblnpb-notes", ".rblnpb-00000000-123456789abc", "rblnpb-"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))

    with open_output(tmp_path / "b.pb"):
        pass

    assert len(list(tmp_path.iterdir())) == 4


def test_whatever_ends_the_block_takes_the_file_away(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), open_output(tmp_path / "a.pb"):
        raise KeyboardInterrupt

    assert list(tmp_path.iterdir()) == []
