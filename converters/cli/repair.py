"""rblnpb repair: a clean file from a broken one."""

from __future__ import annotations

import argparse
import sys

from ._options import ProgressBar, add_jobs, print_findings

EXAMPLES = """\
examples:
  rblnpb repair trace.json -o clean.json            # a name with a quote, NaN, a cut end: all that is whole is kept
  rblnpb repair trace.json.gz -o clean.json.gz      # gzip data that is cut or damaged too
  rblnpb repair device.pb -o clean.pb               # a recording that was not ended, or copied in part
  rblnpb repair both.pb --session 5f2a00000000c0de -o one.pb
  rblnpb repair trace.json -o trace.json --force    # in its place

Every other command reads broken files too, and tells what was lost; --strict refuses them. What was mended or lost goes to stderr:
how often, and where first, in bytes of the text. What was good of a trace stays byte for byte.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    parser.add_argument("file", metavar="IN", help="trace in JSON, gzipped or not, or device profile of ours; - = stdin")
    help_text = "file to write: .json or .json.gz of a trace, .pb of a profile; - = stdout"
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=help_text)
    parser.add_argument("--session", type=_session, metavar="ID", help="which session of a profile that holds several")
    parser.add_argument("--force", action="store_true", help="overwrite OUT")
    add_jobs(parser)


def run(options: argparse.Namespace) -> int:
    """Repair and write."""
    from rblnpb.wording import counted

    from .. import pipeline
    from ..pipeline.repair import repair

    name = options.output
    if name != "-":
        pipeline.require_writable(name, force=options.force)
    with ProgressBar("reading") as progress:
        repaired = repair(
            options.file,
            sys.stdout.buffer if name == "-" else name,
            session_id=options.session,
            force=options.force,
            progress=progress,
            jobs=options.jobs,
        )
    print_findings(repaired.findings, least="info")
    told = counted(repaired.records, "record") + ("" if repaired.findings else ", there was nothing to repair")
    print(f"{f'wrote {name}: ' if name != '-' else ''}{told}", file=sys.stderr)
    return 0


def _session(text: str) -> int:
    """The id of a session, in hexadecimal digits as `rblnpb show` prints it."""
    return int(text, 16)


_session.__name__ = "session id"
