"""The page on hidden causes, made from the stored results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import mean, stdev
from textwrap import wrap

from benchmarks.hidden import (
    DEGREES,
    EVERY,
    FAMILIES,
    GRID,
    KINDS,
    MISSES,
    NOISES,
    NONE,
    ORACLE,
    PEER_SAMPLES,
    REAL,
    SAMPLES,
    SHARES,
    STRUCTURES,
    THRESHOLDS,
    WEAK,
    read,
)
from benchmarks.peers.process import ROOT
from qwo.discovery.hidden_causes import FEW_COLLIDERS
from qwo.hidden.search import EXPECTED as CHOSEN

PAGE = ROOT / "docs" / "benchmarks" / "hidden.md"
BEFORE = "qwo, table read before"
OURS = ("qwo", BEFORE, "qwo, restarts=0", "qwo, DAG's class")
Row = dict[str, str]

HEAD = """# Hidden causes

Made by `python -m benchmarks.hidden page` from `benchmarks/results/hidden*.csv`.

Random linear models: a DAG of mean degree 2, 4, 3, 6 in turn on the measured variables, and 20 %,
10 %, 0 % as many hidden roots of 2 to 4 children; coefficients ±[0.2, 1], noise variances [1, 3],
noise gaussian, exponential or Laplace. *Wrong marks* are ends of edges that differ from the true
PAG, an edge too many or too few counting twice. *Legal* is the share of results that are the PAG of
some graph. Tetrad 7.6.6 (alpha 0.01, penalty discount 2, complete rules) and causal-learn's FCI
(alpha 0.01) get the same rows. A method has 10 seconds of processor time for a data set, 30 for one
of 100 and 300 variables; where it needs more it is *cut off*, and left after two such sets of a
cell. Where a peer has fewer than twenty sets without being cut off, it was run on the first ones
alone; GraspFci, GFci and causal-learn were not run on 300 variables, and none on 100 and 300
variables with other than 1,000 rows (of these a set takes them 1 to 30 seconds). *Gap* is wrong
marks less ours, on the same sets, with its standard error. Processor times are those of one machine
that did other things beside: look at ratios. Those of peers begin with a table in their own form;
ours as called holds reading and checking the table, at 10 variables a fifth of it, and *table read
before* leaves that out. Ours were searched anew with another rule of what a ↔ must be worth after
these times were taken beside the peers'; its own time is the same within a twentieth (old and new
alternating, 10 to 300 variables). In the grid, and for other models, the errors of gaps are those
of before, too.
"""


def wrapped(text: str) -> Iterator[str]:
    """A paragraph in lines of a hundred characters, and the empty line after it."""
    yield from wrap(" ".join(text.split()), 100, break_on_hyphens=False)
    yield ""


def _number(row: Row, name: str) -> float:
    return float(row[name])


def _f1(rows: list[Row], what: str) -> str:
    hit, found, true = (sum(int(r[f"{what}_{k}"]) for r in rows) for k in ("hit", "found", "true"))
    return f"{2 * hit / (found + true):.2f}" if found + true else "–"


Cell = dict[str, dict[str, Row]]


def _cells() -> dict[tuple[int, int], Cell]:
    """The rows by number of variables and of rows, by method and by seed."""
    cells: dict[tuple[int, int], Cell] = {}
    for row in [*read(SAMPLES), *read(PEER_SAMPLES)]:
        key = int(row["n"]), int(row["rows"])
        cells.setdefault(key, defaultdict(dict))[row["method"]][row["seed"]] = row
    return {key: cell for key, cell in sorted(cells.items()) if "qwo" in cell}


class Against:
    """A method beside ours, on the sets that it ended."""

    def __init__(self, cell: Cell, method: str) -> None:
        self.cell = cell
        self.rows = [row for row in cell[method].values() if row["wrong"]]
        self.rows = [row for row in self.rows if row["seed"] in cell["qwo"]]
        self.late = sum(not row["wrong"] for row in cell[method].values())
        own = self.own("qwo")
        pairs = list(zip(self.rows, own, strict=True))
        self.gaps = [_number(a, "wrong") - _number(b, "wrong") for a, b in pairs]
        self.wrong = mean(_number(r, "wrong") for r in self.rows) if self.rows else float("inf")
        self.ours = mean(_number(r, "wrong") for r in own) if own else float("nan")

    def own(self, method: str) -> list[Row]:
        """The rows of one of our methods on the same sets."""
        return [self.cell[method][row["seed"]] for row in self.rows]

    def ratio(self, method: str) -> float:
        """Its processor time as a multiple of that of one of ours."""
        spent = (sum(_number(r, "cpu") for r in rows) for rows in (self.rows, self.own(method)))
        return next(spent) / next(spent)

    @property
    def gap(self) -> str:
        error = stdev(self.gaps) / len(self.gaps) ** 0.5 if len(self.gaps) > 1 else 0.0
        return f"{mean(self.gaps):+.1f} ± {error:.1f}"


def _summary(cells: dict[tuple[int, int], Cell]) -> Iterator[str]:
    yield "## In short\n"
    yield from wrapped(
        """Wrong marks and F1 of arrowheads, ours and those of the peer with the fewest wrong marks;
        which peers have at most 20 % more wrong marks than ours, and the processor time of the
        fastest of them as a multiple of ours: as called, and with the table read before. Where none
        is within 20 %, its time is not compared."""
    )
    yield "| variables | rows | ours | best peer | gap | heads, ours and theirs | near | times |"
    yield "|---|---|---|---|---|---|---|---|"
    for (n, size), cell in cells.items():
        peers = {m: Against(cell, m) for m in cell if m not in OURS}
        peers = {m: p for m, p in peers.items() if p.rows}
        ours = mean(_number(r, "wrong") for r in cell["qwo"].values())
        if not peers:
            told = "none ended" if cell.keys() - {*OURS} else "not run"
            yield f"| {n} | {size:,} | {ours:.1f} | {told} | | | | |"
            continue
        best = min(peers, key=lambda m: mean(peers[m].gaps))
        near = {m: p for m, p in peers.items() if p.wrong <= 1.2 * p.ours}
        fast = min(near, key=lambda m: near[m].ratio("qwo"), default=None)
        told = f"none of {len(peers)} | "
        if fast is not None:
            times = f"{near[fast].ratio('qwo'):.1f}, {near[fast].ratio(BEFORE):.1f}"
            told = f"{', '.join(sorted(near))} | {fast} {times}"
        found = peers[best]
        who = f"{best} {found.wrong:.1f} on {len(found.rows)} sets"
        heads = f"{_f1(found.own('qwo'), 'head')}, {_f1(found.rows, 'head')}"
        yield f"| {n} | {size:,} | {ours:.1f} | {who} | {found.gap} | {heads} | {told} |"
    yield ""


def _sums(rows: list[Row], name: str) -> float:
    return sum(_number(r, name) for r in rows)


def _grid() -> Iterator[str]:
    """Every combination of degree, share of hidden variables and noise, by size and method."""
    cells: dict[tuple[int, int, str], list[Row]] = defaultdict(list)
    for r in read(GRID):
        cells[int(r["n"]), int(r["rows"]), r["method"]].append(r)
    combinations = len(DEGREES) * len(SHARES) * len(NOISES)
    yield "## Every combination of degree, hidden variables and noise\n"
    yield from wrapped(
        f"""{combinations} combinations (mean degree 2, 3, 4 or 6; 0, 10 or 20 % hidden; gaussian,
        exponential or Laplace noise), on data sets of their own (`… grid`): wrong marks and F1 of
        arrowheads, ours and theirs on the same sets, and in how many of the combinations ours, and
        theirs, has fewer wrong marks beyond two standard errors. *Time* is theirs as a multiple of
        ours as called; here Java has run for hundreds of sets, which makes it two to four times
        faster than in the tables of twenty sets below."""
    )
    yield "| variables | rows | method | sets | wrong | gap | heads | fewer | legal | time |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for (n, size, method), rows in sorted(
        cells.items(), key=lambda c: (*c[0][:2], c[0][2] != "qwo")
    ):
        sets, wrong, own = (_sums(rows, name) for name in ("sets", "wrong", "ours_wrong"))
        line = f"| {n} | {size:,} | {method} | {sets:.0f} | "
        heads, legal = _f1(rows, "head"), f"{100 * _sums(rows, 'legal') / sets:.0f} %"
        if method == "qwo":
            milliseconds = f"{1000 * _sums(rows, 'cpu') / sets:.1f} ms"
            yield f"{line}{wrong / sets:.1f} | | {heads} | | {legal} | {milliseconds} |"
            continue
        error = sum((_number(r, "error") * _number(r, "sets")) ** 2 for r in rows) ** 0.5 / sets
        ours, theirs = (
            sum(sign * _number(r, "gap") > 2 * _number(r, "error") for r in rows)
            for sign in (1, -1)
        )
        heads = f"{_f1(rows, 'ours_head')}, {heads}"
        gap, times = (
            f"{(wrong - own) / sets:+.1f} ± {error:.1f}",
            _sums(rows, "cpu") / _sums(rows, "ours_cpu"),
        )
        both = f"{own / sets:.1f}, {wrong / sets:.1f}"
        yield f"{line}{both} | {gap} | {heads} | {ours}, {theirs} | {legal} | {times:.1f} |"
    yield ""
    yield from wrapped(
        "Wrong marks by kind, all rows together: ours, and LvDumb's where it was run."
    )
    sizes = sorted({n for n, _, _ in cells})
    yield "| sets | " + " | ".join(f"{n} variables" for n in sizes) + " |"
    yield "|---" * (len(sizes) + 1) + "|"
    for name, told in (("share", "hidden"), ("degree", "degree"), ("noise", "noise")):
        for value in sorted({r[name] for rows in cells.values() for r in rows}):
            shown = f"{float(value):.0%}" if name == "share" else value
            beside = [_of_kind(cells, n, name, value) for n in sizes]
            yield f"| {told} {shown} | {' | '.join(beside)} |"
    yield ""


def _of_kind(cells: dict[tuple[int, int, str], list[Row]], n: int, name: str, value: str) -> str:
    """Wrong marks of sets of a kind: ours, and LvDumb's if it has ended all of them."""
    means, counts = [], []
    for method in ("qwo", "LvDumb"):
        rows = [r for c, own in cells.items() if c[0] == n and c[2] == method for r in own]
        rows = [r for r in rows if r[name] == value]
        counts.append(_sums(rows, "sets"))
        means.append(f"{_sums(rows, 'wrong') / counts[-1]:.1f}" if rows else "")
    return ", ".join(means if counts[0] == counts[1] else means[:1])


