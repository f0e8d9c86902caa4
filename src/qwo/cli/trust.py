"""``qwo posterior``, ``qwo effect``: how sure a graph is, and what it implies."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from qwo.cli.console import Console, shown_warnings
from qwo.cli.failures import ExitCode, command_line
from qwo.cli.folder import check_folder, only_writer, whole_folder, write_csv, write_record
from qwo.cli.graphs import graph_from, learnt_again
from qwo.cli.options import (
    GraphFile,
    GraphFormat,
    KnowledgeOptions,
    RegimeColumn,
    SearchFlags,
    folder_option,
    force_option,
    option,
    pairs_in,
)
from qwo.cli.reading import (
    DataFile,
    Reading,
    arguments_for,
    is_curved,
    read_data,
    read_for,
    result_record,
    rows_again,
)
from qwo.errors import ArgumentError
from qwo.text import aligned, count, write_whole

if TYPE_CHECKING:
    from qwo.bayes import EffectPosterior, Posterior
    from qwo.graph import CausalGraph
    from qwo.moments import Moments
    from qwo.sem import Effect

FORMS = {"json": "json", "adjacency": "csv", "dot": "dot", "graphml": "graphml"}
"""The formats of the graphs in the folder, and the endings of their files."""


class DrawFlags(SearchFlags):
    """How long, by how many threads and from which seed."""

    panel = "Posterior"
    says: ClassVar = {
        "time_limit": "Stop then, with the draws so far.",
        "random_state": "The same seed gives the same draws, for any number of threads.",
        "n_jobs": "Threads; -1 for one per processor.",
    }


@dataclass(frozen=True)
class PriorOptions:
    """What graphs are probable beforehand, how many to draw, and which effects to tell."""

    panel: ClassVar[str] = "Posterior"

    score: Annotated[
        Literal["bge", "bic"],
        option("--score", "Marginal likelihood (bge), or the BIC in its place."),
    ] = "bge"
    t: Annotated[
        float | None,
        option("--prior-scale", "t of BGe's prior matrix tI; by default from the data.", "NUMBER"),
    ] = None
    penalty: Annotated[
        float, option("--penalty", "For the BIC: a parent costs C/2 · log N.", "C")
    ] = 1.0
    edge_prior: Annotated[
        float | None,
        option(
            "--edge-prior",
            "Prior odds of an edge, 1/(2(n - 1)) by default. 1: all DAGs are equally likely.",
            "ODDS",
        ),
    ] = None
    draws: Annotated[int, option("--draws -n", "DAGs to draw.", "NUMBER")] = 2000
    effects: Annotated[
        list[str] | None,
        option(
            "--effect -e", "Also the effect of one variable on another. Repeatable.", "CAUSE,EFFECT"
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `qwo.posterior`."""
        return {
            "score": self.score,
            "t": self.t,
            "penalty_discount": self.penalty,
            "edge_prior": self.edge_prior,
            "n_draws": self.draws,
        }


def posterior(
    file: DataFile,
    *,
    prior: PriorOptions,
    output: Annotated[
        Path | None,
        folder_option(
            "Write probabilities, graphs and draws here. Without: the surest pairs, to standard "
            "output.",
            "Output",
        ),
    ] = None,
    force: Annotated[bool, force_option(panel="Output")] = False,
    regime: RegimeColumn = None,
    run: DrawFlags,
    reading: Reading,
    known: KnowledgeOptions,
    console: Console,
) -> None:
    """Draw graphs in proportion to their probability, to see how sure each edge is.

    [b]qwo posterior cells.csv[/b]                    a table of probabilities
    [b]qwo posterior cells.csv -t log -o sure[/b]     a folder
    [b]qwo posterior cells.csv -e dose,outcome[/b]    and an effect, graph unsure
    [b]qwo posterior cells.csv --tiers 'age,sex > dose > outcome'[/b]
    [b]qwo posterior cells.csv --regime condition[/b]

    Each pair has the probability of a link, and of either direction. Ctrl-C ends the run with the
    draws so far, and exit code 130. Exit code 3 says that the chains disagree.
    """
    import qwo

    pairs, knowledge = pairs_in("--effect", prior.effects), known.build()
    if output is not None:
        check_folder(output, force=force)
    told = {} if regime is None else {"regime": regime}
    data = read_data(file, reading, console, dropping=told, learns=False)
    with shown_warnings([finding.worded() for finding in data.audit.warnings]) as warnings:
        doubts = len(warnings)
        found = qwo.posterior(
            **(rows_again(file, reading) | told if told else {"data": data.moments}),
            knowledge=knowledge,
            progress=console.shows_progress,
            **prior.arguments(),
            **run.arguments(),
        )
        asked = [found.effect(*pair) for pair in pairs]
    document = {**found.to_dict(), "effects": [effect.to_dict() for effect in asked]}
    if output is None or console.json or not console.quiet:
        console.result("\n".join([str(found), *map(repr, asked)]), document)
    if output is not None:
        with only_writer(output), whole_folder(output, force=force) as made:
            _write(made, found, asked)
            write_record(made, {"kind": "posterior", "command": command_line(), **document})
        console.say(f"wrote {output}")
    if found.status == "interrupted":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if len(warnings) > doubts:
        raise typer.Exit(ExitCode.ATTENTION)


