"""This package."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.peers.tools.call import Call, FloatArray, Matrix, Options


def load(options: Options) -> Call:
    """`qwo.discover`; options are its keywords."""
    import qwo

    def run(data: FloatArray) -> Any:
        return qwo.discover(data, **options)

    def score(data: FloatArray, dag: Matrix) -> float:
        return float(qwo.score_graph(data, dag, options["penalty_discount"]))

    return Call(run, _build(), matrix=lambda found: found.cpdag, score=score)


@cache
def _build() -> str:
    """The version, and a digest of the modules in use: it stays the same between releases."""
    from qwo.order.linalg import versions

    files = {
        Path(str(module.__file__))
        for name, module in sys.modules.items()
        if name.startswith("qwo.") and getattr(module, "__file__", None)
    }
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()
    found = versions()
    core = found["core"]
    build = f"qwo {found['qwo']} ({digest[:8]}), {core['compiler']}"
    return f"{build} {core['build_type']}, {core['kernels']}"