def _nothing_hidden() -> Iterator[str]:
    rows = [r for r in read(THRESHOLDS) if float(r["share"]) == 0]
    yield "## Without hidden variables, and what a change must be worth\n"
    yield from wrapped(
        f"""Wrong marks on sets of their own (`… thresholds`) by how many changes are expected
        beforehand. Changes that hang together must be worth 2 log of the number of variables over
        those expected and kept so far: what they save by the BIC, less 2 log 2 for each common
        neighbour that could have been made a collider. *DAG's class* keeps no change, *all* every
        one. The {CHOSEN:g} is the default, chosen on other sets; the last column is how many more
        marks are wrong with it than in the DAG's class, with its standard error."""
    )
    expected = sorted({float(r["expected"]) for r in rows}, reverse=True)
    ends = {EVERY: "all", NONE: "DAG's class"}
    shown = " | ".join(ends.get(value, f"{value:g}") for value in expected)
    yield f"| variables | rows | hidden | sets | {shown} | {CHOSEN:g} less DAG's class |"
    yield "|---" * (len(expected) + 5) + "|"
    lines: dict[tuple[int, int, float], dict[float, Row]] = defaultdict(dict)
    for r in read(THRESHOLDS):
        lines[int(r["n"]), int(r["rows"]), float(r["share"])][float(r["expected"])] = r
    for (n, size, share), own in sorted(lines.items()):
        sets = next(iter(own.values()))["sets"]
        wrong = (f"{_number(own[v], 'wrong') / _number(own[v], 'sets'):.1f}" for v in expected)
        gap = f"{_number(own[CHOSEN], 'gap'):+.2f} ± {_number(own[CHOSEN], 'error'):.2f}"
        yield f"| {n} | {size:,} | {share:.0%} | {sets} | " + " | ".join([*wrong, gap]) + " |"
    yield ""


