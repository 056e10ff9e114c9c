"""What is public, and what it costs to say hello."""

from __future__ import annotations

import inspect
import subprocess
import sys

import rblnpb
from tests.arch.tree import ROOT

HEAVY = ("google", "isal", "msgspec", "numpy", "orjson", "rich", "zstandard")


def loaded(program: str) -> set[str]:
    """Which of the heavy packages a fresh Python has loaded after running `program`."""
    report = f"import sys\n{program}\nsys.stderr.write(' '.join(name for name in {HEAVY!r} if name in sys.modules))"
    # Isolated, so that nothing of the caller's environment loads a module first; the repository is put back by hand.
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    done = subprocess.run([sys.executable, "-I", "-c", path + report], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


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


def test_importing_the_face_loads_nothing_heavy() -> None:
    assert loaded("import rblnpb") == set()


def test_help_loads_nothing_heavy() -> None:
    program = """
from rblnpb.converters.cli import main
try:
    code = main(["--help"])
except SystemExit as stop:
    code = stop.code
assert not code, code
"""

    assert loaded(program) == set()
