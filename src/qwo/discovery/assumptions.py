"""What a graph assumes of the data: which of it was dropped, and which the data speak against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from qwo.errors import Cure
from qwo.moments.audit import Audit, Code

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
    _Default("linear", "relations are linear", "relations", "curved", tests=("linear equations",)),
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
