"""The tables of docs/benchmarks/posterior.md, from the results that are kept beside."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.peers.markdown import markdown_table, update_page
from benchmarks.posterior.calibration import METHODS
from benchmarks.posterior.rows import RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "posterior.md"
MODELS = {"prior": "prior", "er": "random"}
Results = list[dict[str, str]]


def read(name: str) -> Results:
    with (RESULTS / f"posterior-{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def settings(rows: Results) -> Iterator[tuple[list[str], dict[tuple[str, str], dict[str, str]]]]:
    """The first cells of each setting of the calibration, and its rows by method and subject."""
    for model, n in dict.fromkeys((row["model"], row["n"]) for row in rows):
        of = [row for row in rows if (row["model"], row["n"]) == (model, n)]
        head = [MODELS[model], f"{n}, {of[0]['samples']}, {of[0]['sets']}"]
        yield head, {(row["method"], row["of"]): row for row in of}


def of_methods(rows: dict[tuple[str, str], dict[str, str]], of: str, what: str, form: str) -> str:
    return " / ".join(form.format(float(rows[method, of][what])) for method in METHODS)


def losses(rows: Results) -> str:
    header = ["models", "n, N, sets", "links", "edges", "arrows of the class", "paths"]
    return markdown_table(
        header,
        [
            [
                *head,
                *(
                    of_methods(by, of, "log_loss", "{:.4f}")
                    for of in ("link", "edge", "arrow", "path")
                ),
            ]
            for head, by in settings(rows)
        ],
        2,
    )


def worse(rows: Results) -> str:
    """How much higher the log loss of edges and links is than the posterior's."""
    header = ["models", "n, N, sets"]
    header += [f"{of}s, {method}" for of in ("link", "edge") for method in METHODS[1:]]
    return markdown_table(
        header,
        [
            [
                *head,
                *(
                    "{:+.4f} ± {:.4f}".format(
                        *(float(by[method, of][name]) for name in ("worse", "worse_se"))
                    )
                    for of in ("link", "edge")
                    for method in METHODS[1:]
                ),
            ]
            for head, by in settings(rows)
        ],
        2,
    )


def errors(rows: Results) -> str:
    header = ["models", "n, N, sets", "edges", "by chance (95 %)", "links", "by chance (95 %)"]
    header += ["paths", "by chance (95 %)", "unsure edges"]
    lines = []
    for head, by in settings(rows):
        cells = list(head)
        for of in ("edge", "link", "path"):
            chance = by["posterior", of]
            cells += [
                of_methods(by, of, "ece", "{:.3f}"),
                f"{float(chance['ece_if_right']):.4f} ({float(chance['ece_if_right_95']):.4f})",
            ]
        lines.append([*cells, of_methods(by, "edge", "ece_unsure", "{:.3f}")])
    return markdown_table(header, lines, 2)


def intervals(rows: Results) -> str:
    names = {
        "coverage": "all pairs",
        "coverage_likely": "likely effects",
        "coverage_nonzero": "effects that are there",
    }
    ours = {"coverage_if_any": "those with `if_any=True`", "known_if_any": "have such an interval"}
    lines = []
    for head, by in settings(rows):
        of_all = [of_methods(by, "edge", name, "{:.0%}") for name in names]
        of_ours = [f"{float(by['posterior', 'edge'][name]):.0%}" for name in ours]
        lines.append([*head, *of_all, *of_ours])
    return markdown_table(["models", "n, N, sets", *names.values(), *ours.values()], lines, 2)


def times(rows: Results) -> str:
    header = ["graph and degree, n, N", "seconds", "`discover`", "unsure edges", "agreeing"]
    header += ["R̂ of 99 %", "least effective draws", "likeliest edge outside"]
    return markdown_table(
        header,
        [
            [
                f"{row['graph']} {row['degree']}, {row['n']}, {row['samples']}",
                f"{float(row['seconds']):.2f}",
                f"{float(row['discover']):.2f}",
                row["unsure"],
                f"{float(row['agreeing']):.0%}",
                f"{float(row['rhat_99']):.3f}",
                f"{float(row['least_ess']):.0f}",
                f"{float(row['outside']):.3f}",
            ]
            for row in rows
        ],
    )


PEER_NAMES = {"again": "a second long run", "gadget": "Gadget", "dibs": "DiBS"}


def peers(rows: Results) -> str:
    header = ["n, N", "run", "seconds", "score below", "root mean square", "largest"]
    header += ["average precision", "AUROC"]
    lines = []
    for row in rows:
        cells = [f"{row['n']}, {row['samples']}", peer_name(row["run"]), row["seconds"]]
        found = [row[name] for name in ("score_below", "rms_deviation", "max_deviation")]
        found += [row["average_precision"], row["auroc"]]
        blank = ["no answer"] + ["–"] * 4
        lines.append(
            cells + ([cell.replace("nan", "–") for cell in found] if row["auroc"] else blank)
        )
    return markdown_table(header, lines, 2)


def peer_name(run: str) -> str:
    first, _, rest = run.partition(" ")
    if first == "qwo":
        return f"{rest} here"
    title = PEER_NAMES[first.rstrip("+")] + first[len(first.rstrip("+")) :]
    return f"{title} {rest}".strip()


def better(row: dict[str, str], score: str) -> int:
    """Whether the posterior's graph is nearer by more than two standard errors, or further: ±1."""
    gain, error = (float(row[f"{score}_nearer{end}"]) for end in ("", "_se"))
    return int(gain > 2 * error) - int(gain < -2 * error)


def verdicts(rows: Results) -> str:
    header = ["N", "kinds", "BGe: nearer", "further", "mean gain"]
    header += ["BIC, 1.5: nearer", "further", "mean gain"]
    lines = []
    for n_samples in dict.fromkeys(row["samples"] for row in rows):
        of = [row for row in rows if row["samples"] == n_samples]
        cells = [n_samples, str(len(of))]
        for score in ("posterior", "bic_posterior"):
            signs = [better(row, score) for row in of]
            gain = np.mean([float(row[f"{score}_nearer"]) for row in of])
            cells += [str(signs.count(1)), str(signs.count(-1)), f"{gain:+.1f}"]
        lines.append(cells)
    return markdown_table(header, lines)


def distances(rows: Results) -> str:
    header = ["kind, n, degree, N", "sets", "edges", "`discover`", "at 2"]
    header += ["BGe", "gain", "BIC, 1.5", "gain"]
    lines = []
    for row in rows:
        degree = f", {row['degree']}" if int(row["degree"]) else ""
        cells = [f"{row['family']}, {row['n']}{degree}, {row['samples']}"]
        cells += [row["sets"], f"{float(row['edges']):.0f}"]
        cells += [f"{float(row[name]):.1f}" for name in ("discover", "discover_2")]
        for score in ("posterior", "bic_posterior"):
            gain, error = (float(row[f"{score}_nearer{end}"]) for end in ("", "_se"))
            cells += [f"{float(row[score]):.1f}", f"{gain:+.1f} ± {error:.1f}"]
        lines.append(cells)
    return markdown_table(header, lines)


PARTS = {
    "losses": (losses, "calibration"),
    "worse": (worse, "calibration"),
    "errors": (errors, "calibration"),
    "intervals": (intervals, "calibration"),
    "times": (times, "time"),
    "peers": (peers, "peers"),
    "verdicts": (verdicts, "distance"),
    "distances": (distances, "distance"),
}


def write_page(page: Path = PAGE) -> None:
    for part, (table, name) in PARTS.items():
        update_page(page, table(read(name)), part)
