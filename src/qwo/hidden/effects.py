"""What follows from a PAG: visible edges, separating sets, effects that hold in every member.

The generalised adjustment criterion: E. Perković, J. Textor, M. Kalisch, M. H. Maathuis, Complete
graphical characterization and construction of adjustment sets, JMLR 18 (2018). Visible edges: J.
Zhang, JMLR 9 (2008).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.marks import HEAD, TAIL
from qwo.graph.pag import ancestors_in, mag_of_pag, possibly_directed
from qwo.moments.moments import Moments
from qwo.names import Variable, as_pair
from qwo.order.reference import partial_correlation
from qwo.sem.effects import Effect
from qwo.sem.regression import partial_slopes
from qwo.types import Adjacency, Mask


def visible_edges(marks: Adjacency, clear: Mask | None = None) -> Mask:
    """Entry (i, j) says that i → j, and that no cause of both can be hidden.

    A vertex without an edge to j points at i, or does so along colliders that all cause j; or the
    pair is known to be ``clear`` of hidden causes.
    """
    arrows = (marks == HEAD) & (marks.T == TAIL)
    visible: Mask = np.zeros(marks.shape, bool) if clear is None else arrows & clear
    for i, j in np.argwhere(arrows & ~visible).tolist():
        visible[i, j] = _is_visible(marks, arrows, i, j)
    return visible


def _is_visible(marks: Adjacency, arrows: Mask, i: int, j: int) -> bool:
    seen, stack = {i, j}, [i]
    while stack:
        v = stack.pop()
        for h in np.flatnonzero(marks[:, v] == HEAD).tolist():
            if h in seen:
                continue
            if marks[h, j] == 0:
                return True
            if arrows[h, j] and marks[v, h] == HEAD:
                seen.add(h)
                stack.append(h)
    return False


def _reached(steps: Mask, start: Iterable[int], without: Iterable[int] = ()) -> set[int]:
    """All that steps lead to from some vertices, these among them."""
    seen, out = set(start), set(without)
    stack = list(seen)
    while stack:
        new = set(np.flatnonzero(steps[stack.pop()]).tolist()) - seen - out
        seen |= new
        stack += new
    return seen


def adjustment_in_pag(
    pag: Adjacency, mag: Adjacency, x: int, y: int, clear: Mask | None = None
) -> tuple[list[int] | None, str]:
    """A set that is valid for the effect of x on y in every member; or None, and why.

    An empty text and None mean that x causes y in no member.
    """
    steps = possibly_directed(pag)
    # Vertices on possibly directed paths from x to y, which leave x once.
    after = _reached(steps, [x]) - {x}
    if y not in after:
        return None, ""
    before = _reached(steps.T, [y], without=[x])
    between = {v for v in _reached(steps, after & before, without=[x]) if v in before}
    first = [v for v in np.flatnonzero(steps[x]).tolist() if v in before]
    visible = visible_edges(pag, clear)
    unsure = [v for v in first if not visible[x, v]]
    if unsure:
        return None, f"{unsure[0]}"
    forbidden = _reached(steps, between, without=[x]) | {x, y}
    chosen = sorted(_reached(steps.T, [x, y]) - forbidden)
    cut = mag.copy()
    cut[x, first] = cut[first, x] = 0
    if not m_separated(cut, x, y, chosen):
        return None, "open"
    return _needed(cut, x, y, chosen), ""


def _needed(marks: Adjacency, x: int, y: int, chosen: list[int]) -> list[int]:
    """What is left of a separating set without what is not needed."""
    above = ancestors_in(marks)
    for v in list(chosen):
        fewer = [u for u in chosen if u != v]
        if m_separated(marks, x, y, fewer, above):
            chosen = fewer
    return chosen


def m_separated(
    marks: Adjacency, x: int, y: int, given: Iterable[int], above: Mask | None = None
) -> bool:
    """Whether a set blocks every path between two vertices of an ancestral graph."""
    chosen = set(given)
    above = ancestors_in(marks) if above is None else above
    opened = chosen | set(np.flatnonzero(above[:, list(chosen)].any(1)).tolist())
    seen: set[tuple[int, bool]] = set()
    stack = [(v, bool(marks[x, v] == HEAD)) for v in np.flatnonzero(marks[x]).tolist()]
    while stack:
        v, into = stack.pop()
        if v == y:
            return False
        if (v, into) in seen or v == x:
            continue
        seen.add((v, into))
        for w in np.flatnonzero(marks[v]).tolist():
            collides = into and marks[w, v] == HEAD
            if v in opened if collides else v not in chosen:
                stack.append((w, bool(marks[v, w] == HEAD)))
    return True


def effect_of(adjusted: tuple[list[int] | None, str], moments: Moments, x: int, y: int) -> Effect:
    """The total effect of x on y given what `adjustment_in_pag` says, or not a number, and why."""
    names = moments.names
    chosen, why = adjusted
    if chosen is None and not why:
        note = f"{names[x]} causes {names[y]} in no graph of the class"
        return Effect(names[x], names[y], 0.0, 0.0, note=note)
    if chosen is None:
        reason = "no set of measured variables blocks all paths that are not causal"
        if why != "open":
            reason = f"a hidden cause of {names[x]} and {names[int(why)]} cannot be ruled out"
        note = f"not identifiable, because {reason}"
        return Effect(names[x], names[y], math.nan, math.nan, note=note)
    found = partial_slopes(moments, x, chosen, np.array([y]))
    given = ", ".join(names[v] for v in chosen)
    note = f"given {given}" if given else "as it stands"
    slope, error = float(found.slopes[0]), float(found.errors[0])
    return Effect(names[x], names[y], slope, error, found.df, note)


def effect_in_pag(pag: CausalGraph, moments: Moments, cause: Variable, effect: Variable) -> Effect:
    """The total effect that holds in every graph of a class."""
    own = pag.reordered(moments.names)
    x, y = as_pair(own.names, cause, effect)
    return effect_of(adjustment_in_pag(own.marks, mag_of_pag(own.marks), x, y), moments, x, y)


def separation_of(mag: Adjacency, moments: Moments, x: int, y: int) -> tuple[list[int], float]:
    """What separates two vertices without an edge in a MAG, and their partial correlation."""
    above = ancestors_in(mag)
    chosen = sorted(set(np.flatnonzero(above[:, x] | above[:, y]).tolist()) - {x, y})
    chosen = _needed(mag, x, y, chosen)
    return chosen, partial_correlation(moments.correlation, x, y, chosen)
