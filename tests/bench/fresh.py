"""How much our side of a case adds to the memory of a fresh process: python -m tests.bench.fresh CASE SIZE FOLDER prints MiB."""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

from tests.bench.cases import case_named

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def kib(name: str) -> int:
    """A figure of this process, as the kernel tells it; 0 where there is none that does."""
    lines = STATUS.read_text(encoding="ascii").splitlines() if STATUS.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)


def main() -> None:
    """Once at a tiny size, so that what is imported late is there; then measured."""
    name, size, folder = sys.argv[1:]
    case = case_named(name)
    with tempfile.TemporaryDirectory() as scratch:
        case.set_up(case.tiny, Path(scratch)).ours.run()
    work = case.work(int(size), Path(folder))
    gc.collect()
    if CLEAR.exists():
        # The peak begins anew, so that what making the input took is not counted.
        CLEAR.write_text("5", encoding="ascii")
    before = kib("VmRSS")
    result = work.ours.run()
    print((kib("VmHWM") - before) / 1024)
    del result


if __name__ == "__main__":
    main()
