"""Variables that are blocks of columns in a linear model: contrasts against a reference level.

A category enters a linear equation as the indicators of its levels but the first, so that the
coefficient of ``race=black`` is how much higher the effect is for black than for the reference.
Where the effect is a category itself, each of its levels but the first has an equation of its own:
coefficients are differences of probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from qwo.errors import ColumnNameError, list_names
from qwo.moments import Moments
from qwo.moments.kinds import Coding
from qwo.names import Variable, as_column
from qwo.order.blocks import BlockScore
from qwo.types import Adjacency


class EdgeTest(NamedTuple):
    """The test of all coefficients of an edge together.

    Attributes
    ----------
    cause, effect : str
        The variables.
    strength : float
        What the edge adds to twice the log-likelihood, given the other parents.
    df : int
        Its number of coefficients.
    p_value : float
        The chance that an edge without effect adds as much, by the χ² distribution.
    """

    cause: str
    effect: str
    strength: float
    df: int
    p_value: float


def edge_tests(moments: Moments, dag: Adjacency) -> tuple[EdgeTest, ...]:
    """The joint test of each edge of a DAG on the variables, by effect and then by cause."""
    score = BlockScore(moments)
    found = []
    for v in range(moments.n_variables):
        parents = np.flatnonzero(dag[:, v]).tolist()
        whole = score.log_det(v, parents)
        for u in parents:
            without = score.log_det(v, [p for p in parents if p != u])
            strength = moments.n_samples * (without - whole)
            df = int(score.sizes[u] * score.sizes[v])
            ends = moments.names[u], moments.names[v]
            found.append(EdgeTest(*ends, strength, df, float(chdtrc(df, strength))))
    return tuple(found)


def contrast(names: Sequence[str], coding: Coding | None, variable: Variable, role: str) -> int:
    """The column that a variable, or a contrast such as ``race=black``, stands for.

    Parameters
    ----------
    names : sequence of str
        The variables.
    coding : Coding, optional
        Their columns; one each if not given.
    variable : str or int
        The variable or contrast.
    role : str
        What messages call it.
    """
    if coding is None:
        return as_column(names, variable, role)
    labels = coding.labels(names)
    if isinstance(variable, str) and variable not in names and variable in labels:
        return labels.index(variable)
    known = names if variable in names or not isinstance(variable, str) else (*names, *labels)
    v = as_column(known, variable, role)
    own = coding.columns_of([v]).tolist()
    if len(own) > 1:
        reference = coding.variables[v].levels[0]
        raise ColumnNameError(
            f"{role}: {names[v]!r} is a category with {len(own) + 1} levels; wanted one of its "
            f"contrasts against {reference!r}: {list_names(labels[c] for c in own)}",
            [names[v]],
        )
    return int(own[0])


def siblings(coding: Coding | None, column: int) -> list[int]:
    """The other columns of the variable that a column belongs to."""
    if coding is None:
        return []
    owners = coding.owners
    return [c for c in np.flatnonzero(owners == owners[column]).tolist() if c != column]
