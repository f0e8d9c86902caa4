"""Rows in the order of time: lagged copies as given columns, how many, and what they tell."""

from qwo.series.responses import ImpulseResponses
from qwo.series.result import LaggedEffects

__all__ = ["ImpulseResponses", "LaggedEffects"]
