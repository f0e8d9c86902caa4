"""Every option of searching and of reading, once: name, type, default, rule, help and flag.

`SearchOptions` and `ReadOptions` are the only lists; the dictionaries of types below tell type
checkers the same. Signatures, docstrings, checks, flags, fingerprints and the record of a result
follow from them. The module is quick to import, for the command line's sake.
"""

# Long because it is the one list of all options.

from __future__ import annotations

import codecs
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

from qwo.errors import ArgumentError, Cure

if TYPE_CHECKING:
    import numpy.typing as npt

    from qwo.arguments import ReadArguments
    from qwo.graph.knowledge import KnowledgeLike
    from qwo.order.bdeu import BDeu
    from qwo.order.protocol import OrderEngine

    Weights = str | int | npt.ArrayLike | None

MethodName = Literal["qwo-grasp", "qwo-hc"]
SearchName = Literal["auto", "insertion", "exact", "grasp", "hill-climbing"]
EngineName = Literal["auto", "qwo", "bic", "reference"]
ScoreName = Literal["bic", "bdeu"]
Device = Literal["cpu", "gpu"]
ObjectiveName = Literal["likelihood", "edges"]
Penalty = float | Literal["auto"]
Missing = Literal["raise", "drop", "em"]
InterventionName = Literal["soft", "perfect"]
RelationName = Literal["linear", "curved"]
ArrowSource = Literal["class", "noise"]
EstimatorName = Literal["plain", "ledoit-wolf", "oas", "latent"]
Kind = Literal["continuous", "ordinal", "nominal", "binary"]
Columns = Sequence[str | int] | None
TransformName = Literal["log", "log1p", "rank-normal", "standardise", "standardize"]
Transform = TransformName | Mapping[str, TransformName] | None
"""One transformation for all columns, or that of each column named; None for none."""
Types = Mapping[str, Kind | Sequence[object]] | None
"""The types of some columns by name; a list of levels, the lowest first, makes one ordinal."""

DEFAULT_LEVEL = 3.0
"""Standard errors of evidence from which the noise directs an edge."""

STARTS = (
    "r2",
    "markov-boundary",
    "conditional-variance",
    "reverse-conditional-variance",
    "spanning-tree",
    "random",
)
QUOTED = ", ".join(f'``"{name}"``' for name in STARTS)
BY_VALUE = (None, "log", "log1p")
"""Transformations for which a value need not know the others."""


@dataclass(frozen=True)
class Rule:
    """What a value must be, in words and to be checked, and the plain type that it is kept as."""

    wanted: str
    holds: Callable[[Any], bool]
    plain: Callable[[Any], Any] = lambda value: value

    def checked(self, name: str, value: Any) -> Any:
        """The value of an option as a plain type; refused if it is not what is wanted."""
        if not self.holds(value):
            raise ArgumentError(f"{name} is {value!r}; wanted {self.wanted}", option=name)
        return self.plain(value)


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


PENALTY = Rule(
    "a number above 0, or 'auto'",
    lambda v: (isinstance(v, str) and v == "auto") or (is_number(v) and 0 < v < math.inf),
    lambda v: v if isinstance(v, str) else float(v),
)
FROM_0 = Rule("a number from 0 up", lambda v: is_number(v) and 0 <= v < math.inf, float)
ABOVE_0 = Rule("a number above 0", lambda v: is_number(v) and 0 < v < math.inf, float)
SECONDS = Rule("a number of seconds from 0", lambda v: is_number(v) and v >= 0, float)
SHARE = Rule("a number between 0 and 1", lambda v: is_number(v) and 0 < v < 1, float)
UP_TO_1 = Rule("a share between 0 and 1", lambda v: is_number(v) and 0 <= v <= 1, float)
WHOLE_FROM_0 = Rule("a whole number from 0 up", lambda v: is_whole(v) and v >= 0, operator.index)
WHOLE_FROM_1 = Rule("a whole number from 1 up", lambda v: is_whole(v) and v >= 1, operator.index)
STEPS = Rule(
    "a whole number from 1 up, or math.inf",
    lambda v: is_number(v) and v >= 1 and (v == math.inf or v == int(v)),
    lambda v: v if v == math.inf else int(v),
)
FLAG = Rule("True or False", lambda v: isinstance(v, bool))
VERSION = Rule("0, 1 or 2", lambda v: is_whole(v) and v in (0, 1, 2), operator.index)


