"""How fast everything is, in one table: each row beside the plain way and, with a compiler, beside C.

    python -m tests.bench                        # all rows; under five minutes on two quiet cores
    python -m tests.bench read-kineto chrome     # some
    python -m tests.bench --large convert        # with the row of ten million
    python -m tests.bench --profile read-kineto  # where a row spends its time, by function
    python -m tests.bench --save before.json     # for scripts/bench_compare.py before.json after.json
    python -m tests.bench --docs                 # writes the table into docs/performance.md

Times are CPU time, medians of rounds in which all sides take turns in one run. A busy machine moves all of them: compare ratios.
Nothing here asserts a time; that the sides come to the same is a test (tests/bench/test_cases.py).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rblnpb.process_memory import keep_freed_memory
from tests.bench.case import LARGE, ROOT, Case
from tests.bench.cases import CASES, case_named
from tests.bench.measure import Measured, measure
from tests.bench.profiled import profile
from tests.bench.saved import save
from tests.bench.table import CaseRun, machine, put_into, table

PAGE = ROOT / "docs" / "performance.md"


def sizes_of(case: Case, options: argparse.Namespace) -> list[int]:
    """At which sizes a case runs, ascending."""
    if case.sizes == (1,):
        return [1]
    sizes = list(options.sizes or case.sizes)
    return [*sizes, LARGE] if options.large and case.large_bar is not None else sizes


def run_case(case: Case, folder: Path, options: argparse.Namespace) -> CaseRun:
    """Measure a case at its sizes; the peak at those that are rows."""
    sizes = sizes_of(case, options)
    asides = [case.plain_limit] if case.plain_way and 0 < case.plain_limit < sizes[0] else []
    runs: list[Measured] = []
    for size in [*asides, *sizes]:
        begin = time.monotonic()
        # Cases share their inputs, but those of ten million would fill the disk.
        with tempfile.TemporaryDirectory() if size >= LARGE else contextlib.nullcontext(str(folder)) as own:
            runs.append(measure(case, size, Path(own), options.rounds, with_peak=size in (sizes[1:] or sizes)))
        print(f"{case.name} {size:,}: {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    return CaseRun(case, runs[len(asides) :], runs[0] if asides else None)


def run_cases(cases: Sequence[Case], folder: Path, options: argparse.Namespace) -> Iterator[CaseRun]:
    """Measure one after the other; who stops it gets what there is."""
    for number, case in enumerate(cases):
        try:
            yield run_case(case, folder, options)
        except KeyboardInterrupt:
            print(f"stopped after {number} of {len(cases)} cases", file=sys.stderr)
            return


def _sizes(text: str) -> list[int]:
    return sorted(int(float(size)) for size in text.split(","))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [case.name for case in CASES]
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"rows to run; default: all of {', '.join(names)}")
    parser.add_argument("--sizes", type=_sizes, metavar="N,N", help="instead of those of each row, such as 1e4,1e5")
    parser.add_argument("--large", action="store_true", help="ten million too, where a row has it: minutes, and gigabytes of disk")
    parser.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help="turns of each side; default: 3, more where they are short, fewer where they take seconds",
    )
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="keep what was measured as JSON (needs the dependency group bench)"
    )
    parser.add_argument("--profile", action="store_true", help="tell where our side spends its time, instead of measuring it")
    parser.add_argument("--docs", action="store_true", help=f"put the table into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    if unknown := set(options.cases) - set(names):
        parser.error(f"there is no case {min(unknown)}; there are {', '.join(names)}")
    # As in the processes of the command line.
    keep_freed_memory()
    begin = time.monotonic()
    cases = [case_named(name) for name in options.cases] or list(CASES)
    with tempfile.TemporaryDirectory() as folder:
        if options.profile:
            for case in cases:
                print(profile(case, sizes_of(case, options)[-1], Path(folder)), end="\n\n")
            return 0
        runs = list(run_cases(cases, Path(folder), options))
    figures = f"Measured on {machine()}.\n\n{table(runs)}"
    print(figures)
    print(f"{time.monotonic() - begin:.0f} s, {sum(os.times()[:4]):.0f} CPU s", file=sys.stderr)
    if options.save:
        save(options.save, [one for run in runs for one in run.runs])
    if options.docs:
        PAGE.write_text(put_into(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
