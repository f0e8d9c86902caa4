"""FCI by its definition with an oracle: m-separation in a DAG with hidden variables; all paths.

P. Spirtes, C. Meek, T. Richardson (1995); rules as in J. Zhang (2008), without selection: 1 to 4
and 8 to 10. Slow and obvious: separating sets are looked for among all subsets, paths are all
listed.
"""

from itertools import combinations, pairwise, permutations

from tests.helpers.pag_reference import CIRCLE, HEAD, TAIL, separating_set


def fci(dag_marks, observed):
    """The PAG of the observed variables of a DAG, asked for independences alone."""
    n = len(observed)
    graph = [[0] * n for _ in range(n)]
    sets = {}
    for a, b in combinations(range(n), 2):
        found = separating_set(dag_marks, observed[a], observed[b], observed)
        if found is None:
            graph[a][b] = graph[b][a] = CIRCLE
        else:
            sets[a, b] = sets[b, a] = {observed.index(v) for v in found}
    for a, c, b in permutations(range(n), 3):
        if graph[a][c] and graph[b][c] and not graph[a][b] and c not in sets[a, b]:
            graph[a][c] = graph[b][c] = HEAD
    while any(rule(graph, sets) for rule in RULES):
        pass
    return graph


def paths(graph, start, end):
    """All paths between two vertices."""
    found, stack = [], [[start]]
    while stack:
        path = stack.pop()
        if path[-1] == end:
            found.append(path)
            continue
        stack += [[*path, v] for v in range(len(graph)) if graph[path[-1]][v] and v not in path]
    return found


def uncovered_directed(graph, start, end):
    """Paths that may be directed, on which vertices two steps apart have no edge."""
    return [
        p
        for p in paths(graph, start, end)
        if all(graph[a][b] != TAIL and graph[b][a] != HEAD for a, b in pairwise(p))
        and all(not graph[a][c] for a, c in zip(p, p[2:], strict=False))
    ]


def _set(graph, changes):
    """Put marks in place of circles; whether there was one."""
    changed = False
    for i, j, mark in changes:
        if graph[i][j] == CIRCLE:
            graph[i][j] = mark
            changed = True
    return changed


def _arrow(graph, i, j):
    return graph[i][j] == HEAD and graph[j][i] == TAIL


def rule_1(graph, _sets):
    changed = False
    for a, b, c in permutations(range(len(graph)), 3):
        if graph[a][b] == HEAD and graph[c][b] == CIRCLE and not graph[a][c]:
            changed = _set(graph, [(c, b, TAIL), (b, c, HEAD)]) or changed
    return changed


def rule_2(graph, _sets):
    changed = False
    for a, b, c in permutations(range(len(graph)), 3):
        first = _arrow(graph, a, b) and graph[b][c] == HEAD
        second = graph[a][b] == HEAD and _arrow(graph, b, c)
        if (first or second) and graph[a][c] == CIRCLE:
            changed = _set(graph, [(a, c, HEAD)]) or changed
    return changed


def rule_3(graph, _sets):
    changed = False
    for a, b, c, d in permutations(range(len(graph)), 4):
        meets = graph[a][b] == HEAD and graph[c][b] == HEAD and not graph[a][c]
        if meets and graph[a][d] == CIRCLE and graph[c][d] == CIRCLE and graph[d][b] == CIRCLE:
            changed = _set(graph, [(d, b, HEAD)]) or changed
    return changed


def rule_4(graph, sets):
    """A discriminating path <l, .., a, b, c> for b."""
    n = len(graph)
    for b, c, start in permutations(range(n), 3):
        if graph[c][b] != CIRCLE or graph[start][c]:
            continue
        for path in paths(graph, start, b):
            inner = path[1:-1]
            if not inner or c in path or not all(_arrow(graph, v, c) for v in inner):
                continue
            steps = zip(path, path[1:], path[2:], strict=False)
            if not all(graph[u][v] == HEAD and graph[w][v] == HEAD for u, v, w in steps):
                continue
            if b in sets[start, c]:
                return _set(graph, [(c, b, TAIL), (b, c, HEAD)])
            return _set(graph, [(path[-2], b, HEAD), (c, b, HEAD), (b, c, HEAD)])
    return False


def rule_8(graph, _sets):
    changed = False
    for a, b, c in permutations(range(len(graph)), 3):
        if _arrow(graph, a, b) and _arrow(graph, b, c) and graph[a][c] == HEAD:
            changed = _set(graph, [(c, a, TAIL)]) or changed
    return changed


def rule_9(graph, _sets):
    changed = False
    for a, c in permutations(range(len(graph)), 2):
        if graph[a][c] == HEAD and graph[c][a] == CIRCLE:
            long = (p for p in uncovered_directed(graph, a, c) if len(p) > 3)
            if any(not graph[p[1]][c] for p in long):
                changed = _set(graph, [(c, a, TAIL)]) or changed
    return changed


def rule_10(graph, _sets):
    changed = False
    n = len(graph)
    for a, c in permutations(range(n), 2):
        if graph[a][c] != HEAD or graph[c][a] != CIRCLE:
            continue
        parents = [v for v in range(n) if v != a and _arrow(graph, v, c)]
        for b, d in combinations(parents, 2):
            ways = [
                (p[1], q[1])
                for p in uncovered_directed(graph, a, b)
                for q in uncovered_directed(graph, a, d)
            ]
            if any(u != w and not graph[u][w] for u, w in ways):
                changed = _set(graph, [(c, a, TAIL)]) or changed
    return changed


RULES = (rule_1, rule_2, rule_3, rule_4, rule_8, rule_9, rule_10)
