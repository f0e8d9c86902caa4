"""Rows from several regimes: which equations change, and what that says about arrows."""

from qwo.regimes.compared import EquationChange, EquationChanges
from qwo.regimes.result import Regimes

__all__ = ["EquationChange", "EquationChanges", "Regimes"]
