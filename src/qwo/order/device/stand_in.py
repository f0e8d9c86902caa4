"""The kernels in NumPy: what the device computes, written plainly, for machines without one.

All arrays lie in the host's memory. It is slow, and the definition of what `qwo.order.device.cuda`
must do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from qwo.order.device.kernels import Charge, Move
from qwo.types import FloatArray, Indices


@dataclass(frozen=True)
class Table:
    """Coefficients of movers (rows) at places (columns): see `HostKernels.prepare`."""

    places: Indices
    columns: Indices
    g: FloatArray
    scale: FloatArray
    scale1: FloatArray
    cosine: FloatArray
    sine: FloatArray


class HostKernels:
    """L, D = running sums of L², and G = L S, with rows by place; all operations on them.

    Parameters
    ----------
    correlation : ndarray, n×n
        S.
    charge : Charge
        What a pair costs.
    """

    def __init__(self, correlation: FloatArray, charge: Charge) -> None:
        self._correlation = correlation
        self._charge = charge
        self._n = len(correlation)
        self.row_costs = np.zeros(self._n)

    def load(self, order: Indices) -> None:
        """Build the factor of an order, columns in that order too."""
        permuted = self._correlation[np.ix_(order, order)]
        lower = cholesky(permuted, lower=True)
        self._L = solve_triangular(lower, np.eye(self._n), lower=True)
        self._D = np.cumsum(self._L**2, axis=0)
        self._G = np.ascontiguousarray(lower.T)
        self.settle(0, self._n - 1, np.arange(1, self._n + 1))

    def prepare(self, places: Indices, columns: Indices) -> Table:
        """What the movers at some places, with some columns, meet at each place on their way.

        Left of its own place p, with res_j the variance of the mover given places 0 … j - 1: g is
        its covariance with residual j, the scales are 1/√res_j and 1/√res_(j+1). Right of p, g is
        its coefficient in row j. Cosine and sine are those of the rotation of rows.
        """
        shape = (len(places), self._n)
        g, scale, scale1, cosine, sine = (np.zeros(shape) for _ in range(5))
        for m, (p, own) in enumerate(zip(places, columns, strict=True)):
            covariances = self._G[: p + 1, own]
            res = np.cumsum((covariances**2)[::-1])[::-1]
            roots = np.sqrt(res)
            g[m, :p], g[m, p] = covariances[:p], self._L[p, own]
            scale[m, :p], scale1[m, :p] = 1 / roots[:-1], 1 / roots[1:]
            cosine[m, :p], sine[m, :p] = roots[1:] / roots[:-1], covariances[:p] / roots[:-1]
            h, d = self._L[p + 1 :, own], np.sqrt(self._D[p:, own])
            g[m, p + 1 :], scale1[m, p + 1 :] = h, 1 / d[1:]
            cosine[m, p + 1 :], sine[m, p + 1 :] = d[:-1] / d[1:], h / d[1:]
        return Table(places, columns, g, scale, scale1, cosine, sine)

    def scan(self, table: Table, first_rows: Indices) -> FloatArray:  # noqa: ARG002
        """changes[m, q]: the change of the cost if mover m went to place q."""
        return np.array([self._scan_one(table, m) for m in range(len(table.places))])

    def _scan_one(self, table: Table, m: int) -> FloatArray:
        n, p, own = self._n, int(table.places[m]), int(table.columns[m])
        alone, passed = np.zeros(n), np.zeros(n)
        acc, x = np.zeros(n), np.zeros(n)
        before = np.zeros(n)
        others = np.arange(n) != own
        for j, (row, d) in enumerate(zip(self._L, self._D, strict=True)):
            g, cosine, sine = table.g[m, j], table.cosine[m, j], table.sine[m, j]
            if j < p:
                here = table.scale[m, j] * acc
                alone[j] = self._charge.sum(here**2, before + here**2)
                acc = acc - g * row
                x1 = table.scale1[m, j] * acc
                y = cosine * row - sine * x1
                passed[j] = self._charge.sum(y**2, d + x1**2) + self._charge.sum(sine**2, 1.0)
            elif j > p:
                y = cosine * row - sine * x
                acc = acc + g * row
                x = table.scale1[m, j] * acc
                gone = np.maximum(d - x**2, 0.0)
                passed[j] = self._charge.sum((y**2)[others], gone[others])
                alone[j] = self._charge.sum((x**2)[others], d[others])
            else:
                x, acc = row, g * row
            before = d
        passed -= self._charge.ceiling + self.row_costs
        passed[p] = 0.0
        way = np.concatenate([[0.0], np.cumsum(passed)])
        sums = np.where(np.arange(n) < p, way[p] - way[:-1], way[1:] - way[p])
        changes = self._charge.weight * (alone + sums - self.row_costs[p])
        changes[p] = 0.0
        return np.asarray(changes)

    def best(
        self, changes: FloatArray, lowest: Indices, highest: Indices
    ) -> tuple[Indices, FloatArray]:
        """The place of least change in a range for each mover, the first of several."""
        places = np.array(
            [
                low + np.argmin(row[low : high + 1])
                for row, low, high in zip(changes, lowest, highest, strict=True)
            ]
        )
        return places, changes[np.arange(len(changes)), places]

    def fetch(self, changes: FloatArray) -> FloatArray:
        """Changes in the host's memory."""
        return changes

    def rotate(self, table: Table, moves: list[Move], place_of_column: Indices) -> None:
        """Carry out moves that do not overlap."""
        for move in moves:
            self._rotate(table, move, place_of_column)

    def _rotate(self, table: Table, move: Move, place_of_column: Indices) -> None:
        p, q = move.start, move.stop
        step = -1 if q < p else 1
        own = int(table.columns[move.mover])
        x, gx = self._L[p].copy(), self._G[p].copy()
        for j in range(p + step, q + step, step):
            cosine, sine = table.cosine[move.mover, j], table.sine[move.mover, j]
            passed = int(np.flatnonzero(place_of_column == j)[0])
            y, gy = cosine * self._L[j] - sine * x, cosine * self._G[j] - sine * gx
            x, gx = cosine * x + sine * self._L[j], cosine * gx + sine * self._G[j]
            if step < 0:
                x[passed] = gy[own] = 0.0
            else:
                y[own] = gx[passed] = 0.0
            self._L[j - step], self._G[j - step] = y, gy
        self._L[q], self._G[q] = x, gx
        low, high = min(p, q), max(p, q)
        base = self._D[low - 1] if low else np.zeros(self._n)
        # The last of these rows spans the same variables as before.
        self._D[low:high] = base + np.cumsum(self._L[low:high] ** 2, axis=0)

    def settle(self, first: int, last: int, widths: Indices) -> None:
        """Bring the costs of rows up to date."""
        for k in range(first, last + 1):
            width = int(widths[k])
            cost = self._charge.sum(self._L[k, :width] ** 2, self._D[k, :width])
            self.row_costs[k] = cost - self._charge.ceiling

    def pack(self, columns: Indices) -> None:
        """Put the columns into another order: column c becomes the one that was columns[c]."""
        for name in ("_L", "_D", "_G"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[:, columns]))

    def total(self) -> float:
        """The sum of the costs of all rows, weighted."""
        return float(self._charge.weight * self.row_costs.sum())

    def rows(self, first: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """Rows of L and D."""
        return self._L[first:stop], self._D[first:stop]

    def snapshot(self) -> tuple[FloatArray, ...]:
        """A copy of the state."""
        return tuple(a.copy() for a in (self._L, self._D, self._G, self.row_costs))

    def restore(self, snapshot: tuple[FloatArray, ...]) -> None:
        """Return to a state; the snapshot must not be used again."""
        self._L, self._D, self._G, self.row_costs = snapshot
