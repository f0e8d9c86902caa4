"""What functions that search take: the options of the search, and those of reading.

Such a function takes ``**options``; `takes_options` writes its signature and the options' part of
its docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from textwrap import fill, indent
from typing import Any, TypeVar, cast

from qwo.errors import ArgumentError
from qwo.moments.audit import Missing
from qwo.moments.kinds import Types
from qwo.moments.source import ReadArguments, ReadOptions
from qwo.names import suggestion
from qwo.options import (
    OPTIONS,
    PriceArguments,
    ScoreArguments,
    SearchOptions,
    SharedArguments,
    TimeArguments,
    one_of,
)

Function = TypeVar("Function", bound=Any)

MISSING = one_of(Missing)


class SearchArguments(
    SharedArguments, ScoreArguments, PriceArguments, TimeArguments, ReadArguments
):
    """The keyword arguments of `qwo.discover`."""


class ResampleArguments(SharedArguments, ScoreArguments, PriceArguments, ReadArguments):
    """The keyword arguments of `qwo.bootstrap` that are those of a search."""


class PathArguments(SharedArguments, TimeArguments, ReadArguments):
    """The keyword arguments of `qwo.penalty_path` that are those of a search."""


class EstimatorArguments(SharedArguments, PriceArguments, TimeArguments, total=False):
    """The parameters of `qwo.QWO`."""

    types: Types
    missing: Missing
    covariance_estimator: str | Any


READING = {
    "columns, drop": (
        "sequence of names or positions, optional",
        "The columns to take, and those to leave out.",
    ),
    "transform": (
        "str or mapping, optional",
        (
            '``"log"``, ``"log1p"``, ``"rank-normal"`` or ``"standardise"`` for all columns, or a '
            "mapping from column names to these."
        ),
    ),
    "types": (
        "mapping, optional",
        (
            'What columns hold, by name: ``"continuous"``, ``"ordinal"``, ``"nominal"``, '
            '``"binary"``, or a list of levels in their order. Of the others, text and categories '
            "are nominal, and numbers are numbers."
        ),
    ),
    "missing": (
        '{"raise", "drop", "em"}',
        (
            "Whether rows with missing values are an error, are left out, or are used for what "
            "they have (Gaussian maximum likelihood, with an effective sample size), with a "
            "warning."
        ),
    ),
    "covariance_estimator": (
        '{"plain", "ledoit-wolf", "oas", "latent"} or object',
        (
            'The covariance estimator, by name or as one of scikit-learn\'s. ``"latent"`` takes '
            "ordinal and binary columns for pieces of normal variables."
        ),
    ),
    "separator, decimal, header, null_values, weights, memory_limit": (
        "optional",
        "How the rows are read, as for `Moments.from_csv` and `Moments.from_dataset`.",
    ),
}
"""The options of reading in a docstring; `qwo.moments.source.ReadOptions` has them all."""


def takes_options(
    arguments: type, *, says: Mapping[str, str] | None = None
) -> Callable[[Function], Function]:
    """Give a function with ``**options`` the signature and the docstring of all of them.

    In the docstring they take the place of a line ``{options}``.

    Parameters
    ----------
    arguments : TypedDict
        The names of the options that it takes.
    says : mapping, optional
        What an option means in this function, where that differs.
    """

    def decorate(function: Function) -> Function:
        called: Any = vars(function)["__init__"] if isinstance(function, type) else function
        own = list(inspect.signature(called).parameters.values())[:-1]
        first = [p for p in own if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        added = [_parameter(name) for name in _ordered(arguments)]
        called.__signature__ = inspect.Signature([*first, *added, *own[len(first) :]])
        function.__doc__ = _documented(function.__doc__ or "", arguments, says or {})
        return function

    return decorate


def options_given(
    function: Callable[..., Any], given: Mapping[str, Any]
) -> tuple[SearchOptions, ReadArguments]:
    """The ``**options`` of a call, checked: those of the search, and those of reading."""
    known = vars(function)["__signature__"].parameters
    for name in given:
        if name not in known:
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}; "
                f"{suggestion(name, list(known))}"
            )
    if "missing" in given and not MISSING.holds(given["missing"]):
        raise ArgumentError(
            f"missing is {given['missing']!r}; wanted {MISSING.wanted}", option="missing"
        )
    search = {name: value for name, value in given.items() if name in OPTIONS}
    reading = {name: value for name, value in given.items() if name not in OPTIONS}
    return SearchOptions(**search), cast(ReadArguments, reading)


def _ordered(arguments: type) -> list[str]:
    """The names of the options, as they are listed above; then those of reading."""
    taken = arguments.__annotations__
    return [name for name in (*OPTIONS, *ReadArguments.__annotations__) if name in taken]


def _parameter(name: str) -> inspect.Parameter:
    home = SearchOptions if name in OPTIONS else ReadOptions
    found = next(f for f in fields(home) if f.name == name)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=found.default, annotation=found.type
    )


def _documented(text: str, arguments: type, says: Mapping[str, str]) -> str:
    """A docstring with the options in their place."""
    line = next((line for line in text.splitlines() if line.strip() == "{options}"), None)
    if line is None:
        return text
    margin = line[: -len(line.lstrip())]
    told = {name: (option.kind, option.help) for name, option in OPTIONS.items()} | READING
    entries = [
        f"{name} : {kind}\n" + indent(fill(says.get(name, meaning), 88), "    ")
        for name, (kind, meaning) in told.items()
        if name.partition(",")[0] in arguments.__annotations__
    ]
    return text.replace(line, indent("\n".join(entries), margin))
