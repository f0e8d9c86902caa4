"""Hill climbing over orders, as in the paper's appendix: exchange two variables that stand near."""

from __future__ import annotations

from typing import Any

import numpy as np

from qwo.graph.resolved_knowledge import Precedence, ResolvedKnowledge
from qwo.options import WHOLE_FROM_1
from qwo.order.protocol import OrderEngine
from qwo.search.control import Control, Run, SearchOutcome, supervise


def hill_climbing(
    engine: OrderEngine,
    *,
    distance: int = 5,
    knowledge: ResolvedKnowledge | None = None,
    control: Control | None = None,
    random_state: Any = None,
) -> SearchOutcome:
    """The order that no exchange of two places i, j with 0 < j - i ≤ distance improves.

    Passes over all pairs in random order; an exchange that improves is kept at once. The search
    stops after a pass that improved nothing, not after a number of random draws.

    Parameters
    ----------
    engine : OrderEngine
        At the order to start from; left at the order found.
    distance : int
        The paper's k: the largest distance of two places that are exchanged.
    knowledge : ResolvedKnowledge, optional
        Exchanges that it forbids are never made.
    control : Control, optional
        Time limit and callback.
    random_state : None, int or Generator
        Seed or source of randomness.
    """
    WHOLE_FROM_1.checked("distance", distance)
    rng = np.random.default_rng(random_state)
    precedence = Precedence.of(knowledge)
    return supervise(
        "hill-climbing",
        engine,
        lambda run: _climb(run, distance, precedence, rng),
        control=control,
        knowledge=knowledge,
    )


def _climb(
    run: Run, distance: int, precedence: Precedence | None, rng: np.random.Generator
) -> None:
    n = run.engine.n_variables
    pairs = [(i, j) for i in range(n) for j in range(i + 1, min(i + distance, n - 1) + 1)]
    before = np.inf
    while run.best < before:
        before = run.best
        for k in rng.permutation(len(pairs)).tolist():
            i, j = pairs[k]
            _exchange(run, i, j, precedence)
        run.next_round()


def _exchange(run: Run, i: int, j: int, precedence: Precedence | None) -> None:
    """Exchange the variables at two places if that is allowed and improves the order."""
    engine = run.engine
    if precedence is not None and not precedence.allows_swap(engine.order[i : j + 1].tolist()):
        return
    run.check()
    run.evaluations += 1
    if run.improves(engine.swap_cost(i, j)):
        run.accept(engine.swap(i, j))
