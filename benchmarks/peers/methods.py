"""The methods that are compared: what they are called, where they live, and their options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FIRST, SECOND, SLOW = 0, 1, 2


@dataclass(frozen=True)
class Method:
    """One way to call one tool.

    name: as in the tables.
    environment: the environment that it runs in; see `benchmarks.peers.environments`.
    tool: the module in `benchmarks.peers.tools`.
    options: on top of the penalty and the seed, which all methods get.
    family: what the plots give one colour; its members are points of one curve.
    turn: when it runs: those that matter most come first on all data, the slow ones last. Slow ones
        take part only where they are asked for.
    weight: how many times the usual share of the time it may use, to run on more data sets.
    """

    name: str
    environment: str
    tool: str
    options: Mapping[str, Any] = field(default_factory=dict)
    family: str = ""
    turn: int = SECOND
    weight: float = 1.0

    @property
    def slow(self) -> bool:
        return self.turn == SLOW

    def request(self, penalty_discount: float, seed: int) -> dict[str, Any]:
        """What a worker needs to know, besides the files."""
        shared = {"penalty_discount": penalty_discount, "random_state": seed}
        return {"task": "run", "tool": self.tool, "options": shared | dict(self.options)}


def _ours(name: str, **options: Any) -> Method:
    return Method(name, "qwo", "qwo", options, "qwo", FIRST, weight=5.0)


def _flop(restarts: int) -> Method:
    turn, weight = (SECOND, 1.0) if restarts > 20 else (FIRST, 5.0)
    name = f"FLOP, {restarts} restarts"
    return Method(name, "flop", "flop", {"restarts": restarts}, "FLOP", turn, weight)


def _of(
    title: str, tool: str, algorithm: str, *, environment: str = "python", turn: int = SLOW
) -> Method:
    name = f"{title} {algorithm}"
    plain = algorithm.lower().replace(" ", "-")
    return Method(name, environment, tool, {"algorithm": plain}, name, turn)


OURS = (
    _ours("qwo"),
    _ours("qwo, 0 restarts", restarts=0),
    _ours("qwo, 5 restarts", restarts=5),
    _ours("qwo, 100 restarts", restarts=100),
)
CHOSEN = _ours("qwo, price chosen", penalty_discount="auto")
"""Our default; all others get the price of the data set, so that they can be compared."""
PLAIN = Method("qwo, plain BIC", "qwo", "qwo", {"gamma": 0.0}, "qwo, plain BIC", FIRST)
"""For data with no more samples than variables, where the extended BIC is our default."""
QWO_GRASP = Method(
    "qwo GRaSP", "qwo", "qwo", {"search": "grasp", "engine": "qwo"}, "qwo GRaSP", FIRST
)
FLOP = tuple(_flop(restarts) for restarts in (0, 20, 100))
TETRAD = tuple(
    _of("Tetrad", "tetrad", name, environment="tetrad", turn=SECOND) for name in ("BOSS", "GRaSP")
)
CAUSAL_LEARN = tuple(_of("causal-learn", "causal_learn", name) for name in ("GRaSP", "BOSS", "GES"))
XGES = (
    Method("XGES", "xges", "xges", {"extended": True}, "XGES", SLOW),
    Method("XGES-0", "xges", "xges", {"extended": False}, "XGES"),
)
PGMPY = tuple(_of("pgmpy", "pgmpy", name) for name in ("hill climbing", "GES"))
OTHERS = (
    Method("DAGMA", "python", "dagma", family="DAGMA", turn=SLOW),
    Method("DirectLiNGAM", "python", "lingam", family="DirectLiNGAM", turn=SLOW),
)
SORT_REGRESS = tuple(
    Method(
        f"{name}-sort-regress",
        "measure",
        "sort_regress",
        {"criterion": criterion},
        f"{name}-sort-regress",
    )
    for name, criterion in (("var", "var"), ("R²", "r2"))
)

METHODS = {
    method.name: method
    for method in (
        *OURS,
        CHOSEN,
        PLAIN,
        QWO_GRASP,
        *FLOP,
        *TETRAD,
        *CAUSAL_LEARN,
        *XGES,
        *PGMPY,
        *OTHERS,
        *SORT_REGRESS,
    )
}
