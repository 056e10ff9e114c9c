"""rblnpb show: what is in a file."""

from __future__ import annotations

import argparse

from ._options import add_format, add_reading, print_data

EXAMPLES = """\
examples:
  rblnpb show device.pb
  rblnpb show trace.json.gz
  rblnpb show device.pb --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    parser.add_argument("file", metavar="FILE", help="device profile or host trace; - = stdin")
    add_format(parser, "text", "json")
    add_reading(parser)


def run(options: argparse.Namespace) -> int:
    """Look and print."""
    from .. import pipeline

    contents = pipeline.show_file(options.file, strict=options.strict, jobs=options.jobs)
    print_data(contents.to_json() if options.format == "json" else contents.text())
    return 0
