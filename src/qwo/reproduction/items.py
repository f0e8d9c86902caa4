"""The items that can be reproduced: one small TOML file each, expanded to runs.

A file has a ``title``, a ``kind`` (``search`` or ``growth``), ``methods``, tables ``[[data]]`` that
say what the data are, and a table for each profile. A list in a ``[[data]]`` table stands for each
of its values. ``methods`` may be set in a table too, and so may ``graphs`` and ``sizes`` of the
profile; a network brings its own size.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from typing import Any

from qwo.datasets import load_network
from qwo.errors import ArgumentError
from qwo.reproduction.methods import check_method
from qwo.reproduction.store import Columns, run_key

Run = dict[str, Any]
"""The parameters of a run, of which its result is a function; what JSON can hold."""

COLUMNS = Columns(
    (
        *("kind", "method", "graph", "degree", "density", "n_variables", "n_samples", "noise"),
        *("covariance", "weights", "phase", "vary", "scale", "block", "seed"),
    ),
    (
        *("status", "skf1", "pshd", "pshd_reversed", "edges", "true_edges", "cpu", "prepared"),
        *("wall", "memory", "repeats", "scores", "budget", "reason"),
    ),
)
"""The parameters of runs, and what comes of them: the columns of the file that keeps them."""

PROFILES = ("quick", "full")
PAPER = {"graph": "er", "n_samples": 10_000, "noise": "gaussian", "covariance": "sample"}
"""What the paper's high-dimensional experiments have, unless a table says otherwise."""

_FOLDER = files("qwo.reproduction").joinpath("configs")


@dataclass(frozen=True)
class Profile:
    """How much of an item is run: graphs for each point, with seeds from 0, sizes, CPU seconds."""

    graphs: int
    sizes: tuple[int, ...]
    budget: float


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper, or one of our own."""

    name: str
    title: str
    kind: str
    data: tuple[Mapping[str, Any], ...]
    methods: tuple[str, ...]
    profiles: Mapping[str, Profile]

    def runs(self, profile: str, graphs: int | None = None) -> list[Run]:
        """All runs, small sizes first, so that a method is cut off before it gets slow."""
        chosen = self.profiles[profile]
        expanded = [run for table in self.data for run in self._runs(table, profile, chosen)]
        kept = [run for run in expanded if graphs is None or run["seed"] < graphs]
        return sorted(kept, key=lambda run: (run["n_variables"], run["seed"]))

    def _runs(self, table: Mapping[str, Any], name: str, profile: Profile) -> Iterator[Run]:
        methods = table.get("methods", self.methods)
        settings = {k: v for k, v in table.items() if k not in ("methods", *PROFILES)}
        settings = PAPER | settings | table.get(name, {})
        sizes = settings.pop("n_variables", list(profile.sizes))
        for setting in _each(settings):
            for run in _each({**setting, "n_variables": _sizes(setting, sizes)}):
                for method, seed in product(methods, range(profile.graphs)):
                    yield {"kind": self.kind, "method": method, "seed": seed, **_settled(run)}


def curve_of(run: Mapping[str, Any]) -> str:
    """The method and the kind of data of a run, whatever its size and graph."""
    return run_key({k: v for k, v in run.items() if k not in ("n_variables", "seed")})


def item_names() -> tuple[str, ...]:
    """The names of all items, in the order of the paper."""
    found = {file.name.removesuffix(".toml") for file in _FOLDER.iterdir()}
    return tuple(sorted(found, key=lambda name: (*_paper_order(name), name)))


def _paper_order(name: str) -> tuple[int]:
    order = ("table1", "table2", "er2", "er3", "er4", "oracle", "exponential", "gumbel")
    return (order.index(name) if name in order else len(order),)


def load_item(name: str) -> Item:
    """An item by its name."""
    if name not in item_names():
        raise ArgumentError(f"there is no item {name!r}; wanted one of {', '.join(item_names())}")
    config = tomllib.loads(_FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    methods = tuple(config.get("methods", ()))
    if config["kind"] == "search":
        for method in methods:
            check_method(method)
    return Item(
        name=name,
        title=config["title"],
        kind=config["kind"],
        data=tuple(config["data"]),
        methods=methods,
        profiles={profile: _profile(config[profile]) for profile in PROFILES},
    )


def _profile(table: Mapping[str, Any]) -> Profile:
    return Profile(table["graphs"], tuple(table.get("sizes", ())), float(table["budget"]))


def _each(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings with one value in the place of each list."""
    lists = [value if isinstance(value, list) else [value] for value in settings.values()]
    for values in product(*lists):
        yield dict(zip(settings, values, strict=True))


def _sizes(setting: Mapping[str, Any], sizes: Any) -> Any:
    """The numbers of variables; a network has its own."""
    graph = setting["graph"]
    return sizes if graph == "er" else load_network(graph).n_variables


def _settled(run: dict[str, Any]) -> dict[str, Any]:
    """The run with its degree as a number: ``"n/2"`` is half of all edges."""
    if run.get("degree") != "n/2":
        return run
    return run | {"degree": run["n_variables"] / 2, "density": "dense"}
