"""The core: how it was built, and what it is given: moments, prices, blocks, knowledge, candidates.

Meaning is checked here, once; the core checks lengths and ranges of what it gets.
"""

from __future__ import annotations

import operator
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from qwo import _core
from qwo.errors import ArgumentError, OrderError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.order.blocks import check_block_sizes, check_leading
from qwo.order.score import Score, price_of
from qwo.types import FloatArray, Indices


def versions() -> dict[str, Any]:
    """Versions of qwo, Python, NumPy and SciPy, and the configuration of the compiled core."""
    core = dict(_core.build_config())
    return {
        "qwo": core.pop("version"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "core": core,
    }


def as_integers(values: Sequence[int] | Indices) -> npt.NDArray[np.int64]:
    """Integers as the array that the core takes."""
    try:
        given = np.asarray(values)
    except ValueError as error:  # as for rows of unequal lengths
        raise OrderError(f"wanted a sequence of integers: {error}") from error
    if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or given.size == 0):
        raise OrderError(
            f"wanted a sequence of integers; got shape {given.shape} of dtype {given.dtype}"
        )
    return np.ascontiguousarray(given, dtype=np.int64)


def check_order(order: Sequence[int] | Indices, n_variables: int) -> Indices:
    """An order as an index array of its own; refused if it is no permutation of 0 … n - 1."""
    indices = np.array(as_integers(order), dtype=np.intp)
    if len(indices) != n_variables:
        raise OrderError(
            f"an order lists each of the {n_variables} variables once; got {len(indices)}"
        )
    if not np.array_equal(np.sort(indices), np.arange(n_variables)):
        raise OrderError(
            f"an order lists each of 0 … {n_variables - 1} once; "
            f"missing: {sorted(set(range(n_variables)) - set(indices.tolist()))[:5]}"
        )
    return indices


def check_kernels(name: str | None) -> str:
    """The name of kernels that there are, as the core takes it; "" for the fastest."""
    if name is None:
        return ""
    if name not in _core.available_kernels():
        raise ArgumentError(
            f"kernels must be one of {', '.join(_core.available_kernels())} on this processor; "
            f"got {name!r}"
        )
    return name


MomentSet = tuple[FloatArray, float, float, int]
"""Correlation matrix, N, price of an edge, most parents."""

Blocks = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[float], int, list[float]]
"""Block sizes, none if all are 1, and how many columns of each lead; prices by number of
parameters; most columns of parents; what edges cost less, by child and parent, if any does."""

NONE: npt.NDArray[np.int64] = np.empty(0, np.int64)
"""What the core takes for nothing said: no lists, no blocks, the first moments for all."""

ORACLE_SAMPLES = 1e10
"""N that stands for infinity: the BIC needs a finite one to weigh fit against edges. At 1e8, one
random model in a hundred looked as if it had an edge less; far above 1e10, rounding counts as
fit."""

SAMPLES_PER_PARENT = 3.0
"""A variable gets at most N / 3 parents: beyond that the likelihood measures noise."""


class CoreProblem:
    """What an engine of the core is made of, checked: all but the score and the candidates.

    sources: the moments, of one set of rows or several; which: those of each variable.
    sizes: how many columns each variable owns; is_plain: all own one, and edges cost the same.
    leading: in how many of them, the first ones, it is explained as a child.
    """

    def __init__(
        self,
        moments: Moments | Sequence[Moments],
        *,
        moments_of: Sequence[int] | Indices | None,
        block_sizes: Sequence[int] | Indices | None,
        leading: Sequence[int] | Indices | None,
        max_parents: int | None,
        given: Sequence[int] | Indices | None,
        knowledge: ResolvedKnowledge | None,
        kernels: str | None,
        bonus: FloatArray | None = None,
    ) -> None:
        if given is None and isinstance(moments, Moments) and moments.coding.given.size:
            given = moments.coding.given
        if block_sizes is None and isinstance(moments, Moments) and moments.has_blocks:
            leading = moments.leading() if leading is None else leading
            moments, block_sizes = moments.as_whitened()
        self.sources = (moments,) if isinstance(moments, Moments) else _as_sources(moments)
        self.sizes = np.ones(self.sources[0].n_variables, np.int64)
        if block_sizes is not None:
            self.sizes = _sizes_of_blocks(block_sizes, self.sources)
        self.leading = self.sizes if leading is None else check_leading(leading, self.sizes)
        self.n_variables = len(self.sizes)
        self.bonus = bonus
        self.is_plain = self.n_variables == self.sources[0].n_variables and bonus is None
        self.which, self.given = NONE, np.empty(0, np.intp)
        if moments_of is not None:
            self.which = _which_moments(moments_of, self.n_variables, len(self.sources))
        if given is not None:
            self.given = _given_variables(given, self.n_variables)
        self.knowledge = knowledge
        self._max_parents = max_parents
        self._kernels = "" if kernels is None else check_kernels(kernels)

    def parent_sets(
        self, score: Score, candidates: Sequence[Indices] | None, *, all_at_first: bool
    ) -> tuple[_core.ParentSets, MomentSet]:
        """An engine of the core at no order yet, and the first moments as it has them."""
        n, most, known = self.n_variables, self._max_parents, self.knowledge
        lists = (NONE, NONE) if candidates is None else _flat_candidates(candidates, known, n)
        sets: list[MomentSet] = []
        for own in self.sources:
            size = ORACLE_SAMPLES if own.is_oracle else float(own.n_samples)
            few = min(n - 1, _most_parents(size, most))
            sets.append((own.correlation, size, score.price(n, size), few))
        engine = _core.ParentSets.create(
            sets,
            self.which,
            *((None, None, []) if known is None else _constraints_of(known)),
            self._kernels,
            *lists,
            all_at_first and candidates is not None,
            # Where every variable is a column the core is told of no blocks: a faster way.
            (NONE, NONE, [], 0, []) if self.is_plain else self._priced_blocks(score, sets[0][1]),
            self.given.astype(np.int64, copy=False),
        )
        return engine, sets[0]

    def _priced_blocks(self, score: Score, n_samples: float) -> Blocks:
        """Blocks as the core takes them; the prices are for 0, 1, 2 … parameters."""
        most, n = int(self.sizes.max()) ** 2, self.n_variables
        prices = [0.0, *(price_of(score, n, n_samples, k) for k in range(1, most + 1))]
        bonus = [] if self.bonus is None else self.bonus.T.ravel().tolist()
        return self.sizes, self.leading, prices, _most_parents(n_samples, None), bonus


