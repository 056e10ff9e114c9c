"""rblnpb convert: merge, or pack into a profile, and write."""

from __future__ import annotations

import argparse
import sys

from ._options import ProgressBar, add_inputs, add_window, merged, output_format, print_findings, read

# A name that type checkers know. The module typing would be paid for by every `--help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..pipeline import Inputs

EXAMPLES = """\
examples:
  rblnpb convert rbln_20261129_142200123_0.pb --host trace.json.gz -o merged.json
  rblnpb convert run_folder/ -o merged.pftrace
  rblnpb convert device.pb --host trace.json.gz --window 10ms:25ms -o part.json   # of a long run, a part
  rblnpb convert device.pb --host trace.json.gz --around aten::mm -o op.json      # the first of its name, and its work
  rblnpb convert trace.json -o clean.json        # makes a trace load without an import error
  rblnpb convert device.pb -o - | gzip > device.json.gz
  rblnpb convert trace.json.gz -o trace.pb       # host events and all, small, and
  rblnpb convert trace.pb -o back.json           # back again, byte for byte
  rblnpb convert device.pb --host trace.json -o both.pb
"""

_FORMATS = """\
format of OUT; default: by its suffix. chrome (.json, .json.gz): for Perfetto and chrome://tracing; perfetto (.pftrace): Perfetto's
own; pb (.pb): a profile, with the host events in it; json: the host trace alone, byte for byte, which is what .json means for an
archived trace alone"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    add_window(parser)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="file to write; - = stdout")
    parser.add_argument("--to", choices=("chrome", "perfetto", "pb", "json"), help=_FORMATS)
    parser.add_argument("--force", action="store_true", help="overwrite OUT")


def run(options: argparse.Namespace) -> int:
    """Merge or pack, and write."""
    from rblnpb.errors import UsageError

    from .. import pipeline

    name = options.output
    form = output_format(options)
    if name != "-":
        pipeline.require_writable(name, force=options.force)
    inputs = read(options, **(pipeline.FOR_VIEWERS if form in {"chrome", "perfetto"} else {}))
    if inputs.window is not None and form in {"pb", "json"}:
        raise UsageError("--window and --around choose what viewers show (--to chrome, perfetto); pb and json keep all of a run")
    is_as_it_was = options.to is None and form == "chrome" and inputs.window is None and _is_archive_alone(inputs)
    write = {"chrome": _write_chrome, "perfetto": _write_perfetto, "pb": _write_profile, "json": _write_as_it_was}[
        "json" if is_as_it_was else form
    ]
    with ProgressBar("writing") as progress:
        told = write(inputs, sys.stdout.buffer if name == "-" else name, force=options.force, progress=progress)
    if name != "-":
        print(f"wrote {name}: {told}", file=sys.stderr)
    return 0


def _is_archive_alone(inputs: Inputs) -> bool:
    from ..pipeline.archives import is_archived

    return inputs.profile is None and inputs.host is not None and is_archived(inputs.host)


def _write_chrome(inputs: Inputs, target: Any, **how: Any) -> str:
    from .. import pipeline

    return _write_timeline(inputs, pipeline.write_chrome_trace, target, **how)


def _write_perfetto(inputs: Inputs, target: Any, **how: Any) -> str:
    from .. import pipeline

    return _write_timeline(inputs, pipeline.write_perfetto_trace, target, **how)


def _write_timeline(inputs: Inputs, write: Any, target: Any, **how: Any) -> str:
    timeline = merged(inputs)
    findings = write(timeline, target, **how)
    print_findings(timeline.findings)
    # What the viewers' sake asked to change or leave out is told even where it takes nothing from the numbers.
    print_findings(findings, least="info")
    events = len(timeline.host.events) if timeline.host else 0
    return f"{events:,} host events, {len(timeline.slices):,} device slices, {len(timeline.frames):,} workload slices"


def _write_profile(inputs: Inputs, target: Any, **how: Any) -> str:
    from pathlib import Path

    from .. import pipeline

    profile, host = inputs.profile, inputs.host
    archived = pipeline.write_profile(profile, host, target, **how)
    print_findings(inputs.findings)
    print_findings(archived.findings, least="info")
    told = [f"{len(profile.device_slices):,} device slices"] if profile else []
    told += [f"{len(host.events):,} host events, {archived.trace_bytes:,} bytes of JSON"] if host else []
    size = f", in {Path(target).stat().st_size:,} bytes" if isinstance(target, str) else ""
    return " and ".join(told) + size


def _write_as_it_was(inputs: Inputs, target: Any, **how: Any) -> str:
    from rblnpb.errors import UsageError

    from .. import pipeline

    if inputs.host is None:
        raise UsageError("--to json writes the host trace of its inputs, and there is none: --to chrome shows device records")
    pipeline.write_host_trace(inputs.host, target, **how)
    print_findings(inputs.host.findings)
    return f"{len(inputs.host.events):,} host events, byte for byte as they were; --to chrome mends what viewers cannot show"
