"""Help, versions, suggestions, completion, and how much is imported for them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qwo.cli import app
from qwo.graph.formats import FORMATS
from tests.cli.running import QWO, run

COMMANDS = [command.callback.__name__ for command in app.registered_commands if command.callback]


def plain(text: str) -> str:
    """Help without the frames around it."""
    return re.sub(r"[\s│╭╮╰╯─]+", " ", text)


def test_the_commands_that_were_promised_are_there() -> None:
    promised = ("learn", "audit", "simulate", "compare", "fit", "bootstrap", "convert")
    promised += ("reproduce", "bench", "info")
    assert set(promised) <= set(COMMANDS)


def test_help_names_every_command_in_a_group() -> None:
    shown = run("--help")
    assert shown.exit_code == 0
    for command in COMMANDS:
        assert re.search(rf"│ {command}\s", shown.stdout), command
    assert "From data to a graph" in shown.stdout
    assert "Exit codes" in shown.stdout
    assert "<bool>" not in shown.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    for option in ("--help", "-h"):
        shown = run(command, option)
        assert shown.exit_code == 0
        assert "Usage: qwo" in shown.stdout
        assert "<bool>" not in shown.stdout


def test_no_command_shows_help() -> None:
    shown = run()
    assert "From data to a graph" in shown.output


def test_the_help_of_format_lists_all_of_them() -> None:
    for command in ("learn", "convert"):
        text = plain(run(command, "--help").stdout)
        for name in FORMATS:
            assert re.search(rf"[ :]{name}[:,. ]", text), name


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["lern", "x.csv"], "Did you mean 'learn'?"),
        (["learn", "x.csv", "--penaltyy", "1"], "--penalty"),
        (["learn", "x.csv", "--search", "grsp"], "'grasp'"),
        (["learn"], "Missing argument 'FILE'"),
    ],
)
def test_wrong_usage_has_a_suggestion_and_code_2(arguments: list[str], suggestion: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert suggestion in plain(result.stderr)
    assert not result.stdout


def test_version() -> None:
    assert re.fullmatch(r"qwo \d+\.\d+\.\d+\S*\n", run("--version").stdout)


def test_info_tells_the_build() -> None:
    shown = run("info").stdout
    assert "core: compiler" in shown
    assert "matplotlib" in shown


LIGHT = """
import sys, types
package = types.ModuleType("qwo")
package.__path__ = [{path!r}]
sys.modules["qwo"] = package
import qwo.cli
heavy = {{"numpy", "scipy", "networkx", "pyarrow", "matplotlib", "pandas", "sklearn", "joblib"}}
print(sorted(heavy & set(sys.modules)))
"""


def test_the_command_line_imports_nothing_heavy_by_itself() -> None:
    """The package's own ``__init__`` is kept out: what it imports is measured elsewhere."""
    import qwo

    code = LIGHT.format(path=str(Path(qwo.__file__).parent))
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.strip() == "[]"


def test_completion_knows_commands_and_formats() -> None:
    environment = {
        **os.environ,
        "_QWO_COMPLETE": "complete_bash",
        "COMP_WORDS": "qwo convert a b --to gra",
        "COMP_CWORD": "5",
    }
    shown = subprocess.run(
        QWO, capture_output=True, text=True, env=environment, check=False, timeout=60
    )
    assert "graphml" in shown.stdout.split()
