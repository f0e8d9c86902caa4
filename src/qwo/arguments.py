"""What functions that search take: the options of the search, and those of reading.

Such a function takes ``**options``; `takes_options` writes its signature and the options' part of
its docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

from qwo.errors import ArgumentError, Cure
from qwo.options import (
    OPTIONS,
    READING,
    ArrowSource,
    Columns,
    Device,
    EngineName,
    InterventionName,
    MethodName,
    Missing,
    ObjectiveName,
    Penalty,
    ReadOptions,
    RelationName,
    ScoreName,
    SearchName,
    SearchOptions,
    Transform,
    Types,
    unknown_argument,
)

if TYPE_CHECKING:
    import numpy as np

    from qwo.graph.knowledge import Knowledge, KnowledgeLike
    from qwo.options import Weights
    from qwo.order.bdeu import BDeu
    from qwo.order.protocol import OrderEngine

Function = TypeVar("Function", bound=Any)


class SharedArguments(TypedDict, total=False):
    """The options that every function with a search takes."""

    search: SearchName
    engine: EngineName | OrderEngine
    version: int | None
    depth: float | None
    reach: int | None
    objective: ObjectiveName | None
    gamma: float | None
    restarts: int | None
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    knowledge: KnowledgeLike | None
    start: Any
    device: Device


class ScoreArguments(TypedDict, total=False):
    """What a graph is worth; an estimator of scikit-learn has a method of that name."""

    score: ScoreName | BDeu


class PriceArguments(TypedDict, total=False):
    """What decides how many edges there are."""

    method: MethodName | None
    penalty_discount: Penalty
    alpha: float | None


class TimeArguments(TypedDict, total=False):
    """How long a search may take."""

    time_limit: float | None


class ConditionArguments(TypedDict, total=False):
    """Conditions under which rows were taken, and what they touched."""

    regime: str | int | None
    targets: Mapping[str, Sequence[str]] | str | None
    effect: InterventionName


class AssumptionArguments(TypedDict, total=False):
    """How effects depend on their causes, what directs edges, and whether causes may be hidden."""

    relations: RelationName
    arrows: ArrowSource | None
    level: float
    hidden_causes: bool


class SeriesArguments(TypedDict, total=False):
    """Rows in the order of time."""

    lags: int | str | None
    time: str | int | None
    unit: str | int | None
    within: bool
    difference: bool | Sequence[str] | str | None
    detrend: bool | Sequence[str] | str | None
    season: int | None


class ReadArguments(TypedDict, total=False):
    """The keyword arguments of whatever reads data; `ReadOptions` says what each means."""

    columns: Columns
    drop: Columns
    transform: Transform
    types: Types
    missing: Missing
    covariance_estimator: str | Any
    separator: str | None
    decimal: str
    header: bool
    encoding: str | None
    sheet: str | int | None
    null_values: str | Sequence[str]
    weights: Weights
    cluster: str | int | None
    memory_limit: int | str | None


class SearchArguments(
    SharedArguments,
    ScoreArguments,
    PriceArguments,
    TimeArguments,
    ConditionArguments,
    AssumptionArguments,
    SeriesArguments,
    ReadArguments,
    total=False,
):
    """The keyword arguments of `qwo.discover`."""

    reference: str | None
    feedback: bool


class ResampleArguments(
    SharedArguments,
    ScoreArguments,
    PriceArguments,
    ConditionArguments,
    AssumptionArguments,
    ReadArguments,
    total=False,
):
    """The keyword arguments of `qwo.bootstrap` that are those of a search."""

    dask: Any


class PathArguments(SharedArguments, TimeArguments, ReadArguments, total=False):
    """The keyword arguments of `qwo.penalty_path` that are those of a search."""

    dask: Any


class EstimatorArguments(SharedArguments, PriceArguments, TimeArguments, total=False):
    """The parameters of `qwo.QWO`."""

    types: Types
    missing: Missing
    covariance_estimator: str | Any


def takes_options(
    arguments: type, *, says: Mapping[str, str] | None = None
) -> Callable[[Function], Function]:
    """Give a function with ``**options`` the signature and the docstring of all of them.

    In the docstring they take the place of a line ``{options}``; `says` has what an option means in
    this function, where that differs.
    """
    listed = {own.name: own for own in (*fields(ReadOptions), *fields(SearchOptions))}
    names = (*OPTIONS, *READING)
    taken = {name: listed[name] for name in names if name in arguments.__annotations__}

    def decorate(function: Function) -> Function:
        called: Any = vars(function)["__init__"] if isinstance(function, type) else function
        parameters = list(inspect.signature(called).parameters.values())[:-1]
        first = [p for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        added = [
            inspect.Parameter(
                own.name, inspect.Parameter.KEYWORD_ONLY, default=own.default, annotation=own.type
            )
            for own in taken.values()
        ]
        called.__signature__ = inspect.Signature([*first, *added, *parameters[len(first) :]])
        function.__doc__ = with_options(function.__doc__ or "", taken, says or {})
        return function

    return decorate


def hinting(function: Function) -> Function:
    """The function, whose error at a keyword that it has not says what may be meant."""
    own = list(inspect.signature(function).parameters)
    known = [*own[:-1], *READING] if own[-1] == "reading" else own

    @wraps(function)
    def call(*positional: Any, **given: Any) -> Any:
        for name in given:
            if name not in known:
                raise unknown_argument(function, name, known)
        return function(*positional, **given)

    return cast("Function", call)


def with_options(text: str, taken: Mapping[str, Any], says: Mapping[str, str]) -> str:
    """A docstring with some fields that are options in the place of its line ``{options}``."""
    line = next((line for line in text.splitlines() if line.strip() == "{options}"), None)
    if line is None:
        return text
    entries = [
        f"{name} : {own.metadata['option'].kind}\n"
        + indent(fill(says.get(name, own.metadata["option"].help), 88), "    ")
        for name, own in taken.items()
    ]
    return text.replace(line, indent("\n".join(entries), line[: -len(line.lstrip())]))


def named_engine(options: SearchOptions, *, counts: bool = False) -> SearchOptions:
    """The options, unless one search only can have them.

    An engine is an object that several searches cannot share, and scores that count rows need the
    rows, of which there are only moments where many searches are made, unless whoever asks counts.
    """
    if options.likely:
        cast("Knowledge", options.knowledge).strictly("whatever makes many searches")
    if options.score != "bic" and not counts:
        raise ArgumentError(
            f"score is {repr(options.score)!r}, which counts rows, as only a single search of a "
            "table does (qwo.discover, qwo learn)",
            option="score",
            cures=[Cure("score", "bic", "works on moments")],
        )
    if not isinstance(options.engine, str):
        raise ArgumentError(
            f"engine is a {type(options.engine).__name__}, which holds data and a penalty of its "
            "own; wanted its name. For an engine object call qwo.discover",
            option="engine",
        )
    return options


ReadOptions.__doc__ = with_options(
    ReadOptions.__doc__ or "", {own.name: own for own in fields(ReadOptions)}, {}
)
