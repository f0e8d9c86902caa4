"""The directive ``{command-reference}``: every command of ``qwo`` with all its options.

What is shown is what ``qwo COMMAND --help`` shows, from the same objects, so that neither can fall
behind the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from qwo.cli import app

BOLD = re.compile(r"\[b\](.*?)\[/b\]")
OPTION = re.compile(r"(?<![`\w-])--[a-z][a-z-]*")
NO_HELP = {"help", "install_completion", "show_completion"}
REST = "Options"


def command_pages() -> Iterator[str]:
    """A section for each command, in Markdown."""
    for name, command in get_command(app).commands.items():
        yield "\n".join(_section(name, command))


def _section(name: str, command: Any) -> Iterator[str]:
    yield f"## qwo {name}\n"
    yield from _help(command.help or "")
    shown = [p for p in command.params if p.name not in NO_HELP and not p.hidden]
    arguments = [p for p in shown if p.param_type_name == "argument"]
    options = [p for p in shown if p.param_type_name == "option"]
    yield from _table("Arguments", arguments)
    for panel in dict.fromkeys(_panel(p) for p in options):
        yield from _table(panel, [p for p in options if _panel(p) == panel])


def _panel(option: Any) -> str:
    return option.rich_help_panel or REST


def _help(text: str) -> Iterator[str]:
    """Paragraphs as they are; examples, which are bold there, as a block of code."""
    for paragraph in text.strip().split("\n\n"):
        lines = paragraph.splitlines()
        if BOLD.match(lines[0]):
            yield "```text"
            yield from (BOLD.sub(r"\1", line).rstrip() for line in lines)
            yield "```\n"
        else:
            yield _prose(paragraph) + "\n"


def _prose(text: str) -> str:
    """What is bold on a terminal, and options, as code."""
    return OPTION.sub(r"`\g<0>`", BOLD.sub(r"`\1`", text))


def _table(title: str, params: list[Any]) -> Iterator[str]:
    if not params:
        return
    yield f"| {title} | |\n|---|---|"
    for param in params:
        yield f"| {_names(param)} | {_cell(_prose(param.help or ''))}{_default(param)} |"
    yield ""


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{param.metavar or param.name.upper()}`"
    names = [_cell(f"`{name}`") for name in sorted(param.opts, key=len)]
    opposite = "".join(f" / `{name}`" for name in param.secondary_opts)
    value = " " + _cell(f"`{param.metavar}`") if param.metavar else ""
    return ", ".join(names) + opposite + value


def _default(param: Any) -> str:
    default = param.default
    wanted = param.param_type_name == "option" and param.show_default and not param.is_flag
    if not wanted or default in (None, "", ()) or callable(default):
        return ""
    return f" Default: `{getattr(default, 'value', default)}`"


def _cell(text: str) -> str:
    """Text on one line in which nothing ends the cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


class CommandReference(SphinxDirective):
    """All commands, a section each."""

    def run(self) -> list[nodes.Node]:
        """The sections as nodes of the page."""
        return [
            node
            for page in command_pages()
            for node in self.parse_text_to_nodes(page, allow_section_headings=True)
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
