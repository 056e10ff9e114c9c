"""Compares two saved runs of the benches, such as of before and after a change.

    python -m tests.bench --save before.json
    python -m tests.bench --save after.json
    python scripts/bench_compare.py before.json after.json

Prints for each row that both hold the median of both runs and their ratio: 0.50 is twice as fast. Between the runs the machine
may have been busy with something else, which slows all sides of a row alike; "beside" is the ratio of our times as multiples of
the plain way's of the same run, or of C's where there is no other, and holds on such a machine too. It asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

Medians = dict[tuple[str, int], dict[str, tuple[float, float]]]
"""By name and size of a row, and by side: the median in seconds, and of how many events."""


def medians(path: Path) -> Medians:
    """What a run measured.

    Raises:
        SystemExit: It is not a saved run.
    """
    found: Medians = {}
    try:
        entries: list[Any] = json.loads(path.read_bytes())["benchmarks"]
        for entry in entries:
            row = found.setdefault((entry["group"].partition("[")[0], entry["params"]["size"]), {})
            row[entry["params"]["side"]] = entry["stats"]["median"], entry["extra_info"]["count"]
    except OSError as error:
        raise SystemExit(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} is no run that python -m tests.bench --save wrote") from error
    return found


def compare(before: Medians, after: Medians) -> list[tuple[str, ...]]:
    """A row of text for each that both have, and one for each that only one has."""
    rows: list[tuple[str, ...]] = [("case", "n", "before ns", "after ns", "after / before", "beside")]
    for name, size in sorted(before.keys() | after.keys()):
        sides = before.get((name, size), {}), after.get((name, size), {})
        if "ours" not in sides[0] or "ours" not in sides[1]:
            rows.append((name, f"{size:,}", *(_ns(side) for side in sides), "", ""))
            continue
        ratio = sides[1]["ours"][0] / sides[0]["ours"][0]
        other = next((side for side in ("plain", "c") if side in sides[0] and side in sides[1]), None)
        beside = "" if other is None else f"{ratio * sides[0][other][0] / sides[1][other][0]:.2f} of {other}"
        rows.append((name, f"{size:,}", *(_ns(side) for side in sides), f"{ratio:.2f}", beside))
    return rows


def _ns(side: dict[str, tuple[float, float]]) -> str:
    if "ours" not in side:
        return "not there"
    seconds, count = side["ours"]
    return f"{seconds / count * 1e9:,.1f}"


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, metavar="BEFORE.json", help="an earlier run")
    parser.add_argument("after", type=Path, metavar="AFTER.json", help="a later one")
    options = parser.parse_args()
    rows = compare(medians(options.before), medians(options.after))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *figures in rows:
        print("  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=True))]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
