"""The record that an audit of the input leaves: findings with columns, reasons and cures."""

from __future__ import annotations

import html
import os
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from qwo.errors import (
    ConstantColumnError,
    CovarianceError,
    Cure,
    DataWarning,
    DuplicateColumnError,
    InputError,
    LinearDependenceError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
    Wording,
    python_wording,
    worded_cures,
)
from qwo.options import Kind

Code = Literal[
    "non-numeric",
    "missing-values",
    "few-columns",
    "few-rows",
    "constant",
    "nearly-constant",
    "duplicate",
    "near-duplicate",
    "linear-dependence",
    "near-singular",
    "indefinite",
    "wide",
    "unpaired",
    "no-convergence",
    "non-gaussian",
    "codes",
    "binary",
    "rare-levels",
    "identifier",
    "sentinel",
    "repeated-rows",
    "serial",
    "range",
    "index",
    "latent",
]
Severity = Literal["error", "warning", "note"]

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
        What was seen, and where.
    cures : tuple of Cure
        Options that help, each by itself; each front end words them with its own names.
    """

    code: Code
    severity: Severity
    columns: tuple[str, ...]
    message: str
    cures: tuple[Cure, ...] = ()

    def worded(self, wording: Wording = python_wording) -> str:
        """The message and the cures, as a front end spells them."""
        return ". ".join(filter(None, (self.message, worded_cures(self.cures, wording))))


@dataclass(frozen=True, slots=True)
class Audit:
    """All that an inspection of the input found, in order of discovery.

    Attributes
    ----------
    findings : tuple of Finding
        What was found.
    types : mapping from str to {"continuous", "ordinal", "nominal", "binary"}
        What the values of each column are, as the user says, or seem to be, by their types and by
        how many differ.
    """

    findings: tuple[Finding, ...]
    types: Mapping[str, Kind] = field(default_factory=dict)

    def without(self, codes: Collection[Code]) -> Audit:
        """The audit without findings of these kinds."""
        return replace(self, findings=tuple(f for f in self.findings if f.code not in codes))

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

    @property
    def cures(self) -> tuple[Cure, ...]:
        """What cures the errors: all columns to leave out in one, then the other options."""
        found = [cure for finding in self.errors for cure in finding.cures]
        drops = [cure for cure in found if cure.option == "drop"]
        columns = list(dict.fromkeys(name for cure in drops for name in cure.value))
        if len(drops) > 1:
            drops = [Cure("drop", columns, "leaves out what cannot be used")]
        if self.types and len(self.types) - len(columns) < 2:
            drops = []
        different: list[Cure] = []
        for cure in [*drops, *(cure for cure in found if cure.option != "drop")]:
            if cure not in different:
                different.append(cure)
        return tuple(different)

    def raise_errors(self) -> None:
        """Raise what is wrong as one `InputError`, if anything is.

        The class of the error and its `columns` are those of the first finding; the message lists
        them all, so that they can be cured together.
        """
        errors = self.errors
        if errors:
            first = errors[0]
            message = "\n".join(finding.message for finding in errors)
            raise _ERRORS.get(first.code, InputError)(message, first.columns, self.cures)

    def enforce(self) -> None:
        """Raise what is wrong as one `InputError`, or else warn of what is doubtful."""
        self.raise_errors()
        for finding in self.warnings:
            warning = DataWarning(finding.message, finding.cures)
            warnings.warn(warning, stacklevel=_callers_level())

    def __str__(self) -> str:
        if not self.findings:
            return "nothing to report"
        return "\n".join(f"{finding.severity}: {finding.worded()}" for finding in self.findings)

    def _repr_html_(self) -> str:
        if not self.findings:
            return "<p>The audit found nothing to report.</p>"
        rows = "".join(
            f"<tr><th style='text-align:left'>{finding.severity}</th>"
            f"<td style='text-align:left'>{html.escape(finding.worded())}</td></tr>"
            for finding in self.findings
        )
        return f"<table>{rows}</table>"


def drop_cure(
    names: Sequence[str], columns: Sequence[str], effect: str | None = None
) -> tuple[Cure, ...]:
    """Leaving columns out, where two others are left."""
    if len(names) - len(columns) < 2:
        return ()
    plain = f"leaves {'it' if len(columns) == 1 else 'them'} out"
    return (Cure("drop", list(columns), effect or plain),)


def _callers_level() -> int:
    """The `stacklevel` for `enforce` that blames the first line outside this package."""
    package = str(Path(__file__).parent.parent) + os.sep
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        level += 1
    return level