def _structures() -> Iterator[str]:
    rows = read(STRUCTURES)
    methods = list(dict.fromkeys(r["method"] for r in rows))
    by = {(r["model"], r["rows"], r["method"]): r for r in rows}
    yield "## Textbook models\n"
    yield from wrapped(
        f"""Wrong marks, and in brackets how many of {rows[0]["sets"]} classes are exactly right, in
        small models (`… structures`; slopes ±[0.5, 1.2], noise of variance 1). The first has two
        effects of a hidden cause, each with a further cause of its own: with few rows a hidden
        cause is hardly told there from an edge that cancels by chance, and tests alone recover that
        model from somewhat fewer rows than ours. With *two proxies* and *one factor* everything is
        linked: there the level of the tests, .01, keeps weak links from 2,000 rows on that the
        price of an edge leaves out, and loses more marks where rows are fewer."""
    )
    yield "| model | rows | " + " | ".join(methods) + " |"
    yield "|---" * (len(methods) + 2) + "|"
    for model, size in dict.fromkeys((r["model"], r["rows"]) for r in rows):
        own = [by[model, size, m] for m in methods]
        cells = (f"{_number(r, 'wrong') / _number(r, 'sets'):.1f} ({r['exact']})" for r in own)
        yield f"| {model} | {size} | " + " | ".join(cells) + " |"
    totals = []
    for m in methods:
        of = [r for r in rows if r["method"] == m]
        totals.append(sum(_number(r, "wrong") for r in of) / sum(_number(r, "sets") for r in of))
    yield "| all | | " + " | ".join(f"{total:.2f}" for total in totals) + " |"
    yield ""


