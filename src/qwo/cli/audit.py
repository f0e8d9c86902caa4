"""``qwo audit``: what is wrong or doubtful about the data, before anything is learnt from them."""

from __future__ import annotations

import sys
from dataclasses import asdict

import typer

from qwo.cli.console import Console, flowed
from qwo.cli.failures import ExitCode
from qwo.cli.reading import DataFile, Reading, cure, data_file, source_name
from qwo.cli.wording import worded
from qwo.text import count


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
        "findings": [asdict(item) for item in found.findings],
        "cure": options,
    }
    console.result("\n".join(lines), document)
    if errors:
        raise typer.Exit(ExitCode.INPUT)
    if warnings:
        raise typer.Exit(ExitCode.ATTENTION)
