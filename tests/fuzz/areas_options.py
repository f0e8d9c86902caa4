"""Wrong and odd options of `discover`, `bootstrap`, `penalty_path`, `QWO` and every command."""

from __future__ import annotations

import math
import os
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import qwo
from qwo.options import OPTIONS, STARTS
from tests.cli.running import run as run_command
from tests.fuzz.harness import Case, area

NAMES = ["a", "b", "c", "d", "e"]
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    2,
    3,
    -1,
    -2,
    5,
    10**30,
    -(10**30),
    0.0,
    0.5,
    1.5,
    -0.5,
    1e-300,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
    "",
    " ",
    "auto",
    "x",
    "1",
    "é\x00",
    b"bytes",
    [],
    [0, 1],
    [4, 3, 2, 1, 0],
    ["e", "d", "c", "b", "a"],
    ("a", "a", "b", "c", "d"),
    {},
    {"tiers": [["a"], ["b"]]},
    {"required": [("a", "b"), ("b", "a")]},
    {"nothing": 1},
    object(),
    int,
    np.int64(2),
    np.float32(0.5),
    np.nan,
    np.array([1.0, 2.0]),
    np.arange(5),
    "no/such/file",
    ".",
]
GOOD: dict[str, list[Any]] = {
    "method": ["qwo-grasp", "qwo-hc"],
    "search": ["auto", "insertion", "grasp", "hill-climbing"],
    "engine": ["auto", "bic", "qwo", "reference"],
    "version": [0, 1, 2],
    "depth": [1, 2, math.inf],
    "reach": [1, 4],
    "objective": ["edges", "likelihood"],
    "penalty_discount": [0.5, 1, 2.0, 10],
    "alpha": [0.01, 0.5],
    "gamma": [0, 0.5],
    "restarts": [0, 2],
    "time_limit": [0, 1.0],
    "random_state": [0, 7],
    "n_jobs": [1, 2, None],
    "start": [*STARTS, [0, 2, 1, 4, 3]],
}
READING = ("columns", "drop", "transform", "missing", "covariance_estimator")
UNTRIED = ("dask", "device")
"""Options whose wrong values wait for a network or a device that is not here."""


@cache
def table() -> Any:
    import pandas as pd

    data, _, _ = qwo.simulate("er", n_variables=5, n_samples=60, random_state=3)
    return pd.DataFrame(data, columns=NAMES)


def options(seed: int, names: tuple[str, ...]) -> dict[str, Any]:
    """Some options, most of them wrong."""
    rng = random.Random(seed)
    chosen = rng.sample(names, rng.choice((1, 1, 2, 3)))
    plain = [value for value in ODD if not isinstance(value, np.ndarray)]
    odd = {name: plain if name in READING else ODD for name in chosen}
    return {
        name: rng.choice(GOOD[name] if name in GOOD and rng.random() < 0.4 else odd[name])
        for name in chosen
    }


def is_right(found: qwo.Discovery) -> None:
    """The class is that of the DAG, the score that of the graph, and the order one of it."""
    place = np.argsort(found.order)
    causes, effects = np.nonzero(found.dag)
    assert (place[causes] < place[effects]).all()
    assert ((found.cpdag != 0) | (found.cpdag.T != 0)).sum() == 2 * found.n_edges
    data = table()[list(found.names)]
    scored = qwo.score_graph(data, found.dag, found.params["penalty_discount"])
    if found.params["covariance_estimator"] == "plain" and found.params["n_samples"] == 60:
        assert math.isclose(found.score, scored.score, rel_tol=1e-6, abs_tol=1e-6)


SEARCH = tuple(name for name in (*OPTIONS, *READING) if name not in UNTRIED)


@area("discover options")
def _discover(seed: int) -> Case:
    given = options(seed, SEARCH)
    untransformed = given.get("transform") is None

    def case() -> None:
        found = qwo.discover(table(), **given)
        if untransformed:
            is_right(found)

    return case


@area("bootstrap options")
def _bootstrap(seed: int) -> Case:
    own = ("n_resamples", "resampling", "sample_fraction", "shard")
    names = tuple(name for name in SEARCH if name != "time_limit")
    given = {"n_resamples": 2, **options(seed, (*own, *names))}
    if given["n_resamples"] in (10**30, 5):
        given["n_resamples"] = 3

    def case() -> None:
        found = qwo.bootstrap(table(), **given)
        assert 0 < found.n_done <= found.n_resamples
        assert (found.directed_counts + found.undirected_counts <= found.n_done).all()

    return case


