"""Files that appear whole or not at all: written beside their target under another name, then renamed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rblnpb.errors import OutputError

__all__ = ["open_output"]


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """A binary file that takes the name `path` when the block ends well, and leaves nothing behind when it does not.

    Args:
        path: Name of the file.
        force: Overwrite a file that is there.

    Raises:
        OutputError: The file is there already, its folder is not, or it cannot be written.
    """
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"cannot write {target}: it is a folder")
    if target.exists() and not force:
        raise OutputError(f"{target} exists already; force=True overwrites it")
    if target.exists() and not target.is_file():
        # A device or a pipe cannot be renamed over; write straight into it.
        with _translated(target), target.open("wb") as file:
            yield file
        return
    scratch: Path | None = None
    try:
        with _translated(target):
            # Opened and not made by tempfile, whose files only their owner may read: this one has the rights of any new file.
            made = target.with_name(f".rblnpb-{os.urandom(6).hex()}")
            with made.open("xb") as file:
                scratch = made
                yield file
            scratch.replace(target)
            scratch = None
    finally:
        if scratch is not None:
            scratch.unlink(missing_ok=True)


@contextlib.contextmanager
def _translated(target: Path) -> Iterator[None]:
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
