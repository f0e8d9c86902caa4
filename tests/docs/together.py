"""Which options of `discover` go together: the table of the page, made by trying each pair.

``python -m tests.docs.together`` writes it anew.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import qwo
from qwo.errors import InputError
from qwo.options import OPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "assumptions.md"
BEGIN, END = "<!-- tried: begin -->\n", "<!-- tried: end -->\n"
ROWS = 240

DROPPING: dict[str, dict[str, Any]] = {
    'regime="…"': {"regime": "condition"},
    "lags=1": {"lags": 1},
    'relations="curved"': {"relations": "curved"},
    'arrows="noise"': {"arrows": "noise"},
    "hidden_causes=True": {"hidden_causes": True},
    "feedback=True": {"feedback": True},
}
Data = Callable[[], Any]


def table() -> pd.DataFrame:
    """Four numbers, and a condition that touches one of them."""
    rng = np.random.default_rng(0)
    a = rng.exponential(size=ROWS)
    b = a + rng.normal(size=ROWS)
    c = b + 0.3 * b**2 + rng.normal(size=ROWS)
    d = c - a + rng.normal(size=ROWS)
    condition = np.where(np.arange(ROWS) % 2, "drug", "none")
    return pd.DataFrame({"a": a, "b": b + (condition == "drug"), "c": c, "d": d}).assign(
        condition=condition
    )


def _with_category() -> pd.DataFrame:
    made = table()
    made["kind"] = np.where(made["c"] > made["c"].median(), "high", "low")
    return made


def _with_holes() -> pd.DataFrame:
    made = table()
    made.loc[::17, "c"] = np.nan
    return made


BESIDE: dict[str, tuple[Data, dict[str, Any]]] = {
    "knowledge": (table, {"knowledge": {"tiers": [["a"], ["b", "c", "d"]]}}),
    "categories": (_with_category, {}),
    "weights": (table, {"weights": np.linspace(0.5, 1.5, ROWS)}),
    'missing="drop"': (_with_holes, {"missing": "drop"}),
    'missing="em"': (_with_holes, {"missing": "em"}),
    "penalty_discount=2": (table, {"penalty_discount": 2.0}),
    "time_limit": (table, {"time_limit": 5.0}),
    "n_jobs": (table, {"n_jobs": 2}),
    'method="qwo-grasp"': (table, {"method": "qwo-grasp"}),
}


def tried(data: Any, **options: Any) -> str:
    """● where a call gives a graph, ○ where it is refused in words."""
    if "regime" not in options:
        data = data.drop(columns="condition")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = qwo.discover(data, random_state=0, **options)
    except InputError:
        return "○"
    assert str(found)
    return "●"


def from_file(**options: Any) -> str:
    """The same from a file, which is streamed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        made = table() if "regime" in options else table().drop(columns="condition")
        made.to_csv(path, index=False)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                qwo.discover(path, random_state=0, **options)
        except InputError:
            return "○"
    return "●"


def from_moments(**options: Any) -> str:
    """The same from a covariance matrix, which has no rows."""
    made = qwo.Moments.from_frame(table().drop(columns="condition"))
    try:
        qwo.discover(made, random_state=0, **options)
    except InputError:
        return "○"
    return "●"


def tables() -> str:
    """Both tables: options that drop an assumption among themselves, and beside others."""
    known = {text: given for text, given in DROPPING.items() if set(given) <= set(OPTIONS)}
    texts = [f"`{text}`" for text in known]
    head = ["| | " + " | ".join(texts) + " |", "|---" * (len(known) + 1) + "|"]
    among = [
        "| "
        + " | ".join(
            [f"`{text}`", *("" if a is b else tried(table(), **(a | b)) for b in known.values())]
        )
        + " |"
        for text, a in known.items()
    ]
    beside = [
        f"| {name if '=' not in name else f'`{name}`'} | "
        + " | ".join(tried(data(), **(given | own)) for given in known.values())
        + " |"
        for name, (data, own) in BESIDE.items()
    ]
    beside += [
        f"| {name} | " + " | ".join(attempt(**given) for given in known.values()) + " |"
        for name, attempt in (
            ("a file, streamed", from_file),
            ("a covariance matrix (`Moments`)", from_moments),
        )
    ]
    return "\n".join([*head, *among, "", *head, *beside]) + "\n"


def stored() -> str:
    """What the page has."""
    return PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0]


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(before + BEGIN + tables() + END + rest.split(END)[1], "utf-8")
