"""Every option of a search, once: its name, type, default, check, help and flag.

`SearchOptions` is the only list; the dictionaries of types below it tell type checkers the same.
`qwo.arguments` writes signatures and docstrings from it, the command line makes its flags from it,
and stored results take their fingerprint. How data are read is `qwo.moments.source.ReadOptions`.

The module is quick to import, for the command line's sake.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from qwo.errors import ArgumentError, Cure

if TYPE_CHECKING:
    import numpy as np

    from qwo.graph.knowledge import KnowledgeLike, ResolvedKnowledge
    from qwo.order.bdeu import BDeu
    from qwo.order.protocol import OrderEngine

MethodName = Literal["qwo-grasp", "qwo-hc"]
SearchName = Literal["auto", "insertion", "grasp", "hill-climbing"]
EngineName = Literal["auto", "qwo", "bic", "reference"]
ScoreName = Literal["bic", "bdeu"]
Device = Literal["cpu", "gpu"]
ObjectiveName = Literal["likelihood", "edges"]
Penalty = float | Literal["auto"]

STARTS = (
    "r2",
    "markov-boundary",
    "conditional-variance",
    "reverse-conditional-variance",
    "spanning-tree",
    "random",
)


@dataclass(frozen=True)
class Rule:
    """What a value must be, in words and to be checked, and the plain type that it is kept as."""

    wanted: str
    holds: Callable[[Any], bool]
    plain: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True)
class Flag:
    """An option on the command line.

    Attributes
    ----------
    names : tuple of str
        ``("--penalty", "-p")``.
    metavar : str
        What stands for its value in the help.
    help : str
        A short text; bold type as in ``[b]auto[/b]``.
    type : object
        What it is there.
    default : object
        Its default there, if that is another one.
    """

    names: tuple[str, ...]
    metavar: str
    help: str
    type: Any
    default: Any = ...


@dataclass(frozen=True)
class Option:
    """What is known of an option besides its name, type and default.

    Attributes
    ----------
    kind : str
        Its type in words.
    help : str
        What it does, in full.
    rule : Rule or None
        What its value must be, if it is given.
    flag : Flag or None
        The option on the command line, if it is there.
    counts : bool
        Whether the graph depends on it.
    """

    kind: str
    help: str
    rule: Rule | None = None
    flag: Flag | None = None
    counts: bool = True


def is_number(value: Any) -> bool:
    """Whether this is a real number, infinite ones included."""
    return type(value) is not bool and isinstance(value, Real) and not math.isnan(value)


def is_whole(value: Any) -> bool:
    """Whether this is an integer of whatever kind."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def whole_number(name: str, value: Any) -> int:
    """An argument that must be an integer of whatever kind."""
    if not is_whole(value):
        raise ArgumentError(f"{name} is {value!r}; wanted a whole number", option=name)
    return operator.index(value)


def one_of(names: Any) -> Rule:
    """One of the names of a Literal."""
    choices = get_args(names)
    wanted = f"one of {', '.join(map(repr, choices))}"
    return Rule(wanted, lambda value: isinstance(value, str) and value in choices)


def _is_engine(value: Any) -> bool:
    return not isinstance(value, str) or value in get_args(EngineName)


def _is_score(value: Any) -> bool:
    return value in get_args(ScoreName) if isinstance(value, str) else hasattr(value, "of")


def _is_workers(value: Any) -> bool:
    from qwo.parallel import count_workers

    count_workers(value)
    return True


PENALTY = Rule(
    "a number above 0, or 'auto'",
    lambda v: (isinstance(v, str) and v == "auto") or (is_number(v) and 0 < v < math.inf),
    lambda v: v if isinstance(v, str) else float(v),
)
ABOVE_0 = Rule("a number above 0", lambda v: is_number(v) and 0 < v < math.inf, float)
FROM_0 = Rule("a number from 0 up", lambda v: is_number(v) and 0 <= v < math.inf, float)
SECONDS = Rule("a number of seconds from 0", lambda v: is_number(v) and v >= 0, float)
SHARE = Rule("a number between 0 and 1", lambda v: is_number(v) and 0 < v < 1, float)
WHOLE_FROM_0 = Rule("a whole number from 0 up", lambda v: is_whole(v) and v >= 0, operator.index)
WHOLE_FROM_1 = Rule("a whole number from 1 up", lambda v: is_whole(v) and v >= 1, operator.index)
STEPS = Rule(
    "a whole number from 1 up, or math.inf",
    lambda v: is_number(v) and v >= 1 and (v == math.inf or v == int(v)),
    lambda v: v if v == math.inf else int(v),
)
VERSION = Rule("0, 1 or 2", lambda v: is_whole(v) and v in (0, 1, 2), operator.index)
ENGINE = Rule(f"one of {get_args(EngineName)}, or an object that follows the protocol", _is_engine)
SCORE = Rule(f"one of {get_args(ScoreName)}, or a qwo.order.bdeu.BDeu", _is_score)
WORKERS = Rule("a number of threads, or -1 for all", _is_workers)


