"""Searches for a sequence of penalties, each of which learns from the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from qwo.discovery import Discovery
from qwo.discovery.discover import discover_as
from qwo.moments import Moments
from qwo.options import Missing, SearchOptions
from qwo.parallel import run_many


@dataclass(frozen=True, eq=False)
class PathSettings:
    """What all searches of a path but for the penalty have in common, and what moments of rows."""

    options: SearchOptions
    covariance_estimator: str | Any = "plain"
    missing: Missing = "raise"

    def with_options(self, **changes: Any) -> PathSettings:
        """The settings with other options."""
        return replace(self, options=replace(self.options, **changes))

    def as_used(self, discovery: Discovery) -> PathSettings:
        """The settings with what was left open as a search has filled it in.

        On parts of the data the same would not always be filled in: gamma, for one, depends on
        whether there are more samples than variables.
        """
        used = {name: discovery.params[name] for name in ("search", "engine", "gamma")}
        return self.with_options(**used)


def search_once(moments: Moments, penalty: float, settings: PathSettings) -> Discovery:
    """The graph for one penalty."""
    return discover_as(moments, replace(settings.options, penalty_discount=penalty))


def search_path(
    moments: Moments,
    penalties: Sequence[float],
    settings: PathSettings,
    *,
    n_jobs: int | None = 1,
    cluster: Any = None,
) -> tuple[Discovery, ...]:
    """The best graph found for each penalty, the largest penalty first.

    A warm start alone often ends in the valley of the order that it came from, so that it competes
    with a search of its own for each penalty: the result is never worse than that of `discover`.
    The searches of their own are independent and may run side by side; warm ones, which are short,
    follow one another.
    """
    # The first fills in what was left open, and warns of it once.
    found = [heard(search_once(moments, penalties[0], settings))]
    settings = settings.as_used(found[0])
    task = partial(_search_own, moments, settings)
    results = run_many(task, penalties[1:], n_jobs=n_jobs, cluster=cluster)
    own = {k: heard(one) for k, one in results}
    for k, penalty in enumerate(penalties[1:]):
        warm = settings.with_options(start=found[-1].order, restarts=0)
        found.append(_best([own[k], heard(search_once(moments, penalty, warm))], penalty))
    return tuple(
        _best_at(penalty, own, found) for penalty, own in zip(penalties, found, strict=True)
    )


def heard(found: Discovery) -> Discovery:
    """A graph of the path, unless Ctrl-C has cut its search short, which ends all of them.

    Nothing is raised where it runs: a worker gets the interrupt key beside the process that it
    works for.
    """
    if found.status == "interrupted":
        raise KeyboardInterrupt
    return found


def score_at(discovery: Discovery, penalty: float) -> float:
    """The score of a graph under another penalty: a line that falls by its edges times log N."""
    params = discovery.params
    less = params["penalty_discount"] - penalty
    return discovery.score + float(less * discovery.n_coefficients * math.log(params["n_samples"]))


def objective_at(discovery: Discovery, penalty: float) -> float:
    """What the search maximises under a penalty: the score less the extended BIC's share of it."""
    extension = 2 * discovery.params["gamma"] * discovery.n_edges * math.log(discovery.n_variables)
    return score_at(discovery, penalty) - float(extension)


def _search_own(moments: Moments, settings: PathSettings, penalty: float) -> Discovery:
    return search_once(moments, penalty, settings)


def _best(found: Sequence[Discovery], penalty: float) -> Discovery:
    """The first of those with the best objective."""
    return max(found, key=lambda discovery: objective_at(discovery, penalty))


def _best_at(penalty: float, own: Discovery, found: Sequence[Discovery]) -> Discovery:
    """The graph of the whole path that is best under a penalty, as the result for it.

    Scores are lines in the penalty, so that this is their upper envelope, on which the number of
    edges never grows with the penalty. A search under a heavy penalty needs it where parents are
    worth their price together but not one by one: it cannot find them, and a lighter penalty can.
    """
    best = _best([own, *found], penalty)
    if best is own:
        return own
    params, evidence = {**best.params, "penalty_discount": penalty}, best.evidence
    if evidence is not None:
        evidence = replace(evidence, price=own.evidence.price) if own.evidence else None
    return replace(best, score=score_at(best, penalty), params=params, evidence=evidence)
