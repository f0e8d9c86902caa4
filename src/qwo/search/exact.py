"""The best graph of all, by dynamic programming over sets inside the compiled core.

The default search does the same up to 16 variables; this is for a few more, at the price of time
and memory, both of which double with every variable.
"""

from __future__ import annotations

import warnings
from typing import Any

from qwo.errors import ArgumentError, Cure, DataWarning
from qwo.order.bic import BicEngine
from qwo.search.bic_insertion import bic_insertion
from qwo.search.control import Control, SearchOutcome
from qwo.text import count

MOST = 24
"""So many variables take 1.9 GB."""

LARGE = 22
"""From so many on what it takes is said before it begins."""


def takes(n_variables: int) -> str:
    """How much memory and time the best graph of so many variables takes, in words.

    4 (n + 4) 2ⁿ bytes; the time is that of one core of a processor of 2023, 7 ns each set and
    variable.
    """
    sets = 2.0**n_variables
    return (
        f"about {4e-9 * (n_variables + 4) * sets:.2g} GB of memory and "
        f"{7e-9 * n_variables * sets:.1g} s"
    )


def check_exact(n_variables: int, engine: Any, score: Any, restarts: int | None) -> None:
    """Refuse what cannot be proved or no memory suffices for, and say what a large one takes."""
    if engine != "bic" or score != "bic" or restarts:
        raise ArgumentError(
            "search 'exact' goes with the engine 'bic', the score 'bic' and no restarts",
            cures=(Cure("search", "insertion", "goes with others"),),
            option="search",
        )
    if n_variables > MOST:
        raise ArgumentError(
            f"search is 'exact', which goes through all graphs of up to {MOST} variables, and "
            f"there are {n_variables}: that would take {takes(n_variables)}",
            cures=(Cure("search", "insertion", "proves nothing, and takes any number"),),
            option="search",
        )
    if n_variables >= LARGE:
        needs = f"all graphs of {count(n_variables, 'variable')} take {takes(n_variables)}"
        warnings.warn(DataWarning(needs), stacklevel=5)


def exact(engine: BicEngine, *, control: Control | None = None, **shared: Any) -> SearchOutcome:
    """The best graph that the knowledge allows, with at most `engine.max_parents` parents each.

    Where variables all but determine another, rounding would decide: then the insertion search is
    made, a warning says so, and nothing is proved. The core is not interrupted meanwhile.
    """
    control = control or Control()
    begun = control.seconds, engine.cost
    if not engine.take_best(MOST):
        warning = "some variables all but determine another, so that no graph is proved the best"
        warnings.warn(DataWarning(f"{warning}; it is searched for instead"), stacklevel=5)
        return bic_insertion(engine, control=control, **shared)
    trace = begun, (control.seconds, engine.cost)
    return SearchOutcome(engine.order, engine.cost, "converged", trace, 0, 0, proved=True)
