"""rblnpb stacks: which line of my program does the device's time come from?"""

from __future__ import annotations

import argparse
import sys

from ._options import add_inputs, add_window, print_data, print_findings, read_timeline, row_limit, text_width

# As in the face of this folder: what typing loads would be paid for by every `--help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .. import pipeline

EXAMPLES = """\
examples:
  rblnpb stacks device.pb --host trace.json.gz | flamegraph.pl --countname ns > flame.svg
  rblnpb stacks device.pb --host trace.json.gz -o device.speedscope.json       # open it in https://www.speedscope.app
  rblnpb stacks device.pb --host trace.json.gz --by python --stages -o python.folded
  rblnpb stacks device.pb --host trace.json.gz --by module --format text
  rblnpb stacks trace.json.gz --weight host-self                               # no device: where the host spends its time

Frames need a trace recorded with with_stack=True. Work that none launched has a stack "(unattributed: why)": weights add up.
"""

_SUFFIXES = {".speedscope.json": "speedscope", ".folded": "folded", ".json": "json", ".csv": "csv"}
_TABLES = ("text", "json", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    add_window(parser)
    parser.add_argument(
        "--by",
        choices=("op", "module", "python", "all"),
        help="what frames are, below the thread, or rows of a table; default: all, in a table op",
    )
    parser.add_argument(
        "--weight",
        choices=("device-sum", "device-union", "host-self"),
        help="what stacks weigh: durations of work; busy time, overlaps once; the host's time in ops, with --by all in named "
        "ranges too; default: device-sum if there is any",
    )
    parser.add_argument("--stages", action="store_true", help="the stage of device work is the innermost frame")
    help_text = "stacks (folded, speedscope) or the table (text, json, csv); default: by the suffix of OUT, else folded"
    parser.add_argument("--format", choices=("folded", "speedscope", *_TABLES), help=help_text)
    parser.add_argument("-o", "--output", default="-", metavar="OUT", help="file to write; - = stdout, the default")
    parser.add_argument("--force", action="store_true", help="overwrite OUT")
    parser.add_argument("--sort-by", metavar="KEY", help="column of the table, such as device_total_sum; none = first appearance")
    parser.add_argument(
        "--row-limit", type=row_limit, metavar="N", help="most rows of the table; -1 = all; default: 100 (JSON, CSV: all)"
    )


def run(options: argparse.Namespace) -> int:
    """Attribute and write."""
    from .. import pipeline

    kind = options.format or _kind(options.output)
    _require_fitting(options, kind)
    if options.output != "-":
        pipeline.require_writable(options.output, force=options.force)
    timeline = read_timeline(options)
    if kind in _TABLES:
        table = pipeline.attribute(timeline, options.by or "op")
        _write(_table(table, options, kind), options)
        shown = table.values.findings if kind != "text" else ()
    else:
        stacks = pipeline.call_stacks(timeline, options.by or "all", options.weight, with_stages=options.stages)
        _write(stacks.to_folded() if kind == "folded" else stacks.to_speedscope(), options)
        print(stacks.coverage(), end="", file=sys.stderr)
        shown = stacks.values.findings
    print_findings(shown, least="info")
    return 0


def _kind(output: str) -> str:
    """The format that a suffix tells; standard output has stacks for flame graphs."""
    from rblnpb.errors import UsageError

    kind = next((kind for suffix, kind in _SUFFIXES.items() if output.endswith(suffix)), "")
    if not kind and output != "-":
        raise UsageError(f"the format of {output} is not told by its suffix ({', '.join(_SUFFIXES)}): give it with --format")
    return kind or "folded"


def _require_fitting(options: argparse.Namespace, kind: str) -> None:
    from rblnpb.errors import UsageError

    if kind in _TABLES and (options.weight or options.stages):
        raise UsageError(
            f"--weight and --stages are of stacks (--format folded, speedscope); {kind} is the table, which has all sums"
        )
    if kind not in _TABLES and (options.sort_by or options.row_limit is not None):
        raise UsageError(f"--sort-by and --row-limit are of the table (--format text, json, csv); {kind} has every stack")


def _table(table: pipeline.Attribution, options: argparse.Namespace, kind: str) -> str | bytes:
    sort_by = {None: "default", "none": None}.get(options.sort_by, options.sort_by)
    limit = options.row_limit if options.row_limit is not None else 100 if kind == "text" else -1
    if kind == "json":
        return table.to_json(sort_by, limit)
    if kind == "csv":
        return table.to_csv(sort_by, limit)
    return table.text(text_width(160), sort_by, limit)


def _write(data: str | bytes, options: argparse.Namespace) -> None:
    from .. import pipeline

    if options.output == "-":
        print_data(data)
    else:
        pipeline.write_data(data.encode(errors="replace") if isinstance(data, str) else data, options.output, force=options.force)
