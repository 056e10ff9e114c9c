"""Arguments that several subcommands share, and how their help looks."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable

# As in the face of this folder: what typing and contextlib load would be paid for by every `--help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rblnpb.errors import Finding

    from ..pipeline import Inputs
    from ..timeline import Timeline

__all__ = [
    "Formatter",
    "ProgressBar",
    "add_fail_on",
    "add_format",
    "add_inputs",
    "add_jobs",
    "add_reading",
    "add_window",
    "exit_code",
    "merged",
    "output_format",
    "positive",
    "print_data",
    "print_findings",
    "print_parts",
    "read",
    "read_timeline",
    "row_limit",
    "text_width",
]


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of examples as they are. Asks for the width itself: argparse would load shutil and all that it unpacks."""

    def __init__(self, prog: str, **options: Any) -> None:
        try:
            columns = int(os.environ.get("COLUMNS", "0")) or os.get_terminal_size().columns
        except (OSError, ValueError):
            columns = 80
        super().__init__(prog, width=columns - 2, **options)


_SUFFIXES = {".json": "chrome", ".json.gz": "chrome", ".pftrace": "perfetto", ".perfetto-trace": "perfetto", ".pb": "pb"}
_SEVERITIES = {"info": 0, "warning": 1, "error": 2}


def add_inputs(parser: argparse.ArgumentParser, *, least: int = 1) -> None:
    """INPUT… and --host; at least so many inputs (0 or 1)."""
    parser.add_argument(
        "inputs",
        nargs="+" if least else "*",
        metavar="INPUT",
        help="device profile (.pb), host trace (.json, .json.gz) or a folder with both; told apart by content; - = stdin",
    )
    parser.add_argument("--host", metavar="TRACE", help="host trace of the same run, as torch.profiler exports it")
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what an input may ask for before it is refused, such as profile-record-bytes=4GiB; a wrong name lists all of them",
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """What every reading command understands."""
    parser.add_argument("--strict", action="store_true", help="refuse an input that is damaged or odd; default: read what is whole")
    add_jobs(parser)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """--jobs."""
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="by how many processes a host trace is read at most, with the same result: one, and one more for each 128 MiB of it, "
        "or 12 MiB of gzip data; default: one for each core, 8 at most",
    )


def add_window(parser: argparse.ArgumentParser) -> None:
    """--window and --around."""
    part = parser.add_mutually_exclusive_group()
    part.add_argument(
        "--window",
        metavar="START:END",
        help="only what overlaps this time, counted from the first event: 10ms:25ms, 1.5s: (units ns, us, ms, s; default ms); "
        "before the first event: --window=-5ms:5ms",
    )
    part.add_argument(
        "--around", metavar="NAME", help="only the time of the first event, program or layer of this name, and of what it launched"
    )


def read(options: argparse.Namespace, **how: Any) -> Inputs:
    """The inputs that were named, with a progress bar; `how`: as for `pipeline.read_inputs`."""
    from .. import pipeline
    from ..pipeline.limits import parse_limits
    from ..pipeline.windows import Window, parse_window

    window = None
    if getattr(options, "window", None) is not None:
        window = parse_window(options.window)
    elif getattr(options, "around", None) is not None:
        window = Window(around=options.around)
    how = {"window": window, "strict": options.strict, "limits": parse_limits(options.limit), "jobs": options.jobs, **how}
    with ProgressBar("reading") as progress:
        return pipeline.read_inputs(options.inputs, options.host, progress=progress, **how)


def read_timeline(options: argparse.Namespace, **how: Any) -> Timeline:
    """The timeline of the inputs that were named, of the window that was asked for; `how`: see `read`."""
    return merged(read(options, **how))


def merged(inputs: Inputs) -> Timeline:
    """The timeline of inputs. How much of it a window leaves is told, since every number is of that alone."""
    timeline = inputs.merge()
    for finding in filter(_is_of_window, timeline.findings):
        _print(finding)
    return timeline


def add_format(parser: argparse.ArgumentParser, *formats: str) -> None:
    """--format, the first one being the default."""
    parser.add_argument("--format", choices=formats, default=formats[0], help=f"default: {formats[0]}")


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    """--fail-on."""
    help_text = "exit code 1 when a finding is at least this severe; default: error"
    parser.add_argument("--fail-on", choices=("warning", "error"), default="error", help=help_text)


def positive(text: str) -> int:
    """A number from 1 on, as an argument's type; digits may be grouped."""
    value = int(text.replace("_", "").replace(",", ""))
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


# What argparse calls a text that is no number at all.
positive.__name__ = "number"


def row_limit(text: str) -> int:
    """A number of rows; -1: all."""
    limit = int(text)
    if limit < -1:
        raise argparse.ArgumentTypeError(f"{text} is no number of rows; -1 = all")
    return limit


row_limit.__name__ = "number of rows"


def output_format(options: argparse.Namespace) -> str:
    """The format of --output: as --to says, or the suffix."""
    from rblnpb.errors import UsageError

    name = options.output
    if not name:
        raise UsageError("the output has an empty name; is a variable of the shell unset?")
    if options.to is not None or name == "-":
        return options.to or "chrome"
    for suffix, form in _SUFFIXES.items():
        if name.endswith(suffix):
            return form
    raise UsageError(f"the format of {name} is not told by its suffix: end it in {', '.join(_SUFFIXES)}, or give --to FORMAT")


def exit_code(findings: Iterable[Finding], fail_on: str) -> int:
    """1 when a finding is at or above the severity, else 0."""
    return int(any(finding.severity >= _SEVERITIES[fail_on] for finding in findings))


def print_data(data: str | bytes) -> None:
    """Data goes to stdout as it is, text as UTF-8 whatever the terminal is set to: a name may hold any letter.

    On a terminal a control character in a name shows as its escape: it would move the cursor, or worse.
    """
    print_parts([data])


def print_parts(parts: Iterable[str | bytes]) -> None:
    """Data that is made while it is printed, as of `print_data`."""
    sys.stdout.flush()
    escapes = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), 127)} if sys.stdout.isatty() else {}
    for part in parts:
        text = part.translate(escapes) if isinstance(part, str) and escapes else part
        sys.stdout.buffer.write(text.encode(errors="replace") if isinstance(text, str) else text)


def text_width(piped: int = 0) -> int:
    """Columns of the terminal, or as COLUMNS says, 40 at least; `piped` where there is no terminal."""
    import shutil

    columns = shutil.get_terminal_size((piped, 24)).columns
    return columns and max(columns, 40)


def print_findings(findings: Iterable[Finding], *, least: str = "warning") -> None:
    """Findings at or above a severity go to stderr, a line each; what a window leaves is told by `merged`."""
    for finding in findings:
        if finding.severity >= _SEVERITIES[least] and not _is_of_window(finding):
            _print(finding)


def _is_of_window(finding: Finding) -> bool:
    return finding.code.startswith("window")


def _print(finding: Finding) -> None:
    print(f"rblnpb: {finding}", file=sys.stderr)


class ProgressBar:
    """A context whose value is a callback (done, total), or None where stderr is no terminal.

    The bar is drawn on stderr once a second has passed, and rich is loaded only then: short work never pays for it.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._started = time.monotonic()
        self._progress: Any = None
        self._task: Any = None

    def __enter__(self) -> Callable[[int, int], None] | None:
        return self._update if sys.stderr is not None and sys.stderr.isatty() else None

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _update(self, done: int, total: int) -> None:
        if self._progress is None:
            if time.monotonic() - self._started < 1.0:
                return
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
            self._task = self._progress.add_task(self._what, total=total)
        self._progress.update(self._task, completed=done, total=total)
