"""Traces out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from rblnpb.errors import Finding, OutputError
from rblnpb.output import open_output

from ..sinks.chrome_trace import write_chrome_trace as render_chrome_trace
from ..timeline import Timeline
from .inputs import Progress

__all__ = ["require_writable", "write_chrome_trace"]


def require_writable(path: str | os.PathLike[str], *, force: bool) -> None:
    """Refuse an output that could not be written, before hours of work are spent on it.

    Raises:
        OutputError: The file is there already and `force` is not given, it is a folder, or its folder is not there.
    """
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"cannot write {target}: it is a folder")
    if target.exists() and not force:
        raise OutputError(f"{target} exists already; overwrite it with --force")
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {target}: there is no folder {target.parent}")


def write_chrome_trace(
    timeline: Timeline, path: str | os.PathLike[str] | BinaryIO, *, force: bool = False, progress: Progress | None = None
) -> tuple[Finding, ...]:
    """Write a timeline as a Chrome trace, which Perfetto and chrome://tracing open.

    Args:
        timeline: Merged.
        path: Name of the file; `.gz` at its end compresses. It appears whole or not at all. Or a binary stream.
        force: Overwrite a file that is there.
        progress: Called with (events done, events in all).

    Returns:
        What had to be changed so that the viewers lose nothing, as counted findings.

    Raises:
        OutputError: The file is there already, or cannot be written.
    """
    if not isinstance(path, (str, os.PathLike)):
        return render_chrome_trace(timeline, path, progress=progress)
    with open_output(path, force=force) as file:
        if not os.fspath(path).endswith(".gz"):
            return render_chrome_trace(timeline, file, progress=progress)
        from isal import igzip

        # No name and no time in the header: the same timeline gives the same bytes.
        with igzip.IGzipFile(  # type: ignore[no-untyped-call]  # isal has no types for it
            filename="", mode="wb", fileobj=file, compresslevel=2, mtime=0
        ) as packed:
            return render_chrome_trace(timeline, packed, progress=progress)
