"""Where our side of a case spends its time, by function."""

from __future__ import annotations

import cProfile
import pstats
import time
from pathlib import Path

from tests.bench.case import Case, Process

SHOWN = 12


def profile(case: Case, size: int, folder: Path) -> str:
    """The functions with the most time of their own, each in ns of an event and in percent; a second run, all being loaded.

    Shares of many short calls are too high: noting a call takes time too.
    """
    work = case.work(size, folder)
    if isinstance(work.ours.run, Process):
        return f"{case.name}: a process of its own; python -m cProfile -m rblnpb.converters ... tells where it spends its time"
    work.ours.run()
    recorded = cProfile.Profile(time.process_time_ns, 1e-9)
    recorded.runcall(work.ours.run)
    rows = [(own_s, calls, key) for key, (_, calls, own_s, _, _) in pstats.Stats(recorded).stats.items()]  # type: ignore[attr-defined]  # typeshed leaves it out
    total_s, count = sum(own_s for own_s, _, _ in rows), work.count or size
    lines = [f"{case.name}, n = {size:,}: {total_s * 1e9 / count:,.1f} ns each"]
    for own_s, calls, (path, line, function) in sorted(rows, reverse=True)[:SHOWN]:
        place = function if path == "~" else f"{'/'.join(Path(path).parts[-2:])}:{line} {function}"
        lines.append(f"{own_s / total_s * 100:5.1f} % {own_s * 1e9 / count:8.1f} ns {calls:9,} calls  {place}")
    return "\n".join(lines)
