"""What `check` returns, and the same in plain words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.agreement.families import Change, Independences
from qwo.agreement.residuals import FamilyFit, HeldOut
from qwo.agreement.subsets import Contradictions
from qwo.archives import ResultRecord
from qwo.errors import Cure, Wording, python_wording
from qwo.text import count as counted
from qwo.types import Adjacency, Mask

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 8
"""Lines of each kind in a summary."""

BLIND = (
    "Where noise is normal, a hidden common cause or feedback that the graph has taken up into its "
    "edges leaves no trace."
)


@dataclass(frozen=True, slots=True)
class Test:
    """One kind of evidence against the graph.

    Attributes
    ----------
    name : str
        What was tested.
    p_value : float
        How often data from the graph itself would look as bad; NaN where that is not known.
    alarm : bool
        Whether it flags a conflict, at a level such that all kinds together do so for a right graph
        with the probability asked for at most.
    """

    name: str
    p_value: float
    alarm: bool

    def __str__(self) -> str:
        return f"{self.name}: p = {self.p_value:.3g}{' (alarm)' if self.alarm else ''}"


@dataclass(frozen=True, eq=False)
class Check(ResultRecord):
    """How far data and a graph agree; `summary` says it in plain words.

    Attributes
    ----------
    alarm : bool
        Whether any kind of evidence flags a conflict.
    tests : tuple of Test
        The kinds of evidence: independences that the graph implies, its overall fit, its
        compatibility with graphs of subsets, and, from rows, whether its equations are linear and
        their noise is independent of the causes.
    independences : Independences
        All that the graph implies, one for each pair without an edge, with p-values.
    failing : ndarray of bool
        Which of them fail, at a false discovery rate of ``alpha``.
    permuted, random : float
        Share of graphs with permuted nodes, and of random graphs with as many edges, of which at
        most as many implied independences fail.
    changes : tuple of Change
        Edges that the data want added, removed or turned, the largest gain first.
    subsets : Contradictions or None
        Between the graph and graphs of subsets of the variables.
    families : tuple of FamilyFit
        Tests of each equation; empty without rows.
    influential : tuple of (int, float)
        Rows that fit worst, and the sum of their squared residuals; empty without rows.
    held_out : HeldOut or None
        Cross-validated likelihood; None without rows, or with too few.
    dag : ndarray of int8
        The directed graph that was checked: the graph, or a member of its class.
    names : tuple of str
        The variables.
    n_samples : float
        N.
    learnt : bool
        Whether the graph was taken to have been learnt from these data.
    params : mapping
        The parameters.
    """

    alarm: bool
    tests: tuple[Test, ...]
    independences: Independences
    failing: Mask
    permuted: float
    random: float
    changes: tuple[Change, ...]
    subsets: Contradictions | None
    families: tuple[FamilyFit, ...]
    influential: tuple[tuple[int, float], ...]
    held_out: HeldOut | None
    dag: Adjacency
    names: tuple[str, ...]
    n_samples: float
    learnt: bool
    params: Mapping[str, Any] = field(default_factory=dict)
    n_open: int = 0
    """Edges that the class of the graph leaves undirected."""

    @property
    def noise_may_tell(self) -> bool:
        """Whether edges are left open, and noise of equal spread is far from normal."""
        level = self.params["alpha"] / max(len(self.families), 1)
        return self.n_open > 0 and any(
            f.normality < level and not f.equal_variance < level for f in self.families
        )

    def summary(self, wording: Wording = python_wording) -> str:
        """What was found, in plain words first, figures below; options as the wording has them."""
        parts = [_verdict(self), _independences(self), _changes(self)]
        parts += [_subsets(self), _equations(self), _advice(self, wording)]
        parts += [_held_out(self), _figures(self)]
        return "\n\n".join(part for part in parts if part)

    def to_frame(self) -> pd.DataFrame:
        """The implied independences as a data frame, the least likely first."""
        import pandas as pd

        found = self.independences
        frame = pd.DataFrame(
            {
                "first": [self.names[u] for u in found.first],
                "second": [self.names[v] for v in found.second],
                "given": [
                    ", ".join(self.names[p] for p in found.given(k, self.dag))
                    for k in range(len(found))
                ],
                "partial_correlation": found.partial,
                "p_value": found.p_values,
                "fails": self.failing,
            }
        )
        return frame.sort_values("p_value", kind="stable", ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """The verdict, the tests, and what the data want changed, as numbers and texts."""
        return {
            "alarm": self.alarm,
            "tests": [asdict(test) for test in self.tests],
            "independences": len(self.independences),
            "failing": int(self.failing.sum()),
            "changes": [
                {
                    "change": change.kind,
                    "cause": self.names[change.cause],
                    "effect": self.names[change.effect],
                    "gain": change.gain,
                }
                for change in self.changes
            ],
            "parameters": dict(self.params),
        }

    def __repr__(self) -> str:
        state = "alarm" if self.alarm else "no alarm"
        return f"<Check: {state}, {int(self.failing.sum())} of {len(self.independences)} fail>"


CLOSE, BOUNDLESS = 2.0, 1e4
"""p-values up to so many times that of an alarm are close to one, so that another seed may give it;
differences of log densities beyond which one row decides."""


def _verdict(check: Check) -> str:
    flagged = [test.name for test in check.tests if test.alarm]
    if not flagged:
        level = check.params["alpha"] / max(len(check.tests), 1)
        near = [test.name for test in check.tests if test.p_value <= CLOSE * level]
        if near:
            return (
                f"No alarm, but nearly ({', '.join(near)}): trust the graph no more than if there "
                "had been one. More draws settle it."
            )
        return (
            "No alarm: the data do not contradict the graph. That is no proof of it: graphs of its "
            "class, and others close to it, would pass too."
        )
    return f"Alarm: the data contradict the graph ({', '.join(flagged)})."


def _independences(check: Check) -> str:
    total, fails = len(check.independences), int(check.failing.sum())
    if not total:
        return "The graph links every pair, so that it implies no independence."
    lead = f"{fails} of {counted(total, 'implied independence')} fail"
    if not fails:
        return f"None of {counted(total, 'implied independence')} fails."
    found = check.independences
    involved = Counter(
        check.names[v]
        for pair in zip(found.first[check.failing], found.second[check.failing], strict=True)
        for v in pair
    )
    name, most = involved.most_common(1)[0]
    if most == fails > 1:
        lead += f", all around {name}"
    worst = np.flatnonzero(check.failing)
    worst = worst[np.argsort(found.p_values[worst], kind="stable")][:SHOWN]
    lines = [f"{lead}:"]
    for k in worst:
        u, v = check.names[found.first[k]], check.names[found.second[k]]
        given = [check.names[p] for p in found.given(int(k), check.dag)]
        behind = f" given {', '.join(given)}" if given else ""
        lines.append(
            f"  {u} and {v} should be independent{behind}: r = {found.partial[k]:.2f}, "
            f"p = {found.p_values[k]:.1e}"
        )
    return "\n".join(lines)


def _changes(check: Check) -> str:
    if not check.changes:
        return "The data want no single edge added, removed or turned."
    lines = [f"The data want {counted(len(check.changes), 'change')} of single edges:"]
    for change in check.changes[:SHOWN]:
        edge = f"{check.names[change.cause]} --> {check.names[change.effect]}"
        how = {"add": f"add {edge}", "remove": f"remove {edge}", "turn": f"turn to {edge}"}
        lines.append(f"  {how[change.kind]}: the score would rise by {change.gain:.1f}")
    if len(check.changes) > SHOWN:
        lines.append(f"  and {len(check.changes) - SHOWN} more")
    return "\n".join(lines)


def _subsets(check: Check) -> str:
    found = check.subsets
    if found is None:
        return ""
    return (
        f"Searches on some of the variables deny {found.missing + found.turned} of "
        f"{found.chances} links and arrows that the graph implies for them "
        f"({found.missing} links, {found.turned} arrows)."
    )


def _equations(check: Check) -> str:
    if not check.families:
        return ""
    level = check.params["alpha"] / max(len(check.families), 1)
    kinds = (
        ("linearity", "not linear"),
        ("equal_variance", "of unequal variance"),
        ("normality", "with noise that is not normal"),
        (
            "independence",
            "with noise that goes with its causes (a hidden cause, feedback, a wrong arrow?)",
        ),
    )
    lines = []
    for name, words in kinds:
        bad = [check.names[f.variable] for f in check.families if getattr(f, name) < level]
        if bad:
            more = f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
            lines.append(f"  {words}: {', '.join(bad[:SHOWN])}{more}")
    far = [check.names[f.variable] for f in check.families if f.outliers]
    if far:
        lines.append(f"  with outliers: {', '.join(far[:SHOWN])}")
    blind = "" if any(f.normality < level for f in check.families) else BLIND
    if not lines:
        return f"All equations pass for linear, with normal noise of equal variance. {BLIND}"
    return "\n".join(["Equations that look", *lines, *([blind] if blind else [])])


def _advice(check: Check, wording: Wording) -> str:
    """What to try instead of the default, where rows speak against it."""
    lines = []
    if any(test.name == "linear equations" and test.alarm for test in check.tests):
        curved = wording(Cure("relations", "curved", ""))
        lines.append(f"Equations are not all linear: {curved} learns curves.")
    if check.noise_may_tell:
        left, noise = counted(check.n_open, "edge"), wording(Cure("arrows", "noise", ""))
        text = f"Noise is not normal, and the class leaves {left} undirected"
        lines.append(f"{text}: {noise} may direct them.")
    return "\n".join(lines)


def _held_out(check: Check) -> str:
    found = check.held_out
    if found is None:
        return ""
    if max(abs(found.graph), abs(found.saturated)) > BOUNDLESS:
        return (
            "How likely rows are that were left out cannot be told: a variable follows from others "
            "nearly exactly, and a row that does not fit counts without bound."
        )
    return (
        "Rows that were left out are more likely under the graph than without edges by "
        f"{found.graph:.3f} ± {found.graph_error:.3f} a row (log density); under the saturated "
        f"model by {found.saturated:.3f} ± {found.saturated_error:.3f}."
    )


def _figures(check: Check) -> str:
    lines = [f"  {test}" for test in check.tests]
    lines.append(
        f"  graphs with permuted nodes that do as well: {check.permuted:.0%}; random graphs: "
        f"{check.random:.0%}"
    )
    basis = "learnt from these data" if check.learnt else "given beforehand"
    return "\n".join([f"p-values against data drawn from the graph, {basis}:", *lines])


@dataclass(frozen=True, eq=False)
class Evidenced:
    """What one data set says of one graph."""

    independences: Independences
    deviance: float
    subsets: Contradictions | None
    bend: float = math.nan

    @property
    def worst(self) -> float:
        """The smallest p-value of an implied independence."""
        return float(self.independences.p_values.min(initial=1.0))


def evidence_tests(
    seen: Evidenced, drawn: list[Evidenced], noise: float, alpha: float
) -> tuple[Test, ...]:
    """Each kind of evidence at its share of alpha."""
    found = {
        "implied independences": rank_of(-seen.worst, [-d.worst for d in drawn]),
        "overall fit": rank_of(seen.deviance, [d.deviance for d in drawn]),
    }
    if seen.subsets is not None:
        rates = [d.subsets.rate for d in drawn if d.subsets is not None]
        found["subsets of variables"] = rank_of(seen.subsets.rate, rates)
    if not math.isnan(seen.bend):
        bends = [d.bend for d in drawn if not math.isnan(d.bend)]
        # The p-value itself counts on normal noise.
        found["linear equations"] = _beyond(seen.bend, bends) if bends else seen.bend
    if not math.isnan(noise):
        found["independent noise"] = noise
    level = alpha / len(found)
    return tuple(Test(name, p, bool(p <= level)) for name, p in found.items())


def rank_of(value: float, others: list[float]) -> float:
    """Share of values at least as large, the value itself counted."""
    if not others:
        return math.nan
    return (1 + sum(other >= value for other in others)) / (1 + len(others))


def _beyond(p_value: float, others: list[float]) -> float:
    """Share of p-values at most as large; beyond all of them, as far as their tail goes.

    Logarithms of p-values have exponential tails, if not those of their own model.
    """
    seen, drawn = -math.log(max(p_value, 1e-300)), -np.log(np.maximum(others, 1e-300))
    most, count = float(drawn.max()), 1 + len(others)
    if seen <= most:
        return (1 + int((drawn >= seen).sum())) / count
    scale = max(1.0, (most - float(np.median(drawn))) / math.log(max(count / 2, 2)))
    return math.exp(-(seen - most) / scale) / count
