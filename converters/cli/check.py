"""rblnpb check: every finding about one file, or about each of several."""

from __future__ import annotations

import argparse

from ._options import add_fail_on, add_format, add_jobs, exit_code, print_data, text_width

EXAMPLES = """\
examples:
  rblnpb check device.pb
  rblnpb check trace.json.gz                                     # what is wrong, and what viewers would drop, move or round
  rblnpb check device.pb trace.json                              # each by itself; 'rblnpb status' judges how well they fit
  rblnpb check device.pb --format json --fail-on warning
  rblnpb check trace.json --format csv | cut -d, -f2-5

Of several files, one that cannot be read is named among the others; the exit code is 3 then.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    help_text = "device profile, ours or the vendor's, or host trace; told apart by content; - = stdin"
    parser.add_argument("files", nargs="+", metavar="FILE", help=help_text)
    add_format(parser, "text", "json", "csv")
    add_fail_on(parser)
    add_jobs(parser)


def run(options: argparse.Namespace) -> int:
    """Check and print."""
    from rblnpb.errors import UsageError

    from .. import pipeline

    if options.files.count("-") > 1:
        raise UsageError("standard input (-) can be read once: name the other file")
    report = pipeline.check_files(options.files, jobs=options.jobs)
    if options.format == "json":
        print_data(report.to_json())
    else:
        print_data(report.to_csv() if options.format == "csv" else report.text(text_width() or None))
    unreadable = any(finding.code == pipeline.UNREADABLE for finding in report.findings)
    return 3 if unreadable else exit_code(report.findings, options.fail_on)
