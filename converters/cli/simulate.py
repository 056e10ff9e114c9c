"""rblnpb simulate: the simulated runtime writes a device profile."""

from __future__ import annotations

import argparse
import sys

from ._options import add_jobs, positive, print_data

EXAMPLES = """\
examples:
  rblnpb simulate -o device.pb                                   # three calls of mm
  rblnpb simulate --program decoder --calls 50 --npu atom -o device.pb
  rblnpb simulate --from-host trace.json.gz -o device.pb         # each leaf compute op of a real trace launches a program
  rblnpb simulate --records 1000000 --seed 7 -o big.pb
  rblnpb simulate --fault truncate --fault drop -o broken.pb
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    parser.add_argument("-o", "--output", metavar="FILE.pb", help="file to write; - = stdout, and the report goes to stderr")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--calls", type=positive, metavar="N", help="how many calls; default: 3")
    what.add_argument("--records", type=positive, metavar="N", help="about how many device slices, instead of --calls")
    what.add_argument("--from-host", metavar="TRACE", help="launch one program for each leaf compute op of this host trace")
    parser.add_argument("--program", metavar="NAME", help="program that every call runs; --program list names them; default: mm")
    parser.add_argument("--npu", choices=("rebel100", "atom"), default="rebel100", help="default: rebel100")
    parser.add_argument("--seed", type=_seed, default=0, metavar="S", help="same seed, same file; default: 0")
    parser.add_argument(
        "--instances", type=positive, default=1, metavar="N", help="runtime instances that share the calls; default: 1"
    )
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="host threads that launch; default: 1")
    parser.add_argument(
        "--names",
        choices=("multi-stream", "single-stream", "legacy"),
        default="multi-stream",
        help="how slices are called; default: multi-stream, i{instance}_{sequence}_W{workload}_{layer}_{command}",
    )
    parser.add_argument("--overlapped", action="store_true", help="host and device overlap; default: the host waits after each run")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND", help="do damage; --fault list names the kinds")
    parser.add_argument(
        "--display",
        action=argparse.BooleanOptionalAction,
        help="whether the Perfetto UI shows the slices of the file as it is; default: up to 200,000 of them, which take 3.5 MB",
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file")
    add_jobs(parser)


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


_seed.__name__ = "number"


def run(options: argparse.Namespace) -> int:
    """Simulate, write, and report as the runtime does."""
    from rblnpb.errors import UsageError

    from .. import pipeline

    if options.program == "list" or "list" in options.fault:
        print_data(pipeline.simulation_choices())
        return 0
    if options.output is None:
        raise UsageError("name the file to write: -o FILE.pb")
    is_stream = options.output == "-"
    if options.output.endswith((".json", ".gz", ".pftrace", ".csv")):
        raise UsageError(f"a recording is a .pb, not what {options.output} says; rblnpb convert makes other files of it")
    text = pipeline.simulate_to_file(
        sys.stdout.buffer if is_stream else options.output,
        from_host=options.from_host,
        faults=tuple(options.fault),
        names=options.names,
        display=options.display,
        force=options.force,
        program=options.program,
        calls=options.calls,
        records=options.records,
        npu=options.npu,
        seed=options.seed,
        instances=options.instances,
        threads=options.threads,
        drained=False if options.overlapped else None,
        jobs=options.jobs,
    )
    if is_stream:
        sys.stderr.write(text)
    else:
        print_data(text)
    return 0
