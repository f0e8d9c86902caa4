"""``qwo simulate``: data with a known graph; ``qwo bench`` and ``info``: the search on them."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from qwo.cli.console import Console
from qwo.cli.folder import check_folder, only_writer, whole_folder, write_csv, write_record
from qwo.cli.graphs import graph_from
from qwo.cli.options import folder_option, force_option, option
from qwo.errors import ArgumentError
from qwo.text import aligned, count

if TYPE_CHECKING:
    import pyarrow as pa


GRAPH = "Graph"


@dataclass(frozen=True)
class ModelOptions:
    """The graph, and the data drawn from it."""

    panel: ClassVar[str] = "Data"

    variables: Annotated[int, option("--variables -n", "Variables.", min=2, panel=GRAPH)] = 20
    samples: Annotated[int, option("--samples -N", "Rows.", min=1)] = 1000
    degree: Annotated[
        float, option("--degree", "Average number of neighbours.", min=0, panel=GRAPH)
    ] = 2.0
    graph: Annotated[
        str,
        option(
            "--graph",
            "[b]er[/b], [b]scale-free[/b] or another kind of random graph, or a graph file.",
            "KIND|FILE",
            panel=GRAPH,
        ),
    ] = "er"
    noise: Annotated[
        Literal["gaussian", "exponential", "gumbel", "uniform"],
        option("--noise", "Shape of the noise."),
    ] = "gaussian"
    cycles: Annotated[
        int,
        option("--cycles", "Edges that close a cycle, of variables that cause each other.", min=0),
    ] = 0
    hidden: Annotated[
        int, option("--hidden", "Causes of two variables or more that are not in the data.", min=0)
    ] = 0
    standardise: Annotated[
        bool,
        option(
            "--standardise/--raw", "Columns of variance 1: raw scales give the causal order away."
        ),
    ] = True
    conditions: Annotated[
        str | None,
        option(
            "--conditions",
            "Rows of several conditions and what each touches, as in control=;drug=X2,X5:perfect "
            "(shift, perfect, variance or slopes): --samples rows each, in raw scales, with a "
            "column [b]condition[/b].",
            "TEXT",
        ),
    ] = None
    form: Annotated[Literal["csv", "parquet"], option("--data-format", "Format of the data.")] = (
        "csv"
    )

    def arguments(self) -> dict[str, Any]:
        """The arguments of `qwo.simulate`."""
        return {
            "graph": self.graph,
            "n_variables": self.variables,
            "n_samples": self.samples,
            "degree": self.degree,
            "noise": self.noise,
            "cycles": self.cycles,
            "hidden": self.hidden,
            "standardize": self.standardise and self.conditions is None,
            "interventions": None if self.conditions is None else touched_in(self.conditions),
        }


def touched_in(text: str) -> dict[str, dict[str, str]]:
    """What each condition touches and how, from text such as ``control=;drug=X2,X5:perfect``."""
    found: dict[str, dict[str, str]] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        label, mark, touched = part.partition("=")
        if not mark or not label.strip():
            raise ArgumentError(
                f"--conditions has {part!r}; wanted conditions and the variables that they touch, "
                "as in control=;drug=X2,X5:perfect"
            )
        pairs = (own.strip().partition(":") for own in touched.split(",") if own.strip())
        found[label.strip()] = {name: kind or "shift" for name, _, kind in pairs}
    return found


def simulate(
    *,
    console: Console,
    output: Annotated[
        Path | None,
        folder_option("The folder to write. Without: the data alone, as CSV, to standard output."),
    ] = None,
    model: ModelOptions,
    seed: Annotated[
        int | None, option("--seed", "Seed; the same one gives the same files.")
    ] = None,
    force: Annotated[bool, force_option()] = False,
) -> None:
    """Simulate data of a random linear model, truth included.

    [b]qwo simulate -o sim -n 50 -N 2000 --degree 4 --seed 1[/b]
    [b]qwo learn sim/data.csv -o found[/b]
    [b]qwo compare found sim/dag.csv[/b]
    [b]qwo simulate -o sim --conditions "control=;drug=X2;cold=X5:variance"[/b]

    The folder holds data.csv (or .parquet), dag.csv and dag.json (1 where row causes column),
    coefficients.csv, and result.json with all parameters. With [b]--hidden[/b] the last variables
    of the graph are not in the data, and pag.csv and pag.json are what can be found of it.
    """
    if output is not None:
        check_folder(output, force=force)
    sample = Drawn(model.arguments(), seed)
    if output is None:
        if console.json:
            console.result("", sample.document())
        else:
            import pyarrow as pa
            from pyarrow import csv

            csv.write_csv(sample.table(), pa.PythonFile(sys.stdout.buffer, mode="w"))
        return
    summary = sample.summary()
    with only_writer(output), whole_folder(output, force=force) as made:
        sample.write(made, model.form)
        summary["files"] = write_record(made, summary)
    size = f"{model.samples} rows, {count(summary['n_variables'], 'variable')}"
    console.say(f"wrote {output}: {size}, {count(summary['n_edges'], 'edge')}, seed {sample.seed}")
    regime = "" if model.conditions is None else " --regime condition"
    regime += " --hidden-causes" if model.hidden else " --feedback" if model.cycles else ""
    console.say(f"next: qwo learn {output / ('data.' + model.form)} -o found{regime}")
    if console.json:
        console.result("", summary)


class Drawn:
    """A simulation with the names of its variables and the seed that gives it again."""

    def __init__(self, parameters: Mapping[str, Any], seed: int | None) -> None:
        from qwo.graph import CausalGraph
        from qwo.names import drawn_seed
        from qwo.simulation import simulate as draw

        self.seed = drawn_seed() if seed is None else seed
        self.parameters = dict(parameters)
        kind = self.parameters["graph"]
        arguments: dict[str, Any] = dict(self.parameters)
        names = None
        if Path(kind).exists():
            given = graph_from(Path(kind)).to_dag()
            names = given.names
            arguments |= {"graph": given.matrix, "n_variables": None}
            self.parameters["n_variables"] = given.n_variables
            for label, own in (arguments["interventions"] or {}).items():
                places = {given.index(name): kind for name, kind in own.items()}
                arguments["interventions"] = arguments["interventions"] | {label: places}
        self.drawn = draw(random_state=self.seed, **arguments)
        cyclic = self.parameters["cycles"] > 0
        self.graph = CausalGraph.from_matrix(
            self.drawn.dag, names, kind="cyclic" if cyclic else "dag"
        )

    def table(self) -> pa.Table:
        """The data, one column for each variable, and one of conditions if there are any."""
        import numpy as np
        import pyarrow as pa

        hidden, data = self.parameters["hidden"], self.drawn.data
        names = list(self.graph.names[: self.graph.n_variables - hidden])
        if not isinstance(data, Mapping):
            return pa.table(list(data.T), names=names)
        labels = np.repeat(list(data), [len(rows) for rows in data.values()])
        columns = [*np.concatenate(list(data.values())).T, pa.array(labels.tolist())]
        return pa.table(columns, names=[*names, "condition"])

    def summary(self) -> dict[str, Any]:
        """All that it takes to draw the same again."""
        from qwo.order.linalg import versions

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

    def write(self, folder: Path, form: str) -> None:
        """Write data, graph and coefficients into an empty folder."""
        from pyarrow import csv, parquet

        from qwo.graph import CausalGraph, write_graph
        from qwo.graph.pag import true_pag

        if form == "parquet":
            parquet.write_table(self.table(), folder / "data.parquet")
        else:
            csv.write_csv(self.table(), folder / "data.csv")
        graphs, hidden = {"dag": self.graph}, self.parameters["hidden"]
        if hidden:
            names = self.graph.names[:-hidden]
            graphs["pag"] = CausalGraph.from_marks(true_pag(self.drawn.dag, hidden).marks, names)
        for name, graph in graphs.items():
            for suffix in ("csv", "json"):
                write_graph(graph, folder / f"{name}.{suffix}")
        names, size = self.graph.names, self.drawn.coefficients
        ends = zip(*self.graph.ends(), strict=True)
        rows = [(names[i], names[j], float(size[i, j])) for i, j in ends]
        write_csv(folder / "coefficients.csv", ("cause", "effect", "coefficient"), rows)


OPTIONAL = {
    "matplotlib": "figures",
    "pandas": "tables as data frames",
    "gadjid": "adjustment distances in qwo compare",
    "dask": "runs on a cluster",
    "cupy-cuda13x": "runs on a GPU",
}


def info(console: Console) -> None:
    """Show version, build, processors and optional packages."""
    from qwo.order.linalg import versions

    found = versions()
    core = found.pop("core")
    optional = {name: _version(name) for name in OPTIONAL}
    processors = os.cpu_count() or 1
    rows = [[name, str(value)] for name, value in found.items()]
    rows += [
        ["system", platform.platform(terse=True)],
        ["processors", str(processors)],
        *([f"core: {name.replace('_', ' ')}", str(value)] for name, value in core.items()),
        *(
            [name, installed or f"not installed ({OPTIONAL[name]})"]
            for name, installed in optional.items()
        ),
    ]
    console.result(
        "\n".join(aligned(rows, left=None)),
        {**found, "core": core, "processors": processors, "optional": optional},
    )


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


BENCH_COLUMNS = {
    "variables": ("n_variables", "d"),
    "edges": ("n_edges", ".0f"),
    "median s": ("seconds_median", ".3f"),
    "slowest s": ("seconds_max", ".3f"),
    "SHD": ("shd_mean", ".1f"),
    "skeleton F1": ("skeleton_f1_mean", ".3f"),
}
"""Columns of the table, what they show, and how it is written."""


def bench(
    *,
    console: Console,
    sizes: Annotated[str, option("--sizes", "Numbers of variables.", "N,N,…")] = "10,30,100,300",
    samples: Annotated[int, option("--samples -N", "Rows of each data set.", "N")] = 5000,
    degree: Annotated[float, option("--degree", "Average number of neighbours.", "D")] = 4.0,
    runs: Annotated[int, option("--runs", "Random graphs of each size.", "R")] = 3,
    jobs: Annotated[int, option("--jobs -j", "Threads; -1 for all.", "J")] = 1,
    seed: Annotated[int, option("--seed", "Seed of graphs and data.", "S")] = 1,
) -> None:
    """Time the search on simulated data, and compare with the truth.

    [b]qwo bench[/b]                       a few seconds
    [b]qwo bench --sizes 50,500 -j 2[/b]

    Erdős–Rényi graphs, Gaussian noise, standardised and shuffled columns: the easy case, in which
    all assumptions hold. Seconds are wall time of the search, without reading the data.
    """
    from qwo.order.linalg import versions

    wanted = _sizes(sizes, degree)
    if runs < 1:
        raise ArgumentError(f"--runs is {runs}; wanted 1 at least")
    build = versions()
    core = build["core"]
    console.say(
        f"qwo {build['qwo']}, {core['compiler']} {core['build_type']}, {core['kernels']} kernels, "
        f"{count(jobs, 'thread') if jobs > 0 else 'all threads'}; {samples} samples, "
        f"average degree {degree:g}"
    )
    outcomes = []
    for n in wanted:
        if console.shows_progress:
            console.say(f"  {count(n, 'variable')} …")
        outcomes.append(_measured(n, samples, degree, range(seed, seed + runs), jobs))
    rows = [
        [f"{found[name]:{form}}" for name, form in BENCH_COLUMNS.values()]
        + [f"{found['exact']} of {runs}"]
        for found in outcomes
    ]
    table = "\n".join(aligned([[*BENCH_COLUMNS, "exact"], *rows], left=0))
    console.result(table, {"versions": build, "outcomes": outcomes})


def _sizes(text: str, degree: float) -> list[int]:
    try:
        sizes = [int(size) for size in text.split(",")]
    except ValueError as error:
        raise ArgumentError(f"--sizes is {text!r}; wanted numbers, as in 10,30,100") from error
    if min(sizes) - 1 < degree:
        raise ArgumentError(
            f"--sizes has {min(sizes)}, too few for an average of {degree:g} neighbours; wanted "
            "more variables, or a smaller --degree"
        )
    return sizes


def _measured(
    n_variables: int, n_samples: int, degree: float, seeds: range, jobs: int
) -> dict[str, float]:
    """How the search did on simulated data of one size: seconds, and differences from the truth."""
    import statistics

    import qwo

    how: dict[str, Any] = {"n_variables": n_variables, "n_samples": n_samples, "degree": degree}
    seconds, compared = [], []
    for seed in seeds:
        data, dag, _ = qwo.simulate("er", **how, standardize=True, random_state=seed)
        found = qwo.discover(qwo.Moments.from_data(data), random_state=seed, n_jobs=jobs)
        difference = qwo.compare(found, dag, aid=False)
        assert isinstance(difference, qwo.graph.Comparison)
        seconds.append(found.seconds)
        compared.append(difference)
    return {
        "n_variables": n_variables,
        "n_edges": statistics.mean(own.n_edges_true for own in compared),
        "seconds_median": statistics.median(seconds),
        "seconds_max": max(seconds),
        "shd_mean": statistics.mean(own.shd_cpdag for own in compared),
        "skeleton_f1_mean": statistics.mean(own.skeleton_f1 for own in compared),
        "exact": sum(own.exact for own in compared),
        "runs": len(compared),
    }