def _tables(cells: dict[tuple[int, int], Cell]) -> Iterator[str]:
    for (n, size), cell in cells.items():
        yield f"## {n} variables, {size:,} rows\n"
        yield "| method | sets | wrong marks | gap | F1 of links, heads, tails, ↔ | legal | CPU s |"
        yield "|---|---|---|---|---|---|---|"
        found = {method: Against(cell, method) for method in cell}
        for method, own in sorted(found.items(), key=lambda m: m[1].wrong):
            sets = f"{len(own.rows)}" + (f", {own.late} cut off" if own.late else "")
            if not own.rows:
                yield f"| {method} | {sets} | | | | | |"
                continue
            gap = "" if method == "qwo" else own.gap
            scores = ", ".join(_f1(own.rows, what) for what in ("edge", "head", "tail", "hidden"))
            legal = f"{100 * mean(_number(r, 'legal') for r in own.rows):.0f} %"
            cpu = f"{mean(_number(r, 'cpu') for r in own.rows):.3f}"
            yield f"| {method} | {sets} | {own.wrong:.1f} | {gap} | {scores} | {legal} | {cpu} |"
        yield ""


def _families() -> Iterator[str]:
    rows = read(FAMILIES)
    yield "## Other models and other rows\n"
    yield from wrapped(
        f"""Wrong marks in {rows[0]["sets"]} data sets each of 15 variables, 3 hidden, mean degree
        3, 1,000 rows and slopes 0.3 to 1, but for what is said (`… families`). After those of
        others: how many more than ours, with the standard error. In scale-free graphs and chains a
        weak edge that is missed leaves false arrowheads around it, which the score supports. Ours
        undoes them where few arrows meet; how few, the share of {FEW_COLLIDERS}, was chosen on
        random graphs, scale-free ones, trees and chains of other seeds, and nothing else on any of
        these kinds. *DAG's class* is that of the best DAG, in which nothing is undone."""
    )
    methods = list(dict.fromkeys(r["method"] for r in rows))
    yield "| kind | " + " | ".join(methods) + " |"
    yield "|---" * (len(methods) + 1) + "|"
    for kind, told in KINDS.items():
        own = [r for r in rows if r["kind"] == kind]
        cells = [f"{_number(r, 'wrong') / _number(r, 'sets'):.1f}" for r in own]
        cells[1:] = [
            f"{c} ({_number(r, 'gap'):+.1f} ± {_number(r, 'error'):.1f})"
            for c, r in zip(cells[1:], own[1:], strict=True)
        ]
        yield f"| {kind}: {told} | {' | '.join(cells)} |"
    yield ""


