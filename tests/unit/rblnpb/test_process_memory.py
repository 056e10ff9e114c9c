"""Memory that a process of ours keeps."""

from __future__ import annotations

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


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="it is a matter of glibc")
def test_columns_that_follow_each_other_stand_in_the_same_pages() -> None:
    kept, given_back = faults("kept"), faults("left")
    if given_back < 64:
        pytest.skip("the C library of this machine keeps what is freed by itself")

    assert kept * 8 < given_back
