"""How this installation was built, for results to record."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import scipy

from qwo import _core
from qwo.errors import ArgumentError


def versions() -> dict[str, Any]:
    """Versions of qwo, Python, NumPy and SciPy, and the configuration of the compiled core."""
    core = dict(_core.build_config())
    return {
        "qwo": core.pop("version"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "core": core,
    }


def check_kernels(name: str | None) -> str:
    """The name of kernels that there are, as the core takes it; "" for the fastest."""
    if name is None:
        return ""
    if name not in _core.available_kernels():
        raise ArgumentError(
            f"kernels must be one of {', '.join(_core.available_kernels())} on this processor; "
            f"got {name!r}"
        )
    return name
