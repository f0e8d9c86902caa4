"""Posteriors in files: see `qwo.archives`."""

from __future__ import annotations

import os
from typing import Any

from qwo.archives import Arrays, read_archive, write_archive
from qwo.bayes.result import Posterior
from qwo.graph.resolved_knowledge import knowledge_arrays, stored_knowledge
from qwo.moments import Moments

FORMAT = "qwo posterior 1"
"""What the file is, and by which version of its format."""

_ARRAYS = ("edge_probabilities", "masks", "log_scores", "rhat", "ess", "outside_ratios")
_MOMENTS = ("means", "scales", "correlation")
_TEXTS = ("candidates", "core", "acceptance", "status", "seconds", "params", "versions")


def write_posterior(result: Posterior, path: str | os.PathLike[str]) -> None:
    """Write a posterior to a file, whole or not at all."""
    moments = result.moments
    header = {
        "format": FORMAT,
        "names": moments.names,
        "n_samples": moments.n_samples,
        "estimator": moments.estimator,
        **{name: getattr(result, name) for name in _TEXTS},
    }
    arrays: Arrays = {name: getattr(result, name) for name in _ARRAYS}
    arrays |= {f"moments_{name}": getattr(moments, name) for name in _MOMENTS}
    write_archive(path, header, arrays | knowledge_arrays(result.knowledge))


def read_posterior(path: str | os.PathLike[str]) -> Posterior:
    """The posterior in a file that `write_posterior` has written."""
    return read_archive(path, FORMAT, "posterior", _build)


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
    return Posterior(moments=moments, knowledge=stored_knowledge(names, arrays), **values)