def _write(folder: Path, found: Posterior, effects: list[EffectPosterior]) -> None:
    """Write everything into an empty folder."""
    from qwo.graph import write_graph

    write_probabilities(folder, found, effects)
    for name in ("edge_probabilities", "path_probabilities"):
        rows = zip(found.names, getattr(found, name).tolist(), strict=True)
        write_csv(folder / f"{name}.csv", ["", *found.names], ([v, *row] for v, row in rows))
    for name, graph in (("cpdag", found.least_shd_graph), ("dag", found.median_graph)):
        for form, suffix in FORMS.items():
            write_graph(graph, folder / f"{name}.{suffix}", form)
    text = "\n".join([found.summary(), *map(repr, effects)])
    write_whole(folder / "summary.txt", text + "\n")


def write_probabilities(folder: Path, found: Posterior, effects: list[EffectPosterior]) -> None:
    """Write the draws, the table of pairs, and effects if there are any."""
    from qwo.bayes import PairProbability

    found.save(folder / "posterior.npz")
    write_csv(folder / "probabilities.csv", PairProbability._fields, found.to_records())
    if effects:
        tables = [effect.to_dict() for effect in effects]
        write_csv(folder / "effects.csv", list(tables[0]), [list(row.values()) for row in tables])


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
    level: Annotated[float, option("--level", "Level of the confidence intervals.")] = 0.95,
    values: Annotated[
        tuple[float, float] | None,
        option("--values", "For a cause with curves: the two values to compare.", "FROM TO"),
    ] = None,
) -> None:
    """Estimate the total effect of one variable on another.

    [b]qwo effect cells.csv result PKA Akt[/b]
    [b]qwo effect cells.csv curved PKA Akt --values 1 2[/b]
    [b]qwo effect cells.csv model.dot PKA Akt --json[/b]
    [b]qwo effect patients.csv result smoking=current stage[/b]

    Of a DAG there is one effect. Where the graph leaves directions open, there is one for each set
    of parents that the cause may have (IDA), each with its interval. Where causes may be hidden, it
    is the one that holds in every graph of the class, or the reason why there is none; where there
    are cycles, what follows if the cause is set and held; where relations are curved, a difference
    between two values of the cause, by default its quartiles. Other columns are left out.
    """
    import qwo

    if not 0 < level < 1:
        raise ArgumentError(f"--level is {level:g}; wanted a number between 0 and 1")
    given = graph_from(graph, graph_format)
    for name in (cause, outcome):
        # A contrast such as race=black is one of the variable race.
        given.index(name if name in given.names else name.partition("=")[0])
    moments = read_for(graph, given.names, file, reading, console).moments
    how: Any = {"values": values, "level": level}
    change = _by_result(graph, (file, reading, console), cause, outcome, how)
    if change is not None:
        console.result(f"{change}.\n{_caution([])}", asdict(change))
        return
    if given.kind in ("cyclic", "pag"):
        console.result(*_told(given, moments, cause, outcome, level))
        return
    if values is not None:
        raise ArgumentError("--values are of causes with curves, and here are lines: leave it out")
    found = _left_open(graph, given, moments, cause, outcome)
    if not found:
        possible = qwo.ida(moments, given, cause, outcome)
        found = list(zip(possible.parent_sets, possible, possible.directed.tolist(), strict=True))
    if len(found) == 1 and found[0][2]:
        # By the sum over paths, which uses all that the DAG says.
        dag = given.to_dag().reordered(moments.names)
        total = qwo.total_effect(qwo.fit_sem(moments, dag.matrix), cause, outcome)
        found = [(found[0][0], replace(total, note=""), True)]
    text = _effect_text(cause, outcome, found, level, _change(moments, cause))
    console.result(text, _effect_document(cause, outcome, found, level))


