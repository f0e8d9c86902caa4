"""Scores that count rows: the engine of a table of categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.errors import ArgumentError, Cure, InputError, MissingValuesError, list_names
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, read_table
from qwo.moments.tables import Table
from qwo.options import Missing
from qwo.order.bdeu import BDeu
from qwo.order.local_score import LocalScoreEngine


def counted_rows(data: Any, reading: ReadArguments) -> tuple[Table, Moments]:
    """The rows of whatever the user calls data, and their moments.

    An ArgumentError says that there are none, or that they are treated so that no counts are left.
    """
    if isinstance(data, Moments):
        raise ArgumentError(
            "score 'bdeu' counts rows, but the data are Moments; give the table itself",
            option="score",
        )
    missing: Missing = reading.get("missing", "raise")
    if missing == "em":
        raise ArgumentError(
            "missing is 'em', but score 'bdeu' counts complete rows",
            option="missing",
            cures=[Cure("missing", "drop", "leaves the others out")],
        )
    if reading.get("weights") is not None:
        raise ArgumentError(
            "weights are given, but score 'bdeu' counts each row once", option="weights"
        )
    table = data if isinstance(data, Table) else read_table(data, **reading)
    try:
        return table, Moments.from_data(table, missing=missing)
    except MissingValuesError as error:
        error.cures = tuple(cure for cure in error.cures if cure.value != "em")
        raise


def counting_engine(
    score: str | BDeu, table: Table, moments: Moments, knowledge: ResolvedKnowledge | None
) -> LocalScoreEngine:
    """The engine that gives each order its DAG by such a score of complete rows.

    The moments are those of the table, whose audit says what is a category; nothing else may be
    there.
    """
    kinds = moments.audit().types
    numbers = [name for name in moments.names if kinds[name] == "continuous"]
    if numbers:
        said = dict.fromkeys(numbers, "ordinal")
        raise InputError(
            f"score 'bdeu' is for categories, but {list_names(numbers)} "
            f"{'holds' if len(numbers) == 1 else 'hold'} numbers",
            numbers,
            (
                Cure("score", "bic", "takes tables of any kind"),
                Cure("types", said, "counts each value by itself: cut them into intervals before"),
            ),
        )
    rows = table.values[np.isfinite(table.values).all(axis=1)]
    codes = np.empty(rows.shape, dtype=np.int64)
    levels = []
    for k, column in enumerate(rows.T):
        seen, codes[:, k] = np.unique(column, return_inverse=True)
        levels.append(len(seen))
    counts = BDeu() if isinstance(score, str) else score
    return LocalScoreEngine(counts.of(codes, levels), len(levels), knowledge=knowledge)
