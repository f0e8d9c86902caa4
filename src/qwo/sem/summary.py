"""A fitted model in words and columns, for people to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qwo.sem.linear_sem import LinearSem

MAX_ROWS = 40
"""Rows of a table beyond this are counted, not shown."""

MAX_NAME = 24
"""Characters of a name that are shown."""


def summary(sem: LinearSem) -> str:
    """The fit of the model, its edges and its variables, as three blocks of text."""
    return "\n\n".join([_model(sem), _edges(sem), _nodes(sem)])


def _model(sem: LinearSem) -> str:
    fit = sem.fit
    n_samples = "∞" if sem.moments.is_oracle else f"{sem.n_samples:.10g}"
    low, high = fit.rmsea_interval
    lines = [
        [f"Linear SEM: {sem.n_variables} variables, {sem.n_edges} edges, N = {n_samples}"],
        [
            f"log-likelihood {_fixed(fit.log_likelihood, 2)}",
            f"parameters {fit.n_parameters}",
            f"AIC {_fixed(fit.aic, 2)}",
            f"BIC {_fixed(fit.bic, 2)}",
        ],
        [f"chi-square {_fixed(fit.chi_square, 2)} on {fit.df} df, p {_p_value(fit.p_value)}"],
        [
            f"CFI {_fixed(fit.cfi, 3)}",
            f"RMSEA {_fixed(fit.rmsea, 3)} [{_fixed(low, 3)}, {_fixed(high, 3)}]",
            f"SRMR {_fixed(fit.srmr, 3)}",
        ],
    ]
    return "\n".join("   ".join(line) for line in lines)


def _edges(sem: LinearSem) -> str:
    rows = [
        (
            f"{_short_name(edge.cause)} → {_short_name(edge.effect)}",
            _number(edge.coefficient),
            _number(edge.standard_error),
            _fixed(edge.t, 2),
            _p_value(edge.p_value),
            _fixed(edge.standardized, 3),
        )
        for edge in sem.edges[:MAX_ROWS]
    ]
    header = ("edge", "coefficient", "std. error", "t", "p", "standardized")
    return _table(header, rows) + _more(len(sem.edges), "edges", ".edges")


def _nodes(sem: LinearSem) -> str:
    rows = [
        (
            _short_name(node.name),
            _number(node.intercept),
            _number(node.residual_variance),
            _fixed(node.r_squared, 3),
        )
        for node in sem.nodes[:MAX_ROWS]
    ]
    header = ("variable", "intercept", "residual variance", "R²")
    return _table(header, rows) + _more(len(sem.nodes), "variables", ".nodes")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns with two blanks between them: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
        for row in (header, *rows)
    ]
    return "\n".join([lines[0], "─" * len(lines[0]), *lines[1:]])


def _more(count: int, what: str, where: str) -> str:
    return f"\n… {count - MAX_ROWS} more {what}; all are in {where}" if count > MAX_ROWS else ""


def _short_name(name: str) -> str:
    """A name on one line and of bounded length."""
    line = " ".join(name.split())
    return line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…"


def _number(value: float) -> str:
    """Four decimals, or an exponent where the size asks for one."""
    small_or_large = value != 0 and not 1e-3 <= abs(value) < 1e5
    return f"{value:.4g}" if small_or_large and math.isfinite(value) else _fixed(value, 4)


def _p_value(value: float) -> str:
    return "<0.001" if value < 0.001 else _fixed(value, 3)


def _fixed(value: float, digits: int) -> str:
    """A number with fixed decimals; a dash for what is not defined."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"
