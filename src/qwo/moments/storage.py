"""Moments in files: a NumPy archive of plain arrays, in which nothing can be executed."""

from __future__ import annotations

import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from qwo.errors import FileFormatError
from qwo.files import whole_file
from qwo.moments.arrays import column_names
from qwo.moments.covariance import Sample
from qwo.moments.files import existing_file

SUFFIX = ".npz"
VERSION = 1
FIELDS = ("n_samples", "means", "scales", "correlation", "names", "estimator", "version")


def is_archive(path: Any) -> bool:
    """Whether a path has the suffix of saved moments."""
    return isinstance(path, str | PathLike) and Path(path).suffix.lower() == SUFFIX


def save_sample(
    path: str | PathLike[str], names: tuple[str, ...], sample: Sample, estimator: str
) -> None:
    """Write moments: the whole file or nothing."""
    with whole_file(path) as made, made.open("wb") as stream:
        np.savez(
            stream,
            version=np.array(VERSION),
            names=np.array(names, dtype=np.str_),
            estimator=np.array(estimator),
            n_samples=np.array(sample.n_samples),
            means=sample.means,
            scales=sample.scales,
            correlation=sample.correlation,
        )


def load_sample(path: str | PathLike[str]) -> tuple[tuple[str, ...], Sample, str]:
    """Names, moments and estimator in a file that `save_sample` wrote."""
    file = existing_file(path)
    try:
        with np.load(file, allow_pickle=False) as archive:
            content = {field: archive[field] for field in FIELDS}
    except (OSError, ValueError, KeyError, AttributeError, zipfile.BadZipFile) as error:
        raise FileFormatError(
            f"{file} does not hold saved moments ({error}); wanted a file that Moments.save wrote"
        ) from error
    if int(content["version"]) != VERSION:
        raise FileFormatError(
            f"{file} holds moments of format {int(content['version'])}; this version of qwo reads "
            f"format {VERSION}"
        )
    names = column_names(content["names"].tolist())
    sample = Sample(
        float(content["n_samples"]), content["means"], content["scales"], content["correlation"]
    )
    return names, sample, str(content["estimator"])
