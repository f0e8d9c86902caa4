"""The verdict on a result, in plain words: what holds, what speaks against it, what to do next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from qwo.discovery.arrows import SURE
from qwo.discovery.readings import Assumption, gist
from qwo.discovery.result import Discovery
from qwo.errors import list_names
from qwo.graph.cpdag import to_cpdag
from qwo.graph.marks import ARROW
from qwo.options import OPTIONS, READING
from qwo.report.contents import Contents
from qwo.report.remarks import WEAK, noise_may_tell
from qwo.text import about, count, csv_line

SURE_LINK = 0.1
"""Doubt up to which a link counts as sure; only resamples make it solid."""

DEPENDENT = ("independent rows", "doubted")
"""The assumption without which no number of a graph holds."""

ROWS_OF_A_COLUMN = 10
"""With fewer rows for each column, it is said that they are few."""

MOST_STEPS, ENOUGH = 3, 20

MEASURES = {
    "posterior": ("probable", "at least 90 %", "less than half"),
    "bootstrap": ("solid", "in at least 90 % of the resamples", "in fewer than half"),
    "false rate": ("unlikely to be due to chance", "at most 10 % likely to be false", "over half"),
}
"""What sure links are called, what that means and what weak means, by where doubts come from.
Resamples, in which other links change, too, are less sure than what is told under a model."""


class Verdict(NamedTuple):
    """What to think of a result, in sentences."""

    headline: str
    links: str
    directions: str
    against: list[str]
    assumes: str
    steps: list[str]
    """What to try next: an option of the command line, and what for."""

    def lines(self) -> Iterator[tuple[str, str]]:
        """A label and a text for each line of it."""
        yield "verdict", self.headline
        if self.links:
            yield "links", self.links
        if self.directions:
            yield "directions", self.directions
        more = [reason for reason in self.against if reason not in self.headline]
        if more:
            yield "also" if len(more) < len(self.against) else "against it", "; ".join(more)
        yield "assumes", self.assumes
        if self.steps:
            yield "try next", "; ".join(self.steps)


def verdict(contents: Contents) -> Verdict:
    """The verdict on a result."""
    severe = list(_severe(contents))
    made = [a.words for a in contents.assumptions if a.status == "made"]
    return Verdict(
        _headline(contents, severe),
        _links(contents),
        _directions(contents),
        [*severe, *_doubts(contents)],
        ", ".join(made) or "nothing that the options given do not drop",
        list(_steps(contents))[:MOST_STEPS],
    )


def _sizes(contents: Contents) -> tuple[int, int, int] | None:
    """How many links are sure, in between and weak; None where that is not known."""
    known = [doubt.link for doubt in contents.doubts if doubt.link is not None]
    if len(known) < len(contents.doubts) and not contents.near_copies:
        return None
    if contents.discovery.doubted_rates and not known:
        return None
    sure, weak = sum(d <= SURE_LINK for d in known), sum(d > WEAK for d in known)
    return sure, len(known) - sure - weak, weak


def _headline(contents: Contents, severe: list[str]) -> str:
    total, sizes, series = contents.discovery.n_edges, _sizes(contents), contents.discovery.series
    later = f", and {count(series.n_earlier, 'effect')} of earlier rows on others" if series else ""
    if not total and series is not None and series.n_earlier and not severe:
        return f"no link within one row{later}; a hypothesis to test, not a proof"
    if not total:
        return "no link is strong enough to be found at this penalty"
    if severe:
        return f"do not take this graph at face value: {severe[0]}"
    directed = sum(mark == ARROW for _, mark, _ in contents.discovery.edges)
    links, word = count(total, "link"), MEASURES[contents.doubt_source][0]
    if sizes is not None:
        links = f"{sizes[0]:,}" if sizes[0] else "none"
        links += f" of {count(total, 'link')} {'is' if sizes[0] < 2 else 'are'} {word}"
    told, doubts = f"{directed or 'none'} with a direction", _arrow_doubts(contents)
    sure = len(doubts) - sum(doubt is None or doubt > 1 - SURE for doubt in doubts)
    if sure < len(doubts) and set(doubts) != {None}:
        of, are = count(len(doubts), "direction"), "is" if sure < 2 else "are"
        source = "" if len(doubts) == directed else " from the data"
        told = f"{sure or 'none'} of {of}{source} {are} sure"
    return f"{links}, {told}{later}; a hypothesis to test, not a proof"


def _links(contents: Contents) -> str:
    found, sizes = contents.discovery, _sizes(contents)
    total = found.n_edges
    if not total:
        return ""
    if sizes is None:
        why = found.doubted_rates
        either = "" if found.pag is not None else " or a posterior"
        reason = f", as {why}" if why else f" without a bootstrap{either}"
        return f"{count(total, 'link')}; how many are false cannot be told{reason}"
    strong, between, weak = sizes
    word, meant, feeble = MEASURES[contents.doubt_source]
    parts = [f"{strong} {word} ({meant})", f"{between} in between", f"{weak} weak ({feeble})"]
    text = f"of {count(total, 'link')}, {', '.join(parts if between else parts[::2])}"
    if found.doubted_rates:
        return f"{text}; these numbers are too good, as {found.doubted_rates}"
    if contents.doubt_source == "bootstrap":
        return text
    false = sum(doubt.link or 0.0 for doubt in contents.doubts)
    least, others = "", ""
    if left := total - sum(sizes):
        text += f", {left:,} not judged without --bootstrap, as they link near-copies with others"
        least, others = "at least ", " of the others"
    text += f"; {least}{about(false)}{others} expected to be false (whatever their direction)"
    asked = contents.doubt_source == "posterior"
    return text if asked else f"{text}; fewer may be found again in other rows"


def _directions(contents: Contents) -> str:
    found = contents.discovery
    total, arrows = len(found.edges), sum(mark == ARROW for _, mark, _ in found.edges)
    if not total:
        return ""
    if not arrows:
        return f"none of {count(total, 'link')} has a direction that the data support"
    origins = {
        "you": f"{'' if found.series is None else 'the rows before or '}what you said",
        "conditions": "the conditions",
        "noise": "the shape of the noise",
        "data": f"the data{_doubted(contents)}",
    }
    numbers = Counter(arrow_sources(contents).values())
    parts = [
        f"{numbers[source]} from {told}" for source, told in origins.items() if numbers[source]
    ]
    confounded = 0 if found.hidden_causes is None else len(found.confounded)
    parts += [f"{confounded} ↔"] if confounded else []
    if total > arrows + confounded:
        parts.append(f"{total - arrows - confounded} open")
    return ", ".join(parts)


def _arrow_doubts(contents: Contents) -> list[float | None]:
    """How much arrows that come from the data are in doubt."""
    sources = arrow_sources(contents)
    edges = zip(contents.discovery.edges, contents.doubts, strict=True)
    return [doubt.arrow for (a, _, b), doubt in edges if sources.get((a, b)) == "data"]


def _doubted(contents: Contents) -> str:
    """How far to believe the arrows whose doubts are known; shares of resamples do not add up."""
    every = _arrow_doubts(contents)
    doubts = [doubt for doubt in every if doubt is not None]
    unsure = sum(doubt > 1 - SURE for doubt in doubts)
    if not unsure:
        return ""
    much = "all" if unsure == len(doubts) else unsure
    of = "of them" if len(doubts) == len(every) else f"of the {len(doubts)} judged"
    false = contents.doubt_source != "bootstrap"
    wrong = f", {about(sum(doubts))} expected to be wrong" if false else ""
    return f" ({much} {of} less than {100 * SURE:.0f} % sure{wrong})"


def arrow_sources(contents: Contents) -> dict[tuple[str, str], str]:
    """Where the direction of each arrow comes from: you, conditions, the noise, or the class."""
    found = contents.discovery
    arrows = [(a, b) for a, mark, b in found.edges if mark == ARROW]
    if found.regimes is not None:
        why = {"regime": "conditions", "knowledge": "you", "noise": "noise"}
        reasons = found.regimes.reasons
        return {pair: why.get(reasons.get(pair, ("", None))[0], "data") for pair in arrows}
    if found.feedback is not None and found.feedback.graph is not None:
        return dict.fromkeys(arrows, "data")
    place, compelled = {name: k for k, name in enumerate(found.names)}, to_cpdag(found.dag)
    # An arrow that the class of the DAG alone does not have was directed by knowledge; or by the
    # noise, if that was asked: what follows from its arrows is its own as well.
    other = "you" if found.noise is None else "noise"
    # Of an arrow whose reverse is ruled out the data were not asked.
    known = None if found.origin is None else found.origin.knowledge
    ruled_out = compelled > 2 if known is None else known.resolve(found.names).forbidden
    ends = {(a, b): (place[a], place[b]) for a, b in arrows}
    return {
        pair: "you" if ruled_out[j, i] else "data" if compelled[i, j] == 1 else other
        for pair, (i, j) in ends.items()
    }


def _severe(contents: Contents) -> Iterator[str]:
    """What may overturn the graph."""
    found, check = contents.discovery, contents.check
    if found.status != "converged":
        yield f"the search ended early ({found.status}), and a better graph may exist"
    rows = (a.reason for a in contents.assumptions if (a.name, a.status) == DEPENDENT)
    yield from filter(None, dict.fromkeys([found.doubted_rates, *rows]))
    if check is not None and check.alarm:
        alarms = ", ".join(test.name for test in check.tests if test.alarm)
        yield f"the check flags a conflict between data and graph ({alarms})"
    if contents.posterior is not None and contents.posterior.apart:
        yield contents.posterior.apart.partition(":")[0]


def _doubts(contents: Contents) -> Iterator[str]:
    """What makes it less sure."""
    roots = _roots(contents)
    names = contents.discovery.names
    into = [a for a in contents.discovery.edges if a[1] == ARROW and a[2] in roots]
    if into:
        yield (
            f"{count(len(into), 'arrow')} into {list_names([n for n in names if n in roots])}, "
            "which hardly anything can cause"
        )
    if few := _few_rows(contents):
        yield few
    if (drawn := getattr(contents.bootstrap, "n_done", ENOUGH)) < ENOUGH:
        yield f"{count(drawn, 'resample')} cannot tell how often a link comes again; take 100"
    near = contents.near_copies
    findings = () if contents.audit is None else contents.audit.findings
    yield from (gist(f.message) for f in findings if f.code == "determined")
    if near:
        yield (
            f"{len(near)} of {len(names)} columns are nearly copies of others (correlations above "
            f".97: {list_names(near)}), and their other links hang on the little that differs"
        )
    for assumption in contents.assumptions:
        reason = assumption.reason
        known = (assumption.name, assumption.status) == DEPENDENT or reason.startswith("the check")
        if assumption.status == "doubted" and not known:
            yield reason


def _why(assumption: Assumption, flag: str, found: Discovery) -> str:
    """What an option that drops an assumption is for, and without which other one."""
    if flag == "--lags auto":
        # Rows may resemble those before them for another reason, such as being sorted.
        return ", if rows follow each other in time"
    if assumption.name == "linear" and (found.hidden_causes or found.feedback):
        return f", without --{'hidden-causes' if found.hidden_causes else 'feedback'}"
    return f" (drops the assumption: {assumption.words})"


def _steps(contents: Contents) -> Iterator[str]:
    """What to try, the most useful first."""
    found = contents.discovery
    if found.status != "converged":
        yield "a longer --time-limit"
    for assumption in contents.assumptions:
        if assumption.status != "doubted":
            continue
        named = [flag for cure in assumption.cures if (flag := _flag(cure.option, cure.value))]
        if assumption.name == "numbers":
            yield "--nominal with the columns whose numbers are codes without an order"
            continue
        yield from (f"{flag}{_why(assumption, flag, found)}" for flag in named[:1])
    if not found.n_edges:
        yield from _more_to_ask(contents) if found.series is not None else ()
        yield "--penalty 1, which finds weaker links"
        return
    roots = _roots(contents)
    if roots:
        them = "it" if len(roots) == 1 else "them"
        yield f"--roots {shlex.quote(csv_line(roots))}, if nothing in the table can cause {them}"
    outcome = None if contents.outcome is None else contents.outcome.outcome
    if any(outcome in (a, b) and mark != ARROW for a, mark, b in found.edges):
        yield f"--leaves {shlex.quote(csv_line([outcome or '']))}, if it causes nothing here"
    if noise_may_tell(contents):
        yield "--arrows noise, which directs edges by the shape of noise that is not normal"
    yield from _more_to_ask(contents)
    told = found.origin is not None and found.origin.knowledge is not None
    if not (roots or told) and any(mark != ARROW for _, mark, _ in found.edges):
        yield "--tiers 'earlier > later', which directs edges"


def _few_rows(contents: Contents) -> str:
    """The warning of few rows, where they are few."""
    rows, columns = contents.discovery.params.get("n_samples"), contents.discovery.n_variables
    if not rows or rows >= ROWS_OF_A_COLUMN * columns:
        return ""
    return f"{rows:,.0f} rows are few for {columns} columns: others may give other links and arrows"


def _more_to_ask(contents: Contents) -> Iterator[str]:
    """What else can be asked of the graph."""
    found = contents.discovery
    if found.series is not None:
        if found.series.shares is None:
            yield "--bootstrap 100 (how sure is each effect?)"
        return
    if found.hidden_causes is not None:
        if contents.bootstrap is None and not found.hidden_causes.conditions:
            yield "--bootstrap 100 (how sure is each mark?)"
        return
    of_rows = found.curves is not None or found.noise is not None
    # The check takes rows for samples of their own.
    together = any(a.status == "dropped" and a.reason == "cluster" for a in contents.assumptions)
    steps = []
    if contents.check is None and found.curves is None and not together:
        steps.append("--check (do data and graph agree?)")
    if contents.posterior is None and contents.bootstrap is None and found.feedback is None:
        drawn = "" if of_rows else " or --posterior"
        steps.append(f"--bootstrap 100{drawn} (how sure is each link?)")
    yield from reversed(steps) if _few_rows(contents) else steps


def _flag(option: str, value: object) -> str:
    known = OPTIONS.get(option) or READING.get(option)
    if known is None or known.flag is None:
        return ""
    name = known.flag.names[0].partition("/")[0]
    if value is True:
        return name
    return f"{name} …" if value is None else f"{name} {value}"


def _roots(contents: Contents) -> list[str]:
    """Columns that look like what nothing else can cause, and that the graph lets be caused."""
    findings = () if contents.audit is None else contents.audit.findings
    named = [name for f in findings if f.code == "roots" for name in f.columns]
    edges = contents.discovery.edges
    caused = {end for a, mark, b in edges for end in ([b] if mark == ARROW else [a, b])}
    return [name for name in named if name in caused]
