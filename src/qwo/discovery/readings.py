"""What a graph assumes of the data, and options that drop an assumption: who answers them.

Each option is a line of `DROPPED`. Its function searches and reads the result; what it has learnt
beside the graph is an `AssumptionReading`, which the result holds and print, files and report show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

from qwo.errors import ArgumentError, Cure
from qwo.inspection.audit import Audit, Code
from qwo.options import DEFAULTS, SearchOptions

if TYPE_CHECKING:
    from qwo.discovery.result import Discovery
    from qwo.graph.causal_graph import CausalGraph
    from qwo.graph.knowledge import Knowledge


class AssumptionReading(Protocol):
    """What was learnt beside the graph where an assumption was dropped."""

    @property
    def graph(self) -> CausalGraph | None:
        """The graph to show; None where that is the equivalence class of the DAG."""

    def summary(self) -> str:
        """What it tells, in some lines of text below the edges."""

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs."""


DROPPED = {
    "hidden_causes": "hidden_causes:discover_hidden_causes",
    "lags": "lagged:discover_lagged",
    "regime": "regimes:discover_regimes",
    "relations": "curved:discover_curved",
    "feedback": "feedback:discover_feedback",
    "arrows": "curved:discover_curved",
}
"""Options that drop one, and the function of `discovery` for each. The first that is asked for
answers, and takes account of the others."""

APART: dict[frozenset[str], str] = {
    frozenset(("relations", "feedback")): "cycles are found for lines only; learn the curved graph "
    "without feedback, or leave relations out",
    frozenset(("regime", "feedback")): "equations that change between conditions are found for "
    "graphs without cycles only; look for feedback in the rows of one condition",
    frozenset(("lags", "feedback")): "effects across time come out as arrows by lags alone; cycles "
    "within a row are looked for with lags=0, which counts rows for what they are worth",
    frozenset({"relations", "hidden_causes"}): "the score of graphs with hidden causes is that of "
    'lines; transform the columns (transform="rank-normal"), or leave one of the two out',
    frozenset({"lags", "hidden_causes"}): "the search with hidden causes treats rows as "
    "independent; leave one of the two out",
    frozenset({"feedback", "hidden_causes"}): "cycles and hidden causes cannot be told apart by "
    "one table; leave one of the two out",
    frozenset(("hidden_causes", "arrows")): "a hidden common cause looks like an arrow to the "
    "shape of the noise; leave one of them out",
}
"""Pairs that do not go together, with the reason and what to do instead."""


def answer_of(options: SearchOptions, data: Any) -> Callable[..., Discovery]:
    """The function that answers where an assumption is dropped.

    Several tables in place of one are regimes, also where no option says so.
    """
    said = {*options.dropped, *["regime"] * isinstance(data, Mapping)}
    asked = [name for name in DROPPED if name in said]
    check_together(asked, options)
    module, function = DROPPED[asked[0]].split(":")
    found: Callable[..., Discovery] = getattr(import_module(f"qwo.discovery.{module}"), function)
    return found


def check_together(asked: list[str], options: SearchOptions) -> None:
    """Refuse options that do not go together, and what only the plain search has."""
    if options.likely:
        cast("Knowledge", options.knowledge).strictly(asked[0])
    for pair, reason in APART.items():
        if pair <= set(asked) and not (pair == {"lags", "feedback"} and options.lags == 0):
            first, second = sorted(pair)
            other = second.replace("_", " ")
            raise ArgumentError(f"{first} and {other} do not go together: {reason}", option=first)
    for name in ("method", "score", "alpha"):
        value = getattr(options, name)
        if value != DEFAULTS[name]:
            raise ArgumentError(
                f"{name} is {value!r}, which does not go with {asked[0]}; leave one of them out",
                option=name,
            )
    if options.search not in ("auto", "insertion") or options.engine not in ("auto", "bic"):
        raise ArgumentError(
            f"search is {options.search!r}; {asked[0]} takes the default search and engine: leave "
            "search and engine out",
            option="search",
        )


CLUSTERED = {
    "lags": "unit names the series that a row belongs to, and within takes off its mean",
    "regime": "conditions compare independent rows; take one row or the mean of each cluster",
    "relations": "curves are fitted to independent rows; leave one of them out",
    "arrows": "the shape of noise is read off independent rows; leave one of them out",
}
"""What does not take rows that belong together, and what to do instead."""


