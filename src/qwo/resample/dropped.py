"""Resamples for searches that drop an assumption: hidden causes, curves and noise, conditions.

Where causes may be hidden, each mark at each end of an edge is counted. Searches that look at rows
get rows; of conditions, a resample has the same share of the rows of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, NoReturn, Self, cast

import numpy as np

from qwo.archives import StoredResult
from qwo.arguments import ReadArguments
from qwo.discovery import Discovery
from qwo.discovery.curved import asked_columns
from qwo.discovery.discover import discover_as
from qwo.discovery.regimes import RegimeKnowledge, learn_regimes
from qwo.errors import ArgumentError
from qwo.moments import Moments
from qwo.moments.curves import refuse_rowless
from qwo.moments.tables import Table
from qwo.options import UP_TO_1, ReadOptions, SearchOptions
from qwo.regimes.reading import read_regimes, regime_options, regime_rows
from qwo.regimes.sums import RegimeSums
from qwo.resample.bootstrap import ResamplePlan
from qwo.resample.draws import CountedRows, Resampling, Scheme, kept_rows
from qwo.resample.options import DataRows, Prepared, check_size, digest_of, prepare
from qwo.resample.result import Bootstrap
from qwo.resample.runner import Search
from qwo.resample.support import Counts, Replicates, counted
from qwo.search.control import Status
from qwo.types import Adjacency, FloatArray, Indices

SPOUSE_CODE, OPEN_CODE, BACK_CODE = 3, 4, 5
"""What stands for i ↔ j, i o→ j and i ←o j in the matrices of replicates; 1 is →, 2 is o–o."""

CODES = np.array(
    [[0] * 4, [0, 2, BACK_CODE, 2], [0, OPEN_CODE, SPOUSE_CODE, 1], [0, 2, 0, 2]], "i1"
)
"""What stands for the edge between i and j by its marks at j and at i: none, circle, head, tail."""

KINDS = ("arrow", "reverse", "spouses", "open_arrow", "open_reverse", "circles")
SYMBOLS = ("→", "←", "↔", "o→", "←o", "o–o")


class MarkSupport(NamedTuple):
    """How often two variables are linked, and by which edge; the first share is of all edges.

    ``reference`` is their edge in the class of all data, from first to second.
    """

    first: str
    second: str
    reference: str
    link: float
    arrow: float
    reverse: float
    spouses: float
    open_arrow: float
    open_reverse: float
    circles: float

    @property
    def shares(self) -> dict[str, float]:
        """The share of resamples with each kind of edge, as it is written."""
        return dict(zip(SYMBOLS, (getattr(self, kind) for kind in KINDS), strict=True))

    @property
    def text(self) -> str:
        """Such as ``link 100 %, o→ 94 %, o–o 6 %``: what occurs, the commonest kind first."""
        kinds = [kind for kind in zip(self[4:], SYMBOLS, strict=True) if kind[0]]
        shares = [(self.link, "link"), *sorted(kinds, reverse=True)]
        return ", ".join(f"{what} {100 * share:.0f} %" for share, what in shares)


@dataclass(frozen=True, eq=False, repr=False)
class MarkBootstrap(Bootstrap):
    """Support of every mark over resamples of data in which common causes may be hidden.

    ``reference`` is what `qwo.discover` found on all data. Of an edge, all kinds but → count as
    undirected in what `Bootstrap` has.
    """

    FIELDS = MarkSupport._fields
    spouse_counts: Counts = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    open_counts: Counts = field(default_factory=lambda: np.zeros((0, 0), np.int32))

    def plus(self, batch: Replicates) -> Self:
        """The result with the replicates of a batch."""
        spouses, half_open = batch.marks
        return replace(
            super().plus(batch),
            spouse_counts=counted(self.spouse_counts, spouses),
            open_counts=counted(self.open_counts, half_open),
        )

    @cached_property
    def spouse_support(self) -> FloatArray:
        """Symmetric n×n matrix: the share of replicates whose class has i ↔ j."""
        return self._shares(self.spouse_counts)

    @cached_property
    def head_support(self) -> FloatArray:
        """n×n matrix: the share of replicates with an arrowhead at j of an edge between i and j."""
        return self._shares(self.directed_counts + self.spouse_counts + self.open_counts)

    @cached_property
    def tail_support(self) -> FloatArray:
        """n×n matrix: the share of replicates with a tail at j of an edge between i and j."""
        return self._shares(self.directed_counts.T)

    @cached_property
    def circle_support(self) -> FloatArray:
        """n×n matrix: the share of replicates with a circle at j of an edge between i and j."""
        return np.asarray(self.link_support - self.head_support - self.tail_support)

    def to_records(self, threshold: float = 0.0) -> tuple[Any, ...]:
        """`MarkSupport` of the pairs linked in at least this share, the surest links first."""
        UP_TO_1.checked("threshold", threshold)
        pag = self.reference.graph
        seen = np.triu((self.link_support > 0) | (pag.marks > 0), 1)
        pairs = np.argwhere(seen & (self.link_support >= threshold - 1e-12))
        links, arrows, both = self.link_support, self.arrow_support, self.spouse_support
        half = self._shares(self.open_counts)
        shown = {frozenset((a, b)): (a, mark, b) for a, mark, b in pag.edges}
        rows = []
        for pair in pairs.tolist():
            told = shown.get(frozenset(self.names[v] for v in pair))
            turned = told is not None and told[0] == self.names[pair[1]]
            i, j = reversed(pair) if turned else pair
            kinds = (arrows[i, j], arrows[j, i], both[i, j], half[i, j], half[j, i])
            rest = max(links[i, j] - sum(kinds), 0.0)
            mark = "" if told is None else told[1]
            shares = (round(float(share), 12) for share in (links[i, j], *kinds, rest))
            rows.append(MarkSupport(self.names[i], self.names[j], mark, *shares))
        return tuple(sorted(rows, key=lambda row: -row.link))

    def _table(self, records: Sequence[Any]) -> list[str]:
        """The marks of some pairs."""
        head = " link  " + "".join(f"{symbol:>5}" for symbol in SYMBOLS) + "  pair"
        lines = (
            f"{r.link:5.0%}  "
            + "".join(f"{share:5.0%}" for share in r.shares.values())
            + f"  {r.first} {r.reference or '   '} {r.second}"
            for r in records
        )
        return [head, *lines]

    _repr_html_ = StoredResult._repr_html_

    def consensus_dag(self, threshold: float = 0.5) -> NoReturn:
        """Refused: the graphs are classes with hidden causes."""
        del threshold
        raise ArgumentError(
            "there is no DAG for all resamples where causes may be hidden; head_support, "
            "tail_support and spouse_support tell what each mark is found in"
        )

    def save(self, path: Any) -> NoReturn:
        """Refused: the format of bootstraps has no marks."""
        raise ArgumentError(f"{path}: marks are not stored; write to_frame() to a file")


def search_marks(drawn: Moments | Table, options: SearchOptions) -> tuple[Adjacency, Status]:
    """The class with hidden causes of what was drawn, as codes of edges."""
    found = discover_as(drawn, options)
    assert found.pag is not None
    return CODES[found.pag.marks, found.pag.marks.T], found.status


def with_marks(nothing: Bootstrap) -> MarkBootstrap:
    """A result without replicates that counts marks, too."""
    none = np.zeros_like(nothing.directed_counts)
    own = {own.name: getattr(nothing, own.name) for own in fields(nothing)}
    return MarkBootstrap(**own, spouse_counts=none, open_counts=none)


def _read_with(columns: int | None) -> ReadArguments:
    return cast("ReadArguments", {} if columns is None else {"columns": columns})


def _search_rows(
    columns: int | None, drawn: Any, options: SearchOptions
) -> tuple[Adjacency, Status]:
    """The class of rows, with as many columns of each variable as all data have been given."""
    found = discover_as(drawn, options, _read_with(columns))
    return found.cpdag, found.status


def curved_plan(
    data: Any,
    options: SearchOptions,
    reading: ReadArguments,
    resampling: Resampling,
    sample_fraction: float | None,
) -> ResamplePlan:
    """The rows, and how many columns of each variable are asked for."""
    what = 'relations="curved"' if options.relations == "curved" else 'arrows="noise"'
    asked, reading = asked_columns(reading) if options.relations == "curved" else (None, reading)
    if isinstance(data, DataRows):
        refuse_rowless(data.data, ReadOptions(missing=data.missing), what)
    else:
        refuse_rowless(data, ReadOptions(**reading), what)
    rows = DataRows.of(data, reading)
    prepared = prepare(rows, resampling, sample_fraction)
    table = kept_rows(rows.data, rows.missing)
    size = int(prepared.size)
    source = CountedRows(table, Scheme(resampling, len(table.values), size))
    own = Prepared(prepared.moments, source, "rows", size, prepared.digest)
    told = {"missing": rows.missing, "covariance_estimator": "plain"}

    def search(reference: Discovery) -> Search:
        bent = options.relations == "curved"
        return partial(_search_rows, reference.params["basis"] if bent else None)

    learn = partial(discover_as, table, options, _read_with(asked))
    return ResamplePlan(own, options, told, learn, search)


@dataclass(frozen=True, eq=False)
class RegimeRows:
    """Rows of which a resample has the same share of each regime.

    ``sizes`` says how many consecutive columns each variable owns.
    """

    columns: FloatArray
    regimes: tuple[Indices, ...]
    schemes: tuple[Scheme, ...]
    sizes: tuple[int, ...]

    def draw(self, seed: int, number: int) -> RegimeSums:
        """The sums of one resample, regime by regime."""
        parts = []
        for k, (rows, scheme) in enumerate(zip(self.regimes, self.schemes, strict=True)):
            # A stream of its own for each regime.
            weights = scheme.weights(seed + (k << 64), number)
            parts.append(self.columns[np.repeat(rows, weights)])
        return RegimeSums.of(parts, self.sizes)


def regime_plan(
    data: Any,
    options: SearchOptions,
    reading: ReadArguments,
    resampling: Resampling,
    sample_fraction: float | None,
) -> ResamplePlan:
    """The rows with their regimes, and what is known of these."""
    if {"relations", "arrows"} & set(options.dropped):
        raise ArgumentError(
            "resamples of several conditions are searched by lines, and for classes: leave "
            "relations and arrows out, or resample the rows of one condition",
            option="relations" if "relations" in options.dropped else "arrows",
        )
    options = regime_options(data, options)
    given = read_regimes(data, options, reading)
    table, labels = regime_rows(data, options, reading)
    coding = given.moments.coding
    columns = np.ascontiguousarray(coding.recoded(table.values, table.coding))
    regimes = tuple(np.flatnonzero(labels == label) for label in given.labels)
    schemes = tuple(
        Scheme(resampling, len(own), int(check_size(len(own), resampling, sample_fraction)))
        for own in regimes
    )
    source: Any = RegimeRows(columns, regimes, schemes, tuple(coding.sizes.tolist()))
    digest = digest_of((*table.names, *labels.tolist()), table.values)
    size = sum(scheme.size for scheme in schemes)
    known = RegimeKnowledge.of(options, given)
    return ResamplePlan(
        Prepared(given.moments, source, "rows", size, digest),
        options,
        {"missing": reading.get("missing", "raise"), "covariance_estimator": "plain"},
        partial(discover_as, data, options, reading),
        lambda reference: partial(learn_regimes, reference.order, known.as_in(reference.regimes)),
    )
