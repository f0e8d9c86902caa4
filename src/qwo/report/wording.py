"""Numbers and remarks as people read them."""

from __future__ import annotations

from typing import Any, NamedTuple

from qwo.bayes.chains import AGREED
from qwo.text import NONE, count

LONG_TEXT = 24
"""Texts of more characters take a line of their own."""


RESAMPLES = {
    None: "resamples of the data",
    "halves": "halves of the data, two of each random cut",
    "subsamples": "subsamples of the data",
    "replacement": "resamples of the data, drawn with replacement",
}
"""What the rows of a resample are."""


class Note(NamedTuple):
    """A remark at the head of the page; the anchor is where to read more."""

    level: str
    text: str
    anchor: str = ""


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
    return "∞" if value is None else f"{value:,.10g}"


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
    return sorted(((key.replace("_", " "), text) for key, text in pairs), key=_is_long)


def _is_long(pair: tuple[str, str]) -> bool:
    return len(pair[1]) > LONG_TEXT


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


def notes(data: dict[str, Any]) -> list[Note]:
    """What a reader should know before trusting the graph."""
    return [*_search_notes(data), *_size_notes(data), *_audit_notes(data), *_edge_notes(data)]


def _search_notes(data: dict[str, Any]) -> list[Note]:
    status = data["summary"]["status"]
    if status == "converged":
        return []
    text = f"The search ended early ({status}); a longer one may find a better graph."
    return [Note("warning", text, "search")]


def _size_notes(data: dict[str, Any]) -> list[Note]:
    if data["layout"] is not None:
        return []
    text = (
        f"{data['summary']['n_variables']:,} variables are too many to be drawn. The tables hold "
        "the strongest edges and the variables with most of them; the files of the graph hold all."
    )
    return [Note("info", text, "edges")]


def _audit_notes(data: dict[str, Any]) -> list[Note]:
    findings = data["audit"] or []
    levels = [finding["severity"] for finding in findings]
    result = []
    for level, noun in (("error", "problem"), ("warning", "warning")):
        if level in levels:
            text = f"The data audit has {count(levels.count(level), noun)}."
            result.append(Note(level, text, "audit"))
    return result


def _edge_notes(data: dict[str, Any]) -> list[Note]:
    summary, result = data["summary"], []
    if not summary["n_edges"]:
        result.append(Note("info", "No edge was found: nothing speaks against independence."))
    if summary["n_undirected"]:
        n, total = summary["n_undirected"], count(summary["n_edges"], "edge")
        subject = f"{n:,} of {total} {'is' if n == 1 else 'are'}"
        if n == summary["n_edges"]:
            subject = f"All {total} are" if n > 1 else "The only edge is"
        text = f"{subject} undirected: the data cannot tell the direction."
        result.append(Note("info", text, "edges"))
    return result + _support_notes(data)


def _support_notes(data: dict[str, Any]) -> list[Note]:
    result = []
    tosses = [edge for edge in data["edges"] if edge.get("coin_toss")]
    if tosses:
        why = (
            "half of the resamples or fewer have the same arrow, or more than half as many the "
            "reverse"
            if data["bootstrap"] is not None
            else "each has a probability of a half or less, or less than twice that of its reverse"
        )
        text = (
            f"{len(tosses):,} of {count(data['summary']['n_directed'], 'arrow')} "
            f"{'is' if len(tosses) == 1 else 'are'} little surer than a coin toss (marked →?, with "
            f"a hollow head): {why}."
        )
        result.append(Note("warning", text, "edges"))
    weak = sum(edge.get("link", 1.0) < 0.5 for edge in data["edges"])
    if weak:
        text = f"{count(weak, 'link')} came back in fewer than half of the resamples."
        result.append(Note("warning", text, "stability"))
    return result + _posterior_notes(data)


def _posterior_notes(data: dict[str, Any]) -> list[Note]:
    posterior, result = data["posterior"], []
    if posterior is None:
        return []
    weak = sum(edge["p_link"] < 0.5 for edge in data["edges"])
    if weak:
        text = f"{count(weak, 'link')} of the graph {'is' if weak == 1 else 'are'} less probable "
        result.append(Note("warning", f"{text}than not.", "posterior"))
    if posterior["rhat_99"] > AGREED:
        text = f"The chains of the posterior disagree (R̂ {posterior['rhat_99']:.2f}): "
        result.append(Note("warning", f"{text}its probabilities may be off.", "posterior"))
    missing = sum(pair["link"] > 0.5 and not pair["reference"] for pair in posterior["pairs"])
    if missing:
        text = f"{count(missing, 'link')} that the graph lacks {'is' if missing == 1 else 'are'} "
        result.append(Note("info", f"{text}more probable than not.", "posterior"))
    return result
