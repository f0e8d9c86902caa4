"""The distribution-equivalence class of a linear model with cycles (Ghassami et al. 2020).

Rows of I - B, scaled to unit noise, are vectors with M S M^T = I. Two rows whose supports differ in
one column can be rotated such that the zero goes to any other column of theirs: no more non-zeros,
the same covariance. A covered edge that is reversed is such a rotation. Any assignment of rows to
columns in their supports is a graph: cycles are reversed by another assignment. The class is
all graphs that these two reach; it is a product over blocks of rows that never meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from qwo.graph.dag import closure, is_acyclic
from qwo.types import Adjacency, FloatArray, Mask

MOST = 1000
"""Members of a block that are gone through; of larger ones there is a part."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A graph of a block by its coefficients: row i is the equation of variable i, or zero."""

    coefficients: FloatArray
    radius: float

    @property
    def graph(self) -> Adjacency:
        """Entry (i, j) is 1 for i → j."""
        return np.asarray(self.coefficients.T != 0, dtype=np.int8)

    @property
    def is_acyclic(self) -> bool:
        """Whether it has no cycle."""
        return is_acyclic(self.coefficients)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Variables whose equations can be exchanged for others, and all ways to write them."""

    variables: tuple[int, ...]
    members: tuple[Member, ...]
    complete: bool

    @property
    def is_knot(self) -> bool:
        """Whether every member has a cycle."""
        return not any(member.is_acyclic for member in self.members)

    @property
    def stable(self) -> tuple[Member, ...]:
        """Members in which disturbances die out: the spectral radius of B is below 1."""
        return tuple(member for member in self.members if member.radius < 1)

    @property
    def chosen(self) -> Member:
        """The first without a cycle, or the one in which disturbances die out the fastest."""
        free = [member for member in self.members if member.is_acyclic]
        return free[0] if free else min(self.members, key=lambda member: member.radius)


def equivalence_class(coefficients: FloatArray, variances: FloatArray) -> tuple[Block, ...]:
    """The blocks of the class of a model, the variances being those of its noise.

    Numbers follow the rotations, so that every member has the same covariance.
    """
    n = len(variances)
    rows = (np.eye(n) - coefficients) / np.sqrt(variances)[:, None]
    groups = [[v] for v in range(n)]
    states = {v: _rotated(rows[[v]]) for v in range(n)}
    while True:
        merged = _merge(groups, states, n)
        if len(merged) == len(groups):
            break
        states = {g[0]: states[g[0]] if g in groups else _rotated(rows[g]) for g in merged}
        groups = merged
    return tuple(_block(group, states[group[0]], n) for group in groups)


def assigned_rows(variables: list[int], rows: FloatArray) -> Block:
    """All graphs of some equations: each of them may be that of any variable it has."""
    return _block(variables, [rows], rows.shape[1])


def _rotated(rows: FloatArray) -> list[FloatArray]:
    """All systems of rows that rotations reach, one for each set of supports, up to `MOST`."""
    found = {_supports(rows): rows}
    queue = [rows]
    while queue and len(found) < MOST:
        now = queue.pop(0)
        for i, j in combinations(range(len(now)), 2):
            either = (now[i] != 0) | (now[j] != 0)
            if ((now[i] != 0) != (now[j] != 0)).sum() != 1:
                continue
            for column in np.flatnonzero(either & (now[i] != 0) & (now[j] != 0)):
                turned = now.copy()
                length = np.hypot(now[i, column], now[j, column])
                c, s = now[i, column] / length, now[j, column] / length
                turned[i], turned[j] = c * now[i] + s * now[j], c * now[j] - s * now[i]
                turned[j, column] = 0.0
                key = _supports(turned)
                if key not in found and len(found) < MOST:
                    found[key] = turned
                    queue.append(turned)
    return list(found.values())


def _supports(rows: FloatArray) -> tuple[bytes, ...]:
    return tuple(sorted(np.packbits(row != 0).tobytes() for row in rows))


def _merge(groups: list[list[int]], states: dict[int, list[FloatArray]], n: int) -> list[list[int]]:
    """Groups that can meet, by a rotation of two of their rows or on a cycle, made one."""
    supports = [
        np.unique(np.vstack([system != 0 for system in states[group[0]]]), axis=0)
        for group in groups
    ]
    meet = np.zeros((n, n), dtype=bool)
    for (one, its), (other, others) in combinations(zip(groups, supports, strict=True), 2):
        meet[one[0], other[0]] = ((its[:, None, :] != others[None, :, :]).sum(axis=2) <= 1).any()
    reach = np.zeros((n, n), dtype=bool)
    for group, its in zip(groups, supports, strict=True):
        own = np.array(group)
        reach[np.ix_(own, np.flatnonzero(its.any(axis=0)))] = True
        reach[np.ix_(own, own)] = True
    from scipy.sparse.csgraph import connected_components

    reach = closure(reach)
    _, label = connected_components(meet | (reach & reach.T), directed=False)
    return [np.flatnonzero(label == own).tolist() for own in np.unique(label)]


def _block(group: list[int], systems: list[FloatArray], n: int) -> Block:
    members: dict[bytes, Member] = {}
    complete = len(systems) < MOST
    for system in systems:
        for columns in _assignments(system != 0, group):
            if len(members) >= MOST:
                complete = False
                break
            coefficients = np.zeros((n, n))
            for row, own in zip(system, columns, strict=True):
                coefficients[own] = -row / row[own]
                coefficients[own, own] = 0.0
            part = coefficients[np.ix_(group, group)]
            radius = float(np.abs(np.linalg.eigvals(part)).max()) if len(group) > 1 else 0.0
            key = np.packbits(coefficients != 0).tobytes()
            members.setdefault(key, Member(coefficients, radius))
    return Block(tuple(group), tuple(members.values()), complete)


def _assignments(supports: Mask, columns: list[int]) -> Iterator[list[int]]:
    """All ways to give each row a column of its own among those in its support."""

    def extend(row: int, taken: list[int]) -> Iterator[list[int]]:
        if row == len(supports):
            yield taken
            return
        for column in columns:
            if supports[row, column] and column not in taken:
                yield from extend(row + 1, [*taken, column])

    return extend(0, [])
