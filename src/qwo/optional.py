"""Packages that only part of the users need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qwo.errors import MissingPackageError


def optional_module(module: str, purpose: str, requirement: str | None = None) -> Any:
    """A module of an optional package.

    Parameters
    ----------
    module : str
        Its import name.
    purpose : str
        Who needs it, as the start of a sentence: ``"plots need"``.
    requirement : str, optional
        What to install, such as ``"dask[distributed]"``; the package itself if not given.

    Raises
    ------
    MissingPackageError
        If it is not installed, with the command that installs it.
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
