"""Graphs for a range of penalties, and the edges as they appear along it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, get_args

import numpy as np
import numpy.typing as npt

from qwo.arguments import PathArguments, named_engine, takes_options
from qwo.discovery import Discovery
from qwo.errors import HOW_MANY, ArgumentError, Cure, InputError, SampleSizeError
from qwo.estimator.penalty_choice import (
    Method,
    PathSettings,
    PenaltyChoice,
    least_loss,
    lowest_bic,
    most_predictive,
    search_path,
)
from qwo.graph.display import table_html
from qwo.graph.marks import ARROW
from qwo.moments import Moments
from qwo.moments.tables import Table
from qwo.names import check_choice, drawn_seed
from qwo.options import options_given
from qwo.resample.draws import kept_rows, table_moments
from qwo.resample.options import DataRows
from qwo.text import aligned, records_frame
from qwo.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd


DEFAULT_PENALTIES = tuple(2.0 ** (k / 2) for k in range(9))
"""1, √2, 2, …, 16: the textbook BIC, the default of `discover`, and well beyond."""


class PathEdge(NamedTuple):
    """Two variables that are adjacent somewhere on the path.

    Attributes
    ----------
    first, second : str
        The variables, in column order.
    penalty : float
        The largest penalty at which they are adjacent: where the edge appears.
    share : float
        The share of the penalties at which they are adjacent.
    """

    first: str
    second: str
    penalty: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class PenaltyPath:
    """The graphs of one data set for a range of penalties; made by `penalty_path`.

    Attributes
    ----------
    penalties : ndarray
        The penalty_discounts, the largest first, so that edges appear one after the other.
    discoveries : tuple of Discovery
        The graph for each. Their numbers of edges never fall along the path.
    settings : PathSettings
        The settings of the searches, the seed included.
    table : Table or None
        The data; None if only moments were given.
    """

    penalties: FloatArray
    discoveries: tuple[Discovery, ...]
    settings: PathSettings
    table: Table | None = None

    def __post_init__(self) -> None:
        self.penalties.setflags(write=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in column order."""
        return self.discoveries[0].names

    @property
    def n_edges(self) -> npt.NDArray[np.int64]:
        """The number of edges for each penalty."""
        return np.array([discovery.n_edges for discovery in self.discoveries])

    @property
    def scores(self) -> FloatArray:
        """The score for each penalty, each under its own penalty."""
        return np.array([discovery.score for discovery in self.discoveries])

    @cached_property
    def edges(self) -> tuple[PathEdge, ...]:
        """Every pair that is adjacent somewhere, in the order in which they appear."""
        adjacent = np.array([(d.dag | d.dag.T) != 0 for d in self.discoveries])
        first, second = np.nonzero(np.triu(adjacent.any(axis=0)))
        presence = adjacent[:, first, second]
        appears = presence.argmax(axis=0)
        return tuple(
            PathEdge(
                self.names[first[k]],
                self.names[second[k]],
                float(self.penalties[appears[k]]),
                float(presence[:, k].mean()),
            )
            for k in np.argsort(appears, kind="stable")
        )

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """A line for each penalty below a header: edges, those directed, and the score."""
        yield "penalty", "edges", "directed", "score"
        for penalty, found in zip(self.penalties, self.discoveries, strict=True):
            directed = sum(mark == ARROW for _, mark, _ in found.edges)
            yield f"{penalty:.3g}", str(found.n_edges), str(directed), f"{found.score:.2f}"

    def __str__(self) -> str:
        return "\n".join([repr(self), *aligned(list(self.rows()), left=0)])

    def _repr_html_(self) -> str:
        header, *rows = self.rows()
        return f"<p>{escape(repr(self)[1:-1])}</p>{table_html(header, rows)}"

    def edges_table(self) -> pd.DataFrame:
        """`edges` as a pandas data frame."""
        return records_frame(PathEdge._fields, self.edges)

    def choose(
        self,
        method: Method = "held-out",
        *,
        n_folds: int = 5,
        n_jobs: int | None = 1,
        dask: Any = None,
        random_state: int | None = None,
    ) -> PenaltyChoice:
        """A penalty of the path.

        Parameters
        ----------
        method : {"auto", "held-out", "bic"}
            ``"auto"``: as `qwo.discover` chooses, but among those of the path from 2 up: where true
            edges lost and false ones let in cost least. ``"held-out"``: the highest log-likelihood
            of rows that took no part in learning the graph and its equations, by cross-validation.
            ``"bic"``: the textbook BIC, which is in general that of the penalty nearest 1; it costs
            nothing.
        n_folds : int
            Folds of the cross-validation.
        n_jobs : int or None
            Processes among which folds are shared; -1 means one per processor.
        dask : dask.distributed.Client or str, optional
            A Dask cluster to run on instead, or the address of its scheduler.
        random_state : int, optional
            Seed of the folds; that of the path if not given. The same seed gives the
            same choice, for any ``n_jobs``.

        Raises
        ------
        InputError
            If the path was made from moments, and the method needs rows.
        """
        check_choice("method", method, get_args(Method))
        if method == "bic":
            index, values = lowest_bic(self.discoveries)
        elif method == "auto":
            index, values = least_loss(self.discoveries)
        else:
            seed = self.settings.options.random_state if random_state is None else random_state
            given = self._rows(), self.penalties.tolist(), self.settings
            drawn: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs, "cluster": dask}
            index, values = most_predictive(*given, n_folds=n_folds, **drawn)
        penalty = float(self.penalties[index])
        return PenaltyChoice(method, penalty, self.discoveries[index], self.penalties, values)

    def __repr__(self) -> str:
        return (
            f"<PenaltyPath: {len(self.names)} variables, penalties {self.penalties[0]:.4g} to "
            f"{self.penalties[-1]:.4g}, {self.n_edges[0]} to {self.n_edges[-1]} edges>"
        )

    def _rows(self) -> Table:
        if self.table is None:
            raise InputError(
                "choose('held-out') predicts rows, but the path was made from Moments; call "
                "penalty_path with the data themselves, or choose('bic')"
            )
        if not np.isfinite(self.table.values).all():
            raise InputError(
                "choose('held-out') predicts whole rows, but some have missing values; make the "
                "path without them, or take choose('bic')",
                cures=[Cure("missing", "drop", "leaves those rows out")],
            )
        return self.table


