"""Tables of contents whose patterns may match nothing: a folder can be filled later."""

from __future__ import annotations

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.directives.other import TocTree
from sphinx.util.matching import patfilter


class LenientTocTree(TocTree):
    """Sphinx's ``toctree`` without its warning about patterns that add no page."""

    def run(self) -> list[nodes.Node]:
        """The table, after patterns that add nothing are left out."""
        listed = [line for line in self.content if "*" not in line]
        others = self.env.found_docs - set(listed)
        kept = [line for line in self.content if "*" not in line or patfilter(others, line)]
        self.content = StringList(kept, self.content.source(0) if kept else None)
        return super().run()


def setup(app: Sphinx) -> dict[str, bool]:
    """Put the directive in the place of sphinx's."""
    app.add_directive("toctree", LenientTocTree, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
