"""Ctrl-C, requests to terminate, kills, and readers that go away, in real processes."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qwo.cli.console import logger
from qwo.cli.failures import Attempts
from tests.cli.running import QWO, run, started

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

LOG = ("--no-figures", "--log-level", "info")
ENDLESS = ("--restarts", 10_000_000, *LOG)


@pytest.fixture
def long_search() -> Path:
    """Data on which the search can be told to go on for hours."""
    assert (
        run("simulate", "-o", "sim", "-n", 60, "-N", 500, "--degree", 6, "--seed", 1).exit_code == 0
    )
    return Path("sim/data.csv")


def wait_for(process: subprocess.Popen[bytes], line: bytes) -> None:
    """Read standard error up to a line of the log."""
    assert process.stderr is not None
    while seen := process.stderr.readline():
        if seen == b"INFO: " + line + b"\n":
            return
    raise AssertionError(f"the process has ended without {line!r}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_best_graph_so_far_is_saved(long_search: Path, number: signal.Signals) -> None:
    with started("learn", long_search, "-o", "result", *ENDLESS) as process:
        wait_for(process, b"the search begins")
        process.send_signal(number)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert b"cut short by Ctrl-C" in errors
    assert b"Traceback" not in errors
    record = json.loads(Path("result/result.json").read_text(encoding="utf-8"))
    assert record["status"] == "interrupted"
    assert record["n_edges"] == len(output.splitlines()) > 0


def test_a_kill_leaves_no_half_result(long_search: Path) -> None:
    with started("learn", long_search, "-o", "result", *ENDLESS) as process:
        wait_for(process, b"the search begins")
        process.kill()
        process.communicate(timeout=120)
    assert not Path("result").exists()


def test_ctrl_c_before_the_search_saves_nothing_and_says_so(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("qwo.moments.read_moments", interrupted)
    result = run("learn", data, "-o", "result")
    assert result.exit_code == 130
    assert result.stderr == "error: interrupted; nothing was saved\n"
    assert not Path("result").exists()


@pytest.mark.parametrize("seconds", [0, 0.1, 0.5])
def test_ctrl_c_during_the_bootstrap_keeps_the_graph(long_search: Path, seconds: float) -> None:
    options = ("-o", "result", "-b", 1_000_000, "--no-report", *LOG)
    with started("learn", long_search, *options) as process:
        wait_for(process, b"the bootstrap begins")
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert b"the bootstrap was cut short by Ctrl-C" in errors
    record = json.loads(Path("result/result.json").read_text(encoding="utf-8"))
    assert record["edges"]


def test_ctrl_c_while_something_is_announced_costs_no_result() -> None:
    """The line in the log is written after the graph is there."""

    class Interrupted(logging.Handler):
        def emit(self, _: logging.LogRecord) -> None:
            raise KeyboardInterrupt

    handler, level = Interrupted(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        attempt = Attempts()
        assert attempt("bootstrap", lambda: 1) is None
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert attempt.stopped == "bootstrap"


def test_a_reader_that_goes_away_is_no_error() -> None:
    """Much more than a pipe holds is written, to a reader that wants ten bytes."""
    with started("simulate", "-n", 100, "-N", 5000) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(timeout=120) == 141
    assert errors == b""


def test_nothing_but_the_result_goes_down_a_pipe(long_search: Path) -> None:
    command = [*QWO, "learn", str(long_search), "--json", "--time-limit", "0.2"]
    shown = subprocess.run(command, capture_output=True, check=True, timeout=120)
    assert json.loads(shown.stdout)["n_variables"] == 60
    assert b"\r" not in shown.stderr  # no progress bar where nobody watches


def test_learning_imports_nothing_that_it_does_not_need(long_search: Path) -> None:
    """Imports took longer than the search; and Arrow forgets a Ctrl-C while it imports pandas."""
    program = (
        "import sys\n"
        "from qwo.cli import app\n"
        f"app(['learn', {str(long_search)!r}, '--restarts', '0', '-q'], standalone_mode=False)\n"
        "unneeded = {'pandas', 'networkx', 'narwhals', 'matplotlib', 'sklearn', 'jinja2', "
        "'scipy.optimize', 'scipy.stats'}\n"
        "assert not unneeded & set(sys.modules), unneeded & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
