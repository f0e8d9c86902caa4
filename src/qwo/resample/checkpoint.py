"""The file from which a bootstrap goes on after it was interrupted."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from qwo.errors import ArgumentError, FileFormatError
from qwo.resample.result import Bootstrap
from qwo.resample.store import read_bootstrap, write_bootstrap


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
        return cls(file, read_bootstrap(file) if file.exists() else None)

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
            write_bootstrap(result, self.path)

    def _check(self, stored: Bootstrap, begun: Bootstrap) -> None:
        cure = "give what it was begun with, or another file"
        differing = [
            f"{name} was {_shown(stored.params.get(name))} and is {_shown(value)}"
            for name, value in begun.params.items()
            if name not in ("n_resamples", "tolerance") and not _same(stored, begun, name)
        ]
        if differing:
            raise FileFormatError(f"cannot go on from {self.path}: {', '.join(differing)}; {cure}")
        if stored.fingerprint != begun.fingerprint:
            raise FileFormatError(
                f"cannot go on from {self.path}: it is of other data or other knowledge; {cure}"
            )
        if stored.n_resamples > begun.n_resamples:
            raise FileFormatError(
                f"cannot go on from {self.path}: it is of {stored.n_resamples} replicates, more "
                f"than the {begun.n_resamples} asked for; ask for as many, or give another file"
            )


def _same(stored: Bootstrap, begun: Bootstrap, name: str) -> bool:
    first, second = stored.params.get(name), begun.params[name]
    return _shown(first) == _shown(second)


def _shown(value: object) -> str:
    """A parameter as in a message; what JSON has made a list is a tuple again."""
    return repr(tuple(value) if isinstance(value, list) else value)
