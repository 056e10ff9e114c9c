"""What users install: one top-level name, with everything in it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from tests.arch.tree import ROOT, run


def test_the_suite_is_linked_into_the_package() -> None:
    assert os.readlink(ROOT / "rblnpb" / "converters") == "../converters"


def test_the_source_folder_is_no_package_of_its_own() -> None:
    done = run(sys.executable, "-c", "import converters")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: import rblnpb.converters instead")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy, so that nothing an earlier build left in the repository gets into it."""
    for needed in ("build", "setuptools"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed (dependency group build)")
    copy, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for folder in ("rblnpb", "converters"):
        shutil.copytree(ROOT / folder, copy / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    done = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), ".", cwd=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    def files(folder: Path, prefix: str) -> set[str]:
        found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {f"{prefix}/{path.relative_to(folder).as_posix()}" for path in found}

    expected = files(ROOT / "converters", "rblnpb/converters")
    expected |= {name for name in files(ROOT / "rblnpb", "rblnpb") if not name.startswith("rblnpb/converters/")}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}

    assert packed == expected
    assert {"rblnpb/py.typed", "rblnpb/data/transformer_step.json.gz", "rblnpb/v1/stream_pb2.pyi"} <= packed


def test_the_wheel_names_one_command_the_backend_and_its_licence(wheel: zipfile.ZipFile) -> None:
    described = {name.partition(".dist-info/")[2]: name for name in wheel.namelist() if ".dist-info/" in name}

    assert wheel.read(described["entry_points.txt"]).decode().split() == [
        "[console_scripts]",
        "rblnpb",
        "=",
        "rblnpb.converters.cli:main",
        "[torch.backends]",
        "rblnpb",
        "=",
        "rblnpb.torch.autoload:autoload",
    ]
    assert wheel.read(described["licenses/LICENSE"]) == (ROOT / "LICENSE").read_bytes()
