"""Posteriors in files: arrays and one JSON text in an .npz archive, and no pickles."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qwo.bayes.result import Posterior
from qwo.errors import FileFormatError, MissingFileError
from qwo.files import whole_file
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.text import plain

FORMAT = "qwo posterior 1"
"""What the file is, and by which version of its format."""

_ARRAYS = ("edge_probabilities", "masks", "log_scores", "rhat", "ess", "outside_ratios")
_MOMENTS = ("means", "scales", "correlation")
_KNOWLEDGE = ("forbidden", "required", "before")
_TEXTS = ("candidates", "core", "acceptance", "status", "seconds", "params", "versions")

_DAMAGES = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
    zipfile.BadZipFile,
)

Arrays = dict[str, npt.NDArray[Any]]


def write_posterior(result: Posterior, path: str | os.PathLike[str]) -> None:
    """Write a posterior to a file, whole or not at all."""
    moments, knowledge = result.moments, result.knowledge
    header = {
        "format": FORMAT,
        "names": moments.names,
        "n_samples": moments.n_samples,
        "estimator": moments.estimator,
        **{name: getattr(result, name) for name in _TEXTS},
    }
    text = json.dumps(plain(header), ensure_ascii=False, allow_nan=False)
    arrays: Arrays = {"header": np.frombuffer(text.encode(), dtype=np.uint8)}
    arrays |= {name: getattr(result, name) for name in _ARRAYS}
    arrays |= {f"moments_{name}": getattr(moments, name) for name in _MOMENTS}
    if knowledge is not None:
        arrays |= {f"knowledge_{name}": getattr(knowledge, name) for name in _KNOWLEDGE}
    with whole_file(path) as made, made.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_posterior(path: str | os.PathLike[str]) -> Posterior:
    """The posterior in a file that `write_posterior` has written."""
    file = Path(path)
    if not file.is_file():
        raise MissingFileError(f"there is no file {str(file)!r}")
    try:
        # NumPy leaves a file that it has opened itself open, if it is no archive.
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays: Arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != FORMAT:
            raise FileFormatError(
                f"{str(file)!r} is of format {header['format']!r}; wanted {FORMAT!r}"
            )
        return _build(header, arrays)
    except FileFormatError:
        raise
    except _DAMAGES as error:
        raise FileFormatError(
            f"{str(file)!r} is not a posterior that qwo has saved ({type(error).__name__}: {error})"
        ) from error


def _build(header: dict[str, Any], arrays: Arrays) -> Posterior:
    names = tuple(str(name) for name in header["names"])
    n = len(names)
    for name in _ARRAYS:
        wanted = arrays["masks"].shape[:2] if name == "log_scores" else (n, n)
        if name != "masks" and arrays[name].shape != wanted:
            raise ValueError(f"{name} has shape {arrays[name].shape} for {n} variables")
    candidates, core = (
        [[int(u) for u in listed] for listed in header[name]] for name in ("candidates", "core")
    )
    if arrays["masks"].shape[2:] != (n,) or not len(candidates) == len(core) == n:
        raise ValueError(f"draws and lists do not belong to {n} variables")
    knowledge = None
    if "knowledge_before" in arrays:
        matrices = [arrays[f"knowledge_{name}"].astype(np.bool_) for name in _KNOWLEDGE]
        knowledge = ResolvedKnowledge(names, *matrices)
    moments = Moments(
        names,
        float(header["n_samples"]),
        arrays["moments_means"],
        arrays["moments_scales"],
        arrays["moments_correlation"],
        str(header["estimator"]),
    )
    values: dict[str, Any] = {name: header[name] for name in _TEXTS}
    values |= {name: arrays[name] for name in _ARRAYS}
    values |= {"candidates": candidates, "core": core}
    return Posterior(moments=moments, knowledge=knowledge, **values)
