"""Sample moments: all that the search for a linear Gaussian graph needs to know of the data.

The record is the lowest thing of this room. What makes one of data is imported when it is asked
for: whoever searches from given moments does without the readers.
"""

# Long because it is one public record, and half of it says what its members mean.

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
import numpy.typing as npt

from qwo.columns.recipes import (
    PLAIN,
    Coding,
    Variable,
    change_of_levels,
    column_names,
    select_columns,
    whitened,
)
from qwo.errors import ArgumentError, Cure, EngineError, MergeError, ShapeError, list_names
from qwo.inspection.audit import Audit
from qwo.options import Columns, ReadOptions
from qwo.types import FloatArray, Indices

if TYPE_CHECKING:
    from qwo.arguments import ReadArguments
    from qwo.moments.reading import RowPolicy
    from qwo.moments.sums import Watch

LATENT = "latent"
"""The estimator that treats ordinal columns as grouped normal ones: `qwo.moments.estimators`."""


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Names, sample size, means, standard deviations and correlation matrix of n variables.

    Make one with `from_data` and its sisters, which audit the input. Arrays are read-only;
    everything downstream works on the correlation matrix, so that results do not depend on units.
    Each variable is a column, but for categories: they are blocks of indicators, W columns in all.

    Attributes
    ----------
    names : tuple of str
        Names of the variables, in input column order.
    n_samples : float
        N; infinite for the exact moments of a distribution, fractional for an effective size.
    means, scales : ndarray of shape (W,)
        Means (NaN where unknown) and standard deviations (divisor N) of the columns.
    correlation : ndarray of shape (W, W)
        Exactly symmetric, with ones on the diagonal.
    estimator : str
        Where the covariance comes from: ``"plain"``, ``"ledoit-wolf"``, ``"oas"``, ``"latent"``,
        the class name of another estimator, ``"em"``, or ``"given"``.
    found : Audit or None
        What the audit found when the data were read; `audit` gives it.
    coding : Coding
        The recipe of each variable's columns: its type and levels.
    n_variables : int
        Number of variables n.
    has_blocks : bool
        Whether a variable has several columns.
    is_oracle : bool
        Whether these are the exact moments of a distribution: N = ∞.
    """

    names: tuple[str, ...]
    n_samples: float
    means: FloatArray
    scales: FloatArray
    correlation: FloatArray
    estimator: str = "plain"
    found: Audit | None = None
    coding: Coding = PLAIN
    n_variables: int = dataclasses.field(init=False, repr=False)
    has_blocks: bool = dataclasses.field(init=False, repr=False)
    is_oracle: bool = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.coding.variables:
            object.__setattr__(self, "coding", Coding((Variable(),) * len(self.names)))
        object.__setattr__(self, "n_variables", len(self.names))
        object.__setattr__(self, "has_blocks", self.coding.has_blocks)
        object.__setattr__(self, "is_oracle", math.isinf(self.n_samples))
        n = self.coding.n_columns
        for field, shape in (("means", (n,)), ("scales", (n,)), ("correlation", (n, n))):
            array = np.ascontiguousarray(getattr(self, field), dtype=np.float64).view()
            if array.shape != shape:
                raise ShapeError(f"{field} has shape {array.shape}; wanted {shape}")
            array.flags.writeable = False
            object.__setattr__(self, field, array)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        # Through the constructor, since NumPy does not pickle that an array is read-only.
        given = [field.name for field in dataclasses.fields(self) if field.init]
        return type(self), tuple(getattr(self, name) for name in given)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns: those of the variables, or such as ``race=black``."""
        return self.coding.labels(self.names)

    def whitened(self) -> tuple[FloatArray, Indices]:
        """The correlations of columns that are uncorrelated in each block, and the blocks' sizes.

        What is said of variables as a whole depends on no other basis of their columns.
        """
        if not self.has_blocks:
            return self.correlation, self.coding.sizes
        return whitened(self.correlation, self.coding)

    @cached_property
    def blocks(self) -> tuple[Indices, Indices]:
        """How many whitened columns each variable has, and in how many it is explained: `leading`.

        One of a number.
        """
        sizes = self.whitened()[1]
        return sizes, np.where([v.curve is not None for v in self.coding.variables], 1, sizes)

    def leading(self) -> Indices:
        """In how many of its whitened columns, the first ones, each variable is explained.

        All of a category; of a variable with a curve the first, which is itself.
        """
        return self.blocks[1]

    def described(self) -> dict[str, Any]:
        """What a result tells of its variables: types and levels, and columns where there are more.

        Of curves also in how many columns each variable is explained.
        """
        told, (sizes, leading) = dict[str, Any](), self.blocks
        if self.has_blocks:
            told["columns"] = sizes.tolist()
        if self.coding.has_curves:
            told["leading"] = leading.tolist()
        return told | {"variables": self.coding.described(self.names)}

    def as_columns(self) -> Moments:
        """The moments of the columns as variables by themselves."""
        if not self.has_blocks:
            return self
        return dataclasses.replace(self, names=self.column_names, coding=PLAIN, found=None)

    def as_whitened(self) -> tuple[Moments, Indices]:
        """The whitened columns as variables by themselves, and how many each variable has."""
        matrix, sizes = self.whitened()
        names = tuple(
            f"{name}[{k}]"
            for name, size in zip(self.names, sizes, strict=True)
            for k in range(size)
        )
        width = len(matrix)
        own = Moments(
            names, self.n_samples, np.zeros(width), np.ones(width), matrix, self.estimator
        )
        return own, sizes

    def require_seen(self, what: str) -> None:
        """Refuse moments of variables that no row shows, for whoever looks at rows.

        Raises
        ------
        ArgumentError
            If correlations are latent: those of the normal variables behind ordinal columns.
        """
        if self.estimator == LATENT:
            raise ArgumentError(
                f"covariance_estimator is {LATENT!r}, but {what} looks at rows, which show pieces "
                "of the variables only",
                option="covariance_estimator",
                cures=[Cure("covariance_estimator", "plain", "treats ordinal columns as scores")],
            )

    def require_columns(self, what: str) -> None:
        """Refuse variables with several columns, for whoever cannot work with them.

        Raises
        ------
        EngineError
            With the variables and what would help.
        """
        blocks = [self.names[k] for k in np.flatnonzero(self.coding.sizes > 1)]
        if not blocks:
            return
        cure = Cure("drop", blocks, "leaves them out")
        raise EngineError(
            f"{what} takes one column for each variable, but {list_names(blocks)} "
            f"{'has' if len(blocks) == 1 else 'have'} more than two categories",
            blocks,
            [cure] if self.n_variables - len(blocks) >= 2 else [],
        )

    @property
    def covariance(self) -> FloatArray:
        """The columns' covariance matrix, maximum-likelihood (divisor N) unless it was given."""
        return self.correlation * np.outer(self.scales, self.scales)

    @classmethod
    def from_data(
        cls, data: Any, names: Sequence[object] | None = None, **reading: Unpack[ReadArguments]
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
            or above N), ``"latent"`` (polychoric and polyserial correlations of ordinal and binary
            columns: `qwo.moments.estimators`), or a covariance estimator of scikit-learn, fitted to
            standardised columns.
        missing : {"raise", "drop", "em"}
            Whether missing and infinite values are an error, their rows are left out, or the
            moments are those of largest Gaussian likelihood given all that the rows have
            (`qwo.moments.em`), with an effective sample size. The last is right if values are
            missing at random.
        **reading
            Columns to take or drop, transformations, and how a text file is written: see
            `qwo.options.ReadOptions`.

        Raises
        ------
        InputError
            With the columns and a cure; see `qwo.inspection.audit` for all that is looked at.

        Warns
        -----
        DataWarning
            If the data can be used but are doubtful.
        """
        from qwo.moments.reading import estimate

        return cls._of(estimate(data, ReadOptions(names, **reading)))

    @classmethod
    def from_frame(cls, frame: Any, **reading: Unpack[ReadArguments]) -> Self:
        """Moments of a data frame: pandas, polars, pyarrow, Dask, or another that narwhals knows.

        Parameters
        ----------
        frame : data frame
            Samples in rows and variables in columns.
        **reading
            Columns to take or drop, transformations, missing values, the covariance estimator: see
            `qwo.options.ReadOptions`.
        """
        return cls._table(frame, "frame", reading)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], **reading: Unpack[ReadArguments]) -> Self:
        """Moments of a text file with a line of names and then one line per sample.

        Parameters
        ----------
        path : str or path
            The file, whatever its name; may be compressed (.gz, .bz2, .zst). An unnamed first
            column that numbers the rows is an index, and no variable.
        separator : str, optional
            What the first line shows, unless given; ``" "`` stands for any run of blanks.
        decimal : str
            The decimal mark.
        header : bool
            Whether the first line holds names; otherwise they are X0, X1, ….
        null_values : str or sequence of str
            What marks missing values, besides the empty field, NA, NaN, null and their like.
        **reading
            What else `from_frame` takes.
        """
        return cls._table(path, "csv", reading)

    @classmethod
    def from_parquet(cls, path: str | PathLike[str], **reading: Unpack[ReadArguments]) -> Self:
        """Moments of a Parquet file, or of a folder of them; parameters as for `from_frame`."""
        return cls._table(path, "parquet", reading)

    @classmethod
    def from_dataset(
        cls,
        source: Any,
        *,
        n_jobs: int | None = -1,
        progress: Watch | None = None,
        **reading: Unpack[ReadArguments],
    ) -> Self:
        """Moments of data of any size, read once and in pieces.

        Parameters
        ----------
        source : str, path, list of them, or pyarrow.dataset.Dataset
            A CSV or Parquet file, a folder of files (to the bottom; ``name=value`` folders give
            columns), a pattern such as ``"part-*.csv"``, or a list. All have the same columns.
        n_jobs : int
            Threads; -1 for one per processor. Their number does not change the result.
        progress : callable, optional
            Gets a `qwo.moments.sums.StreamProgress` after each batch of rows.
        weights : name, position or array, optional
            The column, or one number per row, that says how many rows each row counts for: N is
            their sum. (To weigh rows by importance, scale the weights w so that they add up to
            (Σw)² / Σw².)
        memory_limit : int or str, optional
            Bytes to keep within, such as ``"2 GB"``; half a gigabyte if not given. What pyarrow
            needs to read a Parquet file, a page of each column, comes on top.
        **reading
            What else `from_frame` and `from_csv` take. EM, estimators other than ``"plain"`` and
            transformations by rank need all rows at once, and have them in memory.
        """
        return cls._table(source, "table", {**reading, "n_jobs": n_jobs, "progress": progress})

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
        from qwo.moments.matrices import from_covariance

        return cls._of(from_covariance(matrix, n_samples, names, means))

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
        from qwo.moments.matrices import read_matrix

        return cls._of(read_matrix(path, n_samples, columns=columns, drop=drop))

    @classmethod
    def from_precision(
        cls, matrix: Any, n_samples: float | None = None, names: Sequence[object] | None = None
    ) -> Self:
        """Moments with a given inverse covariance matrix, by default an exact one (N = ∞)."""
        from qwo.moments.matrices import from_precision

        return cls._of(from_precision(matrix, n_samples, names))

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
        if missing not in ("raise", "drop"):
            raise ArgumentError(
                f"missing is {missing!r}; wanted 'raise' or 'drop'", option="missing"
            )
        from qwo.moments.reading import new_rows, survey
        from qwo.moments.sums import PartialSums, sums_over

        new = sums_over(new_rows(self.names, data, missing, self.coding))
        sums = PartialSums.of(self).merge(new)
        return self._of(survey(self.names, sums, self.coding, missing=missing, look=False))

    @classmethod
    def _table(cls, source: Any, kind: Any, reading: Any) -> Self:
        """Moments of rows, and nothing else, of a source whose kind is known."""
        from qwo.moments.reading import estimate_rows

        return cls._of(estimate_rows(source, ReadOptions(**reading), kind))

    @classmethod
    def _of(cls, found: Moments | Audit) -> Self:
        """Audited moments, if the audit found no error; what is doubtful is warned of."""
        audit = found if isinstance(found, Audit) else found.found or found.audit()
        if audit.findings:
            audit.enforce()
        assert isinstance(found, cls), "an audit without errors leaves moments"
        return found

    def merge(self, other: Moments) -> Self:
        """Moments of the union of two disjoint samples, as if computed from all rows together.

        Raises
        ------
        MergeError
            If the variables differ, or if a side is not a sample's plain moments with its means.
        """
        if not isinstance(other, Moments):
            raise MergeError(f"cannot merge Moments with a {type(other).__name__}; wanted Moments")
        if self.names != other.names:
            differing = sorted(set(self.names).symmetric_difference(other.names))
            seen = f"only one has {list_names(differing)}" if differing else "the orders differ"
            raise MergeError(
                f"both sides must have the same variables in the same order; {seen}", differing
            )
        for side, moments in (("left", self), ("right", other)):
            moments._check_mergeable(side)
        self._check_levels(other)
        estimator = "plain" if self.estimator == other.estimator == "plain" else "given"
        from qwo.moments.sums import PartialSums

        sums = PartialSums.of(self).merge(PartialSums.of(other._in_order_of(self.coding)))
        merged = sums.moments(self.names, self.coding, overwrite=True)
        assert isinstance(merged, type(self))
        return dataclasses.replace(merged, estimator=estimator)

    def _in_order_of(self, coding: Coding) -> Moments:
        """The moments with the levels of categories in another order, and another reference."""
        if self.coding == coding:
            return self
        from qwo.moments.sums import split_covariance

        matrix, offset = change_of_levels(self.coding, coding)
        spans, correlation = split_covariance(matrix.T @ self.covariance @ matrix)
        means = self.means @ matrix + offset
        return dataclasses.replace(
            self, means=means, scales=spans, correlation=correlation, coding=coding
        )

    def _check_levels(self, other: Moments) -> None:
        """See that the columns of two sides stand for the same."""
        levels = [[own.levels for own in side.coding.variables] for side in (self, other)]
        wrong = [
            name for name, a, b in zip(self.names, *levels, strict=True) if sorted(a) != sorted(b)
        ]
        if wrong:
            k = self.names.index(wrong[0])
            raise MergeError(
                f"categories have other levels on one side than on the other: {list_names(wrong)}. "
                f"{wrong[0]!r} has {list_names(levels[0][k])} here and {list_names(levels[1][k])} "
                "there; make the moments from all rows together",
                wrong,
            )

    def select(self, columns: Columns = None, drop: Columns = None) -> Self:
        """Moments of some of the variables, in the order asked for."""
        chosen = select_columns(self.names, columns, drop)
        if chosen == list(range(self.n_variables)):
            return self
        if len(chosen) < 2:
            raise ShapeError(f"{len(chosen)} of {self.n_variables} variables are left; wanted 2")
        own = self.coding.columns_of(chosen)
        return dataclasses.replace(
            self,
            names=column_names(self.names[k] for k in chosen),
            means=self.means[own],
            scales=self.scales[own],
            correlation=self.correlation[np.ix_(own, own)],
            found=None,
            coding=self.coding.select(chosen),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the moments to a file, to be read by `load`; its name should end in .npz."""
        from qwo.moments.matrices import write_moments

        write_moments(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Moments that `save` wrote, audited like those of a given matrix.

        Raises
        ------
        FileFormatError
            If the file does not hold moments.
        InputError
            If no data can have such moments.
        """
        from qwo.moments.matrices import stored_moments

        return cls._of(stored_moments(path))

    def audit(self) -> Audit:
        """What is wrong or doubtful about these moments, without raising or warning.

        That is what was found when the data were read; if these come from elsewhere, what the
        correlation matrix shows.
        """
        if self.found is not None:
            from qwo.inspection.audit import inspect_names

            levels = {
                name: len(own.levels)
                for name, own in zip(self.names, self.coding.variables, strict=True)
            }
            told = inspect_names(self.names, self.found.types, levels)
            return self.found.beside(after=(f for f in told if f not in self.found.findings))
        from qwo.inspection.checks import inspect_matrix

        given, shrunk = self.estimator == "given", self.estimator not in ("given", "plain")
        findings = inspect_matrix(self, given=given, shrunk=shrunk, rows=not given)
        return Audit(tuple(findings))

    def __repr__(self) -> str:
        n_samples = "∞" if self.is_oracle else f"{self.n_samples:.10g}"
        return (
            f"<Moments of {self.n_variables} variables ({list_names(self.names)}), "
            f"N = {n_samples}, {self.estimator} covariance>"
        )

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
