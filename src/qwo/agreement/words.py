"""A check in plain words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from qwo.text import count as counted

if TYPE_CHECKING:
    from qwo.agreement.check import Check

SHOWN = 8

BLIND = (
    "Where noise is normal, a hidden common cause or feedback that the graph has taken up into its "
    "edges leaves no trace."
)


def in_words(check: Check) -> str:
    """The verdict, what fails, what the data want, figures below."""
    parts = [_verdict(check), _independences(check), _changes(check)]
    parts += [_subsets(check), _equations(check), _held_out(check), _figures(check)]
    return "\n\n".join(part for part in parts if part)


def _verdict(check: Check) -> str:
    ringing = [test.name for test in check.tests if test.alarm]
    if not ringing:
        return (
            "No alarm: the data do not contradict the graph. That is no proof of it: graphs of its "
            "class, and others close to it, would pass too."
        )
    return f"Alarm: the data contradict the graph ({', '.join(ringing)})."


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
        given = [check.names[p] for p in np.flatnonzero(check.dag[:, found.second[k]])]
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


def _held_out(check: Check) -> str:
    found = check.held_out
    if found is None:
        return ""
    return (
        "Rows that were left out are more likely under the graph than without edges by "
        f"{found.graph:.3f} ± {found.graph_error:.3f} a row (log density); under the saturated "
        f"model by {found.saturated:.3f} ± {found.saturated_error:.3f}."
    )


def _figures(check: Check) -> str:
    lines = [
        f"  {test.name}: p = {test.p_value:.3g}{' (alarm)' if test.alarm else ''}"
        for test in check.tests
    ]
    lines.append(
        f"  graphs with permuted nodes that do as well: {check.permuted:.0%}; random graphs: "
        f"{check.random:.0%}"
    )
    basis = "learnt from these data" if check.learnt else "given beforehand"
    return "\n".join([f"p-values against data drawn from the graph, {basis}:", *lines])
