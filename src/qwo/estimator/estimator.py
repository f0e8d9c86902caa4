"""The estimator `QWO`: `qwo.discover` in the way of scikit-learn."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from qwo.discovery import Discovery, discover
from qwo.discovery.choices import EngineName, SearchName
from qwo.errors import ArgumentError, InputError
from qwo.estimator.path_search import count_threads
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.networkx_graph import to_networkx
from qwo.graph.knowledge import KnowledgeLike
from qwo.moments import Moments
from qwo.moments.arrays import Table
from qwo.moments.audit import Missing
from qwo.moments.frames import is_frame
from qwo.moments.table_audit import MIN_SAMPLES
from qwo.moments.tables import as_table
from qwo.resample.options import refuse_engine_object
from qwo.resample.table_moments import table_moments
from qwo.sem import fit_sem
from qwo.types import Adjacency

if TYPE_CHECKING:
    import pandas as pd


class QWO(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """The causal graph of continuous data as a scikit-learn estimator.

    Parameters
    ----------
    search : {"auto", "insertion", "grasp", "hill-climbing"}
        The search over orders.
    engine : {"auto", "bic", "qwo", "reference"}
        What builds the DAG of an order.
    penalty_discount : float
        c of the score 2·loglik - c·edges·log N: higher means fewer edges; 1 is the textbook BIC.
        `score` lets scikit-learn's searches choose it.
    alpha : float, optional
        Level of the QWO engine's edge test, instead of the penalty.
    gamma : float, optional
        The extended BIC adds 2·gamma·log n to the price of an edge.
    restarts : int, optional
        How often the order found is perturbed and repaired, or the search repeated.
    time_limit : float, optional
        Seconds after which the best graph so far is taken.
    random_state : int, RandomState or None
        Seed. The same seed gives the same graph, for any ``n_jobs``.
    n_jobs : int or None
        Threads; -1 means all processors.
    cluster : str or dask.distributed.Client, optional
        A Dask cluster for the restarts, as for `qwo.discover`, best by the address of its
        scheduler: an estimator that holds a client cannot be cloned.
    knowledge : Knowledge, dict, str or path, optional
        Background knowledge, its arguments as a dictionary, or a file of it in Tetrad's format;
        strictly kept.
    start : str or sequence, optional
        Order to start from.
    covariance_estimator : str or object
        ``"plain"``, ``"ledoit-wolf"``, ``"oas"``, or a covariance estimator of scikit-learn.
    missing : {"raise", "drop", "em"}
        Missing values: an error, rows left out, or maximum likelihood; as for `qwo.discover`.

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

    def __init__(
        self,
        *,
        search: SearchName = "auto",
        engine: EngineName = "auto",
        penalty_discount: float = 2.0,
        alpha: float | None = None,
        gamma: float | None = None,
        restarts: int | None = None,
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = 1,
        cluster: Any = None,
        knowledge: KnowledgeLike | None = None,
        start: Any = None,
        covariance_estimator: str | Any = "plain",
        missing: Missing = "raise",
    ) -> None:
        self.search = search
        self.engine = engine
        self.penalty_discount = penalty_discount
        self.alpha = alpha
        self.gamma = gamma
        self.restarts = restarts
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.cluster = cluster
        self.knowledge = knowledge
        self.start = start
        self.covariance_estimator = covariance_estimator
        self.missing = missing

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
        refuse_engine_object(self.engine)
        table = self._table(X)
        moments = table_moments(table, self.covariance_estimator, self.missing)
        found = discover(
            moments,
            search=self.search,
            engine=self.engine,
            penalty_discount=self.penalty_discount,
            alpha=self.alpha,
            gamma=self.gamma,
            restarts=self.restarts,
            time_limit=self.time_limit,
            random_state=_seed(self.random_state),
            n_jobs=count_threads(self.n_jobs),
            cluster=self.cluster,
            knowledge=self.knowledge,
            start=self.start,
        )
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
        rows = self._validated(X, reset=False)
        return float(self.sem_.log_likelihood(rows).mean())

    def _table(self, X: Any) -> Table:
        """The data as named columns; notes their number and names as scikit-learn does."""
        if isinstance(X, str | PathLike | Moments):
            raise InputError(
                f"X is a {type(X).__name__}; wanted samples, as an array or a data frame. "
                "qwo.discover takes files and Moments"
            )
        if is_frame(X):
            # What is wrong with a frame can be said by the names of its columns.
            table = as_table(X)
            self._validated(X, skip_check_array=True)
            return table
        values = self._validated(X, ensure_min_samples=MIN_SAMPLES, ensure_min_features=2)
        return as_table(values)

    def _validated(self, X: Any, *, skip_check_array: bool = False, **options: Any) -> Any:
        """What scikit-learn makes of the data, with its checks of shape, type and names."""
        if not skip_check_array:
            # Values that are not finite are left to the audit, which says where they are.
            options |= {"dtype": np.float64, "ensure_all_finite": False}
        try:
            return validate_data(self, X, skip_check_array=skip_check_array, **options)
        except ValueError as error:
            raise InputError(str(error)) from error

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
        f"random_state is {random_state!r}; wanted an integer, a numpy RandomState or None"
    )


def _labelled(matrix: Adjacency, names: tuple[str, ...]) -> pd.DataFrame | Adjacency:
    """The matrix with names on both sides, where pandas is installed."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return matrix
    return pd.DataFrame(matrix, index=list(names), columns=list(names))
