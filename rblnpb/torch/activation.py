"""Bring up the simulated device in this process, once, or say in one line why not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from typing import Final, TextIO

from rblnpb.errors import RblnpbError
from rblnpb.torch.choices import Choices

__all__ = ["SUPPORTED", "activate"]

SUPPORTED: Final = "2.13."
"""Versions of torch that were tried. The device stands on names that torch keeps private, so others are not attempted."""

_DEVICE: Final = "rbln"


def activate(choices: Choices, stream: TextIO) -> bool:
    """Make `device="rbln"` work in this process. A second call changes nothing.

    Args:
        choices: How the device is to behave.
        stream: Takes the one line that says why there is no device.

    Returns:
        Whether there is a simulated device now.
    """
    why = _obstacle()
    if why is None:
        try:
            return _bring_up(choices)
        except RblnpbError as error:
            why = str(error)
    print(f"rblnpb: no simulated device: {why}", file=stream)
    return False


def _obstacle() -> str | None:
    if importlib.util.find_spec("torch_rbln") is not None:
        return "torch_rbln of the vendor is installed, and the device is its"
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "PyTorch is not installed; pip install 'rblnpb[torch]' brings it"
    if not version.startswith(SUPPORTED):
        return f"it works with torch {SUPPORTED}*, and this is torch {version}"
    return None


def _bring_up(choices: Choices) -> bool:
    import torch

    from rblnpb.torch.bridge import install
    from rblnpb.torch.device import register
    from rblnpb.torch.kernels import register_kernels
    from rblnpb.torch.session import DeviceSession

    name = torch._C._get_privateuse1_backend_name()  # noqa: SLF001 -- torch offers no public way to ask
    if name == _DEVICE:
        return isinstance(getattr(torch, _DEVICE, None), sys.modules["rblnpb.torch.device"].RblnModule)
    if name != "privateuseone":
        raise RblnpbError(f"another backend, {name!r}, has the place that torch keeps for one device of a third party")
    session = DeviceSession(choices)
    register(session, register_kernels(session))
    install(session)
    return True
