"""From a file to moments with all that can be done on the way: selection, transformation, audit.

`read_moments` is what the command line calls. It raises what is wrong and returns what is doubtful
as an audit, without warnings, so that the caller decides how to show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qwo.errors import ArgumentError
from qwo.moments.arrays import Columns, Table
from qwo.moments.audit import Missing, audit_table
from qwo.moments.covariance import estimator_name
from qwo.moments.findings import Audit
from qwo.moments.moments import Moments
from qwo.moments.pieces import find_pieces
from qwo.moments.source import (
    ReadOptions,
    estimate_matrix,
    estimate_source,
    is_matrix,
    read_source,
    reads_in_pieces,
)
from qwo.moments.storage import is_archive
from qwo.moments.streaming import Watch, Weights, survey_pieces
from qwo.moments.transforms import Transform, transformed


def read_table(
    source: Any,
    *,
    columns: Columns = None,
    drop: Columns = None,
    transform: Transform = None,
    separator: str | None = None,
    decimal: str = ".",
    header: bool = True,
    null_values: Sequence[str] = (),
) -> Table:
    """The columns of a file, array or frame, selected and transformed; missing values as NaN.

    Parameters
    ----------
    source : str, path, array-like or data frame
        A file ends in .csv, .tsv, .tab, .txt, .dat or .parquet, compressed or not.
    columns, drop : sequence of names or positions, optional
        The columns to take, in this order, and those to leave out.
    transform : str or mapping, optional
        ``"log"``, ``"log1p"``, ``"rank-normal"`` or ``"standardise"`` for all columns, or a mapping
        from column names to these.
    separator, decimal, header, null_values
        How a text file is written, as for `Moments.from_csv`.

    Returns
    -------
    Table
        With `names`, `values` and the columns `refused`, which are not numbers.
    """
    request = ReadOptions(
        columns=columns,
        drop=drop,
        separator=separator,
        decimal=decimal,
        header=header,
        null_values=null_values,
    )
    return transformed(read_source(source, request), transform)


def read_moments(
    source: Any,
    *,
    columns: Columns = None,
    drop: Columns = None,
    transform: Transform = None,
    missing: Missing = "raise",
    covariance_estimator: str | Any = "plain",
    n_samples: float | None = None,
    covariance: bool | None = None,
    separator: str | None = None,
    decimal: str = ".",
    header: bool = True,
    null_values: Sequence[str] = (),
    weights: Weights = None,
    memory_limit: int | str | None = None,
    n_jobs: int | None = -1,
    progress: Watch | None = None,
) -> tuple[Moments, Audit]:
    """Moments of a table or covariance matrix in a file, and what is doubtful about them.

    Parameters
    ----------
    source : str, path, array-like, data frame or Moments
        A table ends in .csv, .tsv, .tab, .txt, .dat or .parquet; a covariance matrix has .cov,
        .corr or .cor in its name, such as ``lead.cov.txt``; saved moments end in .npz. A folder, a
        pattern such as ``"part-*.parquet"`` and a list of files are read one after the other.
    columns, drop : sequence of names or positions, optional
        The columns to take, in this order, and those to leave out.
    transform : str or mapping, optional
        ``"log"``, ``"log1p"``, ``"rank-normal"`` or ``"standardise"`` for all columns, or a mapping
        from column names to these.
    missing : {"raise", "drop", "em"}
        As for `Moments.from_data`.
    covariance_estimator : str or object
        As for `Moments.from_data`.
    n_samples : float, optional
        N of a covariance matrix, if its file does not say it or says it wrongly.
    covariance : bool, optional
        Whether the file holds a covariance matrix; if not given, its name and `n_samples` tell.
    separator, decimal, header, null_values
        How a text file is written, as for `Moments.from_csv`.
    weights, memory_limit, n_jobs, progress
        As for `Moments.from_dataset`, which reads folders, patterns, and files that would fill the
        memory.

    Returns
    -------
    moments : Moments
    audit : Audit
        Its findings are warnings; no `DataWarning` is issued.

    Raises
    ------
    InputError
        If the input cannot be used, with the columns and a cure.
    """
    if isinstance(source, Moments) or is_archive(source):
        _refuse_options("Moments", transform, covariance_estimator)
        moments = source if isinstance(source, Moments) else Moments.load(source)
        audit = moments.audit()
        audit.raise_errors()
        return moments, audit
    request = ReadOptions(
        columns=columns,
        drop=drop,
        transform=transform,
        missing=missing,
        covariance_estimator=covariance_estimator,
        separator=separator,
        decimal=decimal,
        header=header,
        null_values=null_values,
        weights=weights,
        memory_limit=memory_limit,
        n_jobs=n_jobs,
        progress=progress,
    )
    if _matrix_meant(source, covariance, n_samples):
        _refuse_options("a covariance matrix", transform, covariance_estimator)
        estimate = estimate_matrix(source, n_samples, request)
        estimate.audit.raise_errors()
    else:
        estimate = estimate_source(source, request)
    moments = Moments.of_sample(estimate.names, estimate.sample, estimate.estimator)
    return moments, estimate.audit


def audit_file(
    source: Any,
    *,
    columns: Columns = None,
    drop: Columns = None,
    transform: Transform = None,
    missing: Missing = "raise",
    covariance_estimator: str | Any = "plain",
    n_samples: float | None = None,
    covariance: bool | None = None,
    separator: str | None = None,
    decimal: str = ".",
    header: bool = True,
    null_values: Sequence[str] = (),
) -> Audit:
    """All that is wrong or doubtful about what `read_moments` would read, without raising it.

    Parameters as for `read_moments`.

    Raises
    ------
    InputError
        If there is nothing to look at: no such file, lines of unequal length, no such columns.
    """
    request = ReadOptions(
        None,
        columns,
        drop,
        transform,
        missing,
        covariance_estimator,
        separator,
        decimal,
        header,
        null_values,
    )
    if is_archive(source):
        return Moments.load(source).audit()
    if _matrix_meant(source, covariance, n_samples):
        _refuse_options("a covariance matrix", transform, covariance_estimator)
        return estimate_matrix(source, n_samples, request).audit
    if request.streams and reads_in_pieces(source):
        pieces = find_pieces(source, request.form)
        return survey_pieces(
            pieces,
            columns=columns,
            drop=drop,
            transform=transform,
            missing="drop" if missing == "drop" else "raise",
        ).audit
    table = transformed(read_source(source, request), transform)
    return audit_table(table, missing, shrunk=estimator_name(covariance_estimator) != "plain")


def _matrix_meant(source: Any, covariance: bool | None, n_samples: float | None) -> bool:
    """Whether to read a covariance matrix: as told, or by the sample size or the file's name."""
    if covariance is not None:
        return covariance
    return n_samples is not None or is_matrix(source)


def _refuse_options(what: str, transform: Transform, covariance_estimator: str | Any) -> None:
    """A transformation and an estimator take the samples."""
    for option, value, neutral in (
        ("transform", transform, None),
        ("covariance_estimator", estimator_name(covariance_estimator), "plain"),
    ):
        if value != neutral:
            raise ArgumentError(
                f"{option} is {value!r}, but {what} cannot be treated so after the fact; apply it "
                "to the data"
            )