@area("estimator options")
def _estimator(seed: int) -> Case:
    given = options(seed, tuple(name for name in SEARCH if name not in READING[:3]))
    return lambda: is_right(qwo.QWO(**given).fit(table()).discovery_)


@area("path options")
def _path(seed: int) -> Case:
    fixed = ("method", "penalty_discount", "alpha")
    given = options(seed, tuple(name for name in SEARCH if name not in fixed))
    penalties = random.Random(-seed - 1).choice([None, [1, 4], [], [0], "x", [math.nan], 3])

    def case() -> None:
        path = qwo.penalty_path(table(), [8, 2] if penalties is None else penalties, **given)
        assert (np.diff(path.n_edges) >= 0).all()

    return case


WORDS = ["", "x", "-1", "0", "1", "3", "0.5", "1e400", "nan", "inf", "a,b", "a", "e > a", "-", "."]
WORDS += ["data.csv", "out", "auto", "grasp", "qwo", "bic", "em", "drop", "log", "tab", "\x00", "é"]
WORDS += ["2/3", "0/0", "dot", "json", "no/such/file", "a,b,c,d,e", "r2", "halves", "log:a", ":"]
FLAGS = {
    "learn": "--penalty --alpha --gamma --search --engine --method --depth --reach --objective "
    "--restarts --time-limit --start --seed --jobs --bootstrap --resampling --columns --drop "
    "--transform --missing --covariance-estimator --samples --separator --decimal --null-value "
    "--no-header --knowledge --tiers --forbid --require --roots --leaves --format --force "
    "--no-report --no-figures --json --quiet --resume --grasp-version --output",
    "audit": "--columns --drop --transform --missing --samples --separator --decimal --null-value",
    "bootstrap": "--resamples --resampling --sample-fraction --shard --resume --seed "
    "--threshold --format --force --penalty --drop --output --json",
    "fit": "--from --drop --columns --output --force --json",
    "compare": "--penalty --data --json",
    "convert": "--from --to --dag --force",
    "simulate": "--variables --samples --degree --graph --noise --raw --seed --output --force",
}
SWITCHES = {"--no-header", "--force", "--no-report", "--no-figures", "--json", "--quiet"}
SWITCHES |= {"--resume", "--dag", "--raw"}
MANY = {"--bootstrap", "--resamples", "--variables", "--samples"}


def command(seed: int) -> list[str]:
    """A command line that is likely to be wrong."""
    rng = random.Random(seed)
    name = rng.choice(sorted(FLAGS))
    files = ["data.csv", "graph.json", "no.csv", "empty.csv", "graph.dot", "", "."]
    wanted = {"simulate": 0, "learn": 1, "audit": 1, "bootstrap": 1}.get(name, 2)
    words = [name, *(rng.choice(files[:2] if rng.random() < 0.6 else files) for _ in range(wanted))]
    for flag in rng.sample(FLAGS[name].split(), rng.choice((1, 2, 3))):
        words.append(flag)
        if flag not in SWITCHES:
            words.append(rng.choice(["3", "-1", "x", "0"] if flag in MANY else WORDS))
    if name == "bootstrap" and "--resamples" not in words:
        words += ["--resamples", "2"]
    return words


@area("command line")
def _command_line(seed: int) -> Case:
    words = command(seed)

    def case() -> None:
        before = Path.cwd()
        folder = Path(tempfile.mkdtemp(prefix="qwo-fuzz-"))
        try:
            os.chdir(folder)
            table().to_csv("data.csv", index=False)
            Path("empty.csv").touch()
            graph = qwo.CausalGraph(NAMES, np.triu(np.ones((5, 5), dtype=np.int8), 1), "dag")
            qwo.write_graph(graph, "graph.json")
            qwo.write_graph(graph, "graph.dot")
            ended = run_command(*words)  # a fault of qwo's own fails there
            assert ended.exit_code in (0, 1, 2, 3), (words, ended.output)
            assert ended.exit_code in (0, 3) or ended.stderr.strip(), words
            assert "Traceback" not in ended.output, words
            assert not list(folder.glob(".*")), words
            assert Path("data.csv").stat().st_size > 100, words
        finally:
            os.chdir(before)
            shutil.rmtree(folder, ignore_errors=True)

    return case
