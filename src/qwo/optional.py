"""Packages that only part of the users need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qwo.errors import MissingPackageError


def optional_module(module: str, purpose: str, requirement: str | None = None) -> Any:
    """A module of an optional package; the error that it is not installed says how to.

    The purpose is the start of a sentence, ``"plots need"``; the requirement is what to install,
    such as ``"dask[distributed]"``, and the package itself if not given.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise MissingPackageError(
            f"{purpose} {package}, which is not installed; run pip install "
            f'"{requirement or package}"',
            name=module,
        ) from error
