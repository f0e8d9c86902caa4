"""The peak of the memory of a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CLEAR = Path("/proc/self/clear_refs")

CAN_BE_MEASURED = [
    pytest.mark.skipif(not CLEAR.exists(), reason="the peak of a process can be reset on Linux"),
    pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="sanitizers take memory of their own"),
]

PRELUDE = f"""
import sys
from pathlib import Path

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def lowest():
    Path("{CLEAR}").write_text("5")
    return peak()
"""
"""``lowest()`` begins to measure from what there is now; ``peak()`` is the most since then."""


def printed(program: str, *arguments: object, **environment: str) -> list[str]:
    """The words that a program prints behind the prelude, with one thread of BLAS."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + program, *map(str, arguments)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()
