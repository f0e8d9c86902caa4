"""The engine protocol: an order, the DAG built for it, and the moves that a search may make.

A search sees nothing else: no data, no score, no matrix. An engine is anything with the methods of
`OrderEngine`; `EngineBase` gives all of them to a class that can permute a block of its order and
take that back.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from qwo.errors import EngineError, IndexRangeError, OrderError
from qwo.order.linalg import as_integers
from qwo.types import Adjacency, FloatArray, Indices

Changes = FloatArray


@runtime_checkable
class OrderEngine(Protocol):
    """An order π, its DAG G^π, and a cost to be minimised, kept up to date under moves.

    Variables and places are integers from 0; ``order[k]`` is the variable at place k. Methods that
    change the order return the new cost. What is not abstract follows from the rest, as plainly as
    it can; an engine that knows a faster way overrides it.
    """

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self.order)

    @property
    @abstractmethod
    def order(self) -> Indices:
        """The present order, as a copy."""

    @property
    @abstractmethod
    def cost(self) -> float:
        """The cost of the present order; lower is better."""

    @abstractmethod
    def reset(self, order: Sequence[int] | Indices) -> float:
        """Start anew from an order; marks are forgotten."""

    @abstractmethod
    def permute(self, start: int, block: Sequence[int] | Indices) -> float:
        """Rearrange the variables at the places start, start + 1, … into ``block``."""

    def move(self, variable: int, place: int) -> float:
        """Take a variable out and put it in at a place; those between shift by one."""
        order = self.order
        variable = as_index("variable", variable, len(order))
        place = as_index("place", place, len(order))
        now = int(np.flatnonzero(order == variable)[0])
        start, stop = min(now, place), max(now, place) + 1
        rest = [int(v) for v in order[start:stop] if v != variable]
        block = [variable, *rest] if place < now else [*rest, variable]
        return self.permute(start, block)

    def swap(self, first: int, second: int) -> float:
        """Exchange the variables at two places."""
        places = [as_index("place", k, self.n_variables) for k in (first, second)]
        start, stop = min(places), max(places)
        block = self.order[start : stop + 1]
        block[[0, -1]] = block[[-1, 0]]
        return self.permute(start, block)

    def swap_cost(self, first: int, second: int) -> float:
        """The cost that `swap` would lead to; nothing changes."""
        mark = self.mark()
        cost = self.swap(first, second)
        self.undo(mark)
        return cost

    def tuck(self, x: int, y: int) -> float:
        """GRaSP's tuck: y and its ancestors after x move, in their order, before x.

        Nothing happens if x is not an ancestor of y.
        """
        order = [int(v) for v in self.order]
        x, y = (as_index("variable", v, len(order)) for v in (x, y))
        start, stop = order.index(x), order.index(y) + 1
        found = {y}
        for v in reversed(order[start:stop]):
            if v in found:
                found.update(int(p) for p in self.parents(v))
        if x not in found or stop <= start:
            return self.cost
        between = order[start + 1 : stop]
        movers = [v for v in between if v in found]
        stayers = [x, *(v for v in between if v not in found)]
        return self.permute(start, movers + stayers)

    def scan(self, variable: int) -> Changes:
        """The change of the cost for each place to which a variable could move."""
        variable = as_index("variable", variable, self.n_variables)
        before = self.cost
        changes = np.empty(self.n_variables)
        for place in range(self.n_variables):
            mark = self.mark()
            changes[place] = self.move(variable, place) - before
            self.undo(mark)
        return changes

    @abstractmethod
    def parents(self, variable: int) -> Indices:
        """The parents of a variable in the DAG of the present order, ascending."""

    def dag(self) -> Adjacency:
        """The DAG of the present order: entry (i, j) is 1 for i → j."""
        n = self.n_variables
        dag = np.zeros((n, n), dtype=np.int8)
        for child in range(n):
            dag[self.parents(child), child] = 1
        return dag

    @abstractmethod
    def mark(self) -> int:
        """Remember the present state. Marks nest."""

    @abstractmethod
    def undo(self, mark: int) -> float:
        """Return to a marked state, exactly; the mark and all after it end."""

    @abstractmethod
    def release(self, mark: int) -> None:
        """Keep the present state; the mark and all after it end."""


class EngineBase(OrderEngine, ABC):
    """The base of engines: all of `OrderEngine` from what is abstract in it."""


class KeepsStates(EngineBase):
    """Engines whose state is a record that is never changed: a mark is the record itself."""

    _state: Any
    _marks: list[Any]

    def mark(self) -> int:
        """Remember the present state. Marks nest."""
        self._marks.append(self._state)
        return len(self._marks) - 1

    def undo(self, mark: int) -> float:
        """Return to a marked state, exactly; the mark and all after it end."""
        self._state = self._marks[check_mark(mark, len(self._marks))]
        self.release(mark)
        return self.cost

    def release(self, mark: int) -> None:
        """Keep the present state; the mark and all after it end."""
        del self._marks[check_mark(mark, len(self._marks)) :]


def as_index(name: str, value: Any, count: int) -> int:
    """The number of one of so many variables or places; refused if there is none such."""
    try:
        index = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer; got {value!r}") from None
    if not 0 <= index < count:
        raise IndexRangeError(f"{name} {index} is out of range: wanted 0 to {count - 1}")
    return index


def check_block(order: Indices, start: Any, block: Sequence[int] | Indices) -> tuple[int, Indices]:
    """Where a block begins, and its variables; refused unless they are those that stand there."""
    variables = as_integers(block).astype(np.intp, copy=False)
    first = as_index("place", start, len(order) + 1)
    present = order[first : first + len(variables)]
    if not np.array_equal(np.sort(present), np.sort(variables)):
        raise OrderError(
            f"a block lists the variables that stand from place {first} on, here "
            f"{present.tolist()[:8]}; got {variables.tolist()[:8]}"
        )
    return first, variables


def check_mark(mark: Any, marks: int) -> int:
    """A mark that has not ended, of so many."""
    try:
        return as_index("mark", mark, marks)
    except IndexRangeError:
        raise EngineError(f"mark {mark} has ended or never was; {marks} are outstanding") from None
