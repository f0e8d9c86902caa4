"""The record that an audit of the input leaves: findings with columns, reasons and cures."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from qwo.errors import (
    ConstantColumnError,
    CovarianceError,
    DataWarning,
    DuplicateColumnError,
    InputError,
    LinearDependenceError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
)

Code = Literal[
    "non-numeric",
    "missing-values",
    "few-columns",
    "few-rows",
    "constant",
    "nearly-constant",
    "duplicate",
    "linear-dependence",
    "near-singular",
    "indefinite",
    "wide",
    "unpaired",
    "no-convergence",
    "non-gaussian",
]

_ERRORS: dict[Code, type[InputError]] = {
    "non-numeric": NonNumericError,
    "missing-values": MissingValuesError,
    "few-columns": ShapeError,
    "few-rows": SampleSizeError,
    "wide": SampleSizeError,
    "constant": ConstantColumnError,
    "duplicate": DuplicateColumnError,
    "linear-dependence": LinearDependenceError,
    "indefinite": CovarianceError,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or doubtful.

    Attributes
    ----------
    code : str
        What it is, in one word for programs.
    severity : {"error", "warning", "note"}
        Whether it keeps the data from being used, makes a result doubtful, or is worth knowing.
    columns : tuple of str
        The variables concerned.
    message : str
        What was seen, where, and what to do.
    """

    code: Code
    severity: Literal["error", "warning", "note"]
    columns: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Audit:
    """All that an inspection of the input found, in order of discovery."""

    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that keep the data from being used."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that make a result doubtful."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Findings that are worth knowing; nothing is wrong."""
        return tuple(finding for finding in self.findings if finding.severity == "note")

    def raise_errors(self) -> None:
        """Raise what is wrong as one `InputError`, if anything is.

        The class of the error and its `columns` are those of the first finding; the message lists
        them all, so that they can be cured together.
        """
        errors = self.errors
        if errors:
            first = errors[0]
            message = "\n".join(finding.message for finding in errors)
            raise _ERRORS[first.code](message, first.columns)

    def enforce(self) -> None:
        """Raise what is wrong as one `InputError`, or else warn of what is doubtful."""
        self.raise_errors()
        for finding in self.warnings:
            warnings.warn(finding.message, DataWarning, stacklevel=_callers_level())

    def __str__(self) -> str:
        if not self.findings:
            return "nothing to report"
        return "\n".join(f"{finding.severity}: {finding.message}" for finding in self.findings)


def _callers_level() -> int:
    """The `stacklevel` for `enforce` that blames the first line outside this package."""
    package = str(Path(__file__).parent.parent) + os.sep
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        level += 1
    return level
