"""rblnpb redact: a file that can be sent away."""

from __future__ import annotations

import argparse
import sys

from ._options import ProgressBar, add_inputs, output_format, print_findings, read

# As in the face of this folder: what typing loads would be paid for by every `--help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..pipeline import Inputs

EXAMPLES = """\
examples:
  rblnpb redact trace.json.gz -o public.json.gz
  rblnpb redact rbln_20261129_142200123_0.pb --key-file key.txt -o device_public.pb       # the same key for both files:
  rblnpb redact trace.json.gz --key-file key.txt -o trace_public.json.gz                  # they still join
  rblnpb redact device.pb --host trace.json --rebase-times --drop shapes -o public.pb
  rblnpb redact trace.json --keep python-names --keep annotations -o public.json

replaced: names of hosts, users, files, functions, modules, annotations, layers, programs, kernels, processes and threads that
are not known to be PyTorch's, the vendor's or a driver's; settings; and every key and text that is not known. The same key
gives the same name the same pseudonym. Operators of PyTorch, categories, numbers (of processes and threads too), shapes and
times stay, and every analysis gives the same numbers. Without a key a random one is used, and kept nowhere. Who knows the key
can test guesses of names.
"""

_KEPT = ("annotations", "kernel-names", "layer-names", "op-names", "python-names", "thread-names")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="file to write; - = stdout")
    help_text = "format of OUT; default: by its suffix: chrome (.json, .json.gz), perfetto (.pftrace) or pb (.pb)"
    parser.add_argument("--to", choices=("chrome", "perfetto", "pb"), help=help_text)
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--key", metavar="TEXT", help="what pseudonyms follow from; others on this machine may see it")
    keys.add_argument("--key-file", metavar="FILE", help="file with the key; white space at its end does not count")
    help_text = "names to leave as they are; may be given several times"
    parser.add_argument("--keep", action="append", choices=_KEPT, default=[], help=help_text)
    help_text = "leave out shapes, types and numbers that operators were called with"
    parser.add_argument("--drop", action="append", choices=("shapes",), default=[], help=help_text)
    help_text = "move wall-clock times back by whole seconds that follow from the key, so that files of one run still join"
    parser.add_argument("--rebase-times", action="store_true", help=help_text)
    parser.add_argument("--force", action="store_true", help="overwrite OUT")


def run(options: argparse.Namespace) -> int:
    """Redact and write."""
    from .. import pipeline
    from ..pipeline.redaction import redact

    name = options.output
    form = output_format(options)
    key = _key(options)
    if name != "-":
        pipeline.require_writable(name, force=options.force)
    inputs = read(options)
    print_findings(inputs.findings)
    with ProgressBar("redacting") as progress:
        redacted = redact(
            inputs,
            key,
            kept=options.keep,
            without_shapes="shapes" in options.drop,
            rebase_times=options.rebase_times,
            progress=progress,
        )
    with ProgressBar("writing") as progress:
        _write(redacted.inputs, form, sys.stdout.buffer if name == "-" else name, force=options.force, progress=progress)
    print(f"{f'wrote {name}: ' if name != '-' else ''}{_told(redacted.replaced)}", file=sys.stderr)
    return 0


def _key(options: argparse.Namespace) -> bytes:
    """The key that was given, or a random one."""
    import os
    import secrets
    from pathlib import Path

    from rblnpb.errors import FormatError, UsageError

    if options.key is None and options.key_file is None:
        return secrets.token_bytes(32)
    if options.key_file is None:
        key = os.fsencode(options.key)
    else:
        try:
            key = Path(options.key_file).read_bytes().rstrip()
        except OSError as error:
            raise FormatError(options.key_file, (error.strerror or str(error)).lower()) from error
    if not key:
        raise UsageError("the key is empty: anybody could test guesses of names; leave it out for a random one")
    return key


def _write(inputs: Inputs, form: str, target: Any, **how: Any) -> None:
    from .. import pipeline

    if form == "pb":
        pipeline.write_profile(inputs.profile, inputs.host, target, **how)
    elif form == "chrome" and inputs.profile is None and inputs.host is not None:
        pipeline.write_host_trace(inputs.host, target, **how)
    else:
        write = pipeline.write_perfetto_trace if form == "perfetto" else pipeline.write_chrome_trace
        write(inputs.merge(), target, **how)


def _told(replaced: dict[str, int]) -> str:
    """How many texts of each kind were replaced, the most first."""
    from rblnpb.wording import counted

    total = sum(replaced.values())
    if not total:
        return "there was no text to replace"
    parts = [f"{kind} {count:,}" for kind, count in sorted(replaced.items(), key=lambda one: (-one[1], one[0]))]
    return f"replaced {counted(total, 'different text')} ({', '.join(parts)})"
