"""``qwo effect``: what a change of one variable does to another, as far as a graph can tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qwo.cli.console import Console
from qwo.cli.graphs import graph_from
from qwo.cli.options import DataFile, GraphFile, GraphFormat, Reading
from qwo.cli.reading import read_data
from qwo.errors import ArgumentError
from qwo.text import aligned, count

if TYPE_CHECKING:
    from qwo.moments import Moments
    from qwo.sem import Effect

Choice = tuple[tuple[str, ...], "Effect", bool]
"""The parents that the cause may have, the effect with them, and whether a path leads there."""


def effect(
    file: DataFile,
    graph: GraphFile,
    cause: Annotated[str, typer.Argument(metavar="CAUSE", help="The variable that is changed.")],
    outcome: Annotated[str, typer.Argument(metavar="EFFECT", help="The variable that may follow.")],
    *,
    reading: Reading,
    console: Console,
    graph_format: GraphFormat = None,
    level: Annotated[
        float, typer.Option("--level", help="Level of the confidence intervals.")
    ] = 0.95,
) -> None:
    """Estimate the total effect of one variable on another.

    [b]qwo effect cells.csv result PKA Akt[/b]
    [b]qwo effect cells.csv model.dot PKA Akt --json[/b]
    [b]qwo effect patients.csv result smoking=current stage[/b]

    Of a DAG there is one effect. Where the graph leaves directions open, there is one for each set
    of parents that the cause may have (IDA), each with its interval. Columns that are not in the
    graph are left out.
    """
    import qwo

    if not 0 < level < 1:
        raise ArgumentError(f"--level is {level:g}; wanted a number between 0 and 1")
    given = graph_from(graph, graph_format)
    for name in (cause, outcome):
        # A contrast such as race=black is one of the variable race.
        given.index(name if name in given.names else name.partition("=")[0])
    moments = read_data(file, reading.of(given.names), console).moments
    possible = qwo.ida(moments, given, cause, outcome)
    found = list(zip(possible.parent_sets, possible, possible.directed.tolist(), strict=True))
    if len(found) == 1 and found[0][2]:
        # By the sum over paths, which uses all that the DAG says.
        total = qwo.total_effect(qwo.fit_sem(moments, given.to_dag()), cause, outcome)
        found = [(found[0][0], replace(total, note=""), True)]
    text = _text(cause, outcome, found, level, _change(moments, cause))
    console.result(text, _document(cause, outcome, found, level))


def _change(moments: Moments, cause: str) -> str:
    """What is done to a cause: one more of a number, another level of a category."""
    for name, variable in zip(moments.names, moments.coding.variables, strict=True):
        labels = variable.labels(name)
        # Behind a binary column that is taken for pieces there is a number.
        if cause in labels and cause != name and moments.estimator != "latent":
            level = variable.levels[1 + labels.index(cause)]
            return f"{name} {level} instead of {variable.levels[0]}"
    return f"one unit more of {cause}"


def _text(cause: str, outcome: str, found: list[Choice], level: float, change: str) -> str:
    percent = f"{100 * level:.6g} %"
    if len(found) == 1:
        return "\n".join([_sentence(cause, outcome, found[0], level, change), _caution(found)])
    ends = [effect.interval(level) for _, effect, _ in found]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    rows = [["parents of " + cause, "effect", percent, "p"]]
    for (parents, effect, directed), end in zip(found, ends, strict=True):
        stated = f"{effect.p_value:.3g}" if effect.standard_error > 0 else ""
        name = (", ".join(parents) or "none") + ("" if directed else " *")
        rows.append([name, f"{effect.estimate:.4g}", f"[{end[0]:.4g}, {end[1]:.4g}]", stated])
    headline = (
        f"The graph leaves open which of its neighbours cause {cause}. With {change}, "
        f"{outcome} changes by one of {count(len(found), 'amount')}, all between "
        f"{low:.4g} and {high:.4g} ({percent} intervals)."
    )
    return "\n\n".join([headline, "\n".join(aligned(rows)), _caution(found)])


def _sentence(cause: str, outcome: str, choice: Choice, level: float, change: str) -> str:
    _, effect, directed = choice
    low, high = effect.interval(level)
    between = f"{100 * level:.6g} % interval from {low:.4g} to {high:.4g}"
    if not directed:
        text = (
            f"The graph says that {cause} has no effect on {outcome}: no directed path leads there."
        )
        if effect.standard_error > 0:
            text += (
                f" Regression on {cause} and its parents gives {effect.estimate:.4g} ({between}, "
                f"p = {effect.p_value:.3g})."
            )
        return text
    stated = f" ({between})" if effect.standard_error > 0 else ""
    return f"With {change}, {outcome} changes by {effect.estimate:.4g}{stated}."


def _caution(found: list[Choice]) -> str:
    lines = ["This holds if the graph is right and no hidden variable causes both."]
    denied = [effect for _, effect, directed in found if not directed]
    if denied and len(found) > 1:
        lines.append("* No directed path leads there then: the graph says that the effect is 0.")
    if any("speak against" in effect.note for effect in denied):
        lines.append("The data speak against an effect of 0 there: the graph may lack an edge.")
    return "\n".join(lines)


def _document(cause: str, outcome: str, found: list[Choice], level: float) -> dict[str, Any]:
    effects = [
        {
            "parents": list(parents),
            "estimate": effect.estimate,
            "standard_error": effect.standard_error,
            "interval": list(effect.interval(level)),
            "p_value": effect.p_value,
            "directed_path": directed,
        }
        for parents, effect, directed in found
    ]
    ends = [effect.interval(level) for _, effect, _ in found]
    return {
        "cause": cause,
        "effect": outcome,
        "level": level,
        "interval": [min(end[0] for end in ends), max(end[1] for end in ends)],
        "effects": effects,
    }
