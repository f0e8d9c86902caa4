"""What was learnt about feedback, beside the graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

import numpy as np

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.cyclic_class import Block
from qwo.text import count
from qwo.types import Adjacency, FloatArray, Mask

MOST_CYCLES = 20
"""Cycles of a knot that are listed."""

ILL_CONDITIONED = 1e6
"""Condition number of the information about a knot's coefficients beyond which data hardly tell
them: their standard errors are then as large as they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Knot:
    """Variables with a cycle in every graph of the class, and in how many ways it can be written.

    variables: the names. cycles: those of the graph shown, each as names in the direction of its
    arrows. reversible: for each, whether another graph of the class has it the other way round.
    members, stable: graphs of the class on these variables, and how many of them are stable: the
    spectral radius of their coefficients is below 1, so that disturbances die out. complete:
    whether all members were gone through. radius: of the graph shown. condition: of I - B on these
    variables. identified: whether the data determine the coefficients, given the graph.
    """

    variables: tuple[str, ...]
    cycles: tuple[tuple[str, ...], ...]
    reversible: tuple[bool, ...]
    members: int
    stable: int
    complete: bool
    radius: float
    condition: float
    identified: bool

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs."""
        own = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        own["cycles"] = [list(cycle) for cycle in self.cycles]
        own["spectral_radius"], own["condition_number"] = own.pop("radius"), own.pop("condition")
        return own

    def __str__(self) -> str:
        at_least = "" if self.complete else "at least "
        fit = "fits" if self.members == 1 else "fit alike"
        alike = f"{at_least}{count(self.members, 'graph')} {fit}, {self.stable} of them stable"
        lines = [f"  {', '.join(self.variables)}: {alike}"]
        for cycle, turns in zip(self.cycles, self.reversible, strict=True):
            arrows = " → ".join((*cycle, cycle[0]))
            lines.append(f"    {arrows}{' (or the other way round)' if turns else ''}")
        if self.radius >= 1:
            lines.append(
                f"    in none of them disturbances die out (spectral radius {self.radius:.2f})"
            )
        if not self.identified:
            lines.append("    the data do not determine its coefficients")
        lines.append(f"    condition number {self.condition:.1f}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Feedback:
    """Whether the data show feedback, and what they tell of it.

    names: the variables. graph: one of the class, stable if any is; an edge that not all stable
    graphs of the class have is a line; None where there is no sign of feedback: then that is the
    class of the DAG. member: that graph with all edges directed, 1 for i → j. coefficients: those
    of the member in the units of the data; entry (i, j) belongs to i → j. common: 1 for the edges
    that all graphs of the class have, 2 for those that all stable ones have. knots: where the
    cycles are. gain: score of the best graph with cycles less that of the best without; NaN for
    exact moments, of which edges_saved tells. needed: the gain from which on cycles are claimed:
    three quarters of the penalty of an edge, more in dense graphs; infinite where no graph with
    cycles that fits as well is stable. weakest: z² of the weakest edge into a knot, in penalties of
    an edge; below 2.5 no cycle is claimed, nor one that is not found where an edge costs half as
    much again. edges_saved: edges of the best graph without cycles less
    those of the best with them.

    With ``arrows="noise"``, if disturbances are of a shape that tells, cycles and arrows are those
    of the likelihood of the noise: z holds each coefficient in its standard errors, the gain is
    over the same graph without the weakest arrow of each cycle, and normal names the variables
    whose disturbances look normal: arrows between these are those of the covariances. Otherwise z
    is None, and note says why the noise told nothing.
    """

    names: tuple[str, ...]
    graph: CausalGraph | None
    member: Adjacency
    coefficients: FloatArray
    common: Adjacency
    knots: tuple[Knot, ...]
    gain: float
    needed: float
    weakest: float
    edges_saved: int
    z: FloatArray | None = None
    normal: tuple[str, ...] = ()
    note: str = ""

    @cached_property
    def common_edges(self) -> tuple[tuple[str, str], ...]:
        """The edges that all graphs of the class have, by name."""
        return self._edges(self.common == 1)

    @cached_property
    def stable_edges(self) -> tuple[tuple[str, str], ...]:
        """The edges that all stable graphs of the class have; all graphs, if none is stable."""
        return self._edges(self.common != 0)

    def _edges(self, there: Mask) -> tuple[tuple[str, str], ...]:
        return tuple((self.names[i], self.names[j]) for i, j in np.argwhere(there).tolist())

    def summary(self) -> str:
        """The knots, in some lines each, or that there is no sign of any."""
        told = [self.note] if self.note else []
        if not self.knots:
            return "\n".join([f"No sign of feedback: {self._compared()}.", *told])
        lines = [f"Feedback in {count(len(self.knots), 'knot')}: {self._compared()}."]
        lines += map(str, self.knots)
        if self.normal:
            lines.append(f"Disturbances look normal, and tell nothing: {', '.join(self.normal)}.")
        lines.append(
            f"Of {count(int(self.member.sum()), 'edge')}, {len(self.stable_edges)} are in every "
            f"stable graph that fits alike, {len(self.common_edges)} in every graph."
        )
        lines.append("A hidden common cause, or a relation that bends, can look like such a cycle.")
        return "\n".join(lines + told)

    def _compared(self) -> str:
        if self.z is not None:
            if not self.knots:
                return "the shape of the noise shows no cycle"
            return (
                f"by the shape of the noise, cycles gain {self.gain:.1f} points over the same "
                "graph without the weakest arrow of each"
            )
        if np.isnan(self.gain):
            return f"cycles save {count(self.edges_saved, 'edge')}"
        if not self.knots and self.gain <= 0:
            return "no graph with a cycle was found that scores better than the best without"
        than = "" if self.knots else f", where {self.needed:.1f} are asked for"
        if not self.knots and np.isinf(self.needed):
            than = ", but in none of those that fit alike disturbances die out"
        elif not self.knots and self.gain > self.needed:
            than = (
                f", but rest on an edge that is worth {self.weakest:.1f} penalties, where 2.5 are"
                " asked for: among weak effects such cycles come by chance"
            )
            if self.weakest >= 2.5:
                than = ", but not if an edge costs half as much again: such cycles come by chance"
        return f"cycles gain {self.gain:.1f} points over the best graph without{than}"

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs."""
        names, b = self.names, self.coefficients
        return {
            "feedback": bool(self.knots),
            "gain": None if np.isnan(self.gain) else self.gain,
            "needed": None if np.isinf(self.needed) else self.needed,
            "weakest_edge": self.weakest if np.isfinite(self.weakest) else None,
            "edges_saved": self.edges_saved,
            "by_noise": self.z is not None,
            "normal": list(self.normal),
            "note": self.note or None,
            "knots": [knot.to_dict() for knot in self.knots],
            "coefficients": [
                {"source": names[i], "target": names[j], "coefficient": float(b[i, j])}
                | ({} if self.z is None else {"z": float(self.z[i, j])})
                for i, j in np.argwhere(self.member).tolist()
            ],
            "common_edges": [list(edge) for edge in self.common_edges],
            "stable_edges": [list(edge) for edge in self.stable_edges],
        }


