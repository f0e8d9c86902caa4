"""The kernels on a CUDA device, through CuPy."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from qwo.errors import EngineError
from qwo.optional import optional_module
from qwo.order.device.kernels import COLUMNS_PER_BLOCK, Charge, Move
from qwo.types import FloatArray, Indices

TOGETHER = 2
"""Movers that share a pass over the factor; as in kernels.cu."""

ROWS_PER_TILE = 8
"""Rows that a scan reads together; as in kernels.cu."""

FIELDS = 5
"""Numbers of one entry of a table of coefficients."""


class Table(NamedTuple):
    """Coefficients of movers on the device, with their places and columns."""

    movers: int
    places: Any
    columns: Any
    coefficients: Any


class CudaKernels:
    """L, D and G in the memory of the current CUDA device; parameters as for `HostKernels`."""

    def __init__(self, correlation: FloatArray, charge: Charge) -> None:
        self._cupy = load_cupy()
        self._charge = charge
        self._n = len(correlation)
        self._stride = -(-self._n // COLUMNS_PER_BLOCK) * COLUMNS_PER_BLOCK
        self._height = -(-self._n // ROWS_PER_TILE) * ROWS_PER_TILE
        self._compiled = compile_kernels()
        self._correlation = self._cupy.asarray(correlation, dtype=np.float64)
        self._row_costs = self._cupy.zeros(self._n)
        self._blocks = -(-self._n // COLUMNS_PER_BLOCK)

    def load(self, order: Indices) -> None:
        """Build the factor of an order, columns in that order too."""
        cp = self._cupy
        self._L: Any = None
        self._D: Any = None
        self._G: Any = None
        index = cp.asarray(order)
        lower = cp.linalg.cholesky(self._correlation[index[:, None], index])
        if not bool((cp.diag(lower) > 0).all()):
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        self._G = self._padded(lower.T)
        triangular = optional_module("cupyx.scipy.linalg", "a GPU needs", "qwo[gpu]")
        inverse = triangular.solve_triangular(
            lower, cp.eye(self._n), lower=True, overwrite_b=True, check_finite=False
        )
        del lower
        self._L = self._padded(cp.tril(inverse))
        del inverse
        self._D = cp.cumsum(self._L * self._L, axis=0)
        self._D[self._n :] = 0.0
        self.settle(0, self._n - 1, np.arange(1, self._n + 1))

    def prepare(self, places: Indices, columns: Indices) -> Table:
        """The table of coefficients of movers at some places, with some columns."""
        movers = len(places)
        table = Table(
            movers,
            self._integers(places),
            self._integers(columns),
            self._cupy.empty((movers, self._n, FIELDS)),
        )
        self._launch(
            "coefficients", (movers,), 256, self._L, self._D, self._G, *table[1:], shared=256
        )
        return table

    def scan(self, table: Table, first_rows: Indices) -> Any:
        """changes[m, q]: the change of the cost if mover m went to place q."""
        cp, n, movers = self._cupy, self._n, table.movers
        partial = cp.empty((self._blocks, movers, 2, n))
        changes = cp.empty((movers, n))
        first = self._integers(first_rows)
        charge = self._charge
        kernel = "scan_edges" if charge.count else "scan_likelihood"
        grid = (self._blocks, -(-movers // TOGETHER))
        factor, tau = (self._L, self._D), np.float64(charge.tau)
        where = (table.coefficients, table.places, table.columns)
        self._launch(
            kernel, grid, COLUMNS_PER_BLOCK, *factor, *where, np.int32(movers), first, tau, partial
        )
        self._run(
            "gather",
            (-(-n // 256), movers),
            256,
            *(np.int32(k) for k in (n, movers, self._blocks, charge.count)),
            tau,
            np.float64(charge.ceiling),
            first,
            table.places,
            table.coefficients,
            self._row_costs,
            partial,
        )
        sizes = np.int32(n), table.places, self._row_costs, partial, np.float64(charge.weight)
        self._run("changes", (movers,), 1024, *sizes, changes, shared=1024)
        return changes

    def best(self, changes: Any, lowest: Indices, highest: Indices) -> tuple[Indices, FloatArray]:
        """The place of least change in a range for each mover, the first of several."""
        cp, movers = self._cupy, len(changes)
        places, values = cp.empty(movers, dtype=np.int32), cp.empty(movers)
        ranges = self._integers(lowest), self._integers(highest)
        self._run("best", (movers,), 256, np.int32(self._n), changes, *ranges, places, values)
        return places.get().astype(np.intp), values.get()

    def fetch(self, changes: Any) -> FloatArray:
        """Changes in the host's memory."""
        fetched: FloatArray = changes.get()
        return fetched

    def rotate(self, table: Table, moves: list[Move], place_of_column: Indices) -> None:
        """Carry out moves that do not overlap."""
        lists = [self._integers(values) for values in zip(*moves, strict=True)]
        grid = (-(-self._n // 64), len(moves), 2)
        places = self._integers(place_of_column)
        factor = self._L, self._D, self._G
        self._launch("rotate", grid, 64, *factor, table.coefficients, *lists, places)

    def settle(self, first: int, last: int, widths: Indices) -> None:
        """Bring the costs of rows up to date."""
        charge = self._charge
        self._launch(
            "row_costs",
            (last - first + 1,),
            256,
            self._L,
            self._D,
            np.int32(first),
            self._integers(widths),
            np.int32(charge.count),
            np.float64(charge.tau),
            np.float64(charge.ceiling),
            self._row_costs,
            shared=256,
        )

    def pack(self, columns: Indices) -> None:
        """Put the columns into another order: column c becomes the one that was columns[c]."""
        source = self._integers(columns)
        grid = (-(-self._n // 256), self._n)
        for name in ("_L", "_D", "_G"):
            packed = self._cupy.zeros((self._height, self._stride))
            self._launch("reorder", grid, 256, getattr(self, name), source, packed)
            setattr(self, name, packed)

    def total(self) -> float:
        """The sum of the costs of all rows, weighted."""
        return float(self._charge.weight * self._row_costs.sum())

    def rows(self, first: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """Rows of L and D, in the host's memory."""
        return self._L[first:stop, : self._n].get(), self._D[first:stop, : self._n].get()

    def snapshot(self) -> tuple[Any, ...]:
        """A copy of the state."""
        return tuple(a.copy() for a in (self._L, self._D, self._G, self._row_costs))

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Return to a state; the snapshot must not be used again."""
        self._L, self._D, self._G, self._row_costs = snapshot

    def _padded(self, matrix: Any) -> Any:
        padded = self._cupy.zeros((self._height, self._stride))
        padded[: self._n, : self._n] = matrix
        return padded

    def _integers(self, values: Any) -> Any:
        return self._cupy.asarray(np.asarray(values, dtype=np.int32))

    def _launch(
        self, name: str, grid: tuple[int, ...], block: int, *rest: Any, shared: int = 0
    ) -> None:
        """Run a kernel that begins with n and the stride of the matrices."""
        self._run(
            name, grid, block, np.int32(self._n), np.int64(self._stride), *rest, shared=shared
        )

    def _run(
        self, name: str, grid: tuple[int, ...], block: int, *given: Any, shared: int = 0
    ) -> None:
        """Run a kernel; ``shared`` counts the numbers that its blocks share."""
        self._compiled.get_function(name)(grid, (block,), given, shared_mem=8 * shared)


def load_cupy() -> Any:
    """CuPy, if it is installed and finds a device.

    Raises
    ------
    EngineError
        If there is no CUDA device.
    """
    cupy = optional_module("cupy", "engine='gpu' needs", "qwo[gpu]")
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise EngineError(f"engine='gpu' needs a CUDA device: {error}") from error
    if not found:
        raise EngineError("engine='gpu' needs a CUDA device, and there is none; use engine='qwo'")
    return cupy


@cache
def compile_kernels() -> Any:
    """The kernels of kernels.cu, compiled for the device once for each process."""
    source = files("qwo.order.device").joinpath("kernels.cu").read_text(encoding="utf-8")
    return load_cupy().RawModule(code=source, options=("--std=c++17",))
