"""Linear structural equation models on a DAG, from moments alone.

Coefficients with standard errors, fit indices, the score of any graph, causal effects, and the
effects that a whole equivalence class allows.
"""

from qwo.sem.effects import (
    Effect,
    EffectMatrix,
    adjusted_effect,
    direct_effect,
    total_effect,
    total_effects,
)
from qwo.sem.fit import GraphScore, fit_sem, score_graph
from qwo.sem.fit_indices import ModelFit
from qwo.sem.ida import PossibleEffects, ida, ida_all
from qwo.sem.linear_sem import LinearSem, NodeEstimate
from qwo.sem.outcome import Causes, TotalEffect
from qwo.sem.structural import EdgeEstimate

__all__ = [
    "Causes",
    "EdgeEstimate",
    "Effect",
    "EffectMatrix",
    "GraphScore",
    "LinearSem",
    "ModelFit",
    "NodeEstimate",
    "PossibleEffects",
    "TotalEffect",
    "adjusted_effect",
    "direct_effect",
    "fit_sem",
    "ida",
    "ida_all",
    "score_graph",
    "total_effect",
    "total_effects",
]