def _oracle() -> Iterator[str]:
    rows, misses = read(ORACLE), read(MISSES)
    graphs, right = (sum(int(r[k]) for r in rows) for k in ("graphs", "right"))
    yield "## From exact correlations\n"
    yield from wrapped(
        f"""Of {graphs:,} random models with 4 to 8 measured and 0 to 5 hidden variables,
        coefficients ±[0.4, 1], the class found is exactly the true one in {right:,}. The others:"""
    )
    yield "| model | measured, hidden | edges, true and found | cheaper by | weakest link missed |"
    yield "|---|---|---|---|---|"
    for r in misses:
        edges = f"{r['edges_true']}, {r['edges_found']}"
        told = f"{r['seed']} | {r['n']}, {r['hidden']} | {edges} | {r['cheaper_by']}"
        yield f"| {told} | {r['weakest_link']} |"
    yield ""
    yield from wrapped(
        """What is found costs less than the truth at the 10¹² rows that stand for infinity, as the
        truth has a link whose partial correlation, given some set, is the number on the right:
        these models are not faithful to that accuracy."""
    )


def _real() -> Iterator[str]:
    rows = read(REAL)
    yield "## The light tunnel, and proteins\n"
    first = rows[0]
    yield from wrapped(
        f"""Causal Chambers' light tunnel ({int(first["rows"]):,} rows), red, green and blue hidden,
        the truth projected to the other {first["n"]} variables (`… tunnel FOLDER`):"""
    )
    yield "| method | wrong marks | F1 of links, heads, tails | ↔ found, of which right | legal |"
    yield "|---|---|---|---|---|"
    for r in sorted(rows, key=lambda r: int(r["wrong"])):
        scores = ", ".join(_f1([r], what) for what in ("edge", "head", "tail"))
        pairs = f"{r['hidden_found']}, {r['hidden_hit']}"
        legal = "yes" if r["legal"] == "1" else "no"
        yield f"| {r['method']} | {r['wrong']} | {scores} | {pairs} | {legal} |"
    yield ""
    yield from wrapped(
        f"""Three hidden causes of nearly all sensors make {first["hidden_true"]} pairs ↔. Ours
        finds {first["hidden_hit"]} of them: it is the class of the best DAG. Others find some;
        LvLite's answer is not the same in every run. Why: of the {first["missed"]} true links that
        are missed, {first["missed_weak"]} are between variables whose correlation is below {WEAK}.
        The lights beside the sensors correlate with these by at most {first["light"]} given the
        other sensors, and the polarisers act through the square of a cosine. What the colours do
        shows in arrowheads at the sensors, which take those links to be told: the true graph
        without the arrows from the lights has {first["without_lights"]} wrong marks, without those
        from the polarisers too {first["without_both"]}. By the linear score the truth is worse than
        what is found, by {first["truth_dearer"]}. Normal scores of ranks give {first["ranks"]}
        wrong marks, a penalty of 1, 4 or 10 instead of 1.5 {first["penalty_1"]},
        {first["penalty_4"]} and {first["penalty_10"]}. Sachs et al. without PKA: no sign of hidden
        causes ([how-to](../howto/hidden-causes.md))."""
    )


def page() -> str:
    cells = _cells()
    parts = [HEAD, *_summary(cells), *_grid(), *_nothing_hidden(), *_structures(), *_families()]
    parts += [*_oracle(), *_real()]
    parts += _tables(cells)
    return "\n".join(parts).rstrip() + "\n"


def write_page() -> None:
    PAGE.write_text(page(), encoding="utf-8")
