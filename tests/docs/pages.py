"""Pages of the documentation whose code runs: python blocks, and below each what it prints.

An expression prints its value, as at the prompt. A block that needs an optional package says so
after the language, as in ```` ```python needs-dowhy ````.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from typing import Any
from unittest.mock import patch

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"

BLOCK = re.compile(
    r"^```python(?P<packages>(?: needs-\w+)*)\n(?P<code>.*?)^```\n"
    r"(?:\n*```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A piece of code, the line where it starts, what it needs and what it prints."""

    line: int
    code: str
    packages: frozenset[str]
    output: str

    def matches(self, printed: str) -> bool:
        """Whether this is what the page shows; ``...`` there stands for anything."""
        return OutputChecker().check_output(self.output, printed, ELLIPSIS | NORMALIZE_WHITESPACE)


def read_blocks(page: Path) -> list[Block]:
    """The python blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            line=text.count("\n", 0, match.start("code")) + 1,
            code=match["code"],
            packages=frozenset(match["packages"].replace("needs-", "").split()),
            output=match["output"] or "",
        )
        for match in BLOCK.finditer(text)
    ]


def run_page(
    page: Path, packages: Collection[str] = (), namespace: dict[str, Any] | None = None
) -> Iterator[tuple[Block, str]]:
    """Run the blocks that need no more than these packages, in order and in one namespace.

    Yields each block with what it printed.
    """
    names = {} if namespace is None else namespace
    for block in read_blocks(page):
        if block.packages <= set(packages):
            yield block, run_block(block, names, page.name)


def run_block(block: Block, namespace: dict[str, Any], filename: str) -> str:
    """What a block prints."""
    tree = ast.Interactive(ast.parse(block.code, filename).body)
    ast.increment_lineno(tree, block.line - 1)  # errors point to lines of the page
    printed = io.StringIO()
    # Packages may change how values are shown: DoWhy does, for all that runs after it.
    with redirect_stdout(printed), patch.object(sys, "displayhook", sys.__displayhook__):
        exec(compile(tree, filename, "single"), namespace)
    return printed.getvalue()
