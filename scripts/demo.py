"""Shows the main job on real input: a device profile beside a real host trace, merged, as a trace, a table and a report.

    python3 scripts/demo.py                     # writes demo/device.pb and demo/merged.json

The host trace is real (torch 2.13.0, two training steps of a transformer); the device profile is recorded by the
simulated runtime, since nobody needs hardware for a demo. Sets up .venv by itself the first time. Every step is a command
that can be typed as it is shown.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

import _venv

HOST = "rblnpb/data/transformer_step.json.gz"


def commands(folder: str) -> list[list[str]]:
    """The demo as command lines, with their outputs in `folder`."""
    device, merged = f"{folder}/device.pb", f"{folder}/merged.json"
    return [
        ["rblnpb", "simulate", "--from-host", HOST, "-o", device],
        ["rblnpb", "convert", device, "--host", HOST, "-o", merged],
        ["rblnpb", "summary", device, "--host", HOST, "--row-limit", "15"],
        ["rblnpb", "status", device, "--host", HOST],
    ]


def main() -> int:
    """Set up, run the commands one by one, say where the trace is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", metavar="DIR", default="demo", help="where the two files go; default: demo")
    folder = Path(os.path.abspath(parser.parse_args().output_dir))
    environment = _venv.prepare(_venv.choose(_venv.interpreters()), _venv.ROOT / ".venv", [])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("device.pb", "merged.json"):
        # A second run shows the same: no command overwrites a file by itself.
        if (folder / name).exists():
            (folder / name).unlink()
    shown = os.path.relpath(str(folder), str(_venv.ROOT))
    for command in commands(shown):
        print(f"\n$ {shlex.join(command)}", flush=True)
        code = environment.run(command)
        if code != 0:
            print(f"the command ended with exit code {code}", file=sys.stderr)
            return code
    print(f"\nThe merged trace is {folder / 'merged.json'}; open it in https://ui.perfetto.dev or in chrome://tracing.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
