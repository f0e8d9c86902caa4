"""The reference pages have every public name, and every command with every option."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import qwo
from qwo.cli import app

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```\{names\} (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PUBLIC = [
    "qwo",
    "qwo.bayes",
    "qwo.datasets",
    "qwo.estimator",
    "qwo.graph",
    "qwo.moments",
    "qwo.plot",
    "qwo.regimes",
    "qwo.report",
    "qwo.resample",
    "qwo.search",
    "qwo.sem",
    "qwo.simulation",
]

FIELDS = qwo.Discovery.__annotations__


def listed_names() -> list[tuple[str, str]]:
    """Every (module, name) on the pages of the interface."""
    return [
        (block[1], name)
        for page in sorted((DOCS / "api").glob("*.md"))
        for block in BLOCK.finditer(page.read_text(encoding="utf-8"))
        for name in block[2].split()
    ]


def value_of(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_documented(module: str) -> None:
    listed = {id(value_of(*place)) for place in listed_names()}
    names = import_module(module).__all__
    missing = [name for name in names if id(value_of(module, name)) not in listed]
    assert not missing, f"add them to a page in docs/api: {missing}"


def test_records_of_a_result_are_documented() -> None:
    listed = {name for _, name in listed_names()}
    plain = {"Adjacency", "Any", "Indices", "Mapping", "None", "Origin", "Status"}
    told = {name for kind in FIELDS.values() for name in re.findall(r"[A-Z]\w+", str(kind))}
    assert told - plain <= listed, f"add them to a page in docs/api: {told - plain - listed}"


def test_names_are_documented_once() -> None:
    listed = [id(value_of(*place)) for place in listed_names()]
    assert len(listed) == len(set(listed))


def test_commands_are_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    try:
        commands = import_module("extensions.commands")
    except ModuleNotFoundError as error:
        pytest.skip(f"the documentation needs {error.name}")
    sections = "\n".join(commands.command_pages())
    for name, command in get_command(app).commands.items():
        assert f"\n## qwo {name}\n" in f"\n{sections}"
        section = sections.partition(f"## qwo {name}\n")[2].partition("\n## qwo ")[0]
        for option in (opt for p in command.params for opt in p.opts if p.name != "help"):
            shown = option if option.startswith("-") else "Arguments"
            assert shown in section, f"qwo {name}: {option}"
    assert "[b]" not in sections
    sys.modules.pop("extensions", None)
    sys.modules.pop("extensions.commands", None)
