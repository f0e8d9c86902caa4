"""Data and networks that come with the package, for examples, tests and benchmarks.

Where they come from is told in ATTRIBUTION.md, beside the files.
"""

from __future__ import annotations

from qwo.datasets.network import (
    Dataset,
    GaussianNetwork,
    Network,
    list_networks,
    load_gaussian_network,
    load_network,
    load_sachs,
    load_us_quarters,
)

__all__ = [
    "Dataset",
    "GaussianNetwork",
    "Network",
    "list_networks",
    "load_gaussian_network",
    "load_network",
    "load_sachs",
    "load_us_quarters",
]