def estimator_name(estimator: Any) -> str:
    """What to call a covariance estimator: its keyword, or the name of its class."""
    choices = get_args(EstimatorName)
    if isinstance(estimator, str):
        if estimator in choices:
            return estimator
    elif callable(getattr(estimator, "fit", None)) and not isinstance(estimator, type):
        return type(estimator).__name__
    raise ArgumentError(
        f"covariance_estimator is {estimator!r}; wanted one of {', '.join(map(repr, choices))}, or "
        "a covariance estimator with the methods of scikit-learn's, such as GraphicalLasso()",
        option="covariance_estimator",
    )


ENGINE = Rule(
    f"one of {get_args(EngineName)}, or an object that follows the protocol",
    lambda v: not isinstance(v, str) or v in get_args(EngineName),
)
SCORE = Rule(
    f"one of {get_args(ScoreName)}, or a qwo.order.bdeu.BDeu",
    lambda v: v in get_args(ScoreName) if isinstance(v, str) else hasattr(v, "of"),
)


def _parsed_targets(value: Any) -> dict[str, list[str]] | str:
    """Targets by condition, also from text such as ``drug=Akt,Mek;cold=PKC``, or a column."""
    if isinstance(value, str):
        if value.strip() and "=" not in value:
            return value
        parts = [part.partition("=") for part in value.split(";") if part.strip()]
        if not all(equals for _, equals, _ in parts):
            raise ValueError(value)
        return {
            label.strip(): [name.strip() for name in names.split(",") if name.strip()]
            for label, _, names in parts
        }
    return {str(k): [v] if isinstance(v, str) else [str(u) for u in v] for k, v in value.items()}


def _are_targets(value: Any) -> bool:
    try:
        _parsed_targets(value)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


TARGETS = Rule(
    "a mapping from conditions to lists of variables, text such as drug=Akt,Mek;cold=PKC, or the "
    "name of a column of targets",
    _are_targets,
    _parsed_targets,
)


def _is_lags(value: Any) -> bool:
    if isinstance(value, str):
        return value == "auto" or (value.isdigit() and int(value) < MOST_LAGS)
    return is_whole(value) and 0 <= value < MOST_LAGS


MOST_LAGS = 1000
LAGS = Rule(
    "a whole number of rows from 0 up, or 'auto'", _is_lags, lambda v: v if v == "auto" else int(v)
)
SEASON = Rule(
    "a whole number of rows from 2 up, or 0 for none",
    lambda v: is_whole(v) and v >= 0 and v != 1,
    operator.index,
)


def _some_columns(value: Any) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        every = {"all": True, "none": False}.get(value)
        return tuple(part.strip() for part in value.split(",")) if every is None else every
    return tuple(str(name) for name in value)


SOME_COLUMNS = Rule(
    "True for all columns, or a list of names",
    lambda v: isinstance(v, bool | str) or hasattr(v, "__iter__"),
    _some_columns,
)


def _is_workers(value: Any) -> bool:
    from qwo.compute import count_workers

    return count_workers(value) > 0


WORKERS = Rule("a number of threads, or -1 for all", _is_workers)
START = Rule(
    f"one of {', '.join(map(repr, STARTS))}, or all variables by name or number",
    lambda v: isinstance(v, str) or hasattr(v, "__iter__"),
)
MARKS = Rule(
    "text that marks missing values, such as '-999', or a list of such",
    lambda v: isinstance(v, str) or hasattr(v, "__iter__"),
    lambda v: (v,) if isinstance(v, str) else tuple(map(str, v)),
)


