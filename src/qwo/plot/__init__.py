"""Pictures of graphs and of how they were found, with matplotlib (the extra ``plot``).

Each function draws on the axes given, or on those of a new figure, and returns them; none changes
matplotlib's settings, and none shows a window.
"""

from qwo.plot.adjacency import plot_adjacency
from qwo.plot.comparison import plot_comparison
from qwo.plot.graph import plot_graph
from qwo.plot.penalty_path import plot_penalty_path
from qwo.plot.support import plot_support
from qwo.plot.trace import plot_trace

__all__ = [
    "plot_adjacency",
    "plot_comparison",
    "plot_graph",
    "plot_penalty_path",
    "plot_support",
    "plot_trace",
]
