"""The data files of this package, wherever it is installed."""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from qwo.types import FloatArray

STRUCTURES = "networks"
GAUSSIAN = "networks-gaussian"


def network_names(folder: str) -> tuple[str, ...]:
    """The names of the networks in a folder, in alphabetical order."""
    found = (file.name for file in _data(folder).iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in found if name.endswith(".json")))


def read_network(folder: str, name: str) -> dict[str, Any]:
    """The record of a network: nodes, edges and, in a Gaussian one, its numbers."""
    record: dict[str, Any] = json.loads(_data(folder, f"{name}.json").read_text(encoding="utf-8"))
    return record


def read_table(name: str) -> tuple[tuple[str, ...], FloatArray]:
    """The names and the rows of a CSV file of numbers."""
    with _data(name).open(encoding="utf-8") as file:
        names = tuple(file.readline().strip().split(","))
        return names, np.loadtxt(file, delimiter=",", ndmin=2)


def _data(*path: str) -> Traversable:
    return files("qwo.datasets").joinpath(*path)
