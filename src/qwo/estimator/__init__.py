"""Graphs in scikit-learn's way, and graphs along a path of penalties."""

from qwo.estimator.estimator import QWO
from qwo.estimator.penalty_choice import PenaltyChoice
from qwo.estimator.penalty_path import PathEdge, PenaltyPath, penalty_path

__all__ = ["QWO", "PathEdge", "PenaltyChoice", "PenaltyPath", "penalty_path"]
