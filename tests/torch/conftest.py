"""The device in this process, for tests of values; a runtime that is not profiled leaves nothing behind."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from rblnpb.torch import Choices, activate


@pytest.fixture(scope="session")
def torch() -> Any:
    """The module torch, with device="rbln"."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed (extra rblnpb[torch])")
    assert activate(Choices(environ={}), sys.stderr)
    import torch as module

    return module
