"""Data sets: columns shuffled and standardised, with the graph that they are compared with."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.peers.cells import Kind
from benchmarks.peers.process import Workers
from benchmarks.peers.thin import NAMES, draw_thin
from qwo.datasets import load_gaussian_network, load_network, load_sachs
from qwo.simulation import LinearModel, random_model

FloatArray = npt.NDArray[np.float64]
Adjacency = npt.NDArray[np.int8]


class Problem(NamedTuple):
    """Data, and the true (or, for real data, the accepted) graph."""

    data: FloatArray
    dag: Adjacency


class Sources:
    """Where data sets come from."""

    def __init__(self, workers: Workers, chamber: Path | None = None) -> None:
        self._workers = workers
        self._chamber = chamber

    def missing(self, kind: Kind) -> str:
        """Why there are no data of this kind; nothing if there are."""
        if kind.family == "chamber" and (self._chamber is None or not self._chamber.is_dir()):
            return "no folder with the causal chamber's data was given"
        if kind.family == "dao" and "measure" not in self._workers:
            return "the environment with daosim is absent"
        return ""

    def draw(self, kind: Kind, seed: int) -> Problem:
        """The data set of a seed."""
        rng = np.random.default_rng([seed, zlib.crc32(repr(astuple(kind)).encode())])
        data, dag = self._raw(kind, rng)
        shuffled = rng.permutation(kind.n)
        data = data[:, shuffled]
        data = (data - data.mean(axis=0)) / data.std(axis=0)
        return Problem(data, np.ascontiguousarray(dag[np.ix_(shuffled, shuffled)]))

    def _raw(self, kind: Kind, rng: np.random.Generator) -> Problem:
        if kind.family in ("sachs", "chamber"):
            data, dag = _sachs() if kind.family == "sachs" else self._read_chamber()
            return Problem(data[rng.choice(len(data), kind.n_samples, replace=False)], dag)
        if kind.family in NAMES:
            return Problem(*draw_thin(kind.family, kind.n, kind.n_samples, rng))
        model = self._model(kind, rng)
        return Problem(model.sample(kind.n_samples, kind.noise, rng), model.dag)

    def _model(self, kind: Kind, rng: np.random.Generator) -> LinearModel:
        if kind.family == "gaussian":
            return load_gaussian_network(kind.network).model
        if kind.family == "structure":
            return random_model(load_network(kind.network).dag, random_state=rng)
        if kind.family == "dao":
            return self._dao(kind, rng)
        return random_model(
            kind.family, n_variables=kind.n, degree=kind.degree or 0, random_state=rng
        )

    def _dao(self, kind: Kind, rng: np.random.Generator) -> LinearModel:
        with TemporaryDirectory() as folder:
            path = str(Path(folder, "model.npz"))
            seed = [int(word) for word in rng.integers(2**32, size=4)]
            arguments = {"n": kind.n, "degree": kind.degree, "seed": seed, "out": path}
            answer = self._workers["measure"].ask(
                {"task": "measure", "function": "draw_dao", "arguments": arguments}
            )
            if "error" in answer:
                raise RuntimeError(f"daosim failed: {answer['error']}")
            with np.load(path) as model:
                return LinearModel(model["dag"], model["coefficients"], model["variances"])

    def _read_chamber(self) -> Problem:
        assert self._chamber is not None
        with gzip.open(self._chamber / "uniform_reference_20vars.csv.gz", "rt") as file:
            names = file.readline().strip().split(",")
            data = np.loadtxt(file, delimiter=",")
        truth = json.loads((self._chamber / "truth.json").read_text())["lt_standard_20vars"]
        dag = np.zeros((len(names), len(names)), dtype=np.int8)
        for cause, effect in truth["directed"]:
            dag[names.index(cause), names.index(effect)] = 1
        return Problem(data, dag)


def _sachs() -> Problem:
    sachs = load_sachs()
    return Problem(sachs.values, sachs.truth)