@takes_options(
    PathArguments,
    says={
        "engine": "What builds the DAG of an order, by name, as for `qwo.discover`.",
        "time_limit": "Seconds for each single search.",
        "random_state": "Seed. The same seed gives the same path, for any ``n_jobs``.",
        "n_jobs": "Processes among which the searches are shared; -1 means one per processor.",
        "dask": "A Dask cluster to run on instead, or the address of its scheduler.",
    },
)
def penalty_path(
    data: Any, penalties: Iterable[float] | None = None, **options: Unpack[PathArguments]
) -> PenaltyPath:
    """The graphs of one data set for a range of penalties.

    For each penalty, from the largest to the smallest, `qwo.discover` is run from its usual start,
    and its search once more from the order of the penalty before. Then each penalty gets the graph
    of the whole path that scores best under it.

    Parameters
    ----------
    data : array-like, data frame, str or path, or Moments
        Samples in rows and variables in columns.
    penalties : iterable of float, optional
        The penalty_discounts; 1, √2, 2, …, 16 if not given.
    {options}

    Returns
    -------
    PenaltyPath

    Examples
    --------
    >>> import qwo
    >>> data, dag, _ = qwo.simulate("er", n_variables=5, n_samples=400, random_state=1)
    >>> path = qwo.penalty_path(data, [1, 4, 64], random_state=1)
    >>> path
    <PenaltyPath: 5 variables, penalties 64 to 1, 1 to 5 edges>
    >>> path.edges[0]
    PathEdge(first='X0', second='X4', penalty=64.0, share=1.0)
    >>> path.choose("held-out")
    <PenaltyChoice by held-out: penalty_discount 4, 4 edges>
    """
    given, reading = options_given(penalty_path, options)
    descending = _check_penalties(DEFAULT_PENALTIES if penalties is None else penalties)
    rows = DataRows.of(data, reading)
    if isinstance(rows.data, Moments):
        table, moments = None, rows.data
    else:
        moments = table_moments(rows.data, rows.covariance_estimator, rows.missing)
        table = kept_rows(rows.data, rows.missing)
    if moments.is_oracle:
        raise SampleSizeError(
            "exact moments (N = ∞) show the same graph under every penalty; qwo.discover finds it",
            cures=[HOW_MANY],
        )
    seed = given.random_state
    if seed is None:
        seed = drawn_seed()
    each = replace(named_engine(given), random_state=seed, n_jobs=1, dask=None)
    settings = PathSettings(each, rows.covariance_estimator, rows.missing)
    found = search_path(
        moments, descending.tolist(), settings, n_jobs=given.n_jobs, cluster=given.dask
    )
    return PenaltyPath(descending, found, settings.as_used(found[0]), table)


def _check_penalties(penalties: Iterable[float]) -> FloatArray:
    """The penalties as an array, each once, the largest first."""
    try:
        values = np.unique(np.array(list(penalties), dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"penalties are {penalties!r}; wanted numbers above 0") from error
    wrong = [value for value in values.tolist() if not 0 < value < math.inf]
    if wrong or not len(values):
        seen = f"got {wrong[0]:g}" if wrong else "there are none"
        raise ArgumentError(f"penalties must be numbers above 0; {seen}")
    return values[::-1].copy()
