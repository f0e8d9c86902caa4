"""The command line, run within this process or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner, Result

from qwo.cli import app

QWO = (sys.executable, "-m", "qwo.cli")


def run(
    *arguments: object,
    input: str | bytes | None = None,  # noqa: A002
    columns: int | None = None,
) -> Result:
    """Run a command within this process, as on a terminal of so many columns or without one."""
    runner = CliRunner(env={"COLUMNS": None if columns is None else str(columns)})
    result = runner.invoke(
        app, [str(argument) for argument in arguments], input=input, prog_name="qwo"
    )
    assert result.exit_code != 70, result.output
    return result


def run_json(*arguments: object) -> Any:
    """What a command prints with ``--json``, once it has ended well."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """A command in a process of its own, which does not outlive the block."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(
        [*QWO, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def write_table(
    path: Path, columns: Sequence[np.ndarray], names: Sequence[str], separator: str = ","
) -> Path:
    """A text file with a line of names."""
    rows = [separator.join(repr(float(value)) for value in row) for row in zip(*columns)]  # noqa: B905
    path.write_text("\n".join([separator.join(names), *rows]) + "\n", encoding="utf-8")
    return path


def chain(n_samples: int = 300) -> np.ndarray:
    """Columns a → b ← c → d, one row each."""
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(4, n_samples))
    a, c = noise[0], noise[2]
    b = 0.9 * a + 0.8 * c + 0.5 * noise[1]
    d = 0.9 * c + 0.5 * noise[3]
    return np.array([a, b, c, d])
