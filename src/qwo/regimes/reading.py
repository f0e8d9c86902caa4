"""Rows and the regimes that they were taken in, from a table with a column that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from qwo.arguments import ReadArguments
from qwo.errors import ArgumentError, ColumnNameError, Cure, InputError, ShapeError, list_names
from qwo.inspection.audit import Audit, Code, Finding
from qwo.moments.moments import Moments
from qwo.moments.readers import open_source
from qwo.moments.reading import TableReading
from qwo.moments.sums import split_covariance
from qwo.moments.tables import Table
from qwo.names import suggestion
from qwo.options import ReadOptions, SearchOptions, estimator_name
from qwo.regimes.sums import RegimeSums
from qwo.types import Indices, Mask

FEWEST_ROWS = 5
"""A regime with fewer rows tells nothing."""

DEPENDENCE: tuple[Code, ...] = ("serial",)
"""What an audit finds in rows that stand regime by regime, for that reason alone."""

COLUMN = "regime"
"""What the regimes are called if they are the keys of a mapping."""


@dataclass(frozen=True, slots=True, eq=False)
class RegimeData:
    """What is known of the rows: moments over all and within regimes, and sums of each regime."""

    labels: tuple[str, ...]
    moments: Moments
    within: Moments
    sums: RegimeSums
    left_out: tuple[str, ...] = ()
    """Regimes with too few rows."""


UNTOUCHED = "nothing touched"
"""What rows are called whose entry in a column of targets is empty."""


def regime_options(data: Any, options: SearchOptions) -> SearchOptions:
    """The options in which the column of regimes is named, if there is one."""
    column = options.targets if isinstance(options.targets, str) else None
    if not isinstance(options.regime, str | int | np.integer | None):
        raise ArgumentError(
            "regime is the name of a column; add its values to the table, such as by "
            "table.assign(condition=values) for a data frame, or give a mapping from conditions to "
            "tables",
            option="regime",
        )
    of_tables = isinstance(data, Mapping)
    if sum(one is not None for one in (column, options.regime, of_tables or None)) > 1:
        raise ArgumentError(
            "conditions are told apart by a column (regime=), by a column of targets, or by the "
            "keys of a mapping to tables; give one of these. What a condition touched is said as "
            "in targets drug=Akt,Mek",
            option="targets",
        )
    if column is not None:
        return replace(options, regime=column)
    if options.regime is None and not of_tables and "regime" in options.dropped:
        raise ArgumentError(
            "targets and reference are about conditions; name the column that tells them apart "
            "(regime=), or give a mapping from conditions to tables",
            option="regime",
        )
    return options


def read_regimes(data: Any, search: SearchOptions, reading: ReadArguments) -> RegimeData:
    """The rows of a table by a column, or of several tables by their keys, in one pass."""
    _refuse(reading)
    options, column = ReadOptions(**reading), search.regime
    if column is not None:
        table = _by_column(data, search, options)
    else:
        stacked, regime = _of_parts(data, options)
        names = (*stacked.names, COLUMN)
        whole = np.column_stack([stacked.values, regime])
        # Columns have been chosen and transformed where the parts were read.
        options = ReadOptions(missing=options.missing, n_jobs=options.n_jobs)
        table = TableReading(open_source(Table(names, whole), options), options, group=COLUMN)
    try:
        found = table.moments()
        parts = {label: sums.covariance() for label, sums in table.groups.items()}
        if column is None:
            parts = {str(list(data)[int(float(label))]): own for label, own in parts.items()}
        few: list[str] = []
        if isinstance(found, Moments):
            counts = {label: own[0] for label, own in parts.items()}
            few, said = _left_out(counts, found.n_samples, options.missing)
            audit = (found.found or Audit(())).without(DEPENDENCE)
            found = replace(found, found=audit.beside(after=said))
        moments = Moments._of(found)
    except InputError as error:
        error.cures = tuple(cure for cure in error.cures if cure.value != "em")
        raise
    labels = tuple(label for label in parts if label not in few)
    taken = (parts[label] for label in labels)
    rows, means, covariances = (np.array(own) for own in zip(*taken, strict=True))
    sums = RegimeSums(rows, means, covariances, tuple(moments.coding.sizes.tolist()))
    n_samples, centre, covariance = sums.pooled()
    if n_samples < moments.n_samples - 0.5:
        scales, correlation = split_covariance(covariance)
        of_these: Any = {"means": centre, "scales": scales, "correlation": correlation}
        moments = replace(moments, n_samples=n_samples, **of_these)
    return RegimeData(labels, moments, within_regimes(moments, sums), sums, tuple(few))


def _left_out(
    counts: Mapping[str, float], n_samples: float, missing: Any
) -> tuple[list[str], list[Finding]]:
    """Regimes with too few rows, if there are others, and what is said of rows left out."""
    said: list[Finding] = []
    unnamed = n_samples - sum(counts.values())
    if unnamed > 0.5 and missing == "drop":
        text = f"{unnamed:.0f} rows are left out: the value that names their condition is missing"
        said.append(Finding("missing-values", "warning", (), text))
        n_samples -= unnamed
    few = [label for label, rows in counts.items() if rows < FEWEST_ROWS]
    if len(few) > min(len(counts) / 2, len(counts) - 2):
        few = []
    if few:
        text = f"{len(few)} of {len(counts)} conditions left out, with fewer than "
        said.append(
            Finding("few-rows", "warning", (), f"{text}{FEWEST_ROWS} rows: {list_names(few)}")
        )
    taken = {label: rows for label, rows in counts.items() if label not in few}
    n_samples -= sum(counts.values()) - sum(taken.values())
    check_sizes(tuple(taken), tuple(taken.values()), n_samples)
    return few, said


def _by_column(data: Any, search: SearchOptions, options: ReadOptions) -> TableReading:
    unnamed = UNTOUCHED if isinstance(search.targets, str) else None
    return TableReading(open_source(data, options), options, group=search.regime, unnamed=unnamed)


def regime_rows(
    data: Any, search: SearchOptions, reading: ReadArguments
) -> tuple[Table, npt.NDArray[np.str_]]:
    """All rows in memory and the regime of each; rows with missing values are left out."""
    options, column = ReadOptions(**reading), search.regime
    if column is None:
        table, places = _of_parts(data, options)
        labels = np.array([str(label) for label in data])[places]
    else:
        source = _by_column(data, search, options)
        table, labels = source.table(), source.labels()
    complete = np.isfinite(table.values).all(axis=1)
    if options.missing == "drop":
        complete &= labels != ""
    return table.rows(complete), labels[complete]


def _refuse(reading: ReadArguments) -> None:
    name = estimator_name(reading.get("covariance_estimator", "plain"))
    asked = {
        "covariance_estimator": (name, "plain", "takes them as they are"),
        "missing": (reading.get("missing"), "drop", "leaves incomplete rows out"),
    }
    for option, (value, instead, effect) in asked.items():
        if value not in (None, "raise", "drop", "plain"):
            raise ArgumentError(
                f"{option} is {value!r}, which does not go with conditions, between which "
                "equations may differ",
                option=option,
                cures=[Cure(option, instead, effect)],
            )


def _of_parts(data: Any, options: ReadOptions) -> tuple[Table, Indices]:
    """The rows of several tables, and the place of the table that each comes from."""
    if not isinstance(data, Mapping) or not data:
        raise InputError(
            f"the data are a {type(data).__name__}; wanted a table with a column that says under "
            "which condition a row was taken, or a mapping from conditions to tables"
        )
    if any(np.ndim(rows) == 1 for rows in data.values() if isinstance(rows, (list, np.ndarray))):
        raise InputError("a dict has a table for each condition; for columns: pandas.DataFrame(…)")
    tables = {
        str(label): TableReading(open_source(source, options), options).table()
        for label, source in data.items()
    }
    if len(tables) < len(data):
        raise ArgumentError(f"two conditions have one name; there are {list_names(data)}")
    (start, first), *_ = tables.items()
    parts = []
    for label, table in tables.items():
        if not len(table.values):
            raise ArgumentError(f"the table of {label!r} has no rows")
        if sorted(table.names) != sorted(first.names):
            raise ShapeError(
                f"the columns of {label!r} are not those of {start!r}: "
                f"{list_names(table.names)} instead of {list_names(first.names)}"
            )
        if not table.coding.is_plain or table.refused:
            raise ArgumentError(
                f"the table of {label!r} has categories; put all rows into one table with a column "
                "for the regime, so that levels mean the same everywhere"
            )
        parts.append(table.values[:, [table.names.index(name) for name in first.names]])
    regime = np.repeat(np.arange(len(parts)), list(map(len, parts)))
    return Table(first.names, np.concatenate(parts)), regime


def check_sizes(labels: Sequence[str], counts: Sequence[float], n_samples: float) -> None:
    """Refuse rows without a regime, and regimes without others or with hardly any rows."""
    if sum(counts) < n_samples - 0.5:
        raise ArgumentError(
            f"{n_samples - sum(counts):.0f} rows have no regime: their value is missing; give them "
            "a regime of their own, or leave them out",
            cures=[Cure("missing", "drop", "leaves those rows out")],
        )
    if len(labels) < 2:
        raise ArgumentError(
            f"all rows are of one regime, {list_names(labels)}: there is nothing to compare; leave "
            "regime out"
        )
    few = [label for label, count in zip(labels, counts, strict=True) if count < FEWEST_ROWS]
    if few:
        raise ArgumentError(
            f"fewer than {FEWEST_ROWS} rows in {len(few)} of {len(labels)} regimes: "
            f"{list_names(few)}; "
            + (
                "name the column of conditions, which has a few values with many rows each"
                if len(few) > max(len(labels) / 2, 2)
                else "wanted more rows of these, or none"
            )
        )


def within_regimes(moments: Moments, sums: RegimeSums) -> Moments:
    """The moments of the rows less the mean of their regime."""
    covariance = sums.within()[2]
    still = np.diagonal(covariance) <= 1e-12 * moments.scales**2
    if still.any():
        names = sorted({moments.names[v] for v in moments.coding.owners[still]})
        raise ArgumentError(
            f"{list_names(names)} {'is' if len(names) == 1 else 'are'} constant within every "
            "regime: nothing but the regime itself explains such a column",
            names,
            [Cure("drop", names, "leaves out what only tells conditions apart")],
        )
    scales, correlation = split_covariance(covariance)
    return replace(moments, scales=scales, correlation=correlation)


def _as_label(given: object, labels: Sequence[str]) -> str:
    """A regime as it is called, which is 1 for True and for 1.0 where the column has numbers."""
    if isinstance(given, bool | float | np.bool_) and str(given) not in labels:
        return f"{float(given):.15g}"
    return str(given)


def known_targets(
    options: SearchOptions,
    labels: Sequence[str],
    names: Sequence[str],
    left_out: Sequence[str] = (),
) -> Mask:
    """Which variables each regime is known to have touched: regimes by variables.

    The regimes of a column of targets are called by these, but for the one that is said to be the
    reference. Of regimes that are left out nothing need be known.
    """
    given: Mapping[Any, Any] = options.targets if isinstance(options.targets, Mapping) else {}
    cures: list[Cure] = []
    if isinstance(options.targets, str):
        untouched = UNTOUCHED, _as_label(options.reference, labels)
        called = [label for label in labels if label not in untouched]
        given = {label: [name.strip() for name in label.split(",")] for label in called}
        cures = [Cure("reference", None, "names the condition in which nothing was touched")]
    mask = np.zeros((len(labels), len(names)), dtype=bool)
    for key, variables in given.items():
        label = _as_label(key, labels)
        if label in left_out:
            continue
        if label not in labels:
            raise ArgumentError(
                f"targets names a regime {label!r}; {suggestion(label, labels)}",
                option="targets",
            )
        listed = [variables] if isinstance(variables, str) else list(variables)
        unknown = [str(name) for name in listed if name not in names]
        if unknown:
            raise ColumnNameError(
                f"the targets of {label!r} are no variables: {list_names(unknown)}; "
                f"{suggestion(unknown[0], names)}",
                unknown,
                cures,
            )
        mask[labels.index(label), [names.index(name) for name in listed]] = True
    return mask


def reference_of(given: object, labels: Sequence[str]) -> int | None:
    """The place of the regime in which nothing was touched."""
    if given is None:
        return None
    label = _as_label(given, labels)
    if label not in labels:
        raise ArgumentError(
            f"reference is {given!r}; {suggestion(label, labels)}", option="reference"
        )
    return labels.index(label)
