"""Which moves keep an order that background knowledge allows, asked before they are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from qwo.graph.resolved_knowledge import ResolvedKnowledge


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
