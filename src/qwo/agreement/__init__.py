"""Checks of a graph: how far data and graph agree."""

from qwo.agreement.check import check
from qwo.agreement.conditions import ConditionChecks
from qwo.agreement.result import Check, Test

__all__ = ["Check", "ConditionChecks", "Test", "check"]
