"""From data to a causal graph: the function behind everything else, and its result."""

from qwo.discovery.discover import discover
from qwo.discovery.result import Discovery

__all__ = ["Discovery", "discover"]
