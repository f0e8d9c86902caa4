"""Checks of a graph: how far data and graph agree."""

from qwo.agreement.check import Check, Test, check

__all__ = ["Check", "Test", "check"]
