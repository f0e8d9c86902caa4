"""What all replicates have in common: the data, the size of a resample, the search."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery import Discovery
from qwo.errors import HOW_MANY, ArgumentError, Cure, MissingValuesError, SampleSizeError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, as_moments, read_table
from qwo.moments.estimators import effective_share, standardized
from qwo.moments.tables import Table
from qwo.names import check_choice
from qwo.options import OF_SERIES, Missing, SearchOptions, estimator_name, whole_number
from qwo.resample import draws
from qwo.types import FloatArray, Indices

Shard = tuple[int, int]

BLOCK_ROWS = 4096

FREE_PARAMS = ("n_resamples", "shard")
"""Parameters that say which replicates are run; none of the replicates depends on them."""

LATER_PARAMS = {
    **dict.fromkeys(("regime", "targets", "reference", "lags", *OF_SERIES)),
    "effect": "soft",
    "within": False,
    "relations": "linear",
    "feedback": False,
    "hidden_causes": False,
    "arrows": None,
    "level": 3.0,
}
"""Options that are younger than the files of bootstraps, with their defaults: runs that were begun
before go on."""

Method = Literal["rows", "parametric"]

MOST_RESAMPLES = 1_000_000


class DataRows(NamedTuple):
    """Data whose rows are drawn, with what makes moments of them.

    ``data`` are Moments where there are no rows; ``moments`` those of all rows, where known.
    """

    data: Any
    covariance_estimator: Any = "plain"
    missing: Missing = "raise"
    moments: Moments | None = None

    @classmethod
    def of(cls, data: Any, reading: ReadArguments) -> DataRows:
        """The rows of whatever the user calls data."""
        if isinstance(data, DataRows):
            return data
        selection: dict[str, Any] = {**reading}
        estimator = selection.pop("covariance_estimator", "plain")
        missing: Missing = selection.pop("missing", "raise")
        if isinstance(data, Moments):
            return cls(as_moments(data, **reading), estimator, missing)
        for name in ("weights", "memory_limit"):
            if selection.pop(name, None) is not None:
                raise ArgumentError(
                    f"{name} is for Moments, of which no rows are drawn; make them first, with "
                    "Moments.from_data, or leave it out",
                    option=name,
                )
        if not isinstance(data, Table):
            data = read_table(data, **selection)
        return cls(data, estimator, missing)

    def refuse_uncounted(self) -> None:
        """Refuse what leaves no rows to be counted."""
        why = "the data are Moments" if isinstance(self.data, Moments) else ""
        if getattr(self.data, "clusters", None) is not None:
            why = "rows belong together (cluster)"
        if self.missing == "em" or estimator_name(self.covariance_estimator) != "plain":
            why = "missing values or correlations are estimated"
        if why:
            raise ArgumentError(
                f"score 'bdeu' counts complete rows, each by itself, but {why}",
                option="score",
                cures=[Cure("score", "bic", "works on moments")],
            )


def as_used(options: SearchOptions, reference: Discovery) -> tuple[SearchOptions, Indices | None]:
    """The options of the replicates; what was left open is as the search on all data filled it in.

    On a resample the same would not always be filled in: gamma, for one, depends on whether there
    are more samples than variables. Where neither the start nor the restarts were given, an
    insertion search on the exact BIC starts from the order found on all data, which is returned
    too, and stays near it: the supports are those of searches from scratch up to chance, for a
    fraction of the time (``python -m benchmarks.calibration --starts``).
    """
    params = reference.params
    if options.score != "bic":
        return options, None
    names = ("search", "engine", "penalty_discount", "alpha", "gamma", "restarts", "objective")
    used = replace(options, **{name: params[name] for name in names})
    left_open = options.start is None and options.restarts is None and options.method is None
    if left_open and params["search"] == "insertion" and params["engine"] == "bic":
        return replace(used, restarts=0), reference.order
    return used, None


def check_size(n_samples: float, resampling: Any, fraction: Any) -> float:
    """N of a resample of N rows; a whole number where N is one."""
    check_choice("resampling", resampling, get_args(draws.Resampling))
    if resampling == "halves":
        if fraction is not None:
            raise ArgumentError(
                f"sample_fraction is {fraction!r}, but half of the rows is a half",
                cures=[
                    Cure("resampling", "subsamples", "draws any fraction of the rows, once each"),
                    Cure("resampling", "replacement", "draws them with replacement"),
                ],
                option="sample_fraction",
            )
        size = n_samples // 2
    else:
        size = _size(n_samples, resampling, fraction)
    if size < 3:
        raise ArgumentError(
            f"resamples of {size:.3g} of {n_samples:g} rows have no correlations; wanted 3 rows at "
            "least"
        )
    return size


def _size(n_samples: float, resampling: draws.Resampling, fraction: Any) -> float:
    once = resampling == "subsamples"
    share = (0.5 if once else 1.0) if fraction is None else fraction
    if not isinstance(share, int | float | np.number) or not 0 < share <= 1:
        raise ArgumentError(
            f"sample_fraction is {share!r}; wanted a number above 0, at most 1",
            option="sample_fraction",
        )
    if share == 1 and once:
        raise ArgumentError(
            "sample_fraction is 1: every subsample is the whole sample; wanted a fraction below 1, "
            "such as 0.5",
            option="sample_fraction",
        )
    size = float(share) * n_samples
    return float(round(size)) if float(n_samples).is_integer() else size


def check_resamples(n_resamples: Any) -> int:
    """How many resamples there are to be."""
    number = whole_number("n_resamples", n_resamples)
    if not 1 <= number <= MOST_RESAMPLES:
        raise ArgumentError(
            f"n_resamples is {number}; wanted 1 at least, better 100, and {MOST_RESAMPLES:,} at "
            "most: no share is more uncertain than ± 0.001 then",
            option="n_resamples",
        )
    return number


def check_shard(shard: Any, random_state: int | None) -> Shard | None:
    """The shard (i, k), which has replicates i - 1, i - 1 + k, i - 1 + 2k and so on."""
    if shard is None:
        return None
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        raise ArgumentError(
            f"shard is {shard!r}; wanted two numbers, such as (2, 8)", option="shard"
        )
    number, count = (whole_number("shard", part) for part in shard)
    if not 1 <= number <= count:
        raise ArgumentError(
            f"shard is {number} of {count}; shards are counted from 1, up to {count}",
            option="shard",
        )
    if random_state is None:
        raise ArgumentError(
            "shards of one run must draw from one seed; give all of them the same",
            cures=[Cure("random_state", 0, "or any other number, for all")],
        )
    return number, count


@dataclass(frozen=True, eq=False)
class Prepared:
    """The moments of all data, and what draws resamples of them.

    ``method`` is ``"rows"`` or ``"parametric"``, ``size`` the rows, or N, of a resample, ``digest``
    that of the data, bit by bit.
    """

    moments: Moments
    source: draws.Source
    method: Method
    size: float
    digest: str

    @property
    def searched(self) -> Moments | Table:
        """What the graph of all data is learnt from: rows, where they are counted."""
        source = self.source
        return source.table if isinstance(source, draws.CountedRows) else self.moments


def prepare(
    rows: DataRows,
    resampling: draws.Resampling,
    sample_fraction: float | None,
    *,
    counts: bool = False,
) -> Prepared:
    """Look at the data once, for all replicates; not at all where their moments are known.

    With `counts`, resamples are rows, for scores that count them.
    """
    table, estimator, missing, moments = rows
    if counts:
        rows.refuse_uncounted()
    if isinstance(table, Moments):
        moments = as_moments(table, covariance_estimator=estimator)
        return _prepare_moments(moments, resampling, sample_fraction)
    if moments is None:
        try:
            moments = draws.table_moments(table, estimator, missing)
        except MissingValuesError as error:
            if counts:
                error.cures = tuple(cure for cure in error.cures if cure.value != "em")
            raise
    table = draws.kept_rows(table, missing)
    clusters = None if table.clusters is None else np.unique(table.clusters, return_inverse=True)[1]
    n_rows = len(table.values) if clusters is None else int(clusters.max()) + 1
    size = int(check_size(n_rows, resampling, sample_fraction))
    scheme = draws.Scheme(resampling, n_rows, size, clusters)
    source: draws.Source = (
        draws.CountedRows(table, scheme)
        if counts
        else _source(table, moments, scheme, estimator, missing)
    )
    coding = table.coding
    texts = table.names if coding.is_plain else (*table.names, repr(coding.to_plain()))
    if clusters is None:
        return Prepared(moments, source, "rows", size, digest_of(texts, table.values))
    texts = (*texts, hashlib.sha256(clusters.tobytes()).hexdigest())
    drawn = moments.n_samples * size / n_rows
    return Prepared(moments, source, "rows", drawn, digest_of(texts, table.values))


def _prepare_moments(
    moments: Moments, resampling: draws.Resampling, sample_fraction: float | None
) -> Prepared:
    if moments.is_oracle:
        raise SampleSizeError("exact moments (N = ∞) have nothing to resample", cures=[HOW_MANY])
    size = check_size(moments.n_samples, resampling, sample_fraction)
    scheme = draws.Scheme(resampling, int(moments.n_samples), int(size))
    source = draws.NormalModel(moments, draws.square_root(moments.correlation), size, scheme)
    digest = digest_of((*moments.names, f"{moments.n_samples!r}"), moments.correlation)
    return Prepared(moments, source, "parametric", size, digest)


def _source(
    table: Table, moments: Moments, scheme: draws.Scheme, estimator: str | Any, missing: Missing
) -> draws.Source:
    """Weights where moments can be had from them; the rows themselves for any other estimator."""
    complete = bool(np.isfinite(table.values).all())
    if estimator_name(estimator) != "plain" or not complete:
        policy: Missing = "raise" if complete else missing
        return draws.RefittedRows(table, scheme, estimator, policy, effective_share(table))
    values = moments.coding.recoded(table.values, table.coding)
    scores = np.ascontiguousarray(standardized(values, moments))
    return draws.WeightedRows(moments, scores, scheme, effective_share(table))


def digest_of(texts: tuple[str, ...], values: FloatArray) -> str:
    """A digest of texts and of an array, whatever its memory layout."""
    digest = hashlib.sha256(json.dumps([texts, values.shape]).encode())
    for start in range(0, len(values), BLOCK_ROWS):
        digest.update(values[start : start + BLOCK_ROWS].tobytes())
    return digest.hexdigest()


def fingerprint_of(
    digest: str, params: Mapping[str, Any], knowledge: ResolvedKnowledge | None
) -> str:
    """A digest of all that replicates depend on: data, parameters, knowledge."""
    depends = {
        key: value
        for key, value in params.items()
        if key not in FREE_PARAMS and not (key in LATER_PARAMS and value == LATER_PARAMS[key])
    }
    result = hashlib.sha256(json.dumps([digest, depends], sort_keys=True).encode())
    if knowledge is not None:
        for matrix in (knowledge.forbidden, knowledge.required, knowledge.before):
            result.update(np.packbits(matrix).tobytes())
    return result.hexdigest()
