"""Moments in files: arrays in an .npz archive, and no pickles."""

from __future__ import annotations

import dataclasses
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from qwo.archives import DAMAGES
from qwo.errors import CovarianceError, FileFormatError, ShapeError, list_names
from qwo.files import whole_file
from qwo.moments.columns import column_names
from qwo.moments.covariance import Sample, check_bounds, check_matrix, mirror_lower, sample_size
from qwo.moments.kinds import Coding
from qwo.moments.text_files import existing_file

SUFFIX = ".npz"
VERSION, CODED = 1, 2
"""The format of saved moments, without and with types of columns."""

FIELDS = ("n_samples", "means", "scales", "correlation", "names", "estimator", "version")

Stored = tuple[tuple[str, ...], Sample, str, Coding | None]
"""Names, moments, what estimated them, and the types of the variables."""


def is_archive(path: Any) -> bool:
    """Whether a path has the suffix of saved moments."""
    return isinstance(path, str | PathLike) and Path(path).suffix.lower() == SUFFIX


def write_moments(
    path: str | PathLike[str],
    names: tuple[str, ...],
    sample: Sample,
    estimator: str,
    coding: Coding | None,
) -> None:
    """Write moments to a file, whole or not at all."""
    coded: dict[str, Any] = {}
    if coding is not None:
        coded["coding"] = np.array(json.dumps(coding.to_plain()))
    with whole_file(path) as made, made.open("wb") as stream:
        np.savez(
            stream,
            version=np.array(CODED if coded else VERSION),
            names=np.array(names, dtype=np.str_),
            estimator=np.array(estimator),
            n_samples=np.array(sample.n_samples),
            means=sample.means,
            scales=sample.scales,
            correlation=sample.correlation,
            **coded,
        )


def stored_moments(path: str | PathLike[str]) -> Stored:
    """What `write_moments` wrote; the matrix is a correlation matrix by its looks."""
    file = existing_file(path)
    try:
        # Fields are asked for by name: nothing in the file can be executed.
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            content = {field: archive[field] for field in FIELDS}
            coded = str(archive["coding"]) if "coding" in archive else None
        coding = None if coded is None else Coding.from_plain(json.loads(coded))
        version, n_samples = int(content["version"]), float(content["n_samples"])
        names, estimator = content["names"].tolist(), str(content["estimator"])
        means, scales, correlation = (
            np.array(content[field], dtype=np.float64) for field in FIELDS[1:4]
        )
    except DAMAGES as error:
        raise FileFormatError(
            f"{file} does not hold saved moments ({error}); wanted a file that Moments.save wrote"
        ) from error
    if version != (VERSION if coding is None else CODED):
        raise FileFormatError(
            f"{file} holds moments of format {version}; this version of qwo reads format {VERSION}"
        )
    labels = column_names(names if isinstance(names, list) else [names])
    if coding is not None and len(coding.variables) != len(labels):
        raise FileFormatError(f"{file} gives {len(labels)} variables other types than they have")
    sample = Sample(sample_size(n_samples), means, scales, correlation)
    _check(file, labels if coding is None else coding.labels(labels), sample, len(labels))
    # Other programs may round the halves of a matrix differently.
    sample = dataclasses.replace(sample, correlation=mirror_lower(correlation))
    return labels, sample, estimator, coding


def _check(file: Path, columns: tuple[str, ...], sample: Sample, n_variables: int) -> None:
    """See that a file holds means, scales and a correlation matrix of these columns."""
    n = len(columns)
    for field, shape in (("means", (n,)), ("scales", (n,)), ("correlation", (n, n))):
        seen = getattr(sample, field).shape
        if seen != shape:
            raise ShapeError(f"{field} has shape {seen}; wanted {shape}")
    wrong = ~(np.isfinite(sample.scales) & (sample.scales > 0)) | np.isinf(sample.means)
    if wrong.any():
        affected = [columns[k] for k in np.flatnonzero(wrong)]
        raise CovarianceError(
            f"{file} gives {list_names(affected)} a mean or standard deviation that no data "
            "have; wanted numbers, and standard deviations above 0",
            affected,
        )
    if n_variables < 2:
        raise ShapeError(f"{file} holds moments of {n_variables} variables; wanted 2")
    check_matrix(columns, sample.correlation, "correlation")
    if (np.diagonal(sample.correlation) != 1).any():
        raise CovarianceError(f"{file} holds a correlation matrix whose diagonal is not 1")
    check_bounds(columns, sample.correlation)
