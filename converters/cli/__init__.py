"""argv -> pipeline -> exit code. One file a subcommand; each loads what it needs when it runs."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from rblnpb._version import __version__

from ._options import Formatter

# A name that type checkers know. The module typing, like all that is imported here, would be paid for by every `--help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["main"]

OK, FINDINGS, USAGE, UNREADABLE, UNWRITABLE = range(5)
"""Exit codes: fine; findings at or above --fail-on; wrong usage; an input cannot be read; the output cannot be written."""

_INTERNAL = 70
_SIGINT = 2
_SIGNALS = 128
"""And the number of the signal that ended the command."""

_COMMANDS = {
    "simulate": "write the device profile of a simulated NPU",
    "run": 'run a PyTorch script, unmodified, with a simulated device="rbln" (needs rblnpb[torch])',
    "convert": "join device profile and host trace: for Perfetto, for chrome://tracing, or as one small profile; and back",
    "summary": "sum up ops as torch's key_averages table does, or work of the device by stage, program, call, step and more",
    "idle": "tell how long the device was idle and why: every gap with its cause, adding up exactly",
    "latency": "tell how long launches take to reach the device, and how many queue up",
    "stacks": "tell which op, module or Python frame the device's time comes from, as a table or as stacks for flame graphs",
    "advise": "name what costs time that nobody wrote, the dearest first, with a line of advice each",
    "status": "say whether a profile can be trusted: records kept and lost, clock quality, what matched and why the rest did not",
    "check": "list what is wrong with a file, and what viewers would drop, move or round of it",
    "redact": "make a file that can be sent away: pseudonyms for every name that is not public, numbers and times as they are",
    "repair": "write a clean file from a broken one: what is good stays as it is, what was mended or lost is told",
    "show": "say what is in a file: whose format, session, devices, programs, counts, time range, clocks",
}
"""Subcommands, each the module of its name, and what they do. A module is loaded when its command runs or is asked for help."""

_EPILOG = """\
question                                              command
  which of my ops keep the device busy?               rblnpb summary device.pb --host trace.json
  which stage, layer, program, engine or step does?   rblnpb summary device.pb --by stage
  is the device bound by compute or by data?          rblnpb summary device.pb --by program
  where is the device idle, and why?                  rblnpb idle device.pb --host trace.json
  how long does a launch take to reach the device?    rblnpb latency device.pb --host trace.json
  what costs time that nobody wrote?                  rblnpb advise device.pb --host trace.json
  which Python line or module is behind device time?  rblnpb stacks device.pb --host trace.json
  what did host and device do, and when?              rblnpb convert device.pb --host trace.json -o merged.json
  how do I keep all of it in one small file?          rblnpb convert device.pb --host trace.json -o run.pb
  can I trust this profile?                           rblnpb status device.pb --host trace.json
  is this file whole, and would viewers lose any?     rblnpb check device.pb
  how do I get a clean file out of a broken one?      rblnpb repair trace.json -o clean.json
  how do I send it away without telling names?        rblnpb redact device.pb --host trace.json -o public.pb
  what is in this file?                               rblnpb show FILE
  how do I try all this without an NPU?               rblnpb simulate --program mm -o device.pb
  what does my PyTorch script do on such a device?    RBLN_PROFILER=1 rblnpb run script.py

exit codes: 0 fine, 1 findings at or above --fail-on, 2 usage, 3 input unreadable, 4 output not writable
"""


class _Parser(argparse.ArgumentParser):
    """argparse with our exit code and one line of error; a shortened option would end to work when another one begins like it."""

    command = ""
    """Subcommand whose arguments are still to be added; the help of the whole command line shows none of them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        is_command = bool(self.command)
        if is_command:
            module = importlib.import_module(f".{self.command}", __name__)
            # `run` lends its process to somebody's program.
            is_ours = self.command != "run"
            self.command, self.epilog = "", module.EXAMPLES
            module.add_arguments(self)
            self.set_defaults(run=module.run, is_ours=is_ours)
        options, rest = super().parse_known_args(args, namespace)
        if is_command and rest:
            # The whole command line would name itself, and its own help, in which none of this stands.
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options, rest

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse's own hides it when the stream takes nothing; help that cannot be printed is an error like any other.
        stream = file or sys.stderr
        if message and stream is not None:
            stream.write(message)
            stream.flush()

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
    for name, text in _COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.", formatter_class=Formatter)
        sub.command = name
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    Args:
        argv: Arguments without the program's name; None = those of the process.
    """
    try:
        options = build_parser().parse_args(argv)
        code = _run(options, is_ours=argv is None and options.is_ours)
    except BrokenPipeError:
        # Whoever read our output has enough, which is no news; but not all of it arrived.
        _drop(sys.stdout)
        _drop_what_nobody_reads(sys.stderr)
        code = UNWRITABLE
    except KeyboardInterrupt as stop:
        if argv is None:
            # What is left for a pipe could wait for its reader.
            _drop(sys.stdout)
        code = _SIGNALS + getattr(stop, "signal_number", _SIGINT)
    except Exception as error:  # noqa: BLE001  # whatever it is, a line and a code say it
        code = _refusal(error)
    return code


def _run(options: Any, *, is_ours: bool) -> int:
    # Late, for the sake of `--help`.
    from rblnpb.process_memory import keep_freed_memory

    from ._stopping import stopping

    if sys.stdout is None:
        return _fail("cannot write the result: standard output is closed", UNWRITABLE)
    if is_ours:
        keep_freed_memory()
    with stopping():
        code: int = options.run(options)
        sys.stdout.flush()
    return code


def _refusal(error: Exception) -> int:
    """Say in one line what is wrong; the exit code tells with whom: the caller, the input, the output, or us."""
    # Late, so that a command that is only asked for help does not pay for it.
    from rblnpb.errors import OutputError, RblnpbError, UsageError

    if isinstance(error, RblnpbError):
        code = USAGE if isinstance(error, UsageError) else UNWRITABLE if isinstance(error, OutputError) else UNREADABLE
        return _fail(str(error), code)
    if isinstance(error, OSError):
        # Errors of inputs and of files written have become ours; what is left is standard output.
        _drop(sys.stdout)
        return _fail(f"cannot write the result: {error.strerror or error}", UNWRITABLE)
    if isinstance(error, MemoryError):
        return _fail("not enough memory for this input", UNREADABLE)
    if os.environ.get("RBLNPB_TRACEBACK"):
        raise error
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return _fail(f"internal error, please report it ({what}); RBLNPB_TRACEBACK=1 shows where", _INTERNAL)


def _drop(stream: Any) -> None:
    """Let what is buffered for a stream go nowhere: a second error while the interpreter ends would say nothing new.

    It would be the exit code, too: 120.
    """
    import contextlib

    # There may be none, or what stands for it is no file.
    with contextlib.suppress(AttributeError, OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _drop_what_nobody_reads(stream: Any) -> None:
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        _drop(stream)


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    import contextlib

    # Where nobody reads what is said, the code says it too.
    with contextlib.suppress(OSError):
        print(f"rblnpb: {line}", file=sys.stderr)
    _drop_what_nobody_reads(sys.stderr)
    return code
