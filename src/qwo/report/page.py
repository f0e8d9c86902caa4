"""The page: everything in one HTML file, which asks nothing of the network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qwo import text
from qwo.discovery import Discovery
from qwo.inspection.audit import Audit
from qwo.report import pictures, remarks, tables
from qwo.report.contents import Contents
from qwo.report.data import contents_data, draw_contents
from qwo.report.verdict import verdict
from qwo.sem import Causes, LinearSem
from qwo.text import write_whole

if TYPE_CHECKING:
    import jinja2

    from qwo.agreement import Check, ConditionChecks
    from qwo.bayes import Posterior
    from qwo.resample import Bootstrap
    from qwo.sem.cyclic import CyclicSem

_FOLDER = Path(__file__).parent / "_bundle"


class Bundle(NamedTuple):
    """The script, and the licences of the packages in it."""

    script: str
    licences: str


def find_bundle(folder: Path = _FOLDER) -> Bundle | None:
    """The bundle that npm made when the package was built; None without one."""
    script, licences = folder / "report.js", folder / "LICENSES.txt"
    if not (script.is_file() and licences.is_file()):
        return None
    return Bundle(script.read_text("utf-8"), licences.read_text("utf-8"))


_TEMPLATES = Path(__file__).parent / "templates"
# What could end or open an element, or a line of a script, within JSON.
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def write_report(
    path: str | os.PathLike[str],
    discovery: Discovery,
    *,
    audit: Audit | None = None,
    model: LinearSem | CyclicSem | None = None,
    bootstrap: Bootstrap | None = None,
    posterior: Posterior | None = None,
    truth: object | None = None,
    command: str | None = None,
    title: str | None = None,
    data_summary: Mapping[str, Any] | None = None,
    check: Check | ConditionChecks | None = None,
    outcome: Causes | None = None,
    figures: bool = True,
    interactive: bool = True,
) -> Path:
    """Write a result as one HTML file that works offline, whole or not at all.

    Parameters
    ----------
    path : path
        The file; one that is there is replaced.
    discovery : Discovery
        What `qwo.discover` returned.
    audit : Audit, optional
        What `qwo.audit` said about the data.
    model : LinearSem or CyclicSem, optional
        ``qwo.fit_sem(data, discovery)``: coefficients, standard errors and fit.
    bootstrap : Bootstrap, optional
        How often resamples found each edge: what `qwo.bootstrap` returned.
    posterior : Posterior, optional
        How probable each edge is, and effects: what `qwo.posterior` returned.
    truth : object, optional
        The true graph, if it is known, as anything that `qwo.graph.as_graph` takes.
    command : str, optional
        The command that reproduces the result.
    title : str, optional
        The heading of the page.
    data_summary : mapping, optional
        What was read, as headings and values: ``{"file": "cells.csv", "rows": 853}``.
    check : Check, optional
        How far data and graph agree: what `qwo.check` returned.
    outcome : Causes, optional
        The effects on a variable of interest: what ``discovery.causes_of`` returned.
    figures : bool
        Whether to add the matrix of the graph, and the graph beside the truth if it is given.
    interactive : bool
        Whether to add the script that makes the graph and the tables interactive. An installation
        that was built without npm has none and shows a still picture.

    Returns
    -------
    Path
        The file written.
    """
    beside = audit, model, bootstrap, posterior, truth, command, title, data_summary, check, outcome
    contents = Contents(discovery, *beside)
    return write_contents(path, contents, figures=figures, interactive=interactive)


def write_contents(
    path: str | os.PathLike[str], contents: Contents, *, figures: bool, interactive: bool = True
) -> Path:
    """The page of what is known already."""
    html = _render(contents, figures=figures, interactive=interactive)
    # Half a surrogate pair, which no file can hold, is shown as a question mark.
    write_whole(path, html.encode("utf-8", "replace"))
    return Path(path)


class InlineReport:
    """A report for a notebook: the interactive page in a frame of its own, without a server."""

    def __init__(self, discovery: Discovery, *, height: int = 720, **beside: Any) -> None:
        self.html = _render(Contents(discovery, **beside), figures=False, interactive=True)
        self.height = height

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f'<iframe title="Causal graph" srcdoc="{escape(self.html)}" '
            'sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #ccc"></iframe>'
        )


def _render(contents: Contents, *, figures: bool, interactive: bool) -> str:
    from markupsafe import Markup

    drawing = draw_contents(contents)
    data = contents_data(contents, drawing)
    interactive = interactive and drawing is not None
    unread = contents.discovery.regimes is None
    bundle = find_bundle() if interactive else None
    listed = data if drawing is not None else tables.first_rows(data)
    return (
        _environment()
        .get_template("report.html")
        .render(
            data=data,
            verdict=verdict(contents),
            outcome=contents.outcome,
            outcome_chart=pictures.forest_chart(contents.outcome),
            notes=_notes(contents, data),
            regimes=contents.discovery.regimes,
            hidden=contents.discovery.hidden_causes,
            series=contents.discovery.series,
            feedback=contents.discovery.feedback,
            relations=pictures.relations(contents.discovery),
            readings=contents.discovery.readings,
            experiments={} if unread else contents.discovery.next_experiment(),
            tables={
                "edges": tables.edges_table(listed),
                "contrasts": tables.contrast_table(data),
                "variables": tables.variables_table(listed),
                **{key: tables.further_table(data, key) for key in tables.FURTHER},
            },
            picture="" if drawing is None else Markup(pictures.picture(drawing, data)),
            chart=pictures.trace_chart(data),
            prices=pictures.price_chart(data),
            figures=pictures.figures(contents, data) if figures else [],
            interactive=bundle is not None,
            without_bundle=interactive and bundle is None,
            licences="" if bundle is None else bundle.licences,
            script="" if bundle is None else Markup(bundle.script),
            policy=_policy(bundle),
            embedded=Markup(embedded_json(data)) if bundle is not None else "",
            style=Markup((_TEMPLATES / "report.css").read_text("utf-8")),
        )
    )


def _notes(contents: Contents, data: dict[str, Any]) -> list[remarks.Remark]:
    """What is said on top of the page."""
    notes = [*remarks.page_remarks(contents), *remarks.remarks(contents)]
    if data["layout"] is None:
        size = f"{data['summary']['n_variables']:,} variables are too many to be drawn"
        what = "the tables hold the strongest edges and the variables with most of them"
        notes.append(
            remarks.Remark("info", f"{size}: {what}; files of the graph hold all", "edges")
        )
    return notes


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for writer in (
        text.about,
        text.number,
        text.p_value,
        remarks.percent,
        remarks.rhat_text,
        remarks.samples,
        remarks.seconds,
        remarks.value_text,
        remarks.text_pairs,
    ):
        environment.filters[writer.__name__] = writer
    environment.globals["long_text"] = remarks.LONG_TEXT
    environment.globals["resamples"] = remarks.RESAMPLES
    return environment


def embedded_json(data: Mapping[str, Any]) -> str:
    """JSON that nothing in it can break out of, whatever the variables are called."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def _policy(bundle: Bundle | None) -> str:
    """The Content-Security-Policy: this page's own script and styles, images within it, no more."""
    script = "'none'"
    if bundle is not None:
        digest = hashlib.sha256(bundle.script.encode()).digest()
        script = f"'sha256-{base64.b64encode(digest).decode()}'"
    # Styles of elements are set by the graph library, so that no hash can be given for them.
    return (
        f"default-src 'none'; script-src {script}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
