"""Moves of an order: those that knowledge allows, and edges along which GRaSP tucks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.types import Adjacency, Indices, Mask

Signatures = npt.NDArray[np.uint64]


class Precedence:
    """A strict partial order, as one bit mask for each variable: who must come after it.

    Python integers are the bit sets: a question about a block costs one operation for each of its
    variables, whatever their number in all.
    """

    def __init__(self, knowledge: ResolvedKnowledge) -> None:
        self._after = [_mask(row.nonzero()[0].tolist()) for row in knowledge.before]
        self._before = [_mask(row.nonzero()[0].tolist()) for row in knowledge.before.T]

    @classmethod
    def of(cls, knowledge: ResolvedKnowledge | None) -> Self | None:
        """None where nothing restricts the order, so that a search need not ask."""
        if knowledge is None or not knowledge.before.any():
            return None
        return cls(knowledge)

    def allows_swap(self, block: Sequence[int]) -> bool:
        """Whether the first and the last variable of a block may be exchanged."""
        members = _mask(block)
        return not (self._after[block[0]] & members or self._before[block[-1]] & members)

    def allows_passing(self, stayers: Iterable[int], movers: Iterable[int]) -> bool:
        """Whether all movers may go before all stayers that they stood behind."""
        ahead = _mask(movers)
        return not any(self._after[v] & ahead for v in stayers)


def _mask(variables: Iterable[int]) -> int:
    members = 0
    for v in variables:
        members |= 1 << v
    return members


def draw_signatures(rng: np.random.Generator, n_variables: int) -> Signatures:
    """A random 64-bit number for each variable; sets of variables are told apart by their XOR."""
    return rng.integers(0, 2**64, n_variables, dtype=np.uint64)


class Tucks:
    """All edges x → y of the DAG of an order, in the order of their row and column.

    Two different sets of parents have the same XOR of random signatures with probability 2⁻⁶⁴;
    what follows takes them for different.
    """

    def __init__(self, order: Indices, dag: Adjacency, signatures: Signatures) -> None:
        n = len(order)
        self._order = order
        self.tails, self.heads = np.divmod(np.flatnonzero(dag != 0), n)
        self._signatures = signatures
        self._parents = np.zeros(n, dtype=np.uint64)
        np.bitwise_xor.at(self._parents, self.heads, signatures[self.tails])

    @property
    def state(self) -> bytes:
        """The same for two orders exactly if they have the same DAG."""
        return self._parents.tobytes()

    @property
    def covered(self) -> Mask:
        r"""Edges x → y with Pa(x) = Pa(y) \ {x}."""
        without_x = self._parents[self.heads] ^ self._signatures[self.tails]
        covered: Mask = without_x == self._parents[self.tails]
        return covered

    @property
    def singular(self) -> Mask:
        """Edges x → y that are the only directed path from x to y; covered edges are among them."""
        _, behind = self._ancestry
        ends = zip(self.tails.tolist(), self.heads.tolist(), strict=True)
        return np.array([not behind[y] >> x & 1 for x, y in ends], dtype=np.bool_)

    def allowed(self, precedence: Precedence) -> Mask:
        """Edges whose tuck leads to an order that the knowledge allows."""
        ends = zip(self.tails.tolist(), self.heads.tolist(), strict=True)
        return np.array([self._may_tuck(x, y, precedence) for x, y in ends], dtype=np.bool_)

    def _may_tuck(self, x: int, y: int, precedence: Precedence) -> bool:
        order, place = self._listed
        ancestors = self._ancestry[0][y]
        stayers, movers = [x], [y]
        for v in order[place[x] + 1 : place[y]]:
            (movers if ancestors >> v & 1 else stayers).append(v)
        return precedence.allows_passing(stayers, movers)

    @cached_property
    def _listed(self) -> tuple[list[int], list[int]]:
        return self._order.tolist(), np.argsort(self._order).tolist()

    @cached_property
    def _ancestry(self) -> tuple[list[int], list[int]]:
        """For each variable, as bit sets: its ancestors, and those reached over two or more edges.

        Edges are followed in the order of their heads, so that a tail's ancestors are complete.
        """
        place = np.asarray(self._listed[1])
        forward = np.argsort(place[self.heads], kind="stable")
        ancestors = [0] * len(place)
        behind = [0] * len(place)
        for x, y in zip(self.tails[forward].tolist(), self.heads[forward].tolist(), strict=True):
            behind[y] |= ancestors[x]
            ancestors[y] |= ancestors[x] | 1 << x
        return ancestors, behind
