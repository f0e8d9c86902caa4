"""The pictures of plots, drawn with the documentation, or by ``python docs/gallery.py``."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from PIL import Image

import qwo
from qwo.datasets import load_gaussian_network, load_sachs
from qwo.estimator.penalty_path import penalty_path
from qwo.plot import (
    plot_adjacency,
    plot_comparison,
    plot_graph,
    plot_penalty_path,
    plot_support,
    plot_trace,
)
from qwo.resample import bootstrap

FOLDER = Path(__file__).parent / "pictures"


def graph() -> Axes:
    """A graph learnt from data, with the coefficients of a model fitted to one of its members."""
    data, _, _ = qwo.simulate("er", n_variables=20, n_samples=500, degree=3, random_state=3)
    found = qwo.discover(data, random_state=0)
    return plot_graph(found, coefficients=qwo.fit_sem(data, found.dag))


def large_graph() -> Axes:
    """A network of 107 genes, with its own coefficients."""
    network = load_gaussian_network("arth150")
    return plot_graph(network, coefficients=network.coefficients)


def comparison() -> Axes:
    """What 200 samples of a network of 46 genes tell about it."""
    network = load_gaussian_network("ecoli70")
    found = qwo.discover(network.sample(200, random_state=0), random_state=0)
    return plot_comparison(found.cpdag, network)


def adjacency() -> Axes:
    """The matrix of the first graph, in causal order."""
    data, _, _ = qwo.simulate("er", n_variables=20, n_samples=500, degree=3, random_state=3)
    found = qwo.discover(data, random_state=0)
    return plot_adjacency(found, coefficients=qwo.fit_sem(data, found.dag))


def path() -> Axes:
    """How the edges between the proteins of Sachs et al. appear as the penalty falls."""
    proteins = load_sachs().to_frame()
    found = penalty_path(proteins, np.geomspace(0.5, 32, 13), random_state=0)
    return plot_penalty_path(found, chosen=found.choose("held-out", random_state=0))


def trace() -> Axes:
    """The course of a search over the orders of 150 variables."""
    data, _, _ = qwo.simulate("er", n_variables=150, n_samples=500, degree=8, random_state=0)
    return plot_trace(qwo.discover(data, random_state=0))


def support() -> Axes:
    """How sure the edges between the proteins of Sachs et al. are."""
    return plot_support(bootstrap(load_sachs().to_frame(), n_resamples=200, random_state=0))


PICTURES: dict[str, Callable[[], Axes]] = {
    "graph": graph,
    "large-graph": large_graph,
    "comparison": comparison,
    "adjacency": adjacency,
    "penalty-path": path,
    "trace": trace,
    "support": support,
}


def write(ax: Axes, file: Path) -> None:
    """Save the figure with few colours, which line drawings do not need more of."""
    buffer = BytesIO()
    ax.figure.savefig(buffer, dpi=100)
    Image.open(buffer).convert("RGB").quantize(96).save(file, optimize=True)


def main() -> None:
    """Write every picture."""
    mpl.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        write(draw(), FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
