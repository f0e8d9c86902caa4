"""A fitted model in words and columns, for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qwo.text import aligned, fixed, number, p_value, short

if TYPE_CHECKING:
    from qwo.sem.linear_sem import LinearSem

MAX_ROWS = 40
"""Rows of a table beyond this are counted, not shown."""

MAX_NAME = 24
"""Characters of a name that are shown."""


def summary(sem: LinearSem) -> str:
    """The fit of the model, its edges and its variables, as three blocks of text."""
    return "\n\n".join(filter(None, [_model(sem), _edges(sem), _nodes(sem), _coding(sem)]))


def _coding(sem: LinearSem) -> str:
    """The levels that categories are compared with."""
    pairs = zip(sem.variables.names, sem.coding.variables, strict=True)
    coded = [f"{name} ({v.levels[0]})" for name, v in pairs if v.size > 1]
    said = f"Categories are contrasts against their first level: {', '.join(coded)}"
    return said if coded else ""


def _model(sem: LinearSem) -> str:
    fit, n = sem.fit, sem.variables.n_variables
    n_samples = "∞" if sem.moments.is_oracle else f"{sem.n_samples:.10g}"
    low, high = fit.rmsea_interval
    lines = [
        [f"Linear SEM: {n} variables, {sem.n_edges} edges, N = {n_samples}"],
        [
            f"log-likelihood {fixed(fit.log_likelihood, 2)}",
            f"parameters {fit.n_parameters}",
            f"AIC {fixed(fit.aic, 2)}",
            f"BIC {fixed(fit.bic, 2)}",
        ],
        [f"chi-square {fixed(fit.chi_square, 2)} on {fit.df} df, p {p_value(fit.p_value)}"],
        [
            f"CFI {fixed(fit.cfi, 3)}",
            f"RMSEA {fixed(fit.rmsea, 3)} [{fixed(low, 3)}, {fixed(high, 3)}]",
            f"SRMR {fixed(fit.srmr, 3)}",
        ],
    ]
    return "\n".join("   ".join(line) for line in lines)


def _edges(sem: LinearSem) -> str:
    rows = [
        (
            f"{short(edge.cause, MAX_NAME)} → {short(edge.effect, MAX_NAME)}",
            number(edge.coefficient, 4),
            number(edge.standard_error, 4),
            fixed(edge.t, 2),
            p_value(edge.p_value),
            fixed(edge.standardized, 3),
        )
        for edge in sem.edges[:MAX_ROWS]
    ]
    header = ("edge", "coefficient", "std. error", "t", "p", "standardized")
    return _table(header, rows) + _more(len(sem.edges), "edges", ".edges")


def _nodes(sem: LinearSem) -> str:
    rows = [
        (
            short(node.name, MAX_NAME),
            number(node.intercept, 4),
            number(node.residual_variance, 4),
            fixed(node.r_squared, 3),
        )
        for node in sem.nodes[:MAX_ROWS]
    ]
    header = ("variable", "intercept", "residual variance", "R²")
    return _table(header, rows) + _more(len(sem.nodes), "variables", ".nodes")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns with two blanks between them: the first to the left, numbers to the right."""
    lines = aligned([header, *rows])
    return "\n".join([lines[0], "─" * len(lines[0]), *lines[1:]])


def _more(count: int, what: str, where: str) -> str:
    return f"\n… {count - MAX_ROWS} more {what}; all are in {where}" if count > MAX_ROWS else ""
