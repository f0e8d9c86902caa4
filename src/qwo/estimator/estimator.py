"""The estimator `QWO`: `qwo.discover` in the way of scikit-learn."""

from __future__ import annotations

import inspect
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from qwo.arguments import EstimatorArguments, named_engine, takes_options
from qwo.discovery import Discovery
from qwo.discovery.discover import discover_as
from qwo.errors import ArgumentError, InputError, MissingValuesError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.objects import to_networkx
from qwo.inspection.audit import MIN_SAMPLES
from qwo.moments import Moments, read_table
from qwo.moments.tables import Table, is_frame
from qwo.options import OPTIONS, READING, SearchOptions, unknown_argument
from qwo.resample.draws import table_moments
from qwo.sem import fit_sem
from qwo.types import Adjacency

if TYPE_CHECKING:
    import pandas as pd


@takes_options(
    EstimatorArguments,
    says={
        "penalty_discount": "c of the score 2·loglik - c·edges·log N: higher means fewer edges; 1 "
        "is the textbook BIC. `score` lets scikit-learn's searches choose it.",
        "engine": "What builds the DAG of an order, by name, as for `qwo.discover`.",
    },
)
class QWO(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """The causal graph of continuous data as a scikit-learn estimator.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    causal_graph_ : networkx.DiGraph
        The equivalence class (CPDAG) over the names of the variables; an undirected edge is a pair
        of opposite arrows. For a DAG see ``dag_``.
    adjacency_matrix_ : pandas.DataFrame
        ``cpdag_`` with the names on both sides; without pandas, ``cpdag_`` itself.
    cpdag_ : ndarray of int8, n×n
        Entry (i, j) is 1 for i → j; 2, like (j, i), where the data do not tell the direction.
    dag_ : ndarray of int8, n×n
        One member of the class: entry (i, j) is 1 for i → j.
    order_ : ndarray of int
        The causal order found: ``order_[k]`` is the column at place k.
    score_ : float
        The score above, less that of the graph without edges; higher is better.
    n_edges_ : int
        Number of edges.
    status_ : str
        ``"converged"``, ``"time limit"`` or ``"interrupted"``.
    sem_ : LinearSem
        The linear structural equations on ``dag_``, fitted to the data.
    discovery_ : Discovery
        The result of `qwo.discover`, with all there is to know about the search.
    n_features_in_ : int
        Number of variables n.
    feature_names_in_ : ndarray of str
        Names of the variables, if the data are a frame whose names are all strings. Elsewhere
        variables without names are called X0, X1, ….

    See Also
    --------
    qwo.discover : What `fit` calls; explains every parameter.
    qwo.penalty_path : Graphs for a whole range of penalties.

    Examples
    --------
    >>> import qwo
    >>> data, dag, _ = qwo.simulate("er", n_variables=4, n_samples=2000, random_state=1)
    >>> model = qwo.QWO(random_state=0).fit(data)
    >>> bool((model.cpdag_ == qwo.to_cpdag(dag)).all())
    True

    The penalty that predicts held-out data best:

    >>> from sklearn.model_selection import GridSearchCV
    >>> grid = GridSearchCV(model, {"penalty_discount": [1, 2, 4, 1000]}).fit(data)
    >>> grid.best_params_["penalty_discount"] < 1000
    True
    """

    def __init__(self, **parameters: Unpack[EstimatorArguments]) -> None:
        known = inspect.signature(QWO).parameters
        for name in parameters:
            if name not in known:
                raise unknown_argument(QWO, name, known)
        for name, parameter in known.items():
            setattr(self, name, parameters.get(name, parameter.default))

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Learn the graph.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Samples in rows and variables in columns.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the data cannot be used, with the columns and a cure.
        """
        options = self._options()
        table = self._table(X)
        try:
            moments = table_moments(table, self.covariance_estimator, self.missing)
        except MissingValuesError as error:
            error.args = (f"X has NaN or inf: {error.args[0]}",)  # the words of scikit-learn
            raise
        found = discover_as(moments, options)
        self.sem_ = fit_sem(moments, found)
        self._keep(found)
        return self

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn's signature
        """The mean log-likelihood of rows under the model fitted; higher is better.

        Parameters
        ----------
        X : array-like or data frame of shape (rows, n)
            The variables of `fit` in the same order.
        y : ignored

        Returns
        -------
        float
            Per row, with natural logarithms and in the units of the data.
        """
        check_is_fitted(self)
        coded = not self.sem_.variables.coding.is_plain and is_frame(X)
        rows = self._validated(X, reset=False, skip_check_array=coded)
        return float(self.sem_.log_likelihood(rows).mean())

    def _options(self) -> SearchOptions:
        """The parameters, checked; scikit-learn wants that only now."""
        given = {name: value for name, value in vars(self).items() if name in OPTIONS}
        seed = _seed(self.random_state)
        if (rule := READING["missing"].rule) is not None:
            rule.checked("missing", self.missing)
        return named_engine(SearchOptions(**{**given, "random_state": seed}))

    def _table(self, X: Any) -> Table:
        """The data as named columns; notes their number and names as scikit-learn does."""
        if isinstance(X, str | PathLike | Moments):
            raise InputError(
                f"X is a {type(X).__name__}; wanted samples, as an array or a data frame. "
                "qwo.discover takes files and Moments"
            )
        if is_frame(X):
            # What is wrong with a frame can be said by the names of its columns.
            table = read_table(X, types=self.types)
            self._validated(X, skip_check_array=True)
            return table
        values = self._validated(X, ensure_min_samples=MIN_SAMPLES, ensure_min_features=2)
        return read_table(values, types=self.types)

    def _validated(self, X: Any, *, skip_check_array: bool = False, **options: Any) -> Any:
        """What scikit-learn makes of the data, with its checks of shape, type and names."""
        if not skip_check_array:
            # Values that are not finite are left to the audit, which says where they are.
            options |= {"dtype": np.float64, "ensure_all_finite": False}
        try:
            return validate_data(self, X, skip_check_array=skip_check_array, **options)
        except ValueError as error:
            text = getattr(getattr(X, "dtype", None), "kind", "") == "O"
            hint = (
                ". An array of text has no categories, a data frame has: of a ColumnTransformer "
                "set_output(transform='pandas') makes one"
            )
            raise InputError(f"{error}{hint * text}") from error

    def _keep(self, found: Discovery) -> None:
        """Set the attributes of a fitted estimator."""
        graph = CausalGraph(found.names, found.cpdag, "cpdag")
        self.causal_graph_ = to_networkx(graph)
        self.adjacency_matrix_ = _labelled(found.cpdag, found.names)
        self.cpdag_ = found.cpdag
        self.dag_ = found.dag
        self.order_ = found.order
        self.score_ = float(found.score)
        self.n_edges_ = found.n_edges
        self.status_ = found.status
        self.discovery_ = found


def _seed(random_state: Any) -> int | None:
    """The seed for `discover` in what scikit-learn calls a random state."""
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    raise ArgumentError(
        f"random_state is {random_state!r}; wanted an integer, a numpy RandomState or None",
        option="random_state",
    )


def _labelled(matrix: Adjacency, names: tuple[str, ...]) -> pd.DataFrame | Adjacency:
    """The matrix with names on both sides, where pandas is installed."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return matrix
    return pd.DataFrame(matrix, index=list(names), columns=list(names))
