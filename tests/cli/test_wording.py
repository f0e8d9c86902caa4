"""Messages of the library in the words of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import qwo
from qwo.cli.console import OPTION_FLAGS, as_flag, worded
from qwo.errors import ArgumentError, Cure, DataWarning, InputError
from qwo.text import aligned, count, first_few

OWN_WORDS = ("estimator/", "order/edge_test.py")
"""What the command line does not reach: methods of results, tests that are given as objects."""


SOURCE = Path(qwo.__file__).parent
NAMED_APART = re.compile(rf"\\b({'|'.join(name for name in OPTION_FLAGS if '_' in name)})\\b")
ASSIGNED = re.compile(rf"\\b({'|'.join(map(re.escape, OPTION_FLAGS))})=")
BEGINS = re.compile(rf"({'|'.join(map(re.escape, OPTION_FLAGS))}) (is|must|=) ")


def text_of(node: ast.expr) -> str:
    """A string of the source, without what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            text_of(part) if isinstance(part, ast.Constant) else "…" for part in node.values
        )
    return ""


def messages() -> Iterator[tuple[str, str, str | None]]:
    """Where each message of the library is, its text, and the option that it begins with."""
    for file in sorted(SOURCE.rglob("*.py")):
        if file.is_relative_to(SOURCE / "cli") or file.is_relative_to(SOURCE / "reproduction"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            kind = getattr(qwo.errors, node.func.id, None)
            if isinstance(kind, type) and issubclass(kind, InputError | DataWarning):
                option = next((k.value for k in node.keywords if k.arg == "option"), None)
                text = " ".join(map(text_of, node.args[:1]))
                name = None if option is None else ast.unparse(option).strip("'")
                yield f"{file.relative_to(SOURCE)}:{node.lineno}", text, name


def test_messages_carry_options_as_data() -> None:
    """So that each front end can name them: no message spells one out but at its beginning."""
    found = list(messages())
    assert len(found) > 200
    for place, text, option in found:
        begins = BEGINS.match(text)
        own = place.startswith(OWN_WORDS)
        assert option or not begins or own, f"{place}: option= is missing: {text}"
        rest = text.removeprefix(option) if option else text
        assert own or not NAMED_APART.search(rest), f"{place}: {text}"
        assert not ASSIGNED.search(rest), f"{place}: {text}"


def test_counts_and_lists() -> None:
    assert count(1, "edge") == "1 edge"
    assert count(0, "edge") == "0 edges"
    assert first_few(["a", "b", "c"], 2) == "a, b and 1 more"


def test_tables_are_aligned() -> None:
    assert aligned([["a", "10"], ["long", "9"]]) == ["a     10", "long   9"]
    assert aligned([["a", "10"], ["long", "9"]], left=None) == ["a     10", "long  9"]
    assert aligned([]) == []


@pytest.mark.parametrize(
    ("cure", "said"),
    [
        (Cure("missing", "em"), "--missing em"),
        (Cure("drop", ["a", "b c", "d,e"]), "--drop 'a,b c,\"d,e\"'"),
        (Cure("null_values", [".", "-999"]), "--null-value . --null-value -999"),
        (Cure("header", False), "--no-header"),
        (
            Cure("transform", {"a": "log", "b": "log", "c": "log1p"}),
            "--transform log:a,b --transform log1p:c",
        ),
        (Cure("penalty_discount", 1), "--penalty 1"),
        (Cure("random_state"), "--seed …"),
        (Cure("covariance_estimator", "oas"), "--covariance-estimator oas"),
        (Cure("weights", "w"), "weights='w'"),
        (Cure("to_dag()", True), "--dag"),
        (Cure("shard", (2, 8)), "--shard 2/8"),
    ],
)
def test_a_cure_is_an_option_of_the_command(cure: Cure, said: str) -> None:
    assert as_flag(cure) == said


def test_errors_and_warnings_name_options_as_they_are_given_here() -> None:
    error = ArgumentError("n_jobs is 0; wanted 1", option="n_jobs", cures=[Cure("n_jobs", -1)])
    assert worded(error) == "--jobs is 0; wanted 1\nTry: --jobs -1"
    warning = DataWarning("few samples", cures=[Cure("gamma", 0, "takes the plain BIC")])
    assert worded(warning) == "few samples. Try: --gamma 0 takes the plain BIC"
    assert str(warning) == "few samples. Try: gamma=0 takes the plain BIC"
