"""FLOP, a search over orders written in Rust. It takes no seed, and its results vary."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from benchmarks.peers.tools.call import Call, FloatArray, Options


def load(options: Options) -> Call:
    """`flopsearch.flop`."""
    import flopsearch  # type: ignore[import-not-found]

    def run(data: FloatArray) -> Any:
        return flopsearch.flop(
            data, float(options["penalty_discount"]), restarts=options["restarts"]
        )

    return Call(run, f"flopsearch {version('flopsearch')}")
