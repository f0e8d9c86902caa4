"""Long, thin and clustered graphs, each with weak or strong effects.

Every variable is scaled to variance 1 before it acts on others, so that effects do not fade or grow
along a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from qwo.types import Adjacency, FloatArray

Edge = tuple[int, int]
Source = Callable[[int, np.random.Generator], Iterator[Edge]]

EFFECTS = {"weak": (0.2, 0.5), "strong": (0.5, 1.5)}
BLOCK = 10


def _lags(*lags: int) -> Source:
    def edges(n: int, _: np.random.Generator) -> Iterator[Edge]:
        return ((v - lag, v) for v in range(n) for lag in lags if v >= lag)

    return edges


def _tree(n: int, rng: np.random.Generator) -> Iterator[Edge]:
    return ((int(rng.integers(v)), v) for v in range(1, n))


def _polytree(n: int, rng: np.random.Generator) -> Iterator[Edge]:
    """A tree whose edges point either way."""
    return (edge if rng.random() < 0.5 else edge[::-1] for edge in _tree(n, rng))


def _grid(n: int, _: np.random.Generator) -> Iterator[Edge]:
    width = int(n**0.5)
    for v in range(n):
        if v % width:
            yield v - 1, v
        if v >= width:
            yield v - width, v


def _ladder(n: int, _: np.random.Generator) -> Iterator[Edge]:
    for v in range(n):
        if v % 2:
            yield v - 1, v
        if v >= 2:
            yield v - 2, v


def _caterpillar(n: int, rng: np.random.Generator) -> Iterator[Edge]:
    spine = n // 2
    yield from ((v - 1, v) for v in range(1, spine))
    yield from ((int(rng.integers(spine)), v) for v in range(spine, n))


def _small_world(n: int, rng: np.random.Generator) -> Iterator[Edge]:
    """A ring with edges over two places, one in ten led elsewhere; directed by a random order."""
    place = rng.permutation(n)
    for v in range(n):
        for lag in (1, 2):
            u = (v + lag) % n if rng.random() < 0.9 else int(rng.integers(n))
            if u != v:
                yield (v, u) if place[v] < place[u] else (u, v)


def _blocks(n: int, rng: np.random.Generator) -> Iterator[Edge]:
    """Dense blocks of ten, one after the other, joined by single edges."""
    for v in range(1, n):
        first = v - v % BLOCK
        yield from ((u, v) for u in range(first, v) if rng.random() < 0.4)
        if v == first:
            yield v - 1, v


FAMILIES: dict[str, Source] = {
    "path": _lags(1),
    "ar2": _lags(1, 2),
    "band": _lags(1, 2, 3),
    "tree": _tree,
    "polytree": _polytree,
    "grid": _grid,
    "ladder": _ladder,
    "caterpillar": _caterpillar,
    "small-world": _small_world,
    "blocks": _blocks,
}

NAMES = [f"{family}-{effects}" for family in FAMILIES for effects in EFFECTS]


def draw_thin(
    name: str, n: int, n_samples: int, rng: np.random.Generator
) -> tuple[FloatArray, Adjacency]:
    """Data and graph of a family with its effects, as in ``"path-weak"``, columns in order."""
    family, _, effects = name.rpartition("-")
    dag = np.zeros((n, n), dtype=np.int8)
    for cause, effect in FAMILIES[family](n, rng):
        dag[cause, effect] = 1
    data = np.zeros((n_samples, n))
    for v in _causes_first(dag):
        parents = np.flatnonzero(dag[:, v])
        sizes = rng.uniform(*EFFECTS[effects], parents.size) * rng.choice([-1, 1], parents.size)
        drawn = data[:, parents] @ sizes + rng.normal(size=n_samples)
        data[:, v] = (drawn - drawn.mean()) / drawn.std()
    return data, dag


def _causes_first(dag: Adjacency) -> Iterator[int]:
    missing = dag.sum(axis=0).astype(int)
    ready = np.flatnonzero(missing == 0).tolist()
    while ready:
        v = ready.pop()
        yield v
        missing[dag[v] == 1] -= 1
        ready += [int(u) for u in np.flatnonzero(dag[v]) if missing[u] == 0]