def _is_codec(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(codecs.lookup(value))
    except LookupError:
        return False


CODEC = Rule("the name of an encoding, such as latin-1, cp1252 or utf-16", _is_codec)
SHEET = Rule(
    "the name of a sheet, or its number from 0",
    lambda v: isinstance(v, str) or (is_whole(v) and v >= 0),
)
CLUSTER = Rule(
    "the name or the position of a column", lambda v: isinstance(v, str) or (is_whole(v) and v >= 0)
)
ESTIMATOR = Rule("the name of an estimator, or one", lambda v: bool(estimator_name(v)))


@dataclass(frozen=True)
class Flag:
    """An option on the command line; the metavar stands for its value in the help."""

    names: tuple[str, ...]
    metavar: str
    help: str
    type: Any
    default: Any = ...
    panel: str = ""


@dataclass(frozen=True)
class Option:
    """What is known of an option besides its name and default.

    That is: its type in words, what it does, what its value must be, its flag if it has one, and
    whether the graph depends on it.
    """

    kind: str
    help: str
    rule: Rule | None = None
    flag: Flag | None = None
    counts: bool = True


def option(
    default: Any,
    kind: Any,
    text: str,
    rule: Rule | None = None,
    flag: str = "",
    *,
    counts: bool = True,
    flag_default: Any = ...,
    **flagged: Any,
) -> Any:
    """A field that is an option.

    Its kind is its type in words, or a Literal of the names among which it is chosen, which is its
    rule then. The first sentence of the text is the help of its flag, which is given by names and
    placeholder, as in ``"--penalty -p C"``; type, default and panel of the flag are given where
    they do not follow. It counts if the graph depends on it.
    """
    typed: Any = float if rule and rule.plain is float else str
    if rule and rule.plain is operator.index:
        typed = int
    if not isinstance(kind, str):
        names, typed = get_args(kind), kind
        wanted = f"one of {', '.join(map(repr, names))}"
        rule = rule or Rule(wanted, lambda value: isinstance(value, str) and value in names)
        quoted = ", ".join(f'"{name}"' for name in names)
        kind = f"{{{quoted}}}" + (", optional" if default is None else "")
    made = None
    if flag:
        words = flag.split()
        called = tuple(word for word in words if word.startswith("-"))
        metavar = " ".join(words[len(called) :])
        flagged = {"type": typed, "default": flag_default} | flagged
        made = Flag(called, metavar, _flag_help(text), **flagged)
    return field(default=default, metadata={"option": Option(kind, text, rule, made, counts)})


def _flag_help(text: str) -> str:
    """The first sentence, with values in bold type instead of quotes."""
    first = re.split(r"(?<=\.)\s", text, maxsplit=1)[0]
    return re.sub(r'``"(.*?)"``', r"[b]\1[/b]", first)


@cache
def _fields_of(kind: type) -> tuple[tuple[Field[Any], ...], Callable[[Any], tuple[Any, ...]]]:
    known = fields(kind)
    return known, operator.attrgetter(*[own.name for own in known])


def check_values(record: Any) -> None:
    """Check every value of a record against its rule, and keep it as a plain type of Python."""
    known, values_of = _fields_of(record.__class__)
    for own, value in zip(known, values_of(record), strict=True):
        if value is own.default:
            continue
        rule = own.metadata["option"].rule
        if rule is not None:
            object.__setattr__(record, own.name, rule.checked(own.name, value))
        if own.name in OF_SERIES and record.lags is None and value is not False:
            raise ArgumentError(
                f"{own.name} is {value!r}, which is about rows in the order of time, but no lags "
                "are asked for",
                option=own.name,
                cures=[Cure("lags", "auto", "looks at earlier rows")],
            )
        drops = OF_CONDITIONS.get(own.name, own.name)
        if drops in DROPPING and repr(value) != repr(own.default):
            object.__setattr__(record, "dropped", tuple(dict.fromkeys((*record.dropped, drops))))


OF_SERIES = ("time", "unit", "within", "difference", "detrend", "season")
"""Options that mean something with lags only."""

OF_CONDITIONS = {"targets": "regime", "reference": "regime"}
"""Options about conditions, which are told apart by a column or by tables of their own."""

DROPPING = ("lags", "regime", "relations", "arrows", "feedback", "hidden_causes")
"""Options that drop an assumption of the default; `qwo.discovery.readings` says who answers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchOptions:
    """What a search for a graph can be told."""

    dropped: ClassVar[tuple[str, ...]] = ()
    """Which assumptions are dropped, by the option that asks for it."""
    likely: ClassVar[tuple[tuple[Any, Any, float], ...]] = ()
    """Probabilities of edges beforehand."""

    method: MethodName | None = option(
        None,
        MethodName,
        'A method as the paper defines it: ``"qwo-grasp"`` or ``"qwo-hc"``. These are GRaSP₀ of '
        "depth 3, and hill climbing over exchanges of at most k = 5 places; on the number of edges "
        "of G^π, with Fisher's z-test at level 2/n², for which the paper names neither test nor "
        "level, and the start by Markov boundaries. It stands "
        "for search, engine, version, depth, reach, objective, alpha, start and restarts, which "
        "are left out then.",
        flag="--method NAME",
        counts=False,
    )
    search: SearchName = option(
        "auto",
        SearchName,
        'The search over orders: ``"auto"``, ``"insertion"``, ``"grasp"`` or ``"hill-climbing"``; '
        '``"exact"`` proves the best graph: of up to 24 variables, or of 64 if those that may '
        "cause each other fall into groups of up to 24.",
        flag="--search NAME",
    )
    engine: EngineName | OrderEngine = option(
        "auto",
        '{"auto", "bic", "qwo", "reference"} or OrderEngine',
        'What builds the graph of an order: ``"auto"``, ``"bic"`` (exact), ``"qwo"`` (as the paper '
        'has it), or ``"reference"`` (the same by its Algorithm 1, slow). Or an object '
        "that follows the engine protocol.",
        ENGINE,
        "--engine NAME",
        type=EngineName,
    )
    score: ScoreName | BDeu = option(
        "bic",
        '{"bic", "bdeu"} or BDeu',
        'Score of a graph: ``"bic"``, or ``"bdeu"`` for tables of categories only '
        "(slower). The former is that of a linear model, categories being blocks of indicators; "
        "the latter the probability of the table under any dependence between categories. It "
        "counts rows, in Python: seconds for 20 variables, a minute for 50.",
        SCORE,
        "--score NAME",
        type=ScoreName,
    )
    version: int | None = option(
        None,
        "{0, 1, 2}, optional",
        "Which edges GRaSP tucks: covered ones (0), singular ones too (1), or all (2, if not "
        "given).",
        VERSION,
        "--grasp-version V",
    )
    depth: float | None = option(
        None,
        "int or math.inf, optional",
        "How many tucks GRaSP tries in a row, or inf; 3 if not given.",
        STEPS,
        "--depth D",
        type=float,
    )
    reach: int | None = option(
        None,
        "int, optional",
        "Over how many places hill climbing exchanges variables, the paper's k; 5 if not given.",
        WHOLE_FROM_1,
        "--reach K",
    )
    objective: ObjectiveName | None = option(
        None,
        ObjectiveName,
        'What an order costs to the engines qwo and reference: its ``"edges"`` or the capped '
        '``"likelihood"``. If not given, edges for GRaSP, the likelihood for the other searches.',
        flag="--objective NAME",
    )
    penalty_discount: Penalty = option(
        "auto",
        'float or "auto"',
        "Penalty of an edge in units of log N: higher means fewer edges, 1 is the textbook BIC, "
        '``"auto"`` chooses it from the data. It is c of the score 2·loglik - c·edges·log N. '
        "Chosen from the data, it is from 1.5 to 4.5, where the false edges that chance would give "
        "weigh as much as the true ones that a higher penalty would lose, and below 2 a third; "
        "for exact moments, fewer than 20 samples and other engines than the exact BIC it is 2.",
        PENALTY,
        "--penalty -p C",
    )
    alpha: float | None = option(
        None,
        "float, optional",
        "Level of the QWO engine's edge test, instead of the penalty.",
        SHARE,
        "--alpha LEVEL",
    )
    gamma: float | None = option(
        None,
        "float, optional",
        "The extended BIC adds 2·gamma·log n to the penalty of an edge; if not given 0, or 0.5 for "
        "more variables than samples. Among that many candidates the plain BIC draws many false "
        "edges, and a warning says so; a penalty chosen from the data takes 0 in any case.",
        FROM_0,
        "--gamma G",
    )
    restarts: int | None = option(
        None,
        "int, optional",
        "How often the order found is perturbed and repaired: more find better graphs, and take "
        "longer. For the insertion search 20 if not given, 4 with hidden_causes; up to 200 "
        "variables more follow where that helps, and up to 500 the search starts from further "
        "orders, too; 0 for the search from the first order alone. The other searches are repeated "
        "from random orders; 0 if not given.",
        WHOLE_FROM_0,
        "--restarts R",
    )
    time_limit: float | None = option(
        None,
        "float, optional",
        "Seconds after which the best graph so far is returned. Reading and checking the data "
        "counts, and is always finished.",
        SECONDS,
        "--time-limit SECONDS",
    )
    random_state: int | None = option(
        None,
        "int, optional",
        "Seed: the same one gives the same graph, for any number of threads.",
        WHOLE_FROM_0,
        "--seed S",
        flag_default=0,
    )
    n_jobs: int | None = option(
        1,
        "int",
        "Threads; -1 for one per processor.",
        WORKERS,
        "--jobs --threads -j J",
        counts=False,
        type=int,
    )
    dask: Any = option(
        None,
        "dask.distributed.Client or str, optional",
        "A Dask cluster to run the resamples on, or the address of its scheduler.",
        None,
        "--dask ADDRESS",
        counts=False,
    )
    knowledge: KnowledgeLike | None = option(
        None,
        "Knowledge, mapping, str or path, optional",
        "Background knowledge, its arguments by name, or a file of it in Tetrad's format; strictly "
        "kept.",
        counts=False,
    )
    regime: str | int | None = option(
        None,
        "str or int, optional",
        "Column that says under which condition a row was taken. Equations may differ between "
        "conditions; which do is found along with the graph, and directs edges. A mapping from "
        "conditions to tables or files needs no column.",
        None,
        "--regime COLUMN",
    )
    targets: Mapping[str, Sequence[str]] | str | None = option(
        None,
        "mapping, optional",
        "Variables that each condition is known to have touched, as in drug=Akt,Mek;cold=PKC. On "
        "the command line so; in Python a mapping from conditions to variables. Or a column whose "
        "entries are names of variables, several with commas between, or empty where nothing was "
        "touched: it tells conditions apart, too. Further changes are still looked for.",
        TARGETS,
        "--targets CONDITION=VARIABLES",
        type=str,
    )
    reference: str | None = option(
        None,
        "str, optional",
        "The condition in which nothing was touched, if there is one.",
        None,
        "--reference CONDITION",
    )
    effect: InterventionName = option(
        "soft",
        InterventionName,
        'How known targets were changed: ``"soft"``, in their equations, or ``"perfect"``: their '
        "values were set, whatever their causes.",
        flag="--effect KIND",
    )
    relations: RelationName = option(
        "linear",
        RelationName,
        'How effects depend on their causes: ``"linear"``, or ``"curved"``: a sum of smooth '
        "functions, one of each cause. How many functions of each variable are tried is chosen "
        "from the data, and linear data are searched as if nothing was said; ``columns=5``, a "
        "whole number in the place of names, asks for that many columns of each variable.",
        flag="--relations KIND",
    )
    hidden_causes: bool = option(
        False,
        "bool",
        "Allow hidden common causes: edges may be ↔ and have circles. The graph is a partial "
        "ancestral graph then: what holds whatever else may cause the variables measured.",
        FLAG,
        "--hidden-causes",
        type=bool,
    )
    lags: int | str | None = option(
        None,
        'int or "auto", optional',
        'How many earlier rows may have effects, for rows in the order of time; ``"auto"`` tries '
        "some numbers. Then `lagged` has the effects of earlier rows, and the graph those within "
        "one step of time.",
        LAGS,
        "--lags L",
        type=str,
    )
    time: str | int | None = option(
        None,
        "str or int, optional",
        "Column with the time of each row, for lags: numbers or dates. Rows are sorted by it; "
        "where a step is missing, no lag reaches across.",
        None,
        "--time COLUMN",
    )
    unit: str | int | None = option(
        None,
        "str or int, optional",
        "Column that says to which of many series a row belongs, such as a patient, for lags.",
        None,
        "--unit COLUMN",
    )
    within: bool = option(
        False,
        "bool",
        "With unit: a mean of its own for each unit, so that only changes within units count.",
        FLAG,
        "--within",
        type=bool,
    )
    difference: bool | Sequence[str] | str | None = option(
        None,
        "True or sequence of names, optional",
        'Columns to replace by their changes from row to row, for lags: names, or ``"all"``.',
        SOME_COLUMNS,
        "--difference A,B,…",
        type=str,
    )
    detrend: bool | Sequence[str] | str | None = option(
        None,
        "True or sequence of names, optional",
        "Columns from which to subtract a straight line in time, for lags: names, or "
        "``\"all\"``. With lags='auto' trends that are found are "
        "subtracted, and that is said; False keeps them.",
        SOME_COLUMNS,
        "--detrend A,B,…",
        type=str,
    )
    season: int | None = option(
        None,
        "int, optional",
        "How many rows a season has, such as 12 for months: its means are subtracted, for lags. "
        "With lags='auto' a season that is found is subtracted, and that is said; 0 keeps it.",
        SEASON,
        "--season ROWS",
    )
    feedback: bool = option(
        False,
        "bool",
        "Allow cycles, as of variables that cause each other. They are claimed where a linear "
        "model with cycles explains the data with fewer edges than any without; `Discovery."
        "feedback` says what the data tell of them.",
        FLAG,
        "--feedback",
        type=bool,
    )
    arrows: ArrowSource | None = option(
        None,
        ArrowSource,
        'What directs edges: the equivalence ``"class"`` alone, or the shape of the ``"noise"`` '
        "too, which tells directions where noise is not normal or relations are curved (by the "
        "likelihood of residuals). By default the latter if relations are curved. Each "
        "arrow has its evidence, and rows are looked at. With feedback it tells cycles, too.",
        flag="--arrows BY",
    )
    level: float = option(
        DEFAULT_LEVEL,
        "float",
        "Evidence, in standard errors, from which the noise directs an edge.",
        FROM_0,
        "--level Z",
    )
    start: Any = option(
        None,
        "str or sequence, optional",
        f"Order to start from: {QUOTED}, or all variables "
        'by name or number, as in A,B,C. If not given, ``"r2"`` for the insertion search, and for '
        'GRaSP and hill climbing ``"markov-boundary"`` (as in the paper) or ``"spanning-tree"``, '
        "whichever of these two costs less as it stands.",
        START,
        "--start ORDER",
    )
    device: Device = option(
        "cpu",
        Device,
        'Where the dense algebra runs: ``"cpu"``, or ``"gpu"`` (CUDA and CuPy, for thousands of '
        "variables). That is moments of rows, factorisation and inverse of the correlation matrix, "
        "and lists of candidates; it changes nothing but the rounding.",
        flag="--device NAME",
        counts=False,
    )

    def __post_init__(self) -> None:
        check_values(self)
        usual = "noise" if self.relations == "curved" else "class"
        if self.level != DEFAULT_LEVEL and (self.arrows or usual) != "noise":
            raise ArgumentError(
                f"level is {self.level:g}, the evidence from which noise directs an edge, but the "
                "noise is not asked",
                option="level",
                cures=[Cure("arrows", "noise", "asks it")],
            )
        if self.effect == "perfect" and self.targets is None:
            raise ArgumentError(
                "effect is 'perfect', which says how known targets were changed, but none is "
                "given; name them: targets={condition: [variables]}",
                option="effect",
            )
        if self.knowledge is not None:
            from qwo.graph.knowledge import as_knowledge

            known = as_knowledge(self.knowledge)
            object.__setattr__(self, "knowledge", known)
            object.__setattr__(self, "likely", known.likely)

    def fingerprint(self) -> dict[str, Any]:
        """What the graph depends on, as values that JSON has; without the knowledge."""
        told = self.described()
        told["start"] = self.start
        if not (self.start is None or isinstance(self.start, str)):
            told["start"] = [str(variable) for variable in self.start]
        return {name: told[name] for name, own in OPTIONS.items() if own.counts}

    def described(self) -> dict[str, Any]:
        """All that a result can tell of them: no clients, no knowledge, no whole orders.

        Of an engine or a score that the user brought along, its class, or how it is made.
        """
        values = {own: getattr(self, own) for own in OPTIONS if own not in ("dask", "knowledge")}
        if not isinstance(self.engine, str):
            values["engine"] = type(self.engine).__name__
        if not isinstance(self.score, str):
            values["score"] = repr(self.score)
        if not (self.start is None or isinstance(self.start, str)):
            values["start"] = "given"
        return values


OPTIONS: dict[str, Option] = {f.name: f.metadata["option"] for f in fields(SearchOptions)}
"""What is known of each option of a search, by name."""

DEFAULTS: dict[str, Any] = {f.name: f.default for f in fields(SearchOptions)}


TEXT = "Text files"
"""The panel of the help for options of text files."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to read of a source, and what to do with it.

    Attributes
    ----------
    {options}
    """

    names: Sequence[object] | None = option(
        None,
        "sequence, optional",
        "One name per column of an array or frame, instead of those that it has. Not for files.",
    )
    columns: Columns = option(
        None,
        "sequence of names or positions, optional",
        "Take these columns only, in this order.",
        flag="--columns -c A,B,…",
        type=list[str],
    )
    drop: Columns = option(
        None,
        "sequence of names or positions, optional",
        "Leave these columns out.",
        flag="--drop -d A,B,…",
        type=list[str],
    )
    transform: Transform = option(
        None,
        "str or mapping, optional",
        'Transform columns by ``"log"``, ``"log1p"``, ``"rank-normal"`` or ``"standardise"``: all '
        "of them, or those named. These are named by a mapping from columns to transformations.",
        flag="--transform -t NAME[:A,B,…]",
        type=list[str],
    )
    types: Types = option(
        None,
        "mapping, optional",
        'What columns hold, by name: ``"continuous"``, ``"ordinal"``, ``"nominal"``, '
        '``"binary"``, or a list of levels in their order. Of the others, text and categories are '
        "nominal, and numbers are numbers.",
    )
    missing: Missing = option(
        "raise",
        Missing,
        'Missing values: ``"raise"`` an error, ``"drop"`` their rows, or use all observed values '
        'by maximum likelihood under normality (``"em"``), with an effective sample size; infinite '
        "values count as missing.",
        flag="--missing HOW",
    )
    covariance_estimator: str | Any = option(
        "plain",
        '{"plain", "ledoit-wolf", "oas", "latent"} or object',
        '``"plain"``; ``"ledoit-wolf"`` and ``"oas"`` shrink, for about as many variables as '
        'samples; ``"latent"`` treats ordinal columns as grouped normal variables. Or a covariance '
        'estimator of scikit-learn. With ``"latent"`` correlations are those of the normal '
        "variables behind ordinal and binary columns (polychoric and polyserial), with an "
        "effective sample size.",
        ESTIMATOR,
        "--covariance-estimator NAME",
        type=EstimatorName,
    )
    separator: str | None = option(
        None,
        "str, optional",
        "Field separator of a text file; by default found from its first line.",
        None,
        "--separator CHARACTER",
        panel=TEXT,
    )
    decimal: str = option(
        ".", "str", "Decimal mark of a text file.", None, "--decimal MARK", panel=TEXT
    )
    header: bool = option(
        True,
        "bool",
        "Whether the first line of a text file holds names.",
        None,
        "--header/--no-header",
        type=bool,
        panel=TEXT,
    )
    encoding: str | None = option(
        None,
        "str, optional",
        "Encoding of a text file, such as latin-1 or utf-16; by default UTF-8, "
        "or what its first bytes show.",
        CODEC,
        "--encoding NAME",
        panel=TEXT,
    )
    sheet: str | int | None = option(
        None,
        "str or int, optional",
        "Sheet of a spreadsheet, by name or number from 0; the first if not given.",
        SHEET,
        "--sheet NAME",
        panel=TEXT,
    )
    null_values: str | Sequence[str] = option(
        (),
        "str or sequence of str",
        "What else marks a missing value, such as -999. In text files that is besides the empty "
        "field, NA, NaN and their like; as a number, it is so in any data.",
        MARKS,
        "--null-value TEXT",
        type=list[str],
        panel=TEXT,
    )
    weights: Weights = option(
        None,
        "name, position or array, optional",
        "How many rows each row counts for: a column, or one number per row.",
    )
    cluster: str | int | None = option(
        None,
        "name or position, optional",
        "Column that says which rows belong together, such as a patient measured several times. "
        "It is no variable then. N is the effective number of rows, from how much rows of a "
        "cluster resemble each other, and `qwo.bootstrap` draws whole clusters.",
        CLUSTER,
        "--cluster COLUMN",
    )
    memory_limit: int | str | None = option(
        None,
        "int or str, optional",
        'Bytes to keep within while reading, such as ``"2 GB"``; half a gigabyte if not given.',
    )
    n_jobs: int | None = option(-1, "int", "Threads; their number does not change the result.")
    progress: Callable[[Any], object] | None = option(
        None, "callable, optional", "Gets a `qwo.moments.sums.StreamProgress` after each batch."
    )

    def __post_init__(self) -> None:
        check_values(self)
        if self.missing == "em" and self.estimator != "plain":
            raise ArgumentError(
                f"missing is 'em', which is a covariance estimator by itself, but "
                f"{self.estimator!r} is asked for too",
                option="missing",
                cures=[
                    Cure("covariance_estimator", "plain", "leaves that to EM"),
                    Cure("missing", "drop", "leaves rows with missing values out"),
                ],
            )
        if self.weights is not None and not self.streams:
            raise ArgumentError(
                "weights are for plain moments of complete rows; leave out EM, other covariance "
                "estimators, clusters and transformations of whole columns",
                option="weights",
            )

    @property
    def estimator(self) -> str:
        """The name of the covariance estimator."""
        return estimator_name(self.covariance_estimator)

    @property
    def streams(self) -> bool:
        """Whether one pass over the rows is enough."""
        asked = self.transform
        each = asked.values() if isinstance(asked, Mapping) else (asked,)
        estimator = self.covariance_estimator
        plain = isinstance(estimator, str) and estimator == "plain" and self.missing != "em"
        return plain and self.cluster is None and all(name in BY_VALUE for name in each)


READING: dict[str, Option] = {f.name: f.metadata["option"] for f in fields(ReadOptions)}
"""What is known of each option of reading, by name."""


_KNOWN = 'what you know goes into knowledge=, as in knowledge={{"{0}": {1}}}'
MEANT = {
    "tiers": _KNOWN.format("tiers", '[["age"], ["dose", "outcome"]]'),
    "roots": _KNOWN.format("roots", '["age"]'),
    "leaves": _KNOWN.format("leaves", '["outcome"]'),
    "forbidden": _KNOWN.format("forbidden", '[("outcome", "dose")]'),
    "required": _KNOWN.format("required", '[("dose", "outcome")]'),
    **dict.fromkeys(("seed", "random_seed", "rng"), "the seed is random_state="),
    **dict.fromkeys(("penalty", "lambda_", "lam"), "the penalty of an edge is penalty_discount="),
    **dict.fromkeys(("threads", "n_threads", "workers", "cores"), "threads are n_jobs="),
    "lags": "rows in the order of time are for qwo.discover(data, lags=), whose .series.supports() "
    "tells how often edges are found again and whose .responses() has bands",
    "hidden_causes": "qwo.discover(data, hidden_causes=True) and qwo.bootstrap look for these",
    **dict.fromkeys(("nominal", "ordinal"), 'categories are types=, as in types={"a": "nominal"}'),
    "names": "columns have names in a frame, as in pandas.DataFrame(data, columns=names)",
    "n_boot": "resamples are n_resamples=",
    "max_lag": "earlier rows are lags=",
    "delimiter": "separators are found by themselves, or by separator=",
    "timeout": "seconds are limited by time_limit=",
    "verbose": "progress=True shows a progress bar",
}
"""What options of other packages, and flags of the command line, are called here."""


def unknown_argument(function: Callable[..., Any], name: str, known: Iterable[str]) -> Exception:
    """The error of a keyword that a function has not, and what may have been meant.

    What other functions have is a choice that does not go here; the rest is refused as Python does.
    """
    from qwo.names import suggestion  # which takes NumPy

    if name in OPTIONS:
        meant = MEANT.get(name, "it is an option of qwo.discover")
        return ArgumentError(f"{name} does not go with {function.__name__}(): {meant}", option=name)
    meant = MEANT.get(name) or suggestion(name, list(known))
    return TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}; {meant}")


def options_given(
    function: Callable[..., Any], given: Mapping[str, Any]
) -> tuple[SearchOptions, ReadArguments]:
    """The ``**options`` of a call, checked: those of the search, and those of reading."""
    known = vars(function)["__signature__"].parameters
    for name in given:
        if name not in known:
            raise unknown_argument(function, name, known)
        rule = READING[name].rule if name in READING and name not in OPTIONS else None
        # None stands for what is not said, which the record checks where it may not be so.
        if rule is not None and given[name] is not None:
            rule.checked(name, given[name])
    search = {name: value for name, value in given.items() if name in OPTIONS}
    reading = {name: value for name, value in given.items() if name not in OPTIONS}
    return SearchOptions(**search), cast("ReadArguments", reading)
