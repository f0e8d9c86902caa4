"""Bootstraps in files: arrays and one JSON text in an .npz archive, and no pickles."""

from __future__ import annotations

import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qwo.discovery import Discovery
from qwo.errors import FileFormatError, MissingFileError
from qwo.files import whole_file
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.resample.result import Bootstrap

FORMAT = "qwo bootstrap 1"
"""What the file is, and by which version of its format."""

_COUNTS = ("directed_counts", "undirected_counts", "outcomes")
_REFERENCE = ("cpdag", "dag", "order")
_KNOWLEDGE = ("forbidden", "required", "before")

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


def write_bootstrap(result: Bootstrap, path: str | os.PathLike[str]) -> None:
    """Write a bootstrap to a file, whole or not at all."""
    reference, knowledge = result.reference, result.knowledge
    header = {
        "format": FORMAT,
        "names": list(result.names),
        "status": result.status,
        "params": dict(result.params),
        "fingerprint": result.fingerprint,
        "reference": {
            "score": reference.score if math.isfinite(reference.score) else None,
            "n_edges": reference.n_edges,
            "trace": reference.trace,
            "status": reference.status,
            "seconds": reference.seconds,
            "params": dict(reference.params),
            "versions": dict(reference.versions),
        },
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, default=_plain)
    arrays: Arrays = {"header": np.frombuffer(text.encode(), dtype=np.uint8)}
    arrays |= {name: getattr(result, name) for name in _COUNTS}
    arrays |= {f"reference_{name}": getattr(reference, name) for name in _REFERENCE}
    if knowledge is not None:
        arrays |= {f"knowledge_{name}": getattr(knowledge, name) for name in _KNOWLEDGE}
    with whole_file(path) as made, made.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
        # It takes the place of the last checkpoint only once it is on the disk.
        file.flush()
        os.fsync(file.fileno())


def read_bootstrap(path: str | os.PathLike[str]) -> Bootstrap:
    """The bootstrap in a file that `write_bootstrap` has written."""
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
            f"{str(file)!r} is not a bootstrap that qwo has saved ({type(error).__name__}: {error})"
        ) from error


def _plain(value: Any) -> Any:
    """What JSON has instead of a number of NumPy's, such as a penalty out of a grid."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cannot store a {type(value).__name__}")


def _build(header: dict[str, Any], arrays: Arrays) -> Bootstrap:
    names = tuple(str(name) for name in header["names"])
    square = (len(names), len(names))
    for name in (*_COUNTS[:2], "reference_cpdag", "reference_dag"):
        if arrays[name].shape != square:
            raise ValueError(f"{name} has shape {arrays[name].shape} for {len(names)} variables")
    reference = dict(header["reference"])
    reference["trace"] = tuple((float(t), float(score)) for t, score in reference["trace"])
    reference["score"] = math.nan if reference["score"] is None else float(reference["score"])
    knowledge = None
    if "knowledge_before" in arrays:
        matrices = [arrays[f"knowledge_{name}"].astype(np.bool_) for name in _KNOWLEDGE]
        knowledge = ResolvedKnowledge(names, *matrices)
    return Bootstrap(
        names=names,
        reference=Discovery(
            cpdag=arrays["reference_cpdag"].astype(np.int8),
            dag=arrays["reference_dag"].astype(np.int8),
            order=arrays["reference_order"].astype(np.intp),
            names=names,
            **reference,
        ),
        directed_counts=arrays["directed_counts"].astype(np.int32),
        undirected_counts=arrays["undirected_counts"].astype(np.int32),
        outcomes=arrays["outcomes"].astype(np.int8),
        status=header["status"],
        params=header["params"],
        fingerprint=str(header["fingerprint"]),
        knowledge=knowledge,
    )
