"""Whatever is wrong with the input: one clear message, the columns, the cure, exit code 1."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import chain, run, write_table


def _missing(value: float) -> list[np.ndarray]:
    a, b, c, _ = chain()
    a = a.copy()
    a[3] = value
    return [a, b, c]


def _columns(case: str) -> list[np.ndarray]:
    a, b, c, d = chain()
    rounded = np.round(c, 3)
    return {
        "nan": _missing(np.nan),
        "infinite": _missing(np.inf),
        "constant": [a, b, 0 * c + 3],
        "copy": [a, b, 2 * a + 1],
        "sum": [a, np.round(b, 3), rounded, np.round(b, 3) + rounded],
        "few": [a[:2], b[:2], c[:2]],
        "single": [a],
        "integers": [np.round(10 * a), np.round(10 * b), np.round(10 * c), np.round(10 * d)],
    }[case]


@pytest.mark.parametrize("command", ["learn", "audit"])
@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("nan", ["1 missing", "'A'", "--missing drop", "--missing em"]),
        ("infinite", ["1 infinite", "'A'", "--missing drop"]),
        ("constant", ["constant", "'C'", "--drop C"]),
        ("copy", ["'C' is linear in 'A'", "--drop C keeps one of each"]),
        ("sum", ["linearly dependent", "'B'", "'C'", "'D'", "--covariance-estimator"]),
        ("few", ["2 rows", "wanted 3"]),
        ("single", ["two numeric columns", "'A'"]),
    ],
)
def test_tables_that_cannot_be_used(command: str, case: str, words: list[str]) -> None:
    columns = _columns(case)
    file = write_table(Path("table.csv"), columns, "ABCD"[: len(columns)])
    result = run(command, file)
    shown = result.stderr if command == "learn" else result.stdout
    assert result.exit_code == 1
    for word in words:
        assert word in shown
    assert "Traceback" not in result.output
    assert shown.startswith("error: ")


def test_integers_are_as_good_as_any_numbers() -> None:
    result = run("learn", write_table(Path("table.csv"), _columns("integers"), "ABCD"))
    assert result.exit_code == 0
    assert "A" in result.stdout


def test_more_variables_than_samples_is_a_warning_not_a_silent_graph() -> None:
    rng = np.random.default_rng(1)
    file = write_table(
        Path("wide.csv"), list(rng.normal(size=(15, 12))), [f"v{k}" for k in range(15)]
    )
    result = run("learn", file)
    assert result.exit_code == 0
    assert "warning: there are 15 variables but only 12 samples" in result.stderr
    assert "--gamma" in result.stderr
    assert run("audit", file).exit_code == 3


TEXTS = {
    "empty.csv": ("", ["is empty"]),
    "names-only.csv": ("a,b\n", ["0 rows"]),
    "ragged.csv": ("a,b,c\n1,2,3\n4,5\n", ["line 3", "2 fields", "--separator"]),
    "no-names.csv": ("1,2,3\n4,5,6\n", ["line 1", "--no-header"]),
    "commas.csv": ("a;b\n1,5;2\n2,5;1\n3,0;7\n", ["decimal commas", "--decimal ,"]),
    "text.csv": ("a,b,c\n1,2,x\n2,3,y\n3,1,z\n", ["'c'", "text", "--drop c"]),
    "slip.csv": ("a,b\n1,2\n2,oops\n3,1\n4,4\n", ["'b'", "'oops'", "row 2"]),
    "twice.csv": ("a,b,a\n1,2,3\n2,3,1\n3,1,2\n", ["more than once", "'a'"]),
    "matrix.csv": ("a,b,c\n1,0.5,0\n0.5,1,0\n0,0,1\n", ["covariance", "--samples"]),
    "data.xlsx": ("PK", ["data.xlsx", ".xlsx file"]),
    "broken.parquet": ("hello", ["not a readable Parquet file"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_are_not_tables(name: str) -> None:
    text, words = TEXTS[name]
    Path(name).write_text(text, encoding="utf-8")
    result = run("learn", name)
    assert result.exit_code == 1
    for word in words:
        assert word in result.stderr
    assert not result.stdout


def test_other_encodings() -> None:
    rows = "".join(f"{k % 7},{k % 5 + k % 7}\n" for k in range(40))
    Path("latin.csv").write_bytes(f"größe,b\n{rows}".encode("latin-1"))
    result = run("learn", "latin.csv")
    assert "not UTF-8 text; it is read as cp1252" in result.stderr
    assert "UTF-8" not in run("learn", "latin.csv", "--encoding", "latin-1").stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv"], ["there is no file 'nowhere.csv'"]),
        (["data.csv", "--columns", "a,zz"], ["'zz'", "'b'"]),
        (["data.csv", "--drop", "zz"], ["'zz'"]),
        (["data.csv", "-t", "log"], ["log", "'a'", "log1p"]),
        (["data.csv", "-t", "sqrt"], ["--transform", "'sqrt'", "'rank-normal'"]),
        (["data.csv", "-t", "log", "-t", "standardise:b"], ["--transform log", "log:A,B"]),
        (["data.csv", "--penalty", "-1"], ["--penalty", "-1"]),
        (["data.csv", "--alpha", "0.1", "--engine", "bic"], ["alpha", "--engine qwo"]),
        (["data.csv", "--time-limit", "-1"], ["--time-limit"]),
        (["data.csv", "-j", "0"], ["--jobs", "-1"]),
        (["data.csv", "-f", "pdf"], ["'pdf'", "graphml"]),
        (["data.csv", "--start", "a,b"], ["order", "4 variables"]),
        (["data.csv", "--forbid", "a"], ["--forbid", "cause and an effect"]),
        (["data.csv", "--forbid", "a,b", "--require", "a,b"], ["a → b"]),
        (["data.csv", "--tiers", "a > zz"], ["'zz'"]),
        (["data.csv", "-k", "nowhere.txt"], ["nowhere.txt"]),
        (["data.csv", "-k", "data.csv"], ["data.csv"]),
        (["data.csv", "--benchpress", "no/a.csv", "t", "n"], ["no/a.csv", "folder that exists"]),
        (["data.csv", "-o", "data.csv"], ["data.csv", "not a folder"]),
    ],
)
@pytest.mark.usefixtures("data")
def test_options_that_cannot_be_met(arguments: list[str], words: list[str]) -> None:
    result = run("learn", *arguments)
    assert result.exit_code == 1, result.output
    for word in words:
        assert word in result.stderr
    assert "error: " in result.stderr
    assert "Traceback" not in result.output


def test_one_line_that_cures_everything() -> None:
    a, b, c, d = chain(40)
    rows = [f"{a[k]},{b[k]},{c[k] if k % 9 else ''},{d[k]},5,x" for k in range(40)]
    Path("cells.csv").write_text('a,b,c,d,plate,"no,te"\n' + "\n".join(rows), encoding="utf-8")
    result = run("learn", "cells.csv")
    assert result.exit_code == 1
    [cure] = [line for line in result.stderr.splitlines() if line.startswith("try:")]
    assert run("learn", "cells.csv", *shlex.split(cure)[1:]).exit_code == 0


def test_tracebacks_are_for_those_who_ask() -> None:
    assert "Traceback" in run("learn", "nowhere.csv", "--log-level", "debug").stderr
    assert "Traceback" not in run("learn", "nowhere.csv", "--log-level", "info").stderr


def test_a_fault_of_our_own_says_so(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from qwo.cli import app

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("deep inside")

    monkeypatch.setattr("qwo.discovery.discover", broken)
    result = CliRunner().invoke(app, ["learn", str(data)])
    assert result.exit_code == 70
    assert "fault of qwo" in result.stderr
    assert "ZeroDivisionError: deep inside" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("header", "left"), [(",b,c,d", {"b", "c", "d"}), ("b,b,c,d", {"b", "c", "d"})]
)
def test_a_column_without_a_name_of_its_own_is_dropped_as_the_message_says(
    header: str, left: set[str]
) -> None:
    """The cure that is printed, word by word, is taken by the command that printed it."""
    file = write_table(Path("table.csv"), list(chain()), header.split(","))
    refused = run("learn", file, "--restarts", 0)
    assert refused.exit_code == 1
    [_, cure] = refused.stderr.split("Try: ")
    flag, value, *_ = shlex.split(cure)
    assert flag == "--drop"
    found = run("learn", file, "--restarts", 0, flag, value, "--json")
    assert found.exit_code == 0, found.output
    assert set(json.loads(found.stdout)["order"]) == left


def test_a_decimal_mark_that_is_no_character() -> None:
    file = write_table(Path("table.csv"), list(chain()), "abcd")
    for mark in ("\0", "", "..", "7"):
        refused = run("audit", file, "--decimal", mark)
        assert refused.exit_code == 1
        assert f"--decimal is {mark!r}; wanted" in refused.stderr


@pytest.mark.parametrize("resamples", [0, 4])
def test_an_index_is_noted_with_and_without_a_bootstrap(resamples: int) -> None:
    names = ",a,b,c,d"
    rows = [f"{k},{','.join(map(str, row))}" for k, row in enumerate(chain(60).T)]
    Path("table.csv").write_text("\n".join([names, *rows]) + "\n", encoding="utf-8")
    found = run("learn", "table.csv", "--restarts", 0, "-b", resamples)
    assert found.exit_code == 0
    assert "note: the first column has no name and numbers or names the rows" in found.stderr
