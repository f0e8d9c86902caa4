"""What is said about a result, wherever it is shown; and numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from qwo.discovery.arrows import SURE, leaning
from qwo.graph.marks import LINE
from qwo.resample.support import TIMES_THE_REVERSE
from qwo.text import NONE, count, first_few

if TYPE_CHECKING:
    from qwo.report.contents import Contents
    from qwo.resample.support import PairSupport

LONG_TEXT = 24
"""Texts of more characters take a line of their own."""

DECIDE = "What you know can decide (--tiers, --require)"

WEAK = 0.5
"""The share of resamples, or the probability, below which a link is weak."""

_MOST_NAMED = 6
_MOST_TOLD = 2

RESAMPLES = {
    None: "resamples of the data",
    "halves": "subsample pairs: both halves of random cuts of the rows",
    "subsamples": "subsamples of the data",
    "replacement": "resamples of the data, drawn with replacement",
}
"""What the rows of a resample are."""


class Remark(NamedTuple):
    """What to think of before a graph is believed, as the part of a sentence."""

    level: str
    text: str
    anchor: str = ""
    """Where on a page to read more."""
    advice: str = ""
    """What can be done about it on the command line."""

    @property
    def sentence(self) -> str:
        """The text as a page has it."""
        return f"{self.text[0].upper()}{self.text[1:].rstrip('.')}."

    @property
    def line(self) -> str:
        """The text as the command line has it, with the advice."""
        return f"{self.text}. {self.advice}" if self.advice else self.text


def remarks(contents: Contents) -> list[Remark]:
    """All that is to be said, what may overturn the graph first."""
    return [
        *_search_remarks(contents),
        *_check_remarks(contents),
        *_edge_remarks(contents),
        *_bootstrap_remarks(contents),
        *_posterior_remarks(contents),
        *_direction_remarks(contents),
    ]


def page_remarks(contents: Contents) -> list[Remark]:
    """What the command line has said already: the findings of the audit, chains that disagree."""
    said = []
    for level, noun in (("error", "problem"), ("warning", "warning")):
        findings = () if contents.audit is None else contents.audit.findings
        texts = [finding.message for finding in findings if finding.severity == level]
        if texts:
            gist = first_few([text.partition(". ")[0].rstrip(".") for text in texts], _MOST_TOLD)
            text = f"the data audit has {count(len(texts), noun)}: {gist}"
            said.append(Remark(level, text, "audit"))
    apart = "" if contents.posterior is None else contents.posterior.apart
    return [*said, Remark("warning", apart, "posterior")] if apart else said


def _search_remarks(contents: Contents) -> Iterator[Remark]:
    status, bootstrap = contents.discovery.status, contents.bootstrap
    if status != "converged":
        reason = "the time limit" if status == "time limit" else "Ctrl-C"
        text = f"the search was cut short by {reason}: a better graph may exist"
        yield Remark("warning", text, "search")
    elif bootstrap is not None and getattr(bootstrap, "status", "") == "interrupted":
        done, asked = bootstrap.n_done, bootstrap.n_resamples
        text = f"the bootstrap was cut short by Ctrl-C, after {done} of {asked} runs"
        yield Remark("warning", text, "stability")


def _check_remarks(contents: Contents) -> Iterator[Remark]:
    if contents.check is not None:
        # Words first: the verdict, and how many independences fail.
        verdict, independences, *_ = contents.check.summary().split("\n\n")
        text = f"{verdict} {independences.splitlines()[0].rstrip(':')}"
        yield Remark("warning" if contents.check.alarm else "info", text, "check")


def _edge_remarks(contents: Contents) -> Iterator[Remark]:
    edges, leans = contents.discovery.edges, contents.discovery.leans
    undirected = sum(mark == LINE for _, mark, _ in edges) - len(leans)
    series = contents.discovery.series
    if not edges and (series is None or not series.n_earlier):
        text = "no edge is strong enough for the penalty"
        yield Remark("info", text, advice="A lower --penalty (1 is the BIC) finds weaker ones")
    if undirected:
        of = count(len(edges), "edge")
        text = f"{undirected:,} of {of} could point either way: the data fit both equally well"
        told = f"{DECIDE}, and so may the shape of the noise (--arrows noise)"
        yield Remark("info", text, "edges", told if noise_may_tell(contents) else DECIDE)
    curves = contents.discovery.curves
    if curves is not None and curves.size > 1:
        text = "relations are curved: coefficients, and files of the graph, are those of lines"
        yield Remark("info", f"{text}; the curves have a table of their own", "relations")
    if leans:
        listed = sorted(leans.items(), key=lambda item: -item[1])
        words = [f"{a} --> {b} ({leaning(odds)})" for (a, b), odds in listed]
        text = (
            f"{len(leans):,} of {count(len(edges), 'edge')} are shown without a direction although "
            "the best graph has one: it is more probable that the data cannot tell it. If they "
            f"can, the odds against the reverse are {first_few(words, _MOST_NAMED)}"
        )
        pairs = contents.edge_supports or contents.edge_probabilities
        turned = [p for p in pairs if max(p.arrow, p.reverse) >= SURE]
        stable = sum(1 for p in turned if {(p.first, p.second), (p.second, p.first)} & leans.keys())
        if stable:
            source = "Resamples direct" if contents.edge_supports else "The posterior directs"
            text += (
                f". {source} {stable:,} of them nearly always, which tells little: an arrow that "
                "is there because a weak link was missed comes back each time"
            )
        yield Remark("info", text, "edges", "" if undirected else DECIDE)


def noise_may_tell(contents: Contents) -> bool:
    """Whether the check has found noise that is not normal, and edges are left open."""
    return contents.check is not None and contents.check.noise_may_tell


def _bootstrap_remarks(contents: Contents) -> Iterator[Remark]:
    weak = _weak_links(contents.edge_supports)
    if weak:
        resampling = getattr(contents.bootstrap, "params", {}).get("resampling")
        size = ", which have half of the rows each" if resampling == "halves" else ""
        text = f"links found again in fewer than half of the resamples{size}: {weak}"
        yield Remark("warning", text, "stability")


def _posterior_remarks(contents: Contents) -> Iterator[Remark]:
    found, cpdag = contents.posterior, contents.discovery.cpdag
    if found is None:
        return
    weak = _weak_links(contents.edge_probabilities)
    if weak:
        yield Remark("warning", f"links that are less probable than not: {weak}", "posterior")
    absent = (cpdag == 0) & (cpdag.T == 0) & (found.link_probabilities > WEAK)
    missing = int(absent.sum()) // 2
    if missing:
        text = f"{count(missing, 'link')} that the graph lacks {'is' if missing == 1 else 'are'} "
        yield Remark("info", f"{text}more probable than not", "posterior")


def rhat_text(value: float | None) -> str:
    """R̂ of a report, in which what is not finite is None."""
    return "infinite: the chains do not mix" if value is None else f"{value:.3f}"


def _direction_remarks(contents: Contents) -> Iterator[Remark]:
    """Arrows that do not hold, by why; what is unsure with its link alone is said of the link."""
    pairs = contents.edge_supports or contents.edge_probabilities
    most = "most resamples" if contents.edge_supports else "most of the probability"
    turns, leaves = ("turn", "leave") if contents.edge_supports else ("turns", "leaves")
    against, undecided, unsure = [], [], []
    for pair in pairs:
        if not pair.coin_toss:
            continue
        if pair.reverse > WEAK:
            against.append(pair)
        elif pair.undirected > WEAK:
            undecided.append(pair)
        elif pair.link >= WEAK or pair.arrow < TIMES_THE_REVERSE * pair.reverse:
            unsure.append(pair)
    for some, text in (
        (against, f"arrows that {most} {turns} round (?)"),
        (undecided, f"arrows that {most} {leaves} without direction (?)"),
        (unsure, "arrows whose direction is not settled (?)"),
    ):
        if some:
            yield Remark("warning", f"{text}: {first_few(_arrows(some), _MOST_NAMED)}", "edges")


def _arrows(pairs: list[PairSupport]) -> list[str]:
    return [
        f"{pair.first} --> {pair.second} (arrow {percent(pair.arrow)}, reverse "
        f"{percent(pair.reverse)})"
        for pair in pairs
    ]


def _weak_links(pairs: list[PairSupport]) -> str:
    weak = sorted((pair.link, pair.edge) for pair in pairs if pair.link < WEAK)
    return first_few([f"{edge} ({percent(link)})" for link, edge in weak], _MOST_NAMED)


def percent(value: float | None) -> str:
    """A share in per cent, without decimals; only all is 100 % and only none is 0 %."""
    if value is None:
        return NONE
    if 0 < value < 0.01:
        return "<1 %"
    if 0.99 < value < 1:
        return ">99 %"
    return f"{100 * value:.0f} %"


def seconds(value: float) -> str:
    """A duration in a unit that suits it."""
    if value < 1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.1f} min"


def samples(value: float | None) -> str:
    """The number of samples; exact moments have infinitely many."""
    if value is None:
        return "∞"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def text_pairs(mapping: dict[str, Any]) -> list[tuple[str, str]]:
    """Headings and values, those of a mapping within it among them; short ones first."""
    pairs = [
        (key, text)
        for key, value in mapping.items()
        for key, text in (
            [(f"{key} {inner}", value_text(part)) for inner, part in value.items()]
            if isinstance(value, dict)
            else [(key, value_text(value))]
        )
    ]
    spaced = [(key.replace("_", " "), text) for key, text in pairs]
    return sorted(spaced, key=lambda pair: len(pair[1]) > LONG_TEXT)


def value_text(value: Any) -> str:
    """A parameter of whatever kind."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(value_text, value)) or NONE
    if isinstance(value, dict):
        return ", ".join(f"{key}: {value_text(part)}" for key, part in value.items()) or NONE
    return f"{value:.6g}" if isinstance(value, float) else str(value)
