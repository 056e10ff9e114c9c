"""rblnpb run: a script on the simulated device."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from rblnpb.errors import UsageError

from ._stopping import leave_signals_alone

EXAMPLES: Final = """\
examples:
  RBLN_PROFILER=1 rblnpb run profile_matmul.py
  RBLN_PROFILER=1 rblnpb run --attribute train.py --epochs 1     # device time on the op that launched it
  RBLN_PROFILER=1 rblnpb run --npu atom profile_matmul.py        # no bridge to torch.profiler there, a profile all the same
"""

_PROFILER: Final = "RBLN_PROFILER"
_SIM: Final = "RBLNPB_SIM"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    parser.add_argument("--npu", choices=("rebel100", "atom"), default="rebel100", help="default: rebel100")
    parser.add_argument(
        "--attribute", action="store_true", help="device time on the op that launched it; default: 0.000us, as the vendor's release"
    )
    parser.add_argument(
        "--output-dir", metavar="DIR", help="folder for profiles; default: RBLN_PROFILER_DIR, or the current folder"
    )
    parser.add_argument("script", metavar="SCRIPT", help="Python file, run as __main__")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARG", help="arguments of the script")


def run(options: argparse.Namespace) -> int:
    """Bring up the device, run the script, and pass its exit code on."""
    from rblnpb.torch import Choices, activate, is_on

    if not Path(options.script).is_file():
        raise UsageError(f"there is no script {options.script}")
    start = dict(os.environ)
    is_attributing = options.attribute or is_on(start.get("RBLNPB_ATTRIBUTE"))
    # The entry point would answer for torch's import with the choices of the environment, which are not all that was asked for.
    os.environ.pop(_SIM, None)
    if not activate(Choices(start, options.npu, is_attributing, options.output_dir), sys.stderr):
        raise UsageError("the script was not run")
    # Processes that the script starts get a device of the same kind through the entry point.
    os.environ.update({_SIM: "1", "RBLNPB_NPU": options.npu, "RBLNPB_ATTRIBUTE": str(int(is_attributing))})
    if options.output_dir:
        os.environ["RBLN_PROFILER_DIR"] = options.output_dir
    try:
        return _run_as_main(options.script, options.arguments)
    finally:
        if not is_on(start.get(_PROFILER)):
            print(f"rblnpb: {_advice(is_set_now=is_on(os.environ.get(_PROFILER)))}", file=sys.stderr)


def _run_as_main(script: str, arguments: list[str]) -> int:
    """Run a file as `python3 script` does; what ends it early is passed on as Python does it."""
    import runpy
    import traceback

    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    leave_signals_alone()
    try:
        runpy.run_path(script, run_name="__main__")
    except Exception as error:  # noqa: BLE001 -- whatever the script raises is the script's, and not ours to judge
        place = error.__traceback__
        while place is not None and place.tb_frame.f_code.co_filename != script:
            place = place.tb_next
        traceback.print_exception(type(error), error, place or error.__traceback__)
        return 1
    return 0


def _advice(*, is_set_now: bool) -> str:
    if is_set_now:
        return f"the script sets {_PROFILER}, which is too late: it is read once, at the start; type {_PROFILER}=1 rblnpb run ..."
    return f"the device was not recorded; {_PROFILER}=1 rblnpb run ... records it"
