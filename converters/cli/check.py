"""rblnpb check: every finding about one file."""

from __future__ import annotations

import argparse

from ._options import add_fail_on, add_format, exit_code, print_data

EXAMPLES = """\
examples:
  rblnpb check device.pb
  rblnpb check trace.json.gz
  rblnpb check device.pb --format json --fail-on warning
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    parser.add_argument("file", metavar="FILE", help="device profile or host trace; - = stdin")
    add_format(parser, "text", "json")
    add_fail_on(parser)


def run(options: argparse.Namespace) -> int:
    """Check and print."""
    from .. import pipeline

    report = pipeline.check_file(options.file)
    print_data(report.to_json() if options.format == "json" else report.text())
    return exit_code(report.findings, options.fail_on)