def _cycles(graph: Adjacency, variables: tuple[int, ...]) -> Iterator[list[int]]:
    """The cycles among some variables, the shortest first, each from its first variable on."""
    paths = deque([v] for v in variables)
    while paths:
        path = paths.popleft()
        if graph[path[-1], path[0]]:
            yield path
        paths += (
            [*path, v] for v in variables if v > path[0] and v not in path and graph[path[-1], v]
        )


def knot_of(block: Block, names: tuple[str, ...], *, identified: bool) -> Knot:
    """What is said of a block in which every graph has a cycle."""
    own = block.chosen
    cycles = list(islice(_cycles(own.graph, block.variables), MOST_CYCLES))
    others = block.stable or block.members
    part = np.ix_(block.variables, block.variables)
    return Knot(
        variables=tuple(names[v] for v in block.variables),
        cycles=tuple(tuple(names[v] for v in cycle) for cycle in cycles),
        reversible=tuple(
            len(own) > 2
            and any(all(m.graph[b, a] for a, b in pairwise([*own, own[0]])) for m in others)
            for own in cycles
        ),
        members=len(block.members),
        stable=len(block.stable),
        complete=block.complete,
        radius=own.radius,
        condition=float(np.linalg.cond((np.eye(len(names)) - own.coefficients)[part])),
        identified=identified,
    )
