"""The face of the simulated runtime."""

from __future__ import annotations

import pytest

from rblnpb import sim


def test_every_name_of_the_face_is_there() -> None:
    assert [name for name in sim.__all__ if getattr(sim, name, None) is None] == []
    assert dir(sim) == sorted(sim.__all__)


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match=r"module 'rblnpb\.sim' has no attribute 'simulator'"):
        sim.__getattr__("simulator")
