"""Files that appear whole or not at all: written beside their target under another name, then renamed.

The other name is `.rblnpb-<host>-<random>`. Whatever ends the block removes it, but not what ends the process at once (SIGKILL, a
loss of power): it may be deleted, and the next output into the same folder does so, once nobody holds its lock and it has not
changed for a minute. Where there are no such locks (Windows, some network file systems) it stays.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from rblnpb.errors import OutputError

if sys.platform != "win32":
    import fcntl

__all__ = ["open_output", "require_writable"]

_STALE_SECONDS: Final = 60
"""How long a file that nobody holds is left alone: another process may just have made it."""

_LINKS_FOLLOWED: Final = 40


def require_writable(path: str | os.PathLike[str], *, force: bool = False, advice: str = "force=True overwrites it") -> None:
    """Refuse an output that could not be written, before hours of work are spent on it.

    Args:
        path: Name of the file.
        force: Whether a file that is there may be overwritten. A pipe or a character device is only written to, and needs none.
        advice: How to overwrite it, for the message.

    Raises:
        OutputError: The file is there already, it is a folder, its name is impossible, or its folder is not there or takes no file.
    """
    target = Path(path)
    if _descriptor(target) is not None:
        return
    mode = _mode(target)
    if mode is not None and stat.S_ISDIR(mode):
        raise OutputError(f"cannot write {target}: it is a folder")
    if mode is not None and not force and (stat.S_ISREG(mode) or stat.S_ISBLK(mode)):
        raise OutputError(f"{target} exists already; {advice}")
    if mode is None or stat.S_ISREG(mode):
        folder = _real(target).parent
        if not folder.is_dir():
            raise OutputError(f"cannot write {target}: there is no folder {folder if target.is_symlink() else target.parent}")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputError(f"cannot write {target}: no file can be made in its folder, check the permissions of {folder}")


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """A binary file that takes the name `path` when the block ends well, and leaves nothing behind when it does not.

    So an input may be its own output. A file that is overwritten keeps its permissions; a symbolic link stays, and what it leads to
    is written. A pipe, a device or an open file (/dev/stdout, /dev/fd/3) has no name to be taken: it is written straight into.

    What is overwritten is replaced only by what is on the disk (fsync): a loss of power must not cost both. A new file is not
    waited for: what it was made of is still there.

    Args:
        path: Name of the file.
        force: Overwrite a file that is there.

    Raises:
        OutputError: The file is there already, its folder is not, or it cannot be written.
    """
    target = Path(path)
    require_writable(target, force=force)
    descriptor = _descriptor(target)
    mode = _mode(target) if descriptor is None else None
    with _translated(target):
        if descriptor is not None:
            # A second one for the same place in the file: whoever opened it goes on behind what is written here.
            with os.fdopen(os.dup(descriptor), "wb") as file:
                yield file
        elif mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as file:
                yield file
        else:
            with _renamed(_real(target), mode) as file:
                yield file


@contextlib.contextmanager
def _renamed(target: Path, mode: int | None) -> Iterator[BinaryIO]:
    """A new file that takes the place of another, whose mode it takes over; None = there is none."""
    prefix = f".rblnpb-{_host()}-"
    # Opened and not made by tempfile, whose files only their owner may read: this one has the rights of any new file.
    scratch = target.with_name(f"{prefix}{os.urandom(6).hex()}")
    try:
        with contextlib.ExitStack() as held:
            with scratch.open("xb") as file:
                held.enter_context(_locked(file))
                _remove_stale(scratch, prefix)
                if mode is not None:
                    # A file system that has no permissions has none to keep.
                    with contextlib.suppress(OSError):
                        scratch.chmod(stat.S_IMODE(mode))
                yield file
                if mode is not None:
                    file.flush()
                    os.fsync(file.fileno())
            # Closed before, since some file systems say only then that they are full; still locked, so that nobody finds it stale.
            scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(file: BinaryIO) -> Iterator[None]:
    """Hold the lock of a file, as far as its file system has locks, until the block ends, even when the file is closed before."""
    if sys.platform == "win32":
        yield
        return
    descriptor = os.dup(file.fileno())
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_stale(scratch: Path, prefix: str) -> None:
    """Remove what killed processes of this host left in the folder. What cannot be told or removed stays."""
    if sys.platform == "win32":
        return
    others: list[Path] = []
    with contextlib.suppress(OSError), os.scandir(scratch.parent) as entries:
        others = [Path(entry) for entry in entries if entry.name.startswith(prefix) and entry.is_file(follow_symlinks=False)]
    for other in others:
        # The clock of the file system tells how old it is.
        with contextlib.suppress(OSError):
            if other.stat().st_mtime < scratch.stat().st_mtime - _STALE_SECONDS:
                with other.open("r+b") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    other.unlink()


def _host() -> str:
    """Which host a file is from: the locks of another one may not be seen here."""
    name = "" if sys.platform == "win32" else os.uname().nodename
    return f"{zlib.crc32(name.encode(errors='replace')):08x}"


def _mode(path: Path) -> int | None:
    """Kind and permissions of what a path leads to; None when nothing is there."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _descriptor(path: Path) -> int | None:
    """Number of the open file that a path such as /dev/stdout or /dev/fd/3 stands for; None: it is a name."""
    folders = {os.path.realpath("/proc/self/fd"), "/dev/fd"}
    for _ in range(_LINKS_FOLLOWED):
        if path.name.isdecimal() and os.path.realpath(path.parent) in folders:
            return int(path.name)
        try:
            path = path.parent / path.readlink()
        except (OSError, ValueError):
            return None
    return None


@contextlib.contextmanager
def _translated(target: Path) -> Iterator[None]:
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
