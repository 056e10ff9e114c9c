"""Memory that a process of ours keeps."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
from rblnpb.process_memory import keep_freed_memory

def fill():
    # As an analysis does: several columns at a time, all of them dropped in the end.
    columns = [np.ones(1 << 20, np.int64) for _ in range(4)]

if sys.argv[1] == "kept":
    keep_freed_memory()
fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(8):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str, **environment: str) -> int:
    command = [sys.executable, "-c", PROGRAM, how]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env={**os.environ, **environment})
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="it is a matter of glibc")
def test_columns_that_follow_each_other_stand_in_the_same_pages() -> None:
    kept, given_back = faults("kept"), faults("left")
    if given_back < 64:
        pytest.skip("the C library of this machine keeps what is freed by itself")

    assert kept * 8 < given_back
    # What a user sets is left as it is.
    assert faults("kept", MALLOC_TRIM_THRESHOLD_="65536") * 8 > given_back


@pytest.mark.parametrize("missing", ["_ctypes", "mallopt", "dlopen"])
def test_a_python_without_what_it_takes_goes_on(missing: str) -> None:
    without = {
        "_ctypes": "sys.modules['_ctypes'] = None",
        "mallopt": "import ctypes; ctypes.CDLL = lambda name: object()",
        "dlopen": "import ctypes\ndef refuse(name): raise OSError('Dynamic loading not supported')\nctypes.CDLL = refuse",
    }
    program = f"import sys\n{without[missing]}\nfrom rblnpb.process_memory import keep_freed_memory\nkeep_freed_memory()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stderr) == (0, "")
