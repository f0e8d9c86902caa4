"""How far a bootstrap has come, for a callback to watch, and as a bar on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tqdm import tqdm


@dataclass(frozen=True, slots=True)
class BootstrapProgress:
    """Where a bootstrap stands.

    Attributes
    ----------
    n_done : int
        Replicates that have come to an end, those of an earlier run included.
    n_wanted : int
        Replicates that this run is to have in the end.
    n_degenerate : int
        Those of them without a graph.
    seconds : float
        Time since the start of the call.
    """

    n_done: int
    n_wanted: int
    n_degenerate: int
    seconds: float


BootstrapCallback = Callable[[BootstrapProgress], bool | None]


@contextmanager
def watched(callback: BootstrapCallback | None, *, shown: bool) -> Iterator[BootstrapCallback]:
    """The user's callback, with a bar in front of it if one is to be shown."""

    def ask(progress: BootstrapProgress) -> bool | None:
        return callback(progress) if callback is not None else None

    if not shown:
        yield ask
        return
    with tqdm(unit=" replicates", desc="bootstrap") as bar:

        def watch(progress: BootstrapProgress) -> bool | None:
            bar.total = progress.n_wanted
            bar.n = progress.n_done
            bar.refresh()
            return ask(progress)

        yield watch
