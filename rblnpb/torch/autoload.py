"""Entry point of the group `torch.backends`, which torch calls at the end of its own import."""

from __future__ import annotations

import os
import sys

__all__ = ["autoload"]


def autoload() -> None:
    """Bring up the simulated device when RBLNPB_SIM=1 asks for it; otherwise do nothing. Never raises."""
    if os.environ.get("RBLNPB_SIM", "").strip().lower() not in ("1", "true"):
        return
    try:
        from rblnpb.torch.activation import activate
        from rblnpb.torch.choices import Choices, start_environment

        # A parent that runs scripts hands its choices down through the environment of now.
        activate(Choices.of({**start_environment(), **_own_settings()}), sys.stderr)
    except Exception as error:  # noqa: BLE001 -- whoever imports torch must get torch, whatever is wrong with us
        sys.stderr.write(f"rblnpb: no simulated device: {type(error).__name__}: {error}\n")


def _own_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("RBLNPB_")}
