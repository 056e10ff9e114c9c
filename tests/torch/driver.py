"""Runs a script on the simulated device and leaves what torch says of its profiler beside what the device wrote.

python driver.py SCRIPT FOLDER [--attribute]; the script binds `prof`. In the folder: the profile, `bare.json` as torch alone
exports it, `trace.json` with device rows, `tables.json` and `events.json`.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

SORT_KEYS = (None, "cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total", "count")


def main(script: str, folder: str, *options: str) -> None:
    from torch.autograd import DeviceType

    import rblnpb.torch.bridge
    from rblnpb.torch import Choices, activate

    os.chdir(folder)
    bridge: Any = rblnpb.torch.bridge
    add_device_rows = bridge.add_device_rows

    def keep_and_add(path: str, *rest: Any) -> None:
        # torch exports a trace once, so the bare one is what the file was before.
        shutil.copy(path, "bare.json")
        add_device_rows(path, *rest)

    bridge.add_device_rows = keep_and_add
    assert activate(Choices(environ=dict(os.environ), is_attributing="--attribute" in options), sys.stderr)
    prof: Any = runpy.run_path(script, run_name="__main__")["prof"]
    if not Path("trace.json").exists():
        prof.export_chrome_trace("trace.json")
    averages = prof.key_averages()
    tables = {str(key): averages.table(sort_by=key, row_limit=-1) for key in SORT_KEYS}
    Path("tables.json").write_text(json.dumps(tables), encoding="utf-8")
    start_ns = prof.profiler.kineto_results.trace_start_ns()
    events = [
        [event.name, start_ns + round(event.time_range.start * 1_000), round(event.time_range.elapsed_us() * 1_000)]
        for event in prof.events()
        if event.device_type == DeviceType.PrivateUse1
    ]
    Path("events.json").write_text(json.dumps(events), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
