"""How large the house may be: counts that only fall, and offences that only become fewer.

``house.json`` has the numbers. Whoever makes the package smaller lowers them in the same commit
with ``python -m tests.net.test_house``, which writes what there is now and raises nothing; a step
that needs more room raises a number by hand and says why in its message.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NUMBERS = Path(__file__).with_name("house.json")
WING = ("_experiments", "reproduction")
"""The paper's experiments, a wing that nothing else imports."""

LONGEST_MODULE, LONGEST_FUNCTION = 400, 50
REASON = "# Long because "
BINARY = frozenset((".png", ".npz", ".npy", ".parquet", ".pdf", ".gif", ".jpg", ".gz", ".zip"))
"""What history keeps for ever: figures are drawn when pages are built, results are rows of text."""


@cache
def modules() -> dict[str, str]:
    """The text of every module, by its path below the package."""
    package = ROOT / "src" / "qwo"
    return {
        path.relative_to(package).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(package.rglob("*.py"))
    }


@cache
def trees() -> dict[str, ast.Module]:
    """The same, parsed."""
    return {path: ast.parse(text) for path, text in modules().items()}


def in_wing(path: str) -> bool:
    return path.split("/", maxsplit=1)[0] in WING


def counts() -> dict[str, int]:
    """Files and lines of the package, of all but the wing, of `moments`, and with its two helpers.

    `columns` and `inspection` were part of `moments`: what leaves one for another is no saving.
    """
    lines = {path: len(text.splitlines()) for path, text in modules().items()}
    house = [path for path in lines if not in_wing(path)]
    moments = [path for path in lines if path.startswith("moments/")]
    read = [path for path in lines if path.split("/")[0] in ("moments", "columns", "inspection")]
    found = {"with the wing": list(lines), "without the wing": house, "moments": moments}
    found["moments, columns and inspection"] = read
    files = {f"files, {what}": len(paths) for what, paths in found.items()}
    kept = [ROOT / "docs" / "_static", *map(ROOT.joinpath, ("benchmarks", "examples", "tests"))]
    stored = [path for folder in kept for path in folder.rglob("*") if path.suffix in BINARY]
    files["kB, pictures and archives"] = sum(path.stat().st_size for path in stored) // 1000
    return files | {f"lines, {what}": sum(lines[p] for p in ps) for what, ps in found.items()}


def class_names() -> dict[str, list[str]]:
    """Names of classes that stand in several modules, with the modules."""
    places = defaultdict(set)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].add(path)
    return {name: sorted(where) for name, where in sorted(places.items()) if len(where) > 1}


def long_modules() -> dict[str, int]:
    """Modules above 400 lines that do not say why at their top."""
    lines = {path: text.splitlines() for path, text in modules().items()}
    return {
        path: len(text)
        for path, text in lines.items()
        if len(text) > LONGEST_MODULE and not any(line.startswith(REASON) for line in text[:40])
    }


def long_functions() -> dict[str, int]:
    """Functions of more than 50 lines of code: neither blank, nor comment, nor docstring."""
    found = {}
    for path, text in modules().items():
        tree = trees()[path]
        long = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
        ]
        code = code_lines(tree, text) if long else set()
        for node in long:
            size = sum(line in code for line in range(node.lineno, (node.end_lineno or 0) + 1))
            if size > LONGEST_FUNCTION:
                found[f"{path}: {node.name}"] = size
    return found


def code_lines(tree: ast.Module, text: str) -> set[int]:
    kept = {
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    for said in docstrings(tree):
        kept -= set(range(said.lineno, (said.end_lineno or 0) + 1))
    return kept


def docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


REASONED = ("agreement", "bayes", "columns", "curved", "discovery", "feedback", "hidden")
REASONED += ("inspection", "moments", "order", "regimes", "search", "sem", "series")


def unexplained() -> dict[str, int]:
    """Thresholds of searches and tests that no text behind them explains, by themselves or in one.

    Those of the default search in the core are in ``cpp/qwo/policy.hpp``, which tests read.
    """
    found = {}
    for path, tree in trees().items():
        lines = tree.body if path.split("/")[0] in REASONED else []
        for node, behind in pairwise([*lines, ast.Pass()]):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Tuple):
                name, value = ast.unparse(node.targets[0]), ast.unparse(node.value)
                number = re.fullmatch(r"[-+*/ ().,e<_\d]+", value)
                grouped = isinstance(behind, ast.Assign) and behind.lineno == node.end_lineno + 1
                if name.isupper() and number and not (grouped or isinstance(behind, ast.Expr)):
                    found[f"{path}: {name}"] = node.lineno
    return found


def cast_indices() -> dict[str, int]:
    """Places in matrices that are computed by casts: `Index{i} * n` widens by itself."""
    wide = r"(static_cast<(std::size_t|std::ptrdiff_t|Index)>|\bstd::size_t)"
    cast = re.compile(wide + r"\([^;]*\) \*")
    cut = re.compile(r"static_cast<int>\([\w.]+\.size\(\)\)")
    found = {}
    for path in [*ROOT.glob("cpp/**/*.?pp"), *ROOT.glob("bindings/*.?pp")]:
        text = path.read_text(encoding="utf-8")
        if count := len(cast.findall(text)) + len(cut.findall(text)):
            found[path.relative_to(ROOT).as_posix()] = count
    return found


OFFENCES = {
    "class names in several modules": class_names,
    "modules above 400 lines": long_modules,
    "functions above 50 lines of code": long_functions,
    "indices in C++ that are cast": cast_indices,
    "thresholds without a reason": unexplained,
}


def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(NUMBERS.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("what", counts())
def test_the_house_does_not_grow(what: str) -> None:
    found, most = counts()[what], stored()["counts"][what]
    assert found <= most, f"{what}: {found}, at most {most}; see {NUMBERS.name}"


@pytest.mark.parametrize("what", OFFENCES)
def test_no_offence_is_new(what: str) -> None:
    found, known = OFFENCES[what](), stored()[what]
    new = {name: found[name] for name in found if name not in known}
    assert not new, f"{what}: {new}"


def lowered() -> dict[str, Any]:
    """The numbers as they are now where that is less; offences that are still there."""
    before, now = stored(), counts()
    known = {what: [name for name in OFFENCES[what]() if name in before[what]] for what in OFFENCES}
    return {
        "counts": {what: min(most, now[what]) for what, most in before["counts"].items()},
        **known,
    }


if __name__ == "__main__":
    NUMBERS.write_text(json.dumps(lowered(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
