"""Linear models with known truth: X_j = Σ_i B[i, j] X_i + e_j on a random or given acyclic graph.

A random graph is drawn in two steps, edges between the positions of a causal order and then a
variable for each position, so that the order of the columns says nothing about the graph.
"""

from qwo.simulation.linear_model import (
    LinearModel,
    SeriesSimulation,
    StructuralAutoregression,
    implied_covariance,
    simulate_series,
)
from qwo.simulation.random_models import Simulation, random_model, simulate

__all__ = [
    "LinearModel",
    "SeriesSimulation",
    "Simulation",
    "StructuralAutoregression",
    "implied_covariance",
    "random_model",
    "simulate",
    "simulate_series",
]
