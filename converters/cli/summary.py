"""rblnpb summary: torch's table of ops, which have the device time that they caused; or device slices by anything else."""

from __future__ import annotations

import argparse

from ._options import add_format, add_inputs, add_window, positive, print_data, print_findings, read_timeline, row_limit, text_width

# As in the face of this folder.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .. import pipeline

EXAMPLES = """\
examples:
  rblnpb summary device.pb --host trace.json.gz --row-limit 10
  rblnpb summary trace.json --sort-by cpu_time_total          # from the exported trace alone, torch's own text
  rblnpb summary trace.json --device-time recorded --sort-by none --row-limit -1
  rblnpb summary device.pb --host trace.json --format json | jq '.rows[0]'
  rblnpb summary device.pb --by stage                         # time of each layer on each kind of engine
  rblnpb summary device.pb --by program                       # and what bounds each: computing, or moving data
  rblnpb summary device.pb --by call --sort-by start          # the first call of a program against the later ones
  rblnpb summary device.pb --host trace.json --by step        # device time of each step; prefill and decode apart
"""

_KEYS = ("op", "stage", "layer", "family", "program", "engine", "call", "step")
_OF_OPS = (
    "device_time",
    "device_name",
    "group_by_input_shape",
    "top_level_events_only",
    "time_unit",
    "header",
    "max_name_column_width",
    "max_shapes_column_width",
    "max_src_column_width",
)
_LAYOUT = _OF_OPS[3:]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    add_window(parser)
    parser.add_argument(
        "--by",
        choices=_KEYS,
        help="what a row is: an op of the host (torch's table), or slices of the device by what they have in common; "
        "default: op with a host trace, else stage",
    )
    parser.add_argument(
        "--sort-by",
        metavar="KEY",
        help="by op: torch's sort key, such as self_cpu_time_total or count, default: self device time where there is any, else "
        "self CPU time; else a column, such as total (the default), mean, p99, max, count, bytes or name; none = order of first "
        "appearance",
    )
    parser.add_argument(
        "--row-limit", type=row_limit, default=None, metavar="N", help="most rows; -1 = all; default: 100 (JSON, CSV: all)"
    )
    add_format(parser, "text", "json", "csv")
    of_ops = parser.add_argument_group("by op")
    of_ops.add_argument(
        "--device-time",
        choices=("attributed", "recorded"),
        help="attributed (the default): on the op that launched it, by every rule; recorded: only the links that the trace itself "
        "makes",
    )
    of_ops.add_argument(
        "--device-name", metavar="NAME", help="what the columns call the device; default: as the inputs say, else RBLN"
    )
    text = parser.add_argument_group("layout of the text by op, as in torch's key_averages().table()")
    text.add_argument("--group-by-input-shape", action="store_true", help="calls with other input shapes are rows of their own")
    text.add_argument("--top-level-events-only", action="store_true", help="only rows that nothing called")
    text.add_argument("--time-unit", choices=("s", "ms", "us"), help="one unit for all times; default: by size")
    text.add_argument("--header", help="a line above the table")
    text.add_argument("--max-name-column-width", type=positive, metavar="N", help="default: 55")
    text.add_argument("--max-shapes-column-width", type=positive, metavar="N", help="default: 80")
    text.add_argument("--max-src-column-width", type=positive, metavar="N", help="torch's; no column here needs it")


def run(options: argparse.Namespace) -> int:
    """Sum up and print."""
    from rblnpb.errors import UsageError

    from .. import pipeline

    timeline = read_timeline(options)
    by = options.by or pipeline.default_summary_key(timeline)
    # An option that is given to no effect would be taken for one that had some.
    given = {name: getattr(options, name) for name in _OF_OPS if getattr(options, name) not in (None, False)}
    if by != "op" and given:
        raise UsageError(f"{', '.join('--' + name.replace('_', '-') for name in given)} is of the summary by op, not by {by}")
    layout = {name: given.pop(name) for name in _LAYOUT if name in given}
    summary = pipeline.summarize(timeline, by, **given)
    limit = options.row_limit if options.row_limit is not None else 100 if options.format == "text" else -1
    default = "default" if isinstance(summary, pipeline.Summary) else "total"
    sort_by = {None: default, "none": None}.get(options.sort_by, options.sort_by)
    print_data(_rendered(summary, options.format, sort_by, limit, layout))
    # Notes on where torch's own table may differ speak of this very table.
    print_findings(summary.findings, least="info")
    return 0


def _rendered(
    summary: pipeline.Summary | pipeline.SliceSummary, form: str, sort_by: str | None, limit: int, layout: dict[str, object]
) -> str | bytes:
    if form == "json":
        return summary.to_json(sort_by, limit)
    if form == "csv":
        return summary.to_csv(sort_by, limit)
    from .. import pipeline

    if isinstance(summary, pipeline.Summary):
        return summary.table(sort_by, limit, **layout)
    return summary.text(text_width() or None, sort_by, limit)
