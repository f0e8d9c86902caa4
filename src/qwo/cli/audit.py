"""``qwo audit``: what is wrong or doubtful about the data, before anything is learnt from them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import get_args

import typer

from qwo.cli.console import Console, flowed
from qwo.cli.failures import ExitCode
from qwo.cli.reading import DataFile, Reading, cure, data_file, source_name
from qwo.cli.wording import worded, wrapped_list
from qwo.text import count

MOST_NAMED = 6
"""Columns of a type that are named."""


def audit(file: DataFile, reading: Reading, console: Console) -> None:
    """Look for what is wrong or doubtful about the data.

    [b]qwo audit cells.csv[/b]
    [b]qwo audit cells.csv --drop batch --missing em[/b]     would this cure it?

    Exit code 0: nothing to report but notes; 3: warnings; 1: the data cannot be used as they are.
    """
    from qwo.moments import audit_file

    with data_file(file) as path:
        found = audit_file(path, **reading.arguments())
    errors, warnings = len(found.errors), len(found.warnings)
    verdict = "cannot be used as they are" if errors else "can be used"
    lines = [
        flowed(f"{item.severity + ':':<9}", worded(item), sys.stdout) for item in found.findings
    ]
    bad = {name for item in found.errors if item.code == "non-numeric" for name in item.columns}
    types = {name: kind for name, kind in found.types.items() if name not in bad}
    if set(types.values()) - {"continuous"}:
        lines.append(flowed(f"{'types:':<9}", _types(types), sys.stdout))
    lines.append(
        f"{source_name(file)}: {count(errors, 'error')}, {count(warnings, 'warning')}; "
        f"the data {verdict}"
    )
    options = cure(found)
    if options:
        lines.append(f"{'try:':<9}{options}")
    document = {
        "file": source_name(file),
        "usable": not errors,
        "types": dict(found.types),
        "findings": [asdict(item) for item in found.findings],
        "cure": options,
    }
    console.result("\n".join(lines), document)
    if errors:
        raise typer.Exit(ExitCode.INPUT)
    if warnings:
        raise typer.Exit(ExitCode.ATTENTION)


def _types(types: Mapping[str, str]) -> str:
    """How many columns are of each type, and which."""
    from qwo.moments.kinds import Kind

    parts = []
    for kind in get_args(Kind):
        names = [name for name, own in types.items() if own == kind]
        if names:
            parts.append(f"{len(names)} {kind} ({wrapped_list(names, MOST_NAMED)})")
    return ", ".join(parts)
