"""What is compared on what: kinds of data, how often, and by which methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.peers.methods import FLOP, METHODS, OURS, PLAIN, XGES, Method
from benchmarks.peers.thin import NAMES

LARGE = tuple(method.name for method in (OURS[0], OURS[1], FLOP[0], XGES[1]))
"""Methods that can be asked for hundreds of variables."""
BEYOND = tuple(method.name for method in (OURS[0], OURS[1], FLOP[0]))


@dataclass(frozen=True)
class Kind:
    """How a data set is made, up to its seed.

    family: A random graph of `qwo.simulate` ("er", "scale-free-in", "scale-free-out"), "dao",
        "gaussian" (a published network with its coefficients), "structure" (a published graph with
        random coefficients), one of `benchmarks.peers.thin`, "sachs" or "chamber".
    n: variables.
    n_samples: rows.
    degree: average number of neighbours in a random graph.
    noise: shape of the noise.
    network: name of a published network.
    """

    family: str
    n: int
    n_samples: int
    degree: int | None = None
    noise: str = "gaussian"
    network: str = ""

    @property
    def title(self) -> str:
        """The kind in a few words."""
        parts = [TITLES.get(self.family, ""), self.network.upper(), f"n = {self.n}"]
        if self.degree is not None:
            parts.append(f"degree {self.degree}")
        parts.append(f"N = {self.n_samples}")
        if self.noise != "gaussian":
            parts.append(f"{self.noise} noise")
        return ", ".join(part for part in parts if part)


TITLES = {
    "er": "ER",
    "scale-free-in": "scale-free in",
    "scale-free-out": "scale-free out",
    "dao": "DaO",
    "sachs": "Sachs",
    "chamber": "causal chamber",
    **{name: name.replace("-", " ") + " effects" for name in NAMES},
}


@dataclass(frozen=True)
class Cell:
    """A kind of data with a penalty, and who runs on it.

    kind, penalty_discount: the data, and c of the score 2·loglik - c·edges·log N.
    section: where it is shown.
    data_sets: how many; seeds count up from 0.
    slow: whether slow methods take part.
    only: if given, the methods that take part.
    limit: processor seconds for one call.
    """

    kind: Kind
    section: str
    data_sets: int = 20
    penalty_discount: float = 2.0
    slow: bool = False
    only: tuple[str, ...] = ()
    limit: float = 30.0

    @property
    def title(self) -> str:
        suffix = f", penalty {self.penalty_discount:g}" if self.penalty_discount != 2.0 else ""
        return self.kind.title + suffix

    @property
    def methods(self) -> Iterator[Method]:
        for method in METHODS.values():
            if self.only:
                wanted = method.name in self.only
            elif method is PLAIN:
                wanted = self.kind.n >= self.kind.n_samples
            else:
                wanted = self.slow or not method.slow
            if wanted:
                yield method

    def run(self, seed: int, method: str) -> dict[str, Any]:
        """The parameters of one run, by which the store knows it."""
        shared = {"penalty_discount": self.penalty_discount, "seed": seed, "method": method}
        return asdict(self.kind) | shared


@dataclass(frozen=True)
class Profile:
    """A set of cells, and how much time each method may spend on one.

    cells: in the order in which they are run.
    allowance: processor seconds of one method on one cell, after which it gets no more data sets.
        The methods that matter most have a multiple of it; see `Method.weight`.
    at_least: data sets that it gets in any case.
    """

    cells: Sequence[Cell]
    allowance: float
    at_least: int


def _er(n: int, n_samples: int, degree: int = 4, noise: str = "gaussian") -> Kind:
    return Kind("er", n, n_samples, degree, noise)


BASE = _er(50, 1000)


def _sizes() -> Iterator[Cell]:
    for n, data_sets in ((10, 20), (20, 20), (50, 20), (100, 20)):
        yield Cell(_er(n, 1000), "size", data_sets, slow=True)
    yield Cell(_er(200, 2000), "size", 10)
    yield Cell(_er(500, 5000), "size", 5, only=LARGE, limit=60.0)
    for n, data_sets in ((1000, 2), (2000, 1)):
        yield Cell(_er(n, 5000), "size", data_sets, only=BEYOND, limit=120.0)
    yield Cell(_er(3000, 5000), "size", 1, only=BEYOND[:2], limit=120.0)


def _variations() -> Iterator[Cell]:
    for family in ("scale-free-in", "scale-free-out", "dao"):
        yield Cell(replace(BASE, family=family), "graph")
    yield Cell(Kind("dao", 50, 1000, 8), "graph")
    yield Cell(Kind("scale-free-in", 100, 1000, 8), "graph")
    for degree in (2, 8, 16):
        yield Cell(replace(BASE, degree=degree), "degree")
    for n_samples in (25, 50, 100, 250, 2500):
        yield Cell(replace(BASE, n_samples=n_samples), "samples")
    for noise in ("exponential", "gumbel", "uniform"):
        yield Cell(_er(20, 1000, noise=noise), "noise", slow=True)
    for penalty_discount in (1.0, 4.0):
        yield Cell(BASE, "penalty", penalty_discount=penalty_discount)


def _thin() -> Iterator[Cell]:
    """Larger ones are in `benchmarks.thin`."""
    for name in NAMES:
        yield Cell(Kind(name, 50, 1000), "thin", 5)
        yield Cell(Kind(name, 100, 1000), "thin", 3)


def _networks() -> Iterator[Cell]:
    for network, n in (("ecoli70", 46), ("magic-niab", 44), ("magic-irri", 64), ("arth150", 107)):
        yield Cell(Kind("gaussian", n, 1000, network=network), "gaussian network")
    for network, n in (("alarm", 37), ("hepar2", 70), ("win95pts", 76)):
        yield Cell(Kind("structure", n, 1000, network=network), "structure")
    yield Cell(Kind("structure", 223, 2000, network="andes"), "structure", 5, only=LARGE)
    for network, n in (("pigs", 441), ("link", 724)):
        kind = Kind("structure", n, 5000, network=network)
        yield Cell(kind, "structure", 3, only=LARGE, limit=60.0)


def _real() -> Iterator[Cell]:
    yield Cell(Kind("sachs", 11, 400), "real", slow=True)
    yield Cell(Kind("chamber", 20, 2000), "real", slow=True)


def _by_size(*groups: Iterator[Cell]) -> list[Cell]:
    """The cells of all groups, small before large: a run that is cut short has seen every group."""
    return sorted((cell for group in groups for cell in group), key=lambda cell: cell.kind.n)


def _full() -> Iterator[Cell]:
    """The standard cells, all with slow methods and more data sets, and larger ones of each."""
    for cell in STANDARD.cells:
        large = cell.kind.n > 150
        yield replace(
            cell,
            slow=True,
            only=cell.only and (*LARGE, FLOP[1].name, "Tetrad BOSS", "XGES", "qwo GRaSP"),
            data_sets=5 if large else max(30, cell.data_sets),
            limit=600.0,
        )
    for family in ("er", "scale-free-in", "scale-free-out", "dao"):
        for n in (100, 200):
            for degree in (2, 4, 8, 16):
                yield Cell(Kind(family, n, 10 * n, degree), "graph", 20, limit=600.0)
    for n_samples in (50, 100, 500, 5000):
        yield Cell(_er(100, n_samples), "samples", 20, limit=600.0)
    for noise in ("exponential", "gumbel", "uniform"):
        yield Cell(_er(100, 1000, noise=noise), "noise", 20, slow=True, limit=600.0)


STANDARD = Profile(_by_size(_sizes(), _variations(), _thin(), _networks(), _real()), 8.0, 2)
SMOKE = Profile(
    (
        Cell(_er(10, 200), "size", 2, slow=True, limit=5.0),
        Cell(_er(50, 500), "size", 1, limit=5.0),
        Cell(Kind("dao", 20, 500, 4), "graph", 2, limit=5.0),
        Cell(Kind("path-strong", 30, 500), "thin", 1, limit=5.0),
        Cell(Kind("gaussian", 46, 1000, network="ecoli70"), "gaussian network", 1, limit=5.0),
        Cell(Kind("sachs", 11, 400), "real", 1, limit=5.0),
        Cell(_er(200, 1000), "size", 1, only=LARGE, limit=10.0),
    ),
    2.0,
    1,
)
FULL = Profile(list({(c.kind, c.penalty_discount): c for c in _full()}.values()), 600.0, 3)

PROFILES = {"smoke": SMOKE, "standard": STANDARD, "full": FULL}
