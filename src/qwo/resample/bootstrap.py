"""`bootstrap`: how sure each edge of a graph is, by learning it again from resamples."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import partial
from typing import Any, Unpack

import numpy as np

from qwo.arguments import ReadArguments, ResampleArguments, named_engine, takes_options
from qwo.discovery import Discovery
from qwo.discovery.discover import discover_as
from qwo.discovery.resolve import expanded, resolved_knowledge
from qwo.errors import ArgumentError, SampleSizeError
from qwo.names import drawn_seed
from qwo.options import SearchOptions, options_given
from qwo.resample.draws import Resampling
from qwo.resample.options import (
    DataRows,
    Prepared,
    Shard,
    as_used,
    check_resamples,
    check_shard,
    fingerprint_of,
    prepare,
)
from qwo.resample.result import Bootstrap
from qwo.resample.runner import BootstrapCallback, Checkpoint, Replication, Runner, Search, watched


@takes_options(
    ResampleArguments,
    says={
        "engine": "What builds the DAG of an order, by name, as for `qwo.discover`.",
        "random_state": "Seed. The same seed gives the same result. A run that is resumed without "
        "takes its own.",
        "n_jobs": "Processes; -1 for one per processor.",
        "dask": "A Dask cluster to run on instead, or the address of its scheduler.",
    },
)
def bootstrap(
    data: Any,
    *,
    n_resamples: int = 100,
    resampling: Resampling = "halves",
    sample_fraction: float | None = None,
    shard: Shard | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    replicate_time_limit: float | None = None,
    reference: Discovery | None = None,
    callback: BootstrapCallback | None = None,
    progress: bool = False,
    **options: Unpack[ResampleArguments],
) -> Bootstrap:
    """How often each edge is found in resamples of the data.

    The graph of all data is learnt first; then that of every resample, with the same options. The
    result does not depend on the number of workers, on shards, or on interruptions.

    Parameters
    ----------
    data : array-like, data frame, str or path, Moments or Table
        Samples in rows and variables in columns. From `Moments`, which have no rows, resamples are
        drawn as if the rows were normal: the parametric bootstrap.
    n_resamples : int
        How many resamples are drawn.
    resampling : {"halves", "subsamples", "replacement"}
        Complementary halves: every second resample holds the rows that the one before it does not
        (Shah and Samworth, 2013). Or a fraction of the rows, each time anew. Or rows drawn with
        replacement, as in Efron's bootstrap.
    sample_fraction : float, optional
        Size of a resample as a fraction of N, for subsamples (if not given, 0.5) and for rows drawn
        with replacement (1).
    shard : (int, int), optional
        Run only part i of k, as (i, k) with i from 1 to k; `qwo.resample.merge` puts parts
        together.
    checkpoint : path, optional
        A file (.npz) that is kept up to date. If it is there, the run goes on from where it was.
        With more ``n_resamples`` than before, it is extended.
    replicate_time_limit : float, optional
        Seconds for each search; one that is ended by it counts with its best graph. The result then
        depends on the machine.
    reference : Discovery, optional
        The graph of all data, where it has been learnt already with the same options.
    {options}
    callback : callable, optional
        Gets a `BootstrapProgress` now and then; True stops the run.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    Bootstrap
        With what there is so far, if the keyboard interrupts the run.

    Notes
    -----
    The score takes N to be the size of the resample. Drawn with replacement, a resample of N rows
    has only about 0.63 N distinct ones, and correlations by chance have twice the variance there
    that they have in the data: its graph has more edges than that of all data, mostly rare ones.
    Halves have no such edges; weak ones they find less often, as half the data do.

    Examples
    --------
    >>> import qwo
    >>> data, dag, _ = qwo.simulate("er", n_variables=5, n_samples=2000, random_state=1)
    >>> result = qwo.bootstrap(data, n_resamples=50, random_state=1)
    >>> bool((result.consensus_cpdag() == result.reference.cpdag).all())
    True
    """
    started = time.perf_counter()
    given, reading = options_given(bootstrap, options)
    alone: dict[str, Any] = {"time_limit": replicate_time_limit, "n_jobs": 1, "dask": None}
    _refuse_unstored(data, given, shard, checkpoint)
    file = Checkpoint.at(checkpoint)
    seed = _seed(given.random_state, file)
    told = reference.params.get("reference") if isinstance(reference, Discovery) else None
    search = replaced(named_engine(given, counts=True), random_state=seed, reference=told, **alone)
    shard = check_shard(shard, given.random_state)
    plan = _planned(data, search, reading, resampling, sample_fraction)
    reference = _reference(file, plan, reference)
    choices = {
        "n_resamples": check_resamples(n_resamples),
        "resampling": resampling,
        "sample_fraction": None if sample_fraction is None else float(sample_fraction),
        "shard": shard,
    }
    begun = file.resumed(plan.begun(_nothing_yet(plan, reference, choices)))
    runner = Runner(
        problem=plan.replication(seed, reference),
        tally=begun,
        save=file.save,
        n_jobs=given.n_jobs,
        cluster=given.dask,
        seconds_each=max(reference.seconds, 1e-3),
        started=started,
    )
    with watched(callback, shown=progress) as runner.watch:
        status = runner.run(_numbers(shard, begun.n_resamples))
    file.save(result := replaced(runner.tally, status=status))
    _check_enough(result, runner.reason)
    return result


def _refuse_unstored(data: Any, given: SearchOptions, shard: Any, checkpoint: Any) -> None:
    """Refuse what bootstraps with hidden causes do not have."""
    if not given.hidden_causes:
        return
    for option, value in (("shard", shard), ("checkpoint", checkpoint)):
        if value is not None:
            raise ArgumentError(
                f"{option} does not go with hidden_causes: counts of marks are not stored; leave "
                "it out",
                option=option,
            )
    if isinstance(data, Mapping) or "regime" in given.dropped:
        raise ArgumentError(
            "regime and hidden_causes do not go together in a bootstrap: resamples are drawn from "
            "all rows; give a column of 0 and 1 for each condition, and say by knowledge that it "
            "is a root",
            option="regime",
        )


@dataclass(frozen=True, eq=False)
class ResamplePlan:
    """What is drawn and searched: the rows, the options, how they were read.

    ``learn`` gives the graph of all data; ``search`` what every replicate is searched by, given
    that graph, if that is not the usual search; ``begun`` the result without replicates.
    """

    prepared: Prepared
    options: SearchOptions
    reading: dict[str, Any]
    learn: Callable[[], Discovery]
    search: Callable[[Discovery], Search] | None = None
    begun: Callable[[Bootstrap], Bootstrap] = lambda nothing: nothing

    def replication(self, seed: int, reference: Discovery) -> Replication:
        """What every replicate needs."""
        used, order = as_used(self.options, reference)
        search = None if self.search is None else self.search(reference)
        return Replication(self.prepared.source, used, seed, order, search)


def _planned(
    data: Any,
    search: SearchOptions,
    reading: ReadArguments,
    resampling: Resampling,
    sample_fraction: float | None,
) -> ResamplePlan:
    """Rows are drawn from all, or from those of each condition."""
    several, away = isinstance(data, Mapping), set(search.dropped)
    if several or away - {"hidden_causes"}:
        from qwo.resample.dropped import curved_plan, regime_plan

        planned = regime_plan if several or away - {"relations", "arrows"} else curved_plan
        return planned(data, search, reading, resampling, sample_fraction)
    rows = DataRows.of(data, reading)
    prepared = prepare(rows, resampling, sample_fraction, counts=search.score != "bic")
    learn = partial(discover_as, prepared.searched, search)
    plan = ResamplePlan(prepared, search, _reading(rows), learn)
    if away:
        from qwo.resample.dropped import search_marks, with_marks

        plan = replaced(plan, search=lambda _: search_marks, begun=with_marks)
    return plan


def _numbers(shard: Shard | None, n_resamples: int) -> range:
    first, step = (0, 1) if shard is None else (shard[0] - 1, shard[1])
    return range(first, n_resamples, step)


def _seed(random_state: int | None, file: Checkpoint) -> int:
    if random_state is not None:
        return random_state
    if file.stored is not None:
        return int(file.stored.params["random_state"])
    return drawn_seed()


def _reading(rows: DataRows) -> dict[str, Any]:
    """What makes moments of rows, as it is told."""
    estimator = rows.covariance_estimator
    name = estimator if isinstance(estimator, str) else repr(estimator)
    told = {"missing": rows.missing, "covariance_estimator": name}
    clusters = getattr(rows.data, "clusters", None)
    return told if clusters is None else told | {"n_clusters": len(np.unique(clusters))}


def _reference(file: Checkpoint, plan: ResamplePlan, given: Discovery | None) -> Discovery:
    """The graph of all data: that of the checkpoint, the one given, or the one searched for."""
    if file.stored is not None:
        return file.stored.reference
    if given is not None:
        if not isinstance(given, Discovery):
            raise ArgumentError(
                f"reference is of type {type(given).__name__}; wanted what qwo.discover returned",
                option="reference",
            )
        if given.names != plan.prepared.moments.names:
            raise ArgumentError("reference is a graph of other variables", option="reference")
        return given
    found = plan.learn()
    if found.status == "interrupted":
        raise KeyboardInterrupt
    return found


def _nothing_yet(plan: ResamplePlan, reference: Discovery, choices: dict[str, Any]) -> Bootstrap:
    """A bootstrap without replicates."""
    prepared, options = plan.prepared, plan.options
    names = prepared.moments.names
    resolved = resolved_knowledge(options, names)
    searched = expanded(options, len(names)).fingerprint()
    searched["replicate_time_limit"] = searched.pop("time_limit")
    if searched["penalty_discount"] == "auto":
        searched["penalty_discount"] = reference.params["penalty_discount"]
    params = (
        choices
        | plan.reading
        | {
            "method": prepared.method,
            "n_samples": float(prepared.moments.n_samples),
            "resample_size": float(prepared.size),
            **searched,
        }
    )
    params = {k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()}
    none = np.zeros((len(names), len(names)), dtype=np.int32)
    return Bootstrap(
        names=names,
        reference=reference,
        directed_counts=none,
        undirected_counts=none,
        outcomes=np.zeros(choices["n_resamples"], dtype=np.int8),
        status="incomplete",
        params=params,
        fingerprint=fingerprint_of(prepared.digest, params, resolved),
        knowledge=resolved,
    )


def _check_enough(result: Bootstrap, reason: str) -> None:
    """Raise if there is nothing to tell from, or if it would be about a part of the resamples."""
    if result.n_done == 0:
        raise KeyboardInterrupt
    if result.n_degenerate > result.n_done / 2:
        why = f", such as this one: {reason}" if reason else ""
        raise SampleSizeError(
            f"{result.n_degenerate} of {result.n_done} resamples have no graph{why}. What the "
            "others show would not be typical; leave out columns that hardly vary, or give more "
            "rows"
        )
