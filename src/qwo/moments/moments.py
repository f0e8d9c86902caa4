"""Sample moments: all that the search for a linear Gaussian graph needs to know of the data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from qwo.errors import MergeError, ShapeError, list_names
from qwo.moments.arrays import Table
from qwo.moments.audit import Missing
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample, estimator_name, pooled
from qwo.moments.estimation import estimate_moments
from qwo.moments.files import CsvFormat, table_from_csv, table_from_parquet
from qwo.moments.findings import Audit
from qwo.moments.frames import Columns, table_from_frame
from qwo.moments.matrices import sample_from_covariance, sample_from_precision
from qwo.moments.tables import as_table

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moments:
    """Names, sample size, means, standard deviations and correlation matrix of n variables.

    Everything downstream works on the correlation matrix, so that results do not depend on units.
    Arrays are read-only. Make one with `from_data` and its sisters, which audit the input; the
    constructor itself trusts what it is given.

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
        of another estimator, or ``"given"``.
    """

    names: tuple[str, ...]
    n_samples: float
    means: FloatArray
    scales: FloatArray
    correlation: FloatArray
    estimator: str = "plain"

    def __post_init__(self) -> None:
        n = len(self.names)
        for field, shape in (("means", (n,)), ("scales", (n,)), ("correlation", (n, n))):
            array = np.ascontiguousarray(getattr(self, field), dtype=np.float64).view()
            if array.shape != shape:
                raise ShapeError(f"{field} has shape {array.shape}; wanted {shape}")
            array.flags.writeable = False
            object.__setattr__(self, field, array)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        # Through the constructor, since NumPy does not pickle that an array is read-only.
        fields = dataclasses.fields(self)
        return type(self), tuple(getattr(self, field.name) for field in fields)

    @property
    def n_variables(self) -> int:
        """Number of variables n."""
        return len(self.names)

    @property
    def covariance(self) -> FloatArray:
        """The covariance matrix, maximum-likelihood (divisor N) unless it was given."""
        return self.correlation * np.outer(self.scales, self.scales)

    @property
    def is_oracle(self) -> bool:
        """Whether these are the exact moments of a distribution: N = ∞."""
        return math.isinf(self.n_samples)

    @classmethod
    def from_data(
        cls,
        data: Any,
        names: Sequence[object] | None = None,
        *,
        estimator: str | Any = "plain",
        missing: Missing = "raise",
    ) -> Self:
        """Moments of an array, a list of rows, or a data frame.

        Parameters
        ----------
        data : array-like of shape (N, n)
            Samples in rows and variables in columns.
        names : sequence, optional
            One name per column; X0, X1, … for an array without.
        estimator : str or object
            ``"plain"`` (maximum likelihood), ``"ledoit-wolf"`` or ``"oas"`` (shrinkage, for n near
            or above N), or a covariance estimator of scikit-learn, fitted to standardised columns.
        missing : {"raise", "drop"}
            Whether missing and infinite values are an error, or their rows are left out.

        Raises
        ------
        InputError
            With the columns and a cure; see `qwo.moments.audit` for all that is looked at.

        Warns
        -----
        DataWarning
            If the data can be used but are doubtful.
        """
        return cls._from_table(as_table(data, names), estimator, missing)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Columns = None,
        drop: Columns = None,
        estimator: str | Any = "plain",
        missing: Missing = "raise",
    ) -> Self:
        """Moments of a data frame: pandas, polars, pyarrow, or another that narwhals knows.

        Parameters
        ----------
        frame : data frame
            Samples in rows and variables in columns.
        columns, drop : sequence of names or positions, optional
            The columns to take, and those to leave out.
        estimator, missing
            As for `from_data`.
        """
        table = table_from_frame(frame, columns=columns, drop=drop)
        return cls._from_table(table, estimator, missing)

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
        estimator: str | Any = "plain",
        missing: Missing = "raise",
    ) -> Self:
        """Moments of a text file with a line of names and then one line per sample.

        Parameters
        ----------
        path : str or path
            The file; may be compressed (.gz, .bz2, .zst).
        separator : str, optional
            What the first line shows, unless given; ``" "`` stands for any run of blanks.
        decimal : str
            The decimal mark.
        header : bool
            Whether the first line holds names; otherwise they are X0, X1, ….
        null_values : sequence of str
            What marks missing values, besides the empty field, NA, NaN, null and their like.
        columns, drop, estimator, missing
            As for `from_frame`.
        """
        form = CsvFormat(separator, decimal, header, null_values)
        table = table_from_csv(path, form, columns=columns, drop=drop)
        return cls._from_table(table, estimator, missing)

    @classmethod
    def from_parquet(
        cls,
        path: str | PathLike[str],
        *,
        columns: Columns = None,
        drop: Columns = None,
        estimator: str | Any = "plain",
        missing: Missing = "raise",
    ) -> Self:
        """Moments of a Parquet file, or of a folder of them; parameters as for `from_frame`."""
        table = table_from_parquet(path, columns=columns, drop=drop)
        return cls._from_table(table, estimator, missing)

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
        labels, sample = sample_from_covariance(matrix, n_samples, names, means)
        return cls._from_given(labels, sample)

    @classmethod
    def from_precision(
        cls, matrix: Any, n_samples: float | None = None, names: Sequence[object] | None = None
    ) -> Self:
        """Moments with a given inverse covariance matrix, by default an exact one (N = ∞)."""
        labels, sample = sample_from_precision(matrix, n_samples, names)
        return cls._from_given(labels, sample)

    def merge(self, other: Moments) -> Self:
        """Moments of the union of two disjoint samples, as if computed from all rows together.

        Raises
        ------
        MergeError
            If the variables differ, or if a side is not a sample's plain moments with its means.
        """
        if self.names != other.names:
            differing = sorted(set(self.names).symmetric_difference(other.names))
            seen = f"only one has {list_names(differing)}" if differing else "the orders differ"
            raise MergeError(
                f"both sides must have the same variables in the same order; {seen}", differing
            )
        for side, moments in (("left", self), ("right", other)):
            moments._check_mergeable(side)
        estimator = "plain" if self.estimator == other.estimator == "plain" else "given"
        return self._build(self.names, pooled(self._sample(), other._sample()), estimator)

    def audit(self) -> Audit:
        """What is wrong or doubtful about these moments, without raising or warning."""
        given, shrunk = self.estimator == "given", self.estimator not in ("given", "plain")
        findings = inspect_correlation(self.names, self._sample(), given=given, shrunk=shrunk)
        return Audit(tuple(findings))

    def __repr__(self) -> str:
        n_samples = "∞" if self.is_oracle else f"{self.n_samples:.10g}"
        return (
            f"<Moments of {self.n_variables} variables ({list_names(self.names)}), "
            f"N = {n_samples}, {self.estimator} covariance>"
        )

    @classmethod
    def _from_table(cls, table: Table, estimator: str | Any, missing: Missing) -> Self:
        sample = estimate_moments(table, estimator, missing)
        return cls._build(table.names, sample, estimator_name(estimator))

    @classmethod
    def _from_given(cls, names: tuple[str, ...], sample: Sample) -> Self:
        moments = cls._build(names, sample, "given")
        moments.audit().enforce()
        return moments

    @classmethod
    def _build(cls, names: tuple[str, ...], sample: Sample, estimator: str) -> Self:
        return cls(
            names, sample.n_samples, sample.means, sample.scales, sample.correlation, estimator
        )

    def _sample(self) -> Sample:
        return Sample(self.n_samples, self.means, self.scales, self.correlation)

    def _check_mergeable(self, side: str) -> None:
        if self.is_oracle:
            reason = "is the exact moments of a distribution (N = ∞)"
        elif self.estimator not in ("plain", "given"):
            reason = f"has a covariance by {self.estimator!r}; merge plain moments instead"
        elif np.isnan(self.means).any():
            reason = "has unknown means; pass them as from_covariance(…, means=…)"
        else:
            return
        raise MergeError(f"cannot merge: the {side} side {reason}")