def _option(
    kind: str,
    text: str,
    *,
    rule: Rule | None = None,
    flag: Flag | None = None,
    counts: bool = True,
) -> dict[str, Option]:
    return {"option": Option(kind, text, rule, flag, counts)}


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchOptions:
    """What a search for a graph can be told."""

    method: MethodName | None = field(
        default=None,
        metadata=_option(
            '{"qwo-grasp", "qwo-hc"}, optional',
            "A method of the paper, exactly: GRaSP₀ of depth 3, or hill climbing over exchanges "
            "of at most k = 5 places; on the number of edges of G^π, with Fisher's z-test at "
            "level 2/n² and the start by Markov boundaries. It stands for search, engine, "
            "version, depth, reach, objective, alpha, start and restarts, which are left out then.",
            rule=one_of(MethodName),
            flag=Flag(
                ("--method",),
                "NAME",
                "A method of the paper, exactly: [b]qwo-grasp[/b] or [b]qwo-hc[/b].",
                type=MethodName,
            ),
            counts=False,
        ),
    )
    search: SearchName = field(
        default="auto",
        metadata=_option(
            '{"auto", "insertion", "grasp", "hill-climbing"}',
            "The search over orders.",
            rule=one_of(SearchName),
            flag=Flag(
                ("--search",),
                "NAME",
                "[b]auto[/b], [b]insertion[/b], [b]grasp[/b] or [b]hill-climbing[/b].",
                type=SearchName,
            ),
        ),
    )
    engine: EngineName | OrderEngine = field(
        default="auto",
        metadata=_option(
            '{"auto", "bic", "qwo", "reference"} or OrderEngine',
            "What builds the DAG of an order: the exact BIC, G^π from the order factor, G^π by the "
            "paper's Algorithm 1 (slow), or an object that follows the engine protocol.",
            rule=ENGINE,
            flag=Flag(
                ("--engine",),
                "NAME",
                "What builds the graph of an order: [b]auto[/b], [b]bic[/b] (exact), [b]qwo[/b], "
                "or [b]reference[/b] (the paper's Algorithm 1, slow).",
                type=EngineName,
            ),
        ),
    )
    score: ScoreName | BDeu = field(
        default="bic",
        metadata=_option(
            '{"bic", "bdeu"} or BDeu',
            "What a graph is worth: the BIC of a linear model, categories being blocks of "
            'indicators, or ``"bdeu"``, the probability of a table that holds nothing but '
            "categories, under any dependence between them. The latter counts rows, in Python: "
            "seconds for 20 variables, a minute for 50.",
            rule=SCORE,
            flag=Flag(
                ("--score",),
                "NAME",
                "[b]bic[/b], or [b]bdeu[/b] for tables of nothing but categories (slower).",
                type=ScoreName,
            ),
        ),
    )
    version: int | None = field(
        default=None,
        metadata=_option(
            "{0, 1, 2}, optional",
            "Which edges GRaSP tucks: covered ones, singular ones too, or all (if not given).",
            rule=VERSION,
            flag=Flag(("--grasp-version",), "V", "GRaSP₀, GRaSP₁ or GRaSP₂.", type=int),
        ),
    )
    depth: float | None = field(
        default=None,
        metadata=_option(
            "int or math.inf, optional",
            "How many tucks GRaSP tries in a row; 3 if not given.",
            rule=STEPS,
            flag=Flag(("--depth",), "D", "Tucks of GRaSP in a row, or inf.", type=float),
        ),
    )
    reach: int | None = field(
        default=None,
        metadata=_option(
            "int, optional",
            "The paper's k: over how many places hill climbing exchanges variables; 5 if not "
            "given.",
            rule=WHOLE_FROM_1,
            flag=Flag(("--reach",), "K", "Places over which hill climbing exchanges.", type=int),
        ),
    )
    objective: ObjectiveName | None = field(
        default=None,
        metadata=_option(
            '{"edges", "likelihood"}, optional',
            "What an order costs to the engines that build G^π: its edges (if not given, for "
            "GRaSP) or the capped likelihood (for the other searches).",
            rule=one_of(ObjectiveName),
            flag=Flag(
                ("--objective",),
                "NAME",
                "Cost of an order to the QWO engine: [b]edges[/b] or [b]likelihood[/b].",
                type=ObjectiveName,
            ),
        ),
    )
    penalty_discount: Penalty = field(
        default="auto",
        metadata=_option(
            'float or "auto"',
            "c of the score 2·loglik - c·edges·log N: higher means fewer edges; 1 is the textbook "
            'BIC. ``"auto"`` chooses it from the data, from 2 (1.5 with categories) to 4.5, where '
            "the false edges that chance would give weigh as much as the true ones that a higher "
            "price would lose; for exact moments, fewer than 20 samples and other engines than the "
            "exact BIC it is 2.",
            rule=PENALTY,
            flag=Flag(
                ("--penalty", "-p"),
                "C",
                "Price of an edge, in units of log N: higher means fewer edges, 1 is the BIC, "
                "[b]auto[/b] chooses it from the data.",
                type=str,
            ),
        ),
    )
    alpha: float | None = field(
        default=None,
        metadata=_option(
            "float, optional",
            "Level of the QWO engine's edge test, instead of the penalty.",
            rule=SHARE,
            flag=Flag(
                ("--alpha",),
                "LEVEL",
                "Level of the edge test of the QWO engine, instead of the penalty.",
                type=float,
            ),
        ),
    )
    gamma: float | None = field(
        default=None,
        metadata=_option(
            "float, optional",
            "The extended BIC adds 2·gamma·log n to the price of an edge. If not given, 0 for more "
            "samples than variables or a price chosen from the data, else 0.5 (with a warning): "
            "among that many candidates the plain BIC draws many false edges.",
            rule=FROM_0,
            flag=Flag(
                ("--gamma",),
                "G",
                "Extended BIC: 2·G·log n more for an edge. If not given 0, or 0.5 for more "
                "variables than samples.",
                type=float,
            ),
        ),
    )
    restarts: int | None = field(
        default=None,
        metadata=_option(
            "int, optional",
            "How often the order found is perturbed and repaired (insertion; 20 if not given; up "
            "to 200 variables more follow where that helps, and up to 500 the search starts from "
            "further orders, too; 0 for the search from the first order alone), or the search is "
            "repeated from a random order (the others; 0 if not given).",
            rule=WHOLE_FROM_0,
            flag=Flag(("--restarts",), "R", "More find better graphs, at length.", type=int),
        ),
    )
    time_limit: float | None = field(
        default=None,
        metadata=_option(
            "float, optional",
            "Seconds after which the best graph so far is returned.",
            rule=SECONDS,
            flag=Flag(
                ("--time-limit",),
                "SECONDS",
                "Then the best graph so far is the result.",
                type=float,
            ),
        ),
    )
    random_state: int | None = field(
        default=None,
        metadata=_option(
            "int, optional",
            "Seed. The same seed gives the same graph, for any ``n_jobs``.",
            rule=WHOLE_FROM_0,
            flag=Flag(
                ("--seed",),
                "S",
                "The same seed gives the same graph, for any number of threads.",
                type=int,
                default=0,
            ),
        ),
    )
    n_jobs: int | None = field(
        default=1,
        metadata=_option(
            "int",
            "Threads; -1 for one per processor.",
            rule=WORKERS,
            flag=Flag(
                ("--jobs", "--threads", "-j"), "J", "Threads; -1 for one per processor.", type=int
            ),
            counts=False,
        ),
    )
    cluster: Any = field(
        default=None,
        metadata=_option(
            "dask.distributed.Client or str, optional",
            "A Dask cluster, or the address of its scheduler, for the restarts of an insertion "
            "search on the exact BIC: they run in chains of twenty or more, at most eight, so "
            "that up to 20 of them run here. The graph is the same.",
            flag=Flag(
                ("--cluster",),
                "ADDRESS",
                "Run resamples, and restarts beyond 20, on a Dask cluster, given its scheduler's "
                "address.",
                type=str,
            ),
            counts=False,
        ),
    )
    knowledge: KnowledgeLike | None = field(
        default=None,
        metadata=_option(
            "Knowledge, mapping, str or path, optional",
            "Background knowledge, its arguments by name, or a file of it in Tetrad's format; "
            "strictly kept.",
            counts=False,
        ),
    )
    start: Any = field(
        default=None,
        metadata=_option(
            "str or sequence, optional",
            'Order to start from: ``"r2"`` (default), ``"markov-boundary"`` (as in the paper) '
            'or ``"spanning-tree"`` (default of GRaSP and hill climbing: whichever of these two '
            'costs less as it stands), ``"conditional-variance"``, '
            '``"reverse-conditional-variance"``, ``"random"``, or all variables by name or number.',
            flag=Flag(
                ("--start",),
                "ORDER",
                f"Order to start from: {', '.join(STARTS)}, or all names, as in A,B,C.",
                type=str,
            ),
        ),
    )

    device: Device = field(
        default="cpu",
        metadata=_option(
            '{"cpu", "gpu"}',
            "Where the dense algebra runs: moments of rows, factorisation and inverse of the "
            'correlation matrix, lists of candidates. ``"gpu"`` takes a CUDA device and CuPy; it '
            "pays with thousands of variables, and changes nothing but the rounding.",
            rule=one_of(Device),
            flag=Flag(
                ("--device",),
                "NAME",
                "Where dense algebra runs: [b]cpu[/b], or [b]gpu[/b] (CUDA, for thousands of "
                "variables).",
                type=Device,
            ),
            counts=False,
        ),
    )

    def __post_init__(self) -> None:
        """Check every value, and keep it as a plain type of Python."""
        for name, option in OPTIONS.items():
            value, rule = getattr(self, name), option.rule
            if rule is None or value is DEFAULTS[name]:
                continue
            if not rule.holds(value):
                raise ArgumentError(f"{name} is {value!r}; wanted {rule.wanted}", option=name)
            object.__setattr__(self, name, rule.plain(value))
        if self.knowledge is not None:
            from qwo.graph.knowledge import as_knowledge

            object.__setattr__(self, "knowledge", as_knowledge(self.knowledge))

    def settled(self, **values: Any) -> SearchOptions:
        """The options with what was left open, in values that need no check any more."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, **values)
        return twin

    def resolved_knowledge(self, names: Sequence[str]) -> ResolvedKnowledge | None:
        """The knowledge about variables of these names, if there is any."""
        from qwo.graph.knowledge import as_knowledge

        return None if self.knowledge is None else as_knowledge(self.knowledge).resolve(names)

    def expanded(self, n_variables: int) -> SearchOptions:
        """The options that a method of the paper stands for; those given if there is none."""
        if self.method is None:
            return self
        from qwo.order.edge_test import paper_level

        fixed = METHODS[self.method] | {"alpha": paper_level(n_variables)}
        for name, value in fixed.items():
            given = getattr(self, name)
            if given is not None and given not in (DEFAULTS[name], value):
                raise ArgumentError(
                    f"{name} is {given!r}, but the method {self.method!r} takes {value!r}; leave "
                    "one of them out",
                    option=name,
                )
        return replace(self, **fixed)

    @property
    def discount(self) -> float:
        """The penalty as a number, which it is once it has been chosen."""
        assert not isinstance(self.penalty_discount, str)
        return self.penalty_discount

    def engine_name(self) -> str:
        """The engine's name, or the class of one that the user brought along."""
        return self.engine if isinstance(self.engine, str) else type(self.engine).__name__

    def score_name(self) -> str:
        """The score's name, or how one that the user brought along is made."""
        return self.score if isinstance(self.score, str) else repr(self.score)

    def described(self) -> dict[str, Any]:
        """All that a result can tell of them: no clients, no knowledge, no whole orders."""
        values = {name: getattr(self, name) for name in OPTIONS if name not in UNTOLD}
        start = self.start if self.start is None or isinstance(self.start, str) else "given"
        return values | {
            "engine": self.engine_name(),
            "score": self.score_name(),
            "start": start,
        }

    def fingerprint(self) -> dict[str, Any]:
        """What the graph depends on, as values that JSON has; without the knowledge."""
        values = {name: getattr(self, name) for name, option in OPTIONS.items() if option.counts}
        named = self.start is None or isinstance(self.start, str)
        start = self.start if named else [str(variable) for variable in self.start]
        return values | {
            "engine": self.engine_name(),
            "score": self.score_name(),
            "start": start,
        }


OPTIONS: dict[str, Option] = {f.name: f.metadata["option"] for f in fields(SearchOptions)}
"""What is known of each option, by name."""

DEFAULTS: dict[str, Any] = {f.name: f.default for f in fields(SearchOptions)}

UNTOLD = ("cluster", "knowledge")

_PAPER = {"engine": "qwo", "objective": "edges", "start": "markov-boundary", "restarts": 0}

METHODS: dict[str, dict[str, Any]] = {
    "qwo-grasp": {**_PAPER, "search": "grasp", "version": 0, "depth": 3},
    "qwo-hc": {**_PAPER, "search": "hill-climbing", "reach": 5},
}
"""The methods of the paper by their options; the level of the edge test depends on n."""


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
    cluster: Any
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


def named_engine(options: SearchOptions) -> SearchOptions:
    """The options, unless one search only can have them.

    An engine is an object that several searches cannot share, and scores that count rows need the
    rows, of which there are only moments where many searches are made.
    """
    if options.score != "bic":
        raise ArgumentError(
            f"score is {options.score_name()!r}, which counts rows, as only a single search of a "
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
