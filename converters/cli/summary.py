"""rblnpb summary: the table known from torch, with the device time on the op that caused it."""

from __future__ import annotations

import argparse

from ._options import ProgressBar, add_format, add_inputs, positive, print_data, print_findings

EXAMPLES = """\
examples:
  rblnpb summary device.pb --host trace.json.gz --row-limit 10
  rblnpb summary trace.json --sort-by cpu_time_total          # from the exported trace alone, torch's own text
  rblnpb summary trace.json --device-time recorded --sort-by none --row-limit -1
  rblnpb summary device.pb --host trace.json --format json | jq '.rows[0]'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    parser.add_argument("--by", choices=("op",), default="op", help="what a row is; default: op")
    parser.add_argument(
        "--sort-by",
        metavar="KEY",
        help="torch's sort key, such as self_cpu_time_total or count; none = order of first appearance; "
        "default: self device time where there is any, else self CPU time",
    )
    parser.add_argument(
        "--row-limit", type=int, default=None, metavar="N", help="most rows; -1 = all; default: 100 (JSON, CSV: all)"
    )
    parser.add_argument(
        "--device-time",
        choices=("attributed", "recorded"),
        default="attributed",
        help="attributed: on the op that launched it, by every rule; recorded: only the links that the trace itself makes",
    )
    parser.add_argument(
        "--device-name", metavar="NAME", help="what the columns call the device; default: as the inputs say, else RBLN"
    )
    add_format(parser, "text", "json", "csv")
    text = parser.add_argument_group("layout of the text, as in torch's key_averages().table()")
    text.add_argument("--group-by-input-shape", action="store_true", help="calls with other input shapes are rows of their own")
    text.add_argument("--top-level-events-only", action="store_true", help="only rows that nothing called")
    text.add_argument("--time-unit", choices=("s", "ms", "us"), help="one unit for all times; default: by size")
    text.add_argument("--header", help="a line above the table")
    text.add_argument("--max-name-column-width", type=positive, default=55, metavar="N", help="default: 55")
    text.add_argument("--max-shapes-column-width", type=positive, default=80, metavar="N", help="default: 80")
    text.add_argument("--max-src-column-width", type=positive, default=75, metavar="N", help="torch's; no column here needs it")


def run(options: argparse.Namespace) -> int:
    """Sum up and print."""
    from .. import pipeline

    with ProgressBar("reading") as progress:
        inputs = pipeline.read_inputs(options.inputs, options.host, strict=options.strict, progress=progress)
    timeline = inputs.merge()
    summary = pipeline.summarize(
        timeline,
        device_time=options.device_time,
        group_by_input_shape=options.group_by_input_shape,
        device_name=options.device_name,
    )
    sort_by = {None: "default", "none": None}.get(options.sort_by, options.sort_by)
    limit = options.row_limit if options.row_limit is not None else 100 if options.format == "text" else -1
    if options.format == "json":
        print_data(summary.to_json(sort_by, limit))
    elif options.format == "csv":
        print_data(summary.to_csv(sort_by, limit))
    else:
        layout = {
            name: getattr(options, name)
            for name in (
                "top_level_events_only",
                "time_unit",
                "header",
                "max_name_column_width",
                "max_shapes_column_width",
                "max_src_column_width",
            )
        }
        print_data(summary.table(sort_by, limit, **layout))
    print_findings(timeline.findings)
    # Notes on where torch's own table may differ speak of this very table.
    print_findings(summary.findings, least="info")
    return 0
