"""argv -> pipeline -> exit code. One file a subcommand; each loads what it needs when it runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from rblnpb._version import __version__
from rblnpb.errors import OutputError, RblnpbError, UsageError

from . import check, convert, show, simulate, status, summary
from ._options import Formatter

__all__ = ["main"]

OK, FINDINGS, USAGE, UNREADABLE, UNWRITABLE = range(5)
"""Exit codes: fine; findings at or above --fail-on; wrong usage; an input cannot be read; the output cannot be written."""

_CODES: Final = {UsageError: USAGE, OutputError: UNWRITABLE}
"""What an error of ours says about whom: the caller, the output, else the input."""

_INTERNAL: Final = 70
_INTERRUPTED: Final = 130

_COMMANDS: Final = (simulate, convert, summary, status, check, show)

_EPILOG: Final = """\
question                                              command
  which of my ops keep the device busy?                 rblnpb summary device.pb --host trace.json
  what did host and device do, and when?                rblnpb convert device.pb --host trace.json -o merged.json
  can I trust this profile?                             rblnpb status device.pb --host trace.json
  is this file whole?                                   rblnpb check device.pb
  what is in this file?                                 rblnpb show FILE
  how do I try all this without an NPU?                 rblnpb simulate --program mm -o device.pb

exit codes: 0 fine, 1 findings at or above --fail-on, 2 usage, 3 input unreadable, 4 output not writable
"""


class _Parser(argparse.ArgumentParser):
    """argparse with our exit code and one line of error; a shortened option would end to work when another one begins like it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="rblnpb",
        description="Profiles of RBLN NPUs: record, join with PyTorch's host events, convert, sum up, judge.",
        epilog=_EPILOG,
        formatter_class=Formatter,
    )
    parser.add_argument("--version", action="version", version=f"rblnpb {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    for command in _COMMANDS:
        sub = commands.add_parser(
            command.NAME,
            help=command.HELP,
            description=command.HELP[0].upper() + command.HELP[1:] + ".",
            epilog=command.EXAMPLES,
            formatter_class=Formatter,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    Args:
        argv: Arguments without the program's name; None = those of the process.
    """
    options = build_parser().parse_args(argv)
    try:
        if sys.stdout is None:
            raise OutputError("cannot write the result: standard output is closed")
        code: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has enough.
        _drop_output()
        code = OK
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except RblnpbError as error:
        code = _fail(str(error), next((code for kind, code in _CODES.items() if isinstance(error, kind)), UNREADABLE))
    except OSError as error:
        # Errors of inputs and of files written have become ours; what is left is standard output.
        _drop_output()
        code = _fail(f"cannot write the result: {error.strerror or error}", UNWRITABLE)
    except MemoryError:
        code = _fail("not enough memory for this input", UNREADABLE)
    except Exception as error:  # a traceback helps nobody at a terminal; the variable brings it back
        if os.environ.get("RBLNPB_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        code = _fail(f"internal error, please report it ({what}); RBLNPB_TRACEBACK=1 shows where", _INTERNAL)
    return code


def _drop_output() -> None:
    """Let what is buffered for standard output go nowhere: a second error while the interpreter ends would say nothing new."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"rblnpb: {line}", file=sys.stderr)
    return code
