"""Pictures of graphs and of how they were found, with matplotlib (the extra ``plot``).

Each function draws on the axes given, or on those of a new figure, and returns them; none changes
matplotlib's settings, and none shows a window.
"""

import sys
from types import ModuleType
from typing import Any

from qwo.plot.charts import plot_causes, plot_penalty_path, plot_support, plot_trace
from qwo.plot.graphs import plot_adjacency, plot_comparison, plot_graph
from qwo.plot.readings import plot_curves, plot_lags, plot_responses, plot_targets, plot_unrolled

__all__ = [
    "plot_adjacency",
    "plot_causes",
    "plot_comparison",
    "plot_curves",
    "plot_graph",
    "plot_lags",
    "plot_penalty_path",
    "plot_responses",
    "plot_support",
    "plot_targets",
    "plot_trace",
    "plot_unrolled",
]


class _Callable(ModuleType):
    """The package as a function: ``qwo.plot(found)`` is ``qwo.plot.plot_graph(found)``."""

    def __call__(self, graph: object, **options: Any) -> Any:
        return plot_graph(graph, **options)


sys.modules[__name__].__class__ = _Callable
