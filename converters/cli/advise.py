"""rblnpb advise: what costs time that nobody wrote, and what to do about it?"""

from __future__ import annotations

import argparse

from ._options import add_format, add_inputs, add_window, print_data, print_findings, read_timeline, text_width

EXAMPLES = """\
examples:
  rblnpb advise device.pb --host trace.json.gz
  rblnpb advise trace.json                                       # scans of inputs, waits, small copies
  rblnpb advise device.pb                                        # hidden work, compilation, stalls, slow transfers
  rblnpb advise device.pb --host trace.json --format json | jq '.advice[] | [.cost_ns, .code, .advice]'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    add_window(parser)
    add_format(parser, "text", "json")


def run(options: argparse.Namespace) -> int:
    """Look and print."""
    from .. import pipeline

    timeline = read_timeline(options)
    advised = pipeline.advise(timeline)
    width = text_width(120)
    print_data(advised.to_json() if options.format == "json" else advised.text(width))
    if options.format != "text":
        print_findings(advised.values.findings)
    return 0
