"""The directive ``{names} MODULE``: a table of the names listed in it, then each of them in full.

::

    ```{names} qwo.sem
    direct_effect
    Effect
    ```
"""

from __future__ import annotations

import inspect
from importlib import import_module

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def entry(module: str, name: str) -> list[str]:
    """The lines that document one name with autodoc."""
    value = getattr(import_module(module), name)
    if inspect.isclass(value):
        # What Python gives to every named tuple and exception is no news.
        members = [] if issubclass(value, BaseException) else ["   :members:"]
        return [f".. autoclass:: {name}", *members, ""]
    return [f".. {'autofunction' if inspect.isroutine(value) else 'autodata'}:: {name}", ""]


def reference(module: str, names: list[str]) -> str:
    """The table and the entries, as a block of reStructuredText within Markdown."""
    lines = [f".. currentmodule:: {module}", "", ".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   {name}" for name in names]
    lines.append("")
    for name in names:
        lines += entry(module, name)
    return "\n".join(["```{eval-rst}", *lines, "```", ""])


class Names(SphinxDirective):
    """The names of a module that a page is about."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The table and the entries as nodes of the page."""
        names = [line.strip() for line in self.content if line.strip()]
        return self.parse_text_to_nodes(reference(self.arguments[0], names))


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("names", Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
