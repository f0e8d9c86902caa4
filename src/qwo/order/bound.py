"""An upper bound on the score of any DAG, from the correlations alone."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from qwo.types import FloatArray


def score_bound(correlation: FloatArray, n_samples: float, price: float) -> float:
    """-N log |R| - Σ over a maximum spanning tree of min(price, -N log(1 - r²)).

    No DAG fits better than all edges together, -N log |R|. If the edges of a DAG leave m pieces
    that no path joins, it has n - m edges at least, and loses what the pieces tell of each other.
    By the chain rule that is at least the sum of m - 1 pairs' -N log(1 - r²), one across each
    join, for which edges of the maximum spanning tree of these numbers can be taken (Chow and Liu's
    tree): at least its m - 1 smallest. The best m leaves out those edges that are not worth their
    price. O(n³); infinite if the matrix is singular.
    """
    sign, log_det = np.linalg.slogdet(correlation)
    if sign <= 0:
        return float("inf")
    squares = np.minimum(correlation**2, 1 - 1e-15)
    np.fill_diagonal(squares, 0.0)
    worth = -n_samples * np.log1p(-squares)
    # The sparse routine takes 0 for no edge: where nothing is worth anything nothing is lost.
    tree = -minimum_spanning_tree(-worth).data
    return float(-n_samples * log_det - np.minimum(tree, price).sum())
