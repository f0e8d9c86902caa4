"""The script that makes the page interactive, if this installation was built with it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent / "_bundle"


class Bundle(NamedTuple):
    """The script, and the licences of the packages in it."""

    script: str
    licences: str


def find_bundle(folder: Path = _FOLDER) -> Bundle | None:
    """The bundle that npm made when the package was built; None without one."""
    script, licences = folder / "report.js", folder / "LICENSES.txt"
    if not (script.is_file() and licences.is_file()):
        return None
    return Bundle(script.read_text("utf-8"), licences.read_text("utf-8"))
