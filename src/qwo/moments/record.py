"""The record behind `Moments`: its fields, and what can be done with them alone."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np

from qwo.errors import MergeError, ShapeError, list_names
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample, pooled
from qwo.moments.findings import Audit
from qwo.moments.storage import load_sample, save_sample
from qwo.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MomentsRecord:
    """Names, sample size, means, standard deviations and correlation matrix of n variables.

    Everything downstream works on the correlation matrix, so that results do not depend on units.
    Arrays are read-only. The constructor trusts what it is given.

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
    def of_sample(cls, names: tuple[str, ...], sample: Sample, estimator: str) -> Self:
        """Moments with names for the columns of a `Sample`, which is trusted to be sound."""
        return cls(
            names, sample.n_samples, sample.means, sample.scales, sample.correlation, estimator
        )

    def merge(self, other: MomentsRecord) -> Self:
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
        return self.of_sample(self.names, pooled(self._sample(), other._sample()), estimator)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the moments to a file, to be read by `load`; its name should end in .npz."""
        save_sample(path, self.names, self._sample(), self.estimator)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Moments that `save` wrote."""
        return cls.of_sample(*load_sample(path))

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
