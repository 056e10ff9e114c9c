"""`rblnpb run` runs a script as Python does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch.runs import NEEDS_TORCH, python, rblnpb_run

pytestmark = pytest.mark.torch


def script(folder: Path, text: str) -> str:
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


@NEEDS_TORCH
def test_the_script_is_main_with_its_own_arguments_and_its_exit_code_is_passed_on(tmp_path: Path) -> None:
    text = "import sys\nprint(__name__, sys.argv[1:], sys.path[0])\nsys.exit(7)\n"
    done = rblnpb_run(script(tmp_path, text), "--npu", "x", cwd=tmp_path, RBLN_PROFILER="1")

    assert (done.returncode, done.stdout, done.stderr) == (7, f"__main__ ['--npu', 'x'] {tmp_path}\n", "")


@NEEDS_TORCH
def test_what_the_script_raises_is_shown_from_its_first_line_on(tmp_path: Path) -> None:
    path = script(tmp_path, "def fail():\n    raise ValueError('no')\n\n\nfail()\n")
    done = rblnpb_run(path, cwd=tmp_path, RBLN_PROFILER="1")

    assert done.returncode == 1
    assert done.stderr.splitlines()[:2] == ["Traceback (most recent call last):", f'  File "{path}", line 5, in <module>']
    assert done.stderr.splitlines()[-1] == "ValueError: no"


@NEEDS_TORCH
def test_profiles_go_to_the_folder_that_is_named(tmp_path: Path) -> None:
    text = "import torch\nx = torch.ones(4, 4, dtype=torch.float16, device='rbln')\nx @ x\n"
    done = rblnpb_run("--output-dir", "profiles", script(tmp_path, text), cwd=tmp_path, RBLN_PROFILER="1")

    (profile,) = (tmp_path / "profiles").iterdir()
    assert done.stdout.splitlines()[-1] == f"Saved: profiles/{profile.name}"


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("2.12.1", "it works with torch 2.13.*, and this is torch 2.12.1"),
        (None, "PyTorch is not installed; pip install 'rblnpb[torch]' brings it"),
    ],
)
def test_no_torch_or_another_one_is_one_line(tmp_path: Path, version: str | None, reason: str) -> None:
    lookup = "raise m.PackageNotFoundError" if version is None else f"return {version!r}"
    program = f"import importlib.metadata as m, sys\ndef version(name):\n    {lookup}\nm.version = version\n"
    program += "from rblnpb.torch import Choices, activate\nprint(activate(Choices({}), sys.stdout))"
    done = python("-c", program, cwd=tmp_path)

    assert done.stdout == f"rblnpb: no simulated device: {reason}\nFalse\n", done.stderr


def test_the_vendors_package_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "torch_rbln.py").touch()
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom rblnpb.torch.autoload import autoload\nautoload()\n"
    done = python("-c", program + "print('torch' in sys.modules)", cwd=tmp_path, RBLNPB_SIM="1")

    assert done.stdout == "False\n"
    assert done.stderr == "rblnpb: no simulated device: torch_rbln of the vendor is installed, and the device is its\n"


def test_the_entry_point_does_nothing_unless_it_is_asked_for(tmp_path: Path) -> None:
    program = "import sys\nfrom rblnpb.torch.autoload import autoload\nautoload()\n"
    program += "print(sorted({'numpy', 'torch', 'rblnpb.torch.activation'} & set(sys.modules)))"
    done = python("-c", program, cwd=tmp_path)

    assert (done.stdout, done.stderr) == ("[]\n", "")
