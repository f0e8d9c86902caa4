"""Console sessions in the documentation: commands after ``$``, and below each what it prints.

::

    ```console
    $ qwo audit cells.csv
    cells.csv: 0 errors, 0 warnings; the data can be used
    ```

``qwo`` runs within this process, as on a terminal of 100 columns; ``ls`` and ``echo $?`` are all
else that a session may use. A session that needs an optional package says so after the language, as
in ```` ```console needs-dask ````. Standard output and standard error are one, as on a terminal.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from qwo.cli import app

COLUMNS = 100
BLOCK = re.compile(
    r"^```(?P<language>python|console)(?P<packages>(?: needs-\w+)*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
SECONDS = re.compile(r"\d+\.\d+ s\b")


@dataclass(frozen=True)
class Step:
    """A command, or a block of Python, with what the page shows below it."""

    line: int
    command: str
    output: str
    is_python: bool = False
    packages: frozenset[str] = frozenset()


def read_steps(page: Path) -> Iterator[Step]:
    """The steps of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("body")) + 1
        packages = frozenset(block["packages"].replace("needs-", "").split())
        if block["language"] == "python":
            yield Step(line, block["body"], "", is_python=True, packages=packages)
            continue
        for part in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block["body"], re.MULTILINE):
            place = line + block["body"].count("\n", 0, part.start())
            yield Step(place, part[1], part[2], packages=packages)


class Session:
    """A shell with one program."""

    def __init__(self) -> None:
        self.last_code = 0

    def run(self, command: str) -> str:
        """What a command prints."""
        program, *arguments = shlex.split(os.path.expandvars(command))
        if program == "echo":
            assert arguments == ["$?"], command
            return f"{self.last_code}\n"
        if program == "ls":
            [folder] = arguments
            names = sorted(path.name for path in Path(folder).iterdir())
            return "".join(f"{name}\n" for name in names)
        assert program == "qwo", f"{command!r}: a page runs qwo, ls and echo $? only"
        runner = CliRunner(env={"COLUMNS": str(COLUMNS)})
        result = runner.invoke(app, arguments, prog_name="qwo")
        self.last_code = result.exit_code
        return result.output


def same(shown: str, printed: str, tolerance: float = 0.02) -> bool:
    """Whether the words agree, the numbers nearly, and times in any way.

    Numbers may differ from machine to machine in their last digits, and shares of resamples a
    little more.
    """
    shown, printed = SECONDS.sub("0 s", shown), SECONDS.sub("0 s", printed)
    if _words(shown) != _words(printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(
        abs(float(a) - float(b)) <= max(tolerance * abs(float(a)), _last_digit(a)) for a, b in pairs
    )


def _words(text: str) -> list[str]:
    """The text without its numbers; blanks may differ where a number is longer."""
    return NUMBER.sub("#", text).split()


def _last_digit(number: str) -> float:
    """A little more than a unit of the last decimal; whole numbers have none."""
    decimals = len(number.partition(".")[2])
    return 1.01 * 10.0**-decimals if decimals else 0.0
