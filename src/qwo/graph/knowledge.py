"""Background knowledge: which edges must, and which must not, be in the graph.

`Knowledge` is what a user writes, by name or column number. `Knowledge.resolve` checks it against
the variables of a data set and turns it into the matrices of a `ResolvedKnowledge`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from qwo.errors import KnowledgeError
from qwo.graph import tetrad_knowledge
from qwo.graph.display import table_html
from qwo.graph.resolved_knowledge import Edge, ResolvedKnowledge, resolve
from qwo.names import Variable, suggestion

__all__ = ["Knowledge", "ResolvedKnowledge", "as_knowledge"]


@dataclass(frozen=True, init=False)
class Knowledge:
    """Tiers, forbidden and required edges, roots and leaves.

    Variables are names or column numbers. A name with ``*`` that is no column stands for every
    column that it matches, as in Tetrad: ``X*`` for X1, X2 and so on. For ``discover(lags=)`` the
    cause of an edge may be one of a lag, ``("a", -1)``, or of the present alone, ``("a", 0)``;
    without a lag all lags are forbidden, and what is required is so at the present.

    Parameters
    ----------
    tiers : sequence of sequences of variables, optional
        Groups in causal or temporal order. Nothing in a later tier causes anything in an earlier
        one, neither directly nor through variables that are in no tier.
    forbidden, required : iterable of (cause, effect) pairs
        Edges that must not, and edges that must, be in the graph.
    forbidden_within_tiers : iterable of int, or True
        Positions in ``tiers``, from 0, of the tiers without edges inside; True for all of them.
    roots, leaves : iterable of variables
        Variables that nothing causes, and variables that cause nothing.
    likely : mapping from (cause, effect) to probability, optional
        How probable you hold edges to be beforehand, which data can overrule: an edge of
        probability p adds 2 log(p / (1 - p)) to the score 2·loglik - penalty; 0.5 says nothing.
        For `qwo.discover`.

    Examples
    --------
    >>> knowledge = Knowledge(tiers=[["age", "sex"], ["dose"]], required=[("dose", "outcome")])
    >>> resolved = knowledge.resolve(["outcome", "dose", "sex", "age"])
    >>> bool(resolved.forbidden[1, 3]), bool(resolved.before[3, 0])
    (True, True)
    """

    tiers: tuple[tuple[Variable, ...], ...]
    forbidden: tuple[Edge, ...]
    required: tuple[Edge, ...]
    forbidden_within_tiers: tuple[int, ...]
    roots: tuple[Variable, ...]
    leaves: tuple[Variable, ...]
    likely: tuple[tuple[Variable, Variable, float], ...]

    def __init__(
        self,
        tiers: Iterable[Iterable[Variable]] | None = None,
        forbidden: Iterable[Edge] = (),
        required: Iterable[Edge] = (),
        *,
        forbidden_within_tiers: Iterable[int] | bool = (),
        roots: Iterable[Variable] = (),
        leaves: Iterable[Variable] = (),
        likely: Mapping[Edge, float] | Iterable[tuple[Variable, Variable, float]] = (),
    ) -> None:
        listed = _listed("tiers", () if tiers is None else tiers)
        groups = tuple(_variables(f"tiers[{t}]", tier) for t, tier in enumerate(listed))
        for field, value in (
            ("tiers", groups),
            ("forbidden", _edges("forbidden", forbidden)),
            ("required", _edges("required", required)),
            ("forbidden_within_tiers", _tier_positions(forbidden_within_tiers, len(groups))),
            ("roots", _variables("roots", roots)),
            ("leaves", _variables("leaves", leaves)),
            ("likely", _chances(likely)),
        ):
            object.__setattr__(self, field, value)

    def lines(self) -> list[tuple[str, str]]:
        """What is known, kind by kind, in words."""
        pairs = {"forbidden": "no edge", "required": "an edge"}
        said = [("tiers", " > ".join(", ".join(map(str, tier)) for tier in self.tiers))]
        for field, words in pairs.items():
            edges = [f"{a} --> {b}" for a, b in getattr(self, field)]
            said.append((f"{field} ({words})", ", ".join(edges)))
        within = ", ".join(map(str, self.forbidden_within_tiers))
        said.append(("no edges within tiers", within))
        said.append(("roots (nothing causes them)", ", ".join(map(str, self.roots))))
        said.append(("leaves (they cause nothing)", ", ".join(map(str, self.leaves))))
        likely = [f"{a} --> {b} ({p:g})" for a, b, p in self.likely]
        said.append(("likely (prior probability)", ", ".join(likely)))
        return [(kind, text) for kind, text in said if text]

    @property
    def strict(self) -> Knowledge:
        """What the graph must keep to: all but probabilities."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return Knowledge(**given | {"likely": ()})

    def strictly(self, what: str) -> Knowledge:
        """The knowledge, for something that takes no account of probabilities: refused with any."""
        if self.likely:
            raise KnowledgeError(
                f"knowledge has likely edges, of which {what} does not take account; leave them "
                "out, or call qwo.discover",
                option="knowledge",
            )
        return self

    def __str__(self) -> str:
        return "\n".join(f"{kind}: {text}" for kind, text in self.lines()) or "nothing is known"

    def _repr_html_(self) -> str:
        return table_html(("known", ""), self.lines())

    def resolve(self, names: Sequence[str]) -> ResolvedKnowledge:
        """The knowledge as matrices over the variables ``names``, in that order.

        Raises
        ------
        KnowledgeError
            If a variable does not exist or is in two tiers, or if no graph satisfies everything;
            the message shows the pair or the cycle that makes it impossible.
        """
        return resolve(self, names)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Knowledge:
        """The knowledge in a file of Tetrad's format; see `qwo.graph.tetrad_knowledge`."""
        return cls(**tetrad_knowledge.read(path))

    def to_file(self, path: str | Path, names: Sequence[str] | None = None) -> None:
        """Write the knowledge to a file in Tetrad's format.

        Parameters
        ----------
        path : path
            The file to write.
        names : sequence of str, optional
            The names of all columns. Needed for variables given by number, and for roots and
            leaves, which the format knows only as forbidden edges with each other variable.
        """
        forbidden = [_named(edge, names) for edge in self.forbidden]
        required = [_named(edge, names) for edge in self.required]
        if self.roots or self.leaves:
            everything = _all_names(names)
            for root in _named(self.roots, names):
                forbidden += [(other, root) for other in everything if other != root]
            for leaf in _named(self.leaves, names):
                forbidden += [(leaf, other) for other in everything if other != leaf]
        tetrad_knowledge.write(
            path,
            tiers=[_named(tier, names) for tier in self.tiers],
            forbidden_within_tiers=self.forbidden_within_tiers,
            forbidden=list(dict.fromkeys((cause, effect) for cause, effect in forbidden)),
            required=[(cause, effect) for cause, effect in required],
        )