def _told(given: CausalGraph, moments: Moments, cause: str, outcome: str, level: float) -> Any:
    """The effect in a graph with cycles, and in all where causes may be hidden: words, document."""
    from qwo.hidden.effects import effect_in_pag
    from qwo.sem.cyclic import fit_cyclic

    if given.kind == "cyclic":
        total = fit_cyclic(moments, given).effect(cause, outcome)
        return f"{cause} on {outcome}, if it is set and held: {total:.4g}", {"total": total}
    told = effect_in_pag(given, moments, cause, outcome)
    return str(told), {**asdict(told), "interval": list(told.interval(level))}


def _by_result(graph: Path, read: Any, cause: str, outcome: str, how: Any) -> Any:
    """The effect in a result whose graph alone does not hold it: conditions, lags and curves."""
    from qwo.curved.model import effect_over_class, model_of

    again = learnt_again(graph, *read)
    if again is not None or not is_curved(graph):
        return None if again is None else again.effect(cause, outcome, **how)
    given, dag = graph_from(graph), graph_from(graph, of_folder="dag")
    rows = arguments_for(graph, given.names, *read)
    model = model_of(rows.pop("data"), dag, rows)
    return effect_over_class(model, given.reordered(model.names).matrix, cause, outcome, **how)


def _left_open(
    folder: Path, given: CausalGraph, moments: Moments, cause: str, outcome: str
) -> list[Choice]:
    """The effects where a result has arrows that its data do not support: these may be turned.

    None for other graphs, whose arrows are taken as they are; as `Discovery.effect` does.
    """
    leans = result_record(folder).get("leans")
    if not leans or given.kind != "cpdag":
        return []
    from qwo.sem.outcome import Setting, open_effects

    own = given.reordered(moments.names)
    shown, cpdag = own.matrix.copy(), own.matrix
    for lean in leans:
        i, j = own.index(lean["source"]), own.index(lean["target"])
        shown[i, j] = shown[j, i] = 2
    return open_effects(Setting(moments, cpdag, own.to_dag().matrix, shown, 0.95), cause, outcome)


def _change(moments: Moments, cause: str) -> str:
    """What is done to a cause: one more of a number, another level of a category."""
    for name, variable in zip(moments.names, moments.coding.variables, strict=True):
        labels = variable.labels(name)
        # Behind a binary column that is taken for pieces there is a number.
        if cause in labels and cause != name and moments.estimator != "latent":
            level = variable.levels[1 + labels.index(cause)]
            return f"{name} {level} instead of {variable.levels[0]}"
    return f"one unit more of {cause}"


def _effect_text(cause: str, outcome: str, found: list[Choice], level: float, change: str) -> str:
    percent = f"{100 * level:.6g} %"
    if len(found) == 1:
        return "\n".join([_sentence(cause, outcome, found[0], level, change), _caution(found)])
    if not any(directed for _, _, directed in found):
        text = f"The graph leaves open which of its neighbours cause {cause}, but says that it has "
        return f"{text}no effect on {outcome}: no directed path leads there in any case."
    low, high = _range(found, level)
    rows = [["parents of " + cause, "effect", percent, "p"]]
    for parents, effect, directed in found:
        end = effect.interval(level)
        stated = f"{effect.p_value:.3g}" if effect.standard_error > 0 else ""
        name = (", ".join(parents) or "none") + ("" if directed else " *")
        rows.append([name, f"{effect.estimate:.4g}", f"[{end[0]:.4g}, {end[1]:.4g}]", stated])
    headline = (
        f"The graph leaves open which of its neighbours cause {cause}. With {change}, "
        f"{outcome} changes by one of {count(len(found), 'amount')}, all between "
        f"{low:.4g} and {high:.4g} ({percent} intervals)."
    )
    return "\n\n".join([headline, "\n".join(aligned(rows)), _caution(found)])


def _range(found: list[Choice], level: float) -> list[float]:
    """What all intervals lie in; of several effects, one without a path is 0."""
    ends = [
        effect.interval(level) if directed or len(found) == 1 else (0.0, 0.0)
        for _, effect, directed in found
    ]
    return [min(low for low, _ in ends), max(high for _, high in ends)]


def _sentence(cause: str, outcome: str, choice: Choice, level: float, change: str) -> str:
    _, effect, directed = choice
    low, high = effect.interval(level)
    between = f"{100 * level:.6g} % interval from {low:.4g} to {high:.4g}"
    if not directed:
        text = (
            f"The graph says that {cause} has no effect on {outcome}: no directed path leads there."
        )
        if effect.standard_error > 0:
            told = f"{effect.estimate:.4g} ({between}, p = {effect.p_value:.3g})"
            text += f" Regression on {cause} and its parents gives {told}."
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


def _effect_document(cause: str, outcome: str, found: list[Choice], level: float) -> dict[str, Any]:
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
    return {
        "cause": cause,
        "effect": outcome,
        "level": level,
        "interval": _range(found, level),
        "effects": effects,
    }