def _as_sources(moments: Sequence[Moments]) -> tuple[Moments, ...]:
    """Several moments of the same variables."""
    sources = tuple(moments)
    for own in sources:
        if not isinstance(own, Moments):
            raise ArgumentError(f"moments must be qwo.Moments; got a {type(own).__name__}")
        if own.names != sources[0].names:
            raise ArgumentError("several moments must be of the same variables, in the same order")
    if not sources:
        raise ArgumentError("there must be one set of moments at least")
    return sources


def _which_moments(given: Sequence[int] | Indices, n: int, count: int) -> npt.NDArray[np.int64]:
    """Which of several moments each variable has."""
    which = as_integers(given)
    if len(which) != n or not (which.min() >= 0 and which.max() < count):
        raise ArgumentError(
            f"moments_of must give one of 0 … {count - 1} for each of the {n} variables; "
            f"got {which.tolist()[:8]}"
        )
    return which


def _given_variables(given: Sequence[int] | Indices, n: int) -> Indices:
    """The variables that are given, ascending."""
    variables = np.unique(as_integers(given))
    if variables.size and not (variables[0] >= 0 and variables[-1] < n):
        raise ArgumentError(f"given must be some of the variables 0 … {n - 1}; got {given}")
    if len(variables) == n:
        raise ArgumentError(f"given must leave one of the {n} variables at least to be explained")
    return variables.astype(np.intp)


def _sizes_of_blocks(
    given: Sequence[int] | Indices, sources: tuple[Moments, ...]
) -> npt.NDArray[np.int64]:
    """How many columns each variable owns."""
    sizes = check_block_sizes(given, sources[0].n_variables)
    if len(sources) > 1 and sizes.max() > 1:
        raise ArgumentError(
            f"block_sizes go with one set of moments, not with several for several sets of rows; "
            f"got {len(sources)}"
        )
    return sizes


def _most_parents(n_samples: float, given: int | None) -> int:
    if given is None:
        return max(1, int(min(n_samples / SAMPLES_PER_PARENT, 1e9)))
    if operator.index(given) < 0:
        raise ArgumentError(f"max_parents must not be negative; got {given}")
    return operator.index(given)


def _constraints_of(
    knowledge: ResolvedKnowledge,
) -> tuple[npt.NDArray[np.uint8] | None, npt.NDArray[np.uint8] | None, list[list[int]]]:
    """Allowed parents by child, precedence, and required parents, as the core takes them."""
    may_cause = np.ascontiguousarray(knowledge.allowed_parents.T).astype(np.uint8)
    precedes = np.ascontiguousarray(knowledge.before).astype(np.uint8)
    required = [np.flatnonzero(column).tolist() for column in knowledge.required.T]
    return may_cause, precedes if precedes.any() else None, required


def _flat_candidates(
    lists: Sequence[Indices], knowledge: ResolvedKnowledge | None, n: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The lists one after the other, and where each ends."""
    if len(lists) != n:
        raise ArgumentError(f"candidates has {len(lists)} lists for {n} variables")
    lists = [as_integers(own) for own in lists]
    if knowledge is not None:
        allowed, required = knowledge.allowed_parents, knowledge.required
        lists = [
            np.union1d(own[allowed[own, v]], np.flatnonzero(required[:, v]))
            for v, own in enumerate(lists)
        ]
    flat = as_integers(np.concatenate(lists))
    if flat.size and not (flat.min() >= 0 and flat.max() < n):
        raise ArgumentError(f"candidates go from 0 to {n - 1}; got {flat.min()} … {flat.max()}")
    return flat, np.cumsum([len(own) for own in lists], dtype=np.int64)
