"""What ``qwo simulate`` writes: data, the true graph, the coefficients, the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from qwo.cli.folder import write_csv
from qwo.cli.graphs import graph_from
from qwo.graph import CausalGraph, write_graph
from qwo.order.build import versions
from qwo.simulation import Simulation, simulate


class Drawn:
    """A simulation with the names of its variables and the seed that gives it again."""

    def __init__(self, parameters: Mapping[str, Any], seed: int | None) -> None:
        self.seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        self.parameters = dict(parameters)
        kind = self.parameters["graph"]
        arguments: dict[str, Any] = dict(self.parameters)
        names = None
        if Path(kind).exists():
            given = graph_from(Path(kind)).to_dag()
            names = given.names
            arguments |= {"graph": given.matrix, "n_variables": None}
            self.parameters["n_variables"] = given.n_variables
        self.drawn: Simulation = simulate(random_state=self.seed, **arguments)
        self.graph = CausalGraph.from_matrix(self.drawn.dag, names, kind="dag")

    def table(self) -> pa.Table:
        """The data, one column for each variable."""
        return pa.table(list(self.drawn.data.T), names=list(self.graph.names))

    def summary(self) -> dict[str, Any]:
        """All that it takes to draw the same again."""
        return {
            "kind": "simulation",
            "n_variables": self.graph.n_variables,
            "n_edges": self.graph.n_edges,
            "parameters": {**self.parameters, "seed": self.seed},
            "versions": versions(),
        }

    def document(self) -> dict[str, Any]:
        """All of it, for programs; in the matrices the row causes the column."""
        return {
            **self.summary(),
            "names": self.graph.names,
            "dag": self.drawn.dag,
            "coefficients": self.drawn.coefficients,
            "data": self.drawn.data,
        }


def write_sample(sample: Drawn, folder: Path, form: str) -> None:
    """The files of a simulation, into an empty folder."""
    if form == "parquet":
        pq.write_table(sample.table(), folder / "data.parquet")
    else:
        pcsv.write_csv(sample.table(), folder / "data.csv")
    for suffix in ("csv", "json"):
        write_graph(sample.graph, folder / f"dag.{suffix}")
    tails, heads = sample.graph.ends()
    rows = [
        (sample.graph.names[i], sample.graph.names[j], float(sample.drawn.coefficients[i, j]))
        for i, j in zip(tails, heads, strict=True)
    ]
    write_csv(folder / "coefficients.csv", ("cause", "effect", "coefficient"), rows)


def print_sample(sample: Drawn, stream: IO[bytes]) -> None:
    """The data alone, as CSV."""
    pcsv.write_csv(sample.table(), pa.PythonFile(stream, mode="w"))
