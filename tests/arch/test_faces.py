"""What is public."""

from __future__ import annotations

import inspect

import rblnpb
from tests.arch.tree import ROOT


def test_the_face_is_small_and_documented() -> None:
    assert len(rblnpb.__all__) <= 15
    assert [name for name in rblnpb.__all__ if name != "__version__" and not inspect.getdoc(getattr(rblnpb, name))] == []


def test_the_face_of_the_suite_is_documented() -> None:
    from rblnpb import converters

    assert [name for name in converters.__all__ if not inspect.getdoc(getattr(converters, name))] == []


def test_every_public_name_can_be_listed() -> None:
    assert set(rblnpb.__all__) <= set(dir(rblnpb))


def test_no_public_name_is_also_a_module() -> None:
    # An import of the module `rblnpb.x` sets the attribute `x` of the package, whatever a lazy face says that `x` is.
    assert [name for name in rblnpb.__all__ if (ROOT / "rblnpb" / f"{name}.py").exists()] == []
