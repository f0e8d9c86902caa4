"""Pages with console sessions: every command prints what the page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qwo.cli import app
from qwo.cli.failures import ExitCode
from qwo.graph.formats import FORMATS
from tests.docs.consoles import Session, Step, read_steps, same

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = DOCS / "tutorials"
PAGES = [DOCS / "cli.md", TUTORIALS / "first-ten-minutes.md", TUTORIALS / "clinical-table.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_are_as_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session, names = Session(), dict[str, Any]()
    steps = list(read_steps(page))
    assert steps
    for step in steps:
        if step.is_python:
            exec(compile("\n" * (step.line - 1) + step.command, page.name, "exec"), names)
            continue
        printed = session.run(step.command)
        assert same(step.output, printed), (
            f"{page.name}, line {step.line}: $ {step.command}\nthe page shows\n{step.output}\n"
            f"but this was printed:\n{printed}"
        )


def test_steps_are_read_with_their_lines(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Text\n```console\n$ ls a\nb\nc\n$ echo $?\n0\n```\n```python\nx = 1\n```\n")
    assert list(read_steps(page)) == [
        Step(3, "ls a", "b\nc\n"),
        Step(6, "echo $?", "0\n"),
        Step(10, "x = 1\n", "", is_python=True),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("score 2011.21, after 0.01 s", "score 2011.2, after 3.70 s", True),
        ("score 2011.21", "score 2111.21", False),
        ("6 edges", "7 edges", False),
        ("97 %", "98 %", True),
        ("97 %", "90 %", False),
        ("a  ---  b", "a --- b", True),
        ("a --- b", "a --> b", False),
        ("a b", "a b c", False),
        ("0.033", "0.034", True),
    ],
)
def test_what_counts_as_the_same(shown: str, printed: str, agree: bool) -> None:
    assert same(shown, printed) is agree


def test_a_session_runs_nothing_else() -> None:
    with pytest.raises(AssertionError, match="qwo, ls and echo"):
        Session().run("rm -r /")


def test_the_page_of_the_command_line_is_complete() -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    commands = [
        command.callback.__name__ for command in app.registered_commands if command.callback
    ]
    for command in commands:
        assert f"`qwo {command}" in text, command
    for code in ExitCode:
        assert f"\n| {int(code)} | " in text, code
    for name in FORMATS:
        assert f"`{name}`" in text, name
