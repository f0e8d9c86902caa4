"""The edges of G^π along which GRaSP tucks, and what each of its versions asks of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from qwo.search.precedence import Precedence
from qwo.types import Adjacency, Indices, Mask

Signatures = npt.NDArray[np.uint64]


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
