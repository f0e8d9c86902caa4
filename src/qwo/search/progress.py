"""A progress bar for a search: rounds, score and the best so far, on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from qwo.search.control import Callback, Progress


@contextmanager
def progress_bar(callback: Callback | None, *, shown: bool) -> Iterator[Callback | None]:
    """The user's callback, with a bar in front of it if one is to be shown."""
    if not shown:
        yield callback
        return
    with tqdm(unit=" rounds", leave=True) as bar:

        def watch(progress: Progress) -> bool | None:
            bar.set_description(progress.search)
            bar.n = progress.round
            bar.set_postfix_str(f"score {-progress.cost:.2f}, best {-progress.best_cost:.2f}")
            return callback(progress) if callback is not None else None

        yield watch
