"""One bootstrap from the shards of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from qwo.errors import MergeError
from qwo.resample.replicates import Outcome
from qwo.resample.result import Bootstrap


def merge(parts: Iterable[Bootstrap | str | os.PathLike[str]]) -> Bootstrap:
    """The bootstrap of which these are the shards: exactly that of a run without shards.

    Parameters
    ----------
    parts : iterable of Bootstrap or path
        Results of `bootstrap` with ``shard``, or the files that they were saved to, in any order.
        Where shards are missing, the result has the status ``"incomplete"``.

    Raises
    ------
    MergeError
        If they are not of one run, or hold the same replicates.
    """
    loaded = [
        (f"number {place}", part)
        if isinstance(part, Bootstrap)
        else (repr(os.fspath(part)), Bootstrap.load(part))
        for place, part in enumerate(parts, start=1)
    ]
    if not loaded:
        raise MergeError("there is nothing to merge; wanted the shards of a bootstrap")
    (name, merged), *others = loaded
    for other_name, other in others:
        _check(name, merged, other_name, other)
        merged = replace(
            merged,
            directed_counts=merged.directed_counts + other.directed_counts,
            undirected_counts=merged.undirected_counts + other.undirected_counts,
            outcomes=merged.outcomes + other.outcomes,
        )
    complete = not (merged.outcomes == Outcome.PENDING).any()
    params = {**merged.params, "shard": None}
    return replace(merged, params=params, status="complete" if complete else "incomplete")


def _check(name: str, merged: Bootstrap, other_name: str, other: Bootstrap) -> None:
    if merged.names != other.names or merged.fingerprint != other.fingerprint:
        differing = [
            f"{key} {merged.params.get(key)!r} and {value!r}"
            for key, value in other.params.items()
            if key != "shard" and merged.params.get(key) != value
        ]
        seen = f": {', '.join(differing)}" if differing else ", such as data or knowledge"
        raise MergeError(
            f"{name} and {other_name} are not shards of one run; they differ in what replicates "
            f"depend on{seen}"
        )
    if len(merged.outcomes) != len(other.outcomes):
        raise MergeError(
            f"{name} is a shard of {len(merged.outcomes)} replicates, {other_name} of "
            f"{len(other.outcomes)}; run them with the same n_resamples"
        )
    twice = np.flatnonzero((merged.outcomes != 0) & (other.outcomes != 0))
    if twice.size:
        raise MergeError(
            f"{other_name} holds replicates that came before ({twice.size} of them, from number "
            f"{twice[0]} on); give each shard once"
        )
