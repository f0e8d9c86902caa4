"""What a bootstrap goes on from, and the shards of a run put together."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from qwo.errors import ArgumentError, Cure, FileFormatError, MergeError
from qwo.resample.options import LATER_PARAMS
from qwo.resample.result import Bootstrap
from qwo.resample.support import Outcome, have


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A file of a bootstrap, and what it held at the start; without a path, nothing at all."""

    path: Path | None
    stored: Bootstrap | None

    @classmethod
    def at(cls, path: str | os.PathLike[str] | None) -> Self:
        """The checkpoint at a path, which need not be there yet."""
        if path is None:
            return cls(None, None)
        file = Path(path)
        if file.is_dir() or not file.parent.is_dir():
            raise ArgumentError(
                f"checkpoint is {str(file)!r}; wanted a file in a folder that exists"
            )
        return cls(file, Bootstrap.load(file) if file.exists() else None)

    def resumed(self, begun: Bootstrap) -> Bootstrap:
        """What was begun, with the replicates of the file if it has any."""
        stored = self.stored
        if stored is None:
            return begun
        self._check(stored, begun)
        added = begun.n_resamples - stored.n_resamples
        return replace(
            begun,
            directed_counts=stored.directed_counts,
            undirected_counts=stored.undirected_counts,
            outcomes=np.concatenate([stored.outcomes, np.zeros(added, dtype=np.int8)]),
        )

    def save(self, result: Bootstrap) -> None:
        """Write the file anew."""
        if self.path is not None:
            result.save(self.path)

    def _check(self, stored: Bootstrap, begun: Bootstrap) -> None:
        advice = "give what it was begun with, or another file"
        differing = [
            _as_before(name, stored.params.get(name), value)
            for name, value in begun.params.items()
            if name != "n_resamples"
            and _shown(stored.params.get(name, LATER_PARAMS.get(name))) != _shown(value)
        ]
        if differing:
            raise FileFormatError(
                f"cannot go on from {self.path}: it was begun with other options; {advice}",
                cures=differing,
            )
        if stored.fingerprint != begun.fingerprint:
            raise FileFormatError(
                f"cannot go on from {self.path}: it is of other data or other knowledge; {advice}"
            )
        if stored.n_resamples > begun.n_resamples:
            raise FileFormatError(
                f"cannot go on from {self.path}: it is of {stored.n_resamples} replicates, more "
                f"than the {begun.n_resamples} asked for; ask for as many, or give another file"
            )


def _as_before(name: str, before: Any, now: Any) -> Cure:
    """An option as it was when the file was begun."""
    if before is None:
        return Cure(name, now, "was not given then")
    before = tuple(before) if isinstance(before, list) else before
    return Cure(name, before, "was given then" + ("" if now is None else f", and not {now!r}"))


def _shown(value: object) -> str:
    """A parameter as in a message; what JSON has made a list is a tuple again."""
    return repr(tuple(value) if isinstance(value, list) else value)


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
        _check_shards(name, merged, other_name, other)
        merged = replace(
            merged,
            directed_counts=merged.directed_counts + other.directed_counts,
            undirected_counts=merged.undirected_counts + other.undirected_counts,
            outcomes=merged.outcomes + other.outcomes,
        )
    complete = not have(merged.outcomes, Outcome.PENDING).any()
    params = {**merged.params, "shard": None}
    return replace(merged, params=params, status="complete" if complete else "incomplete")


def _check_shards(name: str, merged: Bootstrap, other_name: str, other: Bootstrap) -> None:
    if merged.names != other.names or merged.fingerprint != other.fingerprint:
        differing = [
            Cure(key, merged.params.get(key), f"or {value!r} for both")
            for key, value in other.params.items()
            if key != "shard" and merged.params.get(key) != value
        ]
        seen = "" if differing else ", such as data or knowledge"
        raise MergeError(
            f"{name} and {other_name} are not shards of one run; they differ in what replicates "
            f"depend on{seen}",
            cures=differing,
        )
    if len(merged.outcomes) != len(other.outcomes):
        raise MergeError(
            f"{name} is a shard of {len(merged.outcomes)} replicates, {other_name} of "
            f"{len(other.outcomes)}; run both with the same number",
            cures=[Cure("n_resamples", max(len(merged.outcomes), len(other.outcomes)), "for both")],
        )
    twice = np.flatnonzero((merged.outcomes != 0) & (other.outcomes != 0))
    if twice.size:
        raise MergeError(
            f"{other_name} holds replicates that came before ({twice.size} of them, from number "
            f"{twice[0]} on); give each shard once"
        )
