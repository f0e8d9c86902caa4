"""How this installation was built, for results to record."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import scipy

from qwo import _core


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
