"""rblnpb status: can this profile be trusted?"""

from __future__ import annotations

import argparse

from ._options import add_fail_on, add_format, add_inputs, add_window, exit_code, print_data, read_timeline, text_width

EXAMPLES = """\
examples:
  rblnpb status device.pb
  rblnpb status device.pb --host trace.json.gz
  rblnpb status device.pb --host trace.json --format json --fail-on warning
  rblnpb status --explain dump.json                              # json.dump(p.dump(), file) of torch.rbln.explain()
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser, least=0)
    add_window(parser)
    help_text = "dump of torch.rbln.explain(), saved as JSON: what the runtime itself counted; with or without a profile"
    parser.add_argument("--explain", metavar="FILE", help=help_text)
    add_format(parser, "text", "json")
    add_fail_on(parser)


def run(options: argparse.Namespace) -> int:
    """Judge and print."""
    from rblnpb.errors import UsageError

    from .. import pipeline

    if not options.inputs and options.explain is None:
        raise UsageError("the following arguments are required: INPUT or --explain")
    if not options.inputs and options.host is None:
        report: pipeline.Explained | pipeline.Status = pipeline.explained_status(options.explain)
    else:
        status = pipeline.status(read_timeline(options))
        report = status if options.explain is None else pipeline.explained_status(options.explain, status)
    width = text_width(120)
    print_data(report.to_json() if options.format == "json" else report.text(width))
    return exit_code(report.values.findings, options.fail_on)
