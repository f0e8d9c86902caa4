"""Layered drawings of acyclic graphs, without matplotlib and without Graphviz."""

from qwo.layout.layered import Arrangement, Layout, arrange

__all__ = ["Arrangement", "Layout", "arrange"]
