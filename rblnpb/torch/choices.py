"""What a user chooses about the simulated device, and the environment in which the process was started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Choices", "is_on", "start_environment"]

_TRUE: Final = ("1", "true", "on", "yes")


def is_on(value: str | None) -> bool:
    """Whether a setting is switched on.

    >>> is_on("1"), is_on("ON"), is_on("0"), is_on(None)
    (True, True, False, False)
    """
    return (value or "").strip().lower() in _TRUE


@dataclass(frozen=True)
class Choices:
    """How the simulated device is to behave.

    Attributes:
        environ: The environment at the start of the process: the runtime reads RBLN_PROFILER and RBLN_PROFILER_DIR there, the
            device TORCH_RBLN_DEPLOY. What a script sets later is too late.
        npu: Kind of NPU: "rebel100" or "atom". On ATOM the bridge to torch.profiler is inactive.
        is_attributing: Whether device time stands on the op that launched it; the vendor's release leaves it 0.000us.
        directory: Where profiles go; None = RBLN_PROFILER_DIR, or else the current folder.
    """

    environ: Mapping[str, str]
    npu: str = "rebel100"
    is_attributing: bool = False
    directory: str | None = None

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Choices:
        """The choices that environment variables make: RBLNPB_NPU, RBLNPB_ATTRIBUTE, and those of the runtime."""
        return cls(
            environ=environ, npu=environ.get("RBLNPB_NPU") or "rebel100", is_attributing=is_on(environ.get("RBLNPB_ATTRIBUTE"))
        )


def start_environment() -> dict[str, str]:
    """The environment with which this process was started, whatever the program has changed since.

    Where the system does not tell, it is the environment of now.
    """
    try:
        block = Path("/proc/self/environ").read_bytes()
    except OSError:
        return dict(os.environ)
    pairs = (os.fsdecode(entry).partition("=") for entry in block.split(b"\0") if entry)
    return {name: value for name, _, value in pairs}
