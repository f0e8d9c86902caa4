"""Sample moments: all that the search for a linear Gaussian graph needs to know of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self, Unpack

import numpy.typing as npt

from qwo.moments.arrays import Columns
from qwo.moments.audit import Missing
from qwo.moments.estimation import Estimate
from qwo.moments.matrices import sample_from_covariance, sample_from_precision
from qwo.moments.pieces import find_pieces
from qwo.moments.record import MomentsRecord
from qwo.moments.source import (
    ReadArguments,
    ReadOptions,
    estimate_file,
    estimate_frame,
    estimate_matrix,
    estimate_pieces,
    estimate_source,
    is_matrix,
)
from qwo.moments.storage import is_archive
from qwo.moments.streaming import RowPolicy, Watch, Weights
from qwo.moments.transforms import Transform
from qwo.moments.updating import updated_estimate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moments(MomentsRecord):
    """Names, sample size, means, standard deviations and correlation matrix of n variables.

    Make one with `from_data` and its sisters, which audit the input. Arrays are read-only;
    everything downstream works on the correlation matrix, so that results do not depend on units.

    Attributes
    ----------
    names : tuple of str
        Names of the variables, in input column order.
    n_samples : float
        N; infinite for the exact moments of a distribution, fractional for an effective size.
    means, scales : ndarray of shape (n,)
        Means (NaN where unknown) and standard deviations (divisor N).
    correlation : ndarray of shape (n, n)
        Exactly symmetric, with ones on the diagonal.
    estimator : str
        Where the covariance comes from: ``"plain"``, ``"ledoit-wolf"``, ``"oas"``, the class name
        of another estimator, ``"em"``, or ``"given"``.
    """

    @classmethod
    def from_data(
        cls,
        data: Any,
        names: Sequence[object] | None = None,
        **reading: Unpack[ReadArguments],
    ) -> Self:
        """Moments of an array, a list of rows, a data frame, or a file.

        Parameters
        ----------
        data : array-like of shape (N, n), data frame, str or path
            Samples in rows and variables in columns. Dask arrays and frames are summed up where
            they are; folders, and files too large for the memory, are read in pieces. A file may
            also hold a covariance matrix (.cov in its name) or saved moments (.npz).
        names : sequence, optional
            One name per column; X0, X1, … for an array without. Not for files.
        covariance_estimator : str or object
            ``"plain"`` (maximum likelihood), ``"ledoit-wolf"`` or ``"oas"`` (shrinkage, for n near
            or above N), or a covariance estimator of scikit-learn, fitted to standardised columns.
        missing : {"raise", "drop", "em"}
            Whether missing and infinite values are an error, their rows are left out, or the
            moments are those of largest Gaussian likelihood given all that the rows have
            (`qwo.moments.em`), with an effective sample size. The last is right if values are
            missing at random.
        **reading
            Columns to take or drop, transformations, and how a text file is written: see
            `qwo.moments.source.ReadOptions`.

        Raises
        ------
        InputError
            With the columns and a cure; see `qwo.moments.audit` for all that is looked at.

        Warns
        -----
        DataWarning
            If the data can be used but are doubtful.
        """
        if is_archive(data):
            return cls.load(data)
        if is_matrix(data):
            return cls.from_covariance_file(data)
        return cls._of(estimate_source(data, ReadOptions(names, **reading)))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Columns = None,
        drop: Columns = None,
        transform: Transform = None,
        covariance_estimator: str | Any = "plain",
        missing: Missing = "raise",
    ) -> Self:
        """Moments of a data frame: pandas, polars, pyarrow, Dask, or another that narwhals knows.

        Parameters
        ----------
        frame : data frame
            Samples in rows and variables in columns.
        columns, drop : sequence of names or positions, optional
            The columns to take, and those to leave out.
        transform : str or mapping, optional
            ``"log"``, ``"log1p"``, ``"rank-normal"`` or ``"standardise"`` for all columns, or a
            mapping from column names to these.
        covariance_estimator, missing
            As for `from_data`.
        """
        request = ReadOptions(
            None, columns, drop, transform, missing, covariance_estimator=covariance_estimator
        )
        return cls._of(estimate_frame(frame, request))

    @classmethod
    def from_csv(
        cls,
        path: str | PathLike[str],
        *,
        separator: str | None = None,
        decimal: str = ".",
        header: bool = True,
        null_values: Sequence[str] = (),
        columns: Columns = None,
        drop: Columns = None,
        transform: Transform = None,
        covariance_estimator: str | Any = "plain",
        missing: Missing = "raise",
    ) -> Self:
        """Moments of a text file with a line of names and then one line per sample.

        Parameters
        ----------
        path : str or path
            The file; may be compressed (.gz, .bz2, .zst). One that would fill the memory is read
            in pieces, as `from_dataset` does.
        separator : str, optional
            What the first line shows, unless given; ``" "`` stands for any run of blanks.
        decimal : str
            The decimal mark.
        header : bool
            Whether the first line holds names; otherwise they are X0, X1, ….
        null_values : sequence of str
            What marks missing values, besides the empty field, NA, NaN, null and their like.
        columns, drop, transform, covariance_estimator, missing
            As for `from_frame`.
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
        return cls._of(estimate_file(path, "csv", request))

    @classmethod
    def from_parquet(
        cls,
        path: str | PathLike[str],
        *,
        columns: Columns = None,
        drop: Columns = None,
        transform: Transform = None,
        covariance_estimator: str | Any = "plain",
        missing: Missing = "raise",
    ) -> Self:
        """Moments of a Parquet file, or of a folder of them; parameters as for `from_frame`."""
        request = ReadOptions(
            None, columns, drop, transform, missing, covariance_estimator=covariance_estimator
        )
        return cls._of(estimate_file(path, "parquet", request))

    @classmethod
    def from_dataset(
        cls,
        source: Any,
        *,
        columns: Columns = None,
        drop: Columns = None,
        transform: Transform = None,
        missing: RowPolicy = "raise",
        weights: Weights = None,
        separator: str | None = None,
        decimal: str = ".",
        header: bool = True,
        null_values: Sequence[str] = (),
        memory_limit: int | str | None = None,
        n_jobs: int | None = -1,
        progress: Watch | None = None,
    ) -> Self:
        """Moments of data of any size, read once and in pieces.

        Parameters
        ----------
        source : str, path, list of them, or pyarrow.dataset.Dataset
            A CSV or Parquet file, a folder of files (to the bottom; ``name=value`` folders give
            columns), a pattern such as ``"part-*.csv"``, or a list. All have the same columns.
        columns, drop : sequence of names or positions, optional
            The columns to take, and those to leave out.
        missing : {"raise", "drop"}
            Whether missing and infinite values are an error, or their rows are left out.
        weights : name, position or array, optional
            The column, or one number per row, that says how many rows each row counts for: N is
            their sum. (To weigh rows by importance, scale the weights w so that they add up to
            (Σw)² / Σw².)
        separator, decimal, header, null_values
            How text files are written, as for `from_csv`.
        memory_limit : int or str, optional
            Bytes to keep within, such as ``"2 GB"``; half a gigabyte if not given. What pyarrow
            needs to read a Parquet file, a page of each column, comes on top.
        n_jobs : int
            Threads; -1 for one per processor. Their number does not change the result.
        progress : callable, optional
            Gets a `qwo.moments.streaming.StreamProgress` after each piece.
        """
        request = ReadOptions(
            columns=columns,
            drop=drop,
            transform=transform,
            missing=missing,
            separator=separator,
            decimal=decimal,
            header=header,
            null_values=null_values,
            weights=weights,
            memory_limit=memory_limit,
            n_jobs=n_jobs,
            progress=progress,
        )
        return cls._of(estimate_pieces(find_pieces(source, request.form), request))

    @classmethod
    def from_covariance(
        cls,
        matrix: Any,
        n_samples: float | None,
        names: Sequence[object] | None = None,
        means: npt.ArrayLike | None = None,
    ) -> Self:
        """Moments with a given covariance or correlation matrix.

        Parameters
        ----------
        matrix : array-like or data frame of shape (n, n)
            The matrix (`merge` takes it to have divisor N); a frame also gives the names.
        n_samples : float or None
            N of the sample that it comes from; None or infinity for the matrix of a distribution.
        names : sequence, optional
            One name per variable.
        means : array-like of shape (n,), optional
            Only `merge` and intercepts need them.
        """
        moments = cls.of_sample(*sample_from_covariance(matrix, n_samples, names, means), "given")
        moments.audit().enforce()
        return moments

    @classmethod
    def from_covariance_file(
        cls,
        path: str | PathLike[str],
        n_samples: float | None = None,
        *,
        columns: Columns = None,
        drop: Columns = None,
    ) -> Self:
        """Moments with the covariance or correlation matrix in a text file.

        Either CSV with a line of names (and names in front of the rows, if any), or Tetrad's
        format: the sample size, the names, and the rows of the lower triangle.

        Parameters
        ----------
        path : str or path
            The file.
        n_samples : float, optional
            N, if the file does not say it, or instead of what it says; infinity for the exact
            matrix of a distribution.
        columns, drop : sequence of names or positions, optional
            The variables to take, and those to leave out.
        """
        return cls._of(estimate_matrix(path, n_samples, ReadOptions(columns=columns, drop=drop)))

    @classmethod
    def from_precision(
        cls, matrix: Any, n_samples: float | None = None, names: Sequence[object] | None = None
    ) -> Self:
        """Moments with a given inverse covariance matrix, by default an exact one (N = ∞)."""
        moments = cls.of_sample(*sample_from_precision(matrix, n_samples, names), "given")
        moments.audit().enforce()
        return moments

    def update(self, data: Any, *, missing: RowPolicy = "raise") -> Self:
        """Moments of the rows so far and of new ones, were it a single one.

        Parameters
        ----------
        data : array-like, data frame, str or path
            The new rows. The columns of frames and files go by their names.
        missing : {"raise", "drop"}
            Whether missing and infinite values are an error, or their rows are left out.

        Raises
        ------
        MergeError
            If these are not a sample's plain moments with its means.
        """
        self._check_mergeable("left")
        return self._of(updated_estimate(self.names, self._sample(), data, missing))

    @classmethod
    def _of(cls, estimate: Estimate) -> Self:
        estimate.audit.enforce()
        return cls.of_sample(estimate.names, estimate.sample, estimate.estimator)
