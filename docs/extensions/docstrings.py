"""What docstrings mean and reStructuredText takes for something else: |r| is no substitution."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def mend(*event: Any) -> None:
    """Escape bars and set the dashes that napoleon leaves, but not in literals and doctests.

    The last argument that sphinx hands over is the docstring, as lines to be changed in place.
    """
    lines: list[str] = event[-1]
    for k, line in enumerate(lines):
        if not line.lstrip().startswith(">>>"):
            parts = line.split("``")
            parts[::2] = [part.replace("|", "\\|").replace(" -- ", " – ") for part in parts[::2]]
            lines[k] = "``".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Have every docstring go through `mend`."""
    app.connect("autodoc-process-docstring", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
