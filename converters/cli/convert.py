"""rblnpb convert: merge and write."""

from __future__ import annotations

import argparse
import sys

from ._options import ProgressBar, add_inputs, print_findings

EXAMPLES = """\
examples:
  rblnpb convert rbln_20261129_142200123_0.pb --host trace.json.gz -o merged.json
  rblnpb convert run_folder/ -o merged.json.gz
  rblnpb convert trace.json -o clean.json        # makes a trace load without an import error
  rblnpb convert device.pb -o - | gzip > device.json.gz
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="file to write (.json, .json.gz); - = stdout")
    parser.add_argument("--to", choices=("chrome",), help="format of the output; default: by its suffix")
    parser.add_argument("--force", action="store_true", help="overwrite OUT")


def run(options: argparse.Namespace) -> int:
    """Merge and write."""
    from rblnpb.errors import UsageError

    from .. import pipeline

    name = options.output
    if name != "-" and options.to is None and not name.endswith((".json", ".json.gz")):
        raise UsageError(f"the format of {name} is not told by its suffix: end it in .json or .json.gz, or give --to chrome")
    if name != "-":
        pipeline.require_writable(name, force=options.force)
    with ProgressBar("reading") as progress:
        inputs = pipeline.read_inputs(options.inputs, options.host, strict=options.strict, progress=progress)
    timeline = inputs.merge()
    with ProgressBar("writing") as progress:
        target = sys.stdout.buffer if name == "-" else name
        findings = pipeline.write_chrome_trace(timeline, target, force=options.force, progress=progress)
    print_findings(timeline.findings)
    # What the viewers' sake asked to change or leave out is told even where it takes nothing from the numbers.
    print_findings(findings, least="info")
    if name != "-":
        slices = len(timeline.slices) + len(timeline.frames)
        events = len(timeline.host.events) if timeline.host else 0
        print(f"wrote {name}: {events:,} host events, {slices:,} device slices", file=sys.stderr)
    return 0
