"""The simulated `rbln` device for PyTorch, and the bridge that shows its work in torch.profiler. Needs the extra `rblnpb[torch]`.

    activation  ->  device, kernels            tensors on device="rbln", every operator that the CPU has
                ->  session  ->  sim.Runtime   each program that the device runs, into the profile
                ->  bridge                     the profile's device events into torch.profiler

Nothing here is loaded, and `import torch` changes nothing, unless it is asked for: by `rblnpb run`, by `RBLNPB_SIM=1`, or by
calling `activate`. This face is the standard library alone, because torch loads it through its entry point on every import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rblnpb.torch.activation import activate
    from rblnpb.torch.choices import Choices, is_on

__all__ = ["Choices", "activate", "is_on"]

_HOMES = {"Choices": "choices", "activate": "activation", "is_on": "choices"}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rblnpb.torch' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rblnpb.torch.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