KnowledgeLike = Knowledge | Mapping[str, Any] | str | os.PathLike[str]
"""What every argument ``knowledge`` takes."""


def as_knowledge(given: KnowledgeLike) -> Knowledge:
    """Knowledge from what a user passes for it.

    A mapping has the arguments of `Knowledge` by name; a file is in Tetrad's format.
    """
    if isinstance(given, Knowledge):
        return given
    if isinstance(given, Mapping):
        known = [field.name for field in fields(Knowledge)]
        for key in given:
            if key not in known:
                raise KnowledgeError(f"knowledge has no {key!r}; {suggestion(str(key), known)}")
        return Knowledge(**given)
    if isinstance(given, str | os.PathLike):
        return Knowledge.from_file(given)
    # Reached by callers whose types nobody checks.
    raise KnowledgeError(
        f"knowledge is a {type(given).__name__}; wanted a Knowledge, a dict of its arguments, or "
        f"the path of a file",
        option="knowledge",
    )


def _listed(field: str, given: object) -> list[Any]:
    """The items of one argument."""
    if isinstance(given, str):
        raise KnowledgeError(f"{field} must be a list; write [{given!r}]")
    if not isinstance(given, Iterable):
        raise KnowledgeError(f"{field} must be a list; got {given!r}")
    return list(given)


def _variables(field: str, given: object) -> tuple[Variable, ...]:
    """The variables of one argument, by name or number."""
    return tuple(_variable(field, variable) for variable in _listed(field, given))


def _variable(field: str, variable: object) -> Variable:
    if isinstance(variable, str):
        return variable
    if isinstance(variable, int | np.integer) and not isinstance(variable, bool):
        return int(variable)
    if isinstance(variable, tuple | list) and len(variable) == 2 and isinstance(variable[0], str):
        name, lag = variable
        if isinstance(lag, int | np.integer) and lag <= 0:
            return f"{name}[t{lag}]" if lag else f"{name}[t]"
    raise KnowledgeError(
        f"{field}: a variable is a name or a column number, or with discover(lags=) a name and a "
        f"lag, as in ('a', -1); got {variable!r}"
    )


def _edges(field: str, given: object) -> tuple[Edge, ...]:
    edges = []
    for edge in _listed(field, given):
        if not isinstance(edge, tuple | list | np.ndarray) or len(edge) != 2:
            raise KnowledgeError(f"{field} must hold (cause, effect) pairs; got {edge!r}")
        edges.append((_variable(field, edge[0]), _variable(field, edge[1])))
    return tuple(edges)


def _chances(given: object) -> tuple[tuple[Variable, Variable, float], ...]:
    """Probabilities of edges, from a mapping or from triples."""
    items = given.items() if isinstance(given, Mapping) else _listed("likely", given)
    found = []
    for item in items:
        edge, chance = item if isinstance(given, Mapping) else (item[:2], item[2:])
        chance = chance if isinstance(given, Mapping) else (chance[0] if chance else None)
        [(cause, effect)] = _edges("likely", [tuple(edge)])
        if not (isinstance(chance, int | float | np.floating) and 0 < chance < 1):
            raise KnowledgeError(
                f"likely: the probability of {cause} --> {effect} is {chance!r}; wanted a number "
                "above 0 and below 1 (required and forbidden are for what is certain)"
            )
        found.append((cause, effect, float(chance)))
    return tuple(found)


def _tier_positions(given: object, n_tiers: int) -> tuple[int, ...]:
    if isinstance(given, bool):
        return tuple(range(n_tiers)) if given else ()
    positions = _listed("forbidden_within_tiers", given)
    for t in positions:
        if not isinstance(t, int | np.integer) or not 0 <= t < n_tiers:
            raise KnowledgeError(
                f"forbidden_within_tiers must hold positions in tiers, from 0 to {n_tiers - 1}; "
                f"got {t!r}"
            )
    return tuple(sorted({int(t) for t in positions}))


def _named(variables: Sequence[Variable], names: Sequence[str] | None) -> tuple[str, ...]:
    """The variables by name, as a file wants them."""
    return tuple(v if isinstance(v, str) else _all_names(names)[v] for v in variables)


def _all_names(names: Sequence[str] | None) -> Sequence[str]:
    if names is None:
        raise KnowledgeError(
            "Tetrad's format knows variables by name, and roots and leaves only as forbidden edges "
            "with each other variable; call to_file(path, names=[...]) with all column names"
        )
    return names
