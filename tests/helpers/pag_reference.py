"""MAGs and PAGs by their definitions, for a few variables: plain lists and all subsets.

G[i][j] is what the edge between i and j has at j: 0 nothing, 1 circle, 2 arrowhead, 3 tail.
"""

from itertools import chain, combinations, product

CIRCLE, HEAD, TAIL = 1, 2, 3


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


def parents(graph, j):
    return [i for i in range(len(graph)) if graph[i][j] == HEAD and graph[j][i] == TAIL]


def ancestors(graph, vertices):
    """The vertices, and all that have a directed path to one of them."""
    seen, stack = set(vertices), list(vertices)
    while stack:
        new = set(parents(graph, stack.pop())) - seen
        seen |= new
        stack += new
    return seen


def m_separated(graph, x, y, given):
    """No path x .. y has every collider among the ancestors of the set, and nothing else in it."""
    given, opened = set(given), ancestors(graph, given)
    seen, stack = set(), [(None, x)]
    while stack:
        before, v = stack.pop()
        for w in range(len(graph)):
            if not graph[v][w] or w == before:
                continue
            if before is not None:
                collides = graph[before][v] == HEAD and graph[w][v] == HEAD
                if not (v in opened if collides else v not in given):
                    continue
            if w == y:
                return False
            if (v, w) not in seen:
                seen.add((v, w))
                stack.append((v, w))
    return True


def separating_set(graph, x, y, among):
    rest = [v for v in among if v not in (x, y)]
    return next((set(s) for s in subsets(rest) if m_separated(graph, x, y, s)), None)


def independences(graph, observed=None):
    """Which pairs are separated by which sets, as one tuple."""
    observed = range(len(graph)) if observed is None else observed
    return tuple(
        m_separated(graph, x, y, s)
        for x, y in combinations(observed, 2)
        for s in subsets(v for v in observed if v not in (x, y))
    )


def mag_of_dag(graph, observed):
    """Linked if no set of observed variables separates them; tails where one causes the other."""
    mag = [[0] * len(observed) for _ in observed]
    for a, b in combinations(range(len(observed)), 2):
        x, y = observed[a], observed[b]
        if separating_set(graph, x, y, observed) is None:
            mag[b][a] = TAIL if x in ancestors(graph, [y]) else HEAD
            mag[a][b] = TAIL if y in ancestors(graph, [x]) else HEAD
    return mag


def is_mag(graph):
    n = len(graph)
    for i in range(n):
        above = ancestors(graph, parents(graph, i))
        if i in above or any(graph[i][j] == graph[j][i] == HEAD and j in above for j in range(n)):
            return False
    return all(
        graph[x][y] or separating_set(graph, x, y, range(n)) is not None
        for x, y in combinations(range(n), 2)
    )


def mags_on(n, pairs, kinds=3):
    """All MAGs of n vertices with edges (or, for four kinds, possibly none) between these pairs."""
    ends = [(HEAD, TAIL), (TAIL, HEAD), (HEAD, HEAD), (0, 0)][:kinds]
    for chosen in product(ends, repeat=len(pairs)):
        graph = [[0] * n for _ in range(n)]
        for (i, j), (forth, back) in zip(pairs, chosen, strict=True):
            graph[i][j], graph[j][i] = forth, back
        if is_mag(graph):
            yield graph


def all_mags(n):
    return mags_on(n, list(combinations(range(n), 2)), kinds=4)


def classes(mags):
    """The MAGs by their independences."""
    found = {}
    for mag in mags:
        found.setdefault(independences(mag), []).append(mag)
    return found.values()


def shared_marks(members):
    """The PAG by definition: marks that all members have, circles where they differ."""
    n = len(members[0])
    pag = [[0] * n for _ in range(n)]
    for i, j in product(range(n), repeat=2):
        marks = {mag[i][j] for mag in members}
        pag[i][j] = marks.pop() if len(marks) == 1 else CIRCLE
    return pag
