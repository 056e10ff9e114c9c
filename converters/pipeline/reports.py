"""The profile status, and what is in a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import overload

from ..analyze.contents import profile_contents, trace_contents
from ..analyze.explained import explained_totals
from ..analyze.status import profile_status
from ..results import ExplainedOverheads, ProfileStatus
from ..sinks.contents import render_contents_json, render_contents_text
from ..sinks.status import render_explained_json, render_explained_text, render_status_json, render_status_text
from ..sources.explain_dump import read_explain_dump
from ..timeline import Timeline
from .inputs import display_name, read_file

__all__ = ["Contents", "Explained", "Status", "explained_status", "show_file", "status"]


@dataclass(frozen=True)
class Status:
    """The profile status; its text is `str(status)`."""

    values: ProfileStatus

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 120) -> str:
        """The status for people, folded to a number of columns."""
        return render_status_text(self.values, width=width)

    def to_json(self) -> bytes:
        """One JSON object, schema `rblnpb.status/1`."""
        return render_status_json(self.values)


def status(timeline: Timeline) -> Status:
    """Whether the timeline can be trusted: records kept and lost, clocks, what was joined and why the rest was not."""
    return Status(profile_status(timeline))


@dataclass(frozen=True)
class Explained:
    """What a runtime itself counted; its text is `str(explained)`."""

    values: ExplainedOverheads

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 120) -> str:
        """The counts for people, folded to a number of columns."""
        return render_explained_text(self.values, width=width)

    def to_json(self) -> bytes:
        """One JSON object, schema `rblnpb.explained/1`."""
        return render_explained_json(self.values)


@overload
def explained_status(path: str | os.PathLike[str], beside: None = None) -> Explained: ...
@overload
def explained_status(path: str | os.PathLike[str], beside: Status) -> Status: ...
def explained_status(path: str | os.PathLike[str], beside: Status | None = None) -> Explained | Status:
    """What the runtime itself counted, from a dump of `torch.rbln.explain()` that was saved as JSON.

    Args:
        path: Name of the file.
        beside: Status of a profile, which is given back with these counts beside its own; None: the counts alone, no verdict.

    Raises:
        FormatError: It cannot be read, or is no such dump.
    """
    explained = explained_totals(read_explain_dump(path))
    if beside is not None:
        return Status(replace(beside.values, explained=explained))
    return Explained(ExplainedOverheads(display_name(path), explained))


@dataclass(frozen=True)
class Contents:
    """What is in a file: nested facts with units in their keys."""

    values: dict[str, object]

    def text(self) -> str:
        """For people."""
        return render_contents_text(self.values)

    def to_json(self) -> bytes:
        """One JSON object, schema `rblnpb.show/1`."""
        return render_contents_json(self.values)


def show_file(path: str | os.PathLike[str], *, strict: bool = False, jobs: int | None = 1) -> Contents:
    """What is in a profile or a host trace; `jobs`: see `read_host`.

    Raises:
        FormatError: It cannot be read.
        CheckError: `strict`, and something is missing or odd.
    """
    found = read_file(path, strict=strict, jobs=jobs)
    name = display_name(path)
    if not isinstance(found, list):
        return Contents({"file": name, **trace_contents(found)})
    described = [profile_contents(profile) for profile in found]
    if len(described) == 1:
        return Contents({"file": name, **described[0]})
    return Contents({"file": name, "format": described[0]["format"], "sessions": described})
