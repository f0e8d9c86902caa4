"""Every cure that the package prints is tried: in the end the data are accepted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import Cure, InputError
from qwo.moments import Moments

RNG = np.random.default_rng(0)


def sound() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.standard_normal((60, 4)) @ (np.eye(4) + 0.3), columns=list("abcd"))


def text(**columns: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        file = folder / "t.csv"
        sound().astype(object).assign(**columns).to_csv(file, index=False)
        return file

    return write


def lines(content: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        file = folder / "t.csv"
        file.write_text(content)
        return file

    return write


def holes(column: str = "a", rows: int = 3) -> pd.DataFrame:
    frame = sound()
    frame.loc[: rows - 1, column] = np.nan
    return frame


NUMBERS = "\n".join(",".join(f"{v:.4f}" for v in row) for row in RNG.standard_normal((40, 3)))
COMMAS = NUMBERS.replace(",", ";").replace(".", ",")

INPUTS: dict[str, Any] = {
    "text": text(e=[f"word {k}" for k in range(60)]),
    "text of many levels": text(e=np.resize([f"word {k}" for k in range(21)], 60)),
    "text and marks": text(e=np.resize(["1", "2", "."], 60)),
    "a mark among numbers": text(e=[".", *RNG.standard_normal(59).round(3)]),
    "two marks": text(e=[".", "?", *RNG.standard_normal(58).round(3)], f="word"),
    "missing": holes(),
    "missing and text": holes().assign(e="word"),
    "empty column": holes(rows=60),
    "constant": sound().assign(e=1.0),
    "constant and text": sound().assign(e=1.0, f="word"),
    "copy": sound().assign(e=lambda f: 2 * f.a),
    "sum": sound().assign(e=lambda f: f.a + f.b),
    "two sums": sound().assign(e=lambda f: f.a + f.b, f=lambda f: f.c - f.d),
    "most columns are text": sound()[["a"]].assign(b="x", c="y", d="z"),
    "all constant": sound() * 0,
    "no header": lines(NUMBERS + "\n"),
    "decimal commas": lines("a;b;c\n" + COMMAS + "\n"),
    "unnamed": lines(",b,c\n" + NUMBERS + "\n"),
    "twice": lines("a,b,a\n" + NUMBERS + "\n"),
    "wide": np.random.default_rng(0).standard_normal((30, 40)),
    "nearly constant": sound().assign(e=lambda f: 1 + 1e-14 * f.a.round(1)),
    "nearly singular": sound().assign(e=lambda f: f.a + f.b + 1e-6 * f.c),
    "skewed": sound().apply(lambda c: np.exp(2 * c)),
    "codes": sound().assign(e=np.resize([1, 2, 3], 60)),
    "identifier": sound().assign(id=np.arange(60)),
    "marks": sound().assign(e=np.where(np.arange(60) == 3, -999, sound().a)),
    "rounded copy": sound().assign(e=lambda f: f.a.round(1), f=lambda f: 24 - f.a.round(2)),
}

SEARCH_OPTIONS = ("relations", "arrows")
"""What the audit proposes of the search, where it has nothing against the data."""


def cures_of(source: Any, options: dict[str, Any]) -> tuple[Cure, ...]:
    """What an error, or else the audit, offers."""
    try:
        audit = qwo.audit(source, **options)
    except InputError as error:
        return error.cures
    if audit.errors:
        return audit.cures
    return tuple(cure for finding in audit.findings for cure in finding.cures)


def followed(options: dict[str, Any], cure: Cure) -> dict[str, Any]:
    """The options with a cure's; columns to drop are added to those dropped before."""
    value = cure.value
    if cure.option == "drop":
        value = [*options.get("drop", []), *value]
    return {**options, cure.option: value}


def accepted(source: Any, options: dict[str, Any], depth: int = 4) -> bool:
    """Whether the data are accepted, perhaps after the cures that are offered next."""
    read = {name: value for name, value in options.items() if name not in SEARCH_OPTIONS}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Moments.from_data(source, **read)
            if read != options:
                qwo.discover(source, **options)
    except InputError:
        cures = [cure for cure in cures_of(source, options) if cure.value is not None]
        return depth > 0 and any(
            accepted(source, followed(options, cure), depth - 1) for cure in cures
        )
    return True


@pytest.mark.parametrize("name", list(INPUTS))
def test_every_cure_works(name: str, tmp_path: Path) -> None:
    source = INPUTS[name]
    source = source(tmp_path) if callable(source) else source
    cures = [cure for cure in cures_of(source, {}) if cure.value is not None]
    assert bool(cures) != (name in ("most columns are text", "all constant"))
    for cure in cures:
        assert accepted(source, followed({}, cure)), cure


def test_the_functions_of_the_package_take_the_cures() -> None:
    frame = sound().assign(e="word", f=lambda f: np.exp(f.a))
    options = {"drop": ["e"], "transform": {"f": "standardise"}}
    found = qwo.discover(frame, random_state=0, restarts=0, **options)
    assert found.names == ("a", "b", "c", "d", "f")
    assert qwo.fit_sem(frame, found.dag, **options).moments.names == found.names
    penalty = found.params["penalty_discount"]
    score = float(qwo.score_graph(frame, found.dag, penalty, **options))
    assert score == pytest.approx(found.score)
    assert len(qwo.ida(frame, found.cpdag, "a", "b", **options)) >= 1
    resampled = qwo.bootstrap(frame, n_resamples=4, random_state=0, restarts=0, **options)
    assert resampled.reference.names == found.names
    path = qwo.penalty_path(frame, [2.0], random_state=0, restarts=0, **options)
    assert path.names == found.names
