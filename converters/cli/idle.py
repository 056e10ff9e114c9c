"""rblnpb idle: how long was the device idle, and what did it wait for?"""

from __future__ import annotations

import argparse

from ._options import (
    add_format,
    add_inputs,
    add_window,
    print_data,
    print_findings,
    print_parts,
    read_timeline,
    row_limit,
    text_width,
)

EXAMPLES = """\
causes, the first that explains a moment; they add up to the idle time exactly
  short                    the whole gap is below --min-gap: counted, not looked into
  recording-lost           records of the device are known to be lost here: it may have been busy
  runtime                  before the next launch was submitted, its thread was in the runtime: compile, copy, wait, submit
  serialised-by-profiling  as runtime, but the wait is the recorder's own, which drains the device after each run
  waiting-for-host         before the submission, its thread was in ops, in Python, or in a part of the program that runs on the
                           host; steps: before-op (the op that submits had not begun), inside-op (it had), outside-ops (it lies in
                           none), fallback (an op ran on the CPU instead), host-command
  queue-empty              nothing was submitted yet, and nothing tells what the thread did: give the host trace with --host
  dependency               submitted, but waiting for work of another engine or device, where that is recorded
  submission               submitted and on its way; steps: submit-call (the call had not returned), on-its-way
  unknown                  within a program, or with a launch whose time is not known, and nothing recorded explains it
± is by how much a figure may be wrong where it compares times of host and device, as their clocks were placed.

examples:
  rblnpb idle device.pb --host trace.json.gz
  rblnpb idle trace.json --top 3 --min-gap 5000              # the device rows of a Kineto trace
  rblnpb idle device.pb --by engine                          # who waited for which engine
  rblnpb idle device.pb --host trace.json.gz --window 10ms:20ms
  rblnpb idle device.pb --format json | jq '.causes'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    add_inputs(parser)
    add_window(parser)
    help_text = "how many of the longest gaps to list; -1 = all; default: 10 (JSON, CSV: all)"
    parser.add_argument("--top", type=row_limit, metavar="N", help=help_text)
    parser.add_argument("--min-gap", type=int, default=1000, metavar="NS", help="shorter gaps are not looked into; default: 1000")
    help_text = "whose gaps have their causes told: those of a device as a whole, or of every engine; default: device"
    parser.add_argument("--by", choices=("device", "engine"), default="device", help=help_text)
    add_format(parser, "text", "json", "csv")


def run(options: argparse.Namespace) -> int:
    """Measure, explain and print."""
    from .. import pipeline

    timeline = read_timeline(options)
    top = options.top if options.top is not None else 10 if options.format == "text" else -1
    idle = pipeline.idle(timeline, min_gap_ns=options.min_gap, top=top, by=options.by)
    if options.format == "json":
        print_parts(idle.json_parts())
    elif options.format == "csv":
        print_parts(idle.csv_parts())
    else:
        print_data(idle.text(text_width(120)))
    if options.format != "text":
        print_findings(idle.values.findings)
    return 0