def refuse_clusters(asked: tuple[str, ...]) -> None:
    """Refuse rows in clusters where an option takes the rows themselves for independent ones."""
    for name in asked or ("regime",):
        if name in CLUSTERED:
            raise ArgumentError(
                f"cluster and {name} do not go together: {CLUSTERED[name]}", option="cluster"
            )


BREAKING: tuple[Code, ...] = (
    "serial",
    "repeated-rows",
    "few-rows",
    "duplicate",
    "near-duplicate",
    "linear-dependence",
    "clusters",
    "effective-size",
    "weights",
)
"""Findings after which false rates mean nothing: they count rows that tell something of their own,
and many enough of them, of columns that are no copies."""


class Assumption(NamedTuple):
    """One assumption, and where it stands.

    Attributes
    ----------
    name : str
        A word or two for programs.
    words : str
        What is assumed, as part of a sentence.
    status : {"made", "dropped", "doubted"}
        Made; dropped by an option; or made although the data speak against it.
    reason : str
        The option that dropped it, or what speaks against it.
    cures : tuple of Cure
        Options that drop it, as far as there are any.
    """

    name: str
    words: str
    status: Literal["made", "dropped", "doubted"]
    reason: str = ""
    cures: tuple[Cure, ...] = ()

    def to_dict(self) -> dict[str, str]:
        """Plain texts, for programs."""
        return {name: getattr(self, name) for name in ("name", "words", "status", "reason")}

    def __str__(self) -> str:
        state = {"made": "assumed", "dropped": "not assumed", "doubted": "doubtful"}[self.status]
        return f"{state}: {self.words}" + (f" ({self.reason})" if self.reason else "")


class _Default(NamedTuple):
    """An assumption of the default: who drops it, and what in audit or check speaks against it."""

    name: str
    words: str
    option: str
    value: object
    findings: tuple[Code, ...] = ()
    tests: tuple[str, ...] = ()


DEFAULT = (
    _Default("one population", "all rows come from one population", "regime", None),
    _Default(
        "independent rows",
        "rows are independent of each other",
        "lags",
        "auto",
        ("serial", "repeated-rows", "clusters", "weights"),
    ),
    _Default("numbers", "numbers are quantities and not codes", "types", None, ("codes",)),
    _Default(
        "linear", "relations are linear", "relations", "curved", ("curved",), ("linear equations",)
    ),
    _Default(
        "no hidden causes",
        "no hidden common causes",
        "hidden_causes",
        True,
        tests=("independent noise",),
    ),
    _Default("no feedback", "no feedback", "feedback", True, tests=("independent noise",)),
)
"""What the default assumes, each with the option that drops it."""


def assumptions_of(
    dropped: Iterable[str], audit: Audit | None = None, alarms: Iterable[str] = ()
) -> tuple[Assumption, ...]:
    """The assumptions behind a graph.

    `dropped` are the options that dropped some; an audit, and the tests of a check that gave an
    alarm, say which the data speak against.
    """
    return tuple(_judged(set(dropped), audit, set(alarms)))


def _judged(dropped: set[str], audit: Audit | None, alarms: set[str]) -> Iterator[Assumption]:
    for name, words, option, value, codes, tests in DEFAULT:
        together = audit is not None and any(f.code == "effective-size" for f in audit.findings)
        if option in dropped or (option == "lags" and together):
            yield Assumption(name, words, "dropped", option if option in dropped else "cluster")
            continue
        findings = () if audit is None else [f for f in audit.findings if f.code in codes]
        against = [gist(f.message) for f in findings]
        against += [f"the check flags {test}" for test in tests if test in alarms]
        cures = tuple(cure for finding in findings for cure in finding.cures)
        if against:
            # A finding knows what helps; what a check flags, the option that drops the assumption.
            advice = cures if findings else (Cure(option, value),)
            yield Assumption(name, words, "doubted", "; ".join(against), advice)
        else:
            yield Assumption(name, words, "made")


def broken(audit: Audit | None) -> str:
    """Why the false rates of edges mean nothing; empty where nothing is known against them."""
    findings = () if audit is None else audit.findings
    found = [f.message for f in findings if f.code in BREAKING and f.severity != "note"]
    return gist(found[0]) if found else ""


def gist(message: str) -> str:
    """What a finding says in short: its beginning, without examples."""
    return re.split(r"\. |: | \(", message, maxsplit=1)[0].rstrip(".")
