"""rblnpb latency: how long do launches take to reach the device, and how many queue up?"""

from __future__ import annotations

import argparse

from ._options import add_format, add_inputs, add_window, print_data, print_findings, read_timeline, text_width

EXAMPLES = """\
examples:
  rblnpb latency device.pb --host trace.json.gz
  rblnpb latency device.pb                                       # launches are in the profile too
  rblnpb latency trace.json                                      # a host trace with device rows of its own
  rblnpb latency device.pb --format json --series | jq '.queue.series'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    add_window(parser)
    add_format(parser, "text", "json", "csv")
    parser.add_argument("--series", action="store_true", help="in JSON, the length of the queue at each moment at which it changed")


def run(options: argparse.Namespace) -> int:
    """Measure and print."""
    from rblnpb.errors import UsageError

    from .. import pipeline

    if options.series and options.format != "json":
        raise UsageError("--series goes with --format json")
    timeline = read_timeline(options)
    report = pipeline.measure_latency(timeline)
    if options.format == "json":
        print_data(report.to_json(series=options.series))
    elif options.format == "csv":
        print_data(report.to_csv())
    else:
        print_data(report.text(text_width(120)))
    if options.format != "text":
        print_findings(report.values.findings)
    return 0
