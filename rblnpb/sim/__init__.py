"""The simulated runtime: a seeded producer of device profiles, for who has no NPU at hand.

`simulate` gives a whole recording at once; `Runtime` records launch by launch while a program runs, as the runtime of a real
device does. Nothing is loaded until a name is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rblnpb.sim.calls import LaunchPlan
    from rblnpb.sim.control import Control
    from rblnpb.sim.faults import FAULTS, FILE_FAULTS, apply_faults, write_faulty
    from rblnpb.sim.npu import NPUS
    from rblnpb.sim.programs import PROGRAMS
    from rblnpb.sim.recording import profile_file_name
    from rblnpb.sim.runtime import Launched, Runtime
    from rblnpb.sim.simulation import simulate

__all__ = [
    "FAULTS",
    "FILE_FAULTS",
    "NPUS",
    "PROGRAMS",
    "Control",
    "LaunchPlan",
    "Launched",
    "Runtime",
    "apply_faults",
    "profile_file_name",
    "simulate",
    "write_faulty",
]

_HOMES = {
    "FAULTS": "faults",
    "FILE_FAULTS": "faults",
    "NPUS": "npu",
    "PROGRAMS": "programs",
    "Control": "control",
    "LaunchPlan": "calls",
    "Launched": "runtime",
    "Runtime": "runtime",
    "apply_faults": "faults",
    "profile_file_name": "recording",
    "simulate": "simulation",
    "write_faulty": "faults",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rblnpb.sim' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rblnpb.sim.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
