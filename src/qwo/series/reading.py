"""Rows as series: sorted by unit and time, cut where a step of time is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.columns.recipes import Coding, select_columns
from qwo.errors import ArgumentError, Cure
from qwo.moments.moments import Moments
from qwo.moments.readers import Reader, open_source
from qwo.moments.reading import WHOLE_ROWS, TableReading, estimate_table
from qwo.moments.tables import Table
from qwo.options import Missing, ReadOptions, SearchOptions, estimator_name
from qwo.series.sums import StreamedSums, is_streamed, series_numbers, streamed_rows, usable_rows
from qwo.series.times import regular_steps, steps_of, time_numbers
from qwo.types import FloatArray, Indices


@dataclass(frozen=True, slots=True, eq=False)
class SeriesData:
    """A table whose rows stand unit by unit in the order of time, and where series begin and end.

    values: numbers and codes of categories; coding: what they are.
    bounds: first row and end of each series, S × 2: no step is missing inside one.
    units: the unit of each series; labels: what units are called.
    static: which variables never change within a unit, while units differ.
    notes: what was found about steps of time.
    streamed: the sums over all rows of a file, of which `values` are the first.
    regimes: the condition of each row, and regime_labels what they are called, if asked for.
    places: the step of time of each row.
    """

    names: tuple[str, ...]
    values: FloatArray
    coding: Coding
    bounds: Indices
    units: Indices
    labels: tuple[str, ...]
    static: Indices
    notes: tuple[str, ...] = ()
    regimes: Indices | None = None
    regime_labels: tuple[str, ...] = ()
    streamed: StreamedSums | None = None
    places: Indices = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def all_lengths(self) -> Indices:
        """Rows of each series, those that are not in memory included."""
        return self.lengths if self.streamed is None else self.streamed.lengths

    @property
    def lengths(self) -> Indices:
        """Rows of each series."""
        return np.asarray(self.bounds[:, 1] - self.bounds[:, 0])

    @property
    def moving(self) -> Indices:
        """The variables that change in time."""
        moves = np.ones(len(self.names), bool)
        moves[self.static] = False
        return np.flatnonzero(moves)

    @property
    def unit_of_rows(self) -> Indices:
        """The unit of each row."""
        return np.repeat(self.units, self.lengths)

    def columns(self) -> FloatArray:
        """The columns of all rows."""
        return self.coding.columns(self.values)


def read_series(data: Any, options: SearchOptions, reading: ReadArguments) -> SeriesData:
    """The series of a table, checked as any table is."""
    _refuse(data, reading)
    if isinstance(data, np.ndarray) and data.ndim == 3:
        data, units = _stacked_panel(data)
        columns = ReadOptions(**reading)
        table = TableReading(open_source(data, columns), columns).table()
        return _as_series(table, None, units, columns.missing)
    asked = ReadOptions(**reading)
    reader = open_source(data, asked)
    places = {
        name: select_columns(reader.names, [value], None)[0]
        for name in ("time", "unit", "regime")
        if (value := getattr(options, name)) is not None
    }
    taken = select_columns(reader.names, asked.columns, asked.drop)
    kept = [k for k in taken if k not in places.values()]
    if is_streamed(data, options, asked):
        own = replace(asked, columns=kept, drop=None)
        found = _streamed(data, options, TableReading(reader, own), places)
        if found is not None:
            return found
    table = TableReading(reader, replace(asked, columns=kept, drop=None)).table()
    times = None
    if "time" in places:
        times = time_numbers(
            data, str(reader.names[places["time"]]), _words(reader, places["time"])
        )
    told: dict[str, list[str]] = {
        name: _labels(*_words(reader, place), name, str(reader.names[place]))
        for name, place in places.items()
        if name != "time"
    }
    return _as_series(table, times, told.get("unit"), asked.missing, told.get("regime"))


def _streamed(
    data: Any, options: SearchOptions, reading: TableReading, places: dict[str, int]
) -> SeriesData | None:
    """The series of a file whose rows do not stay in memory; None if it has categories."""
    reader = reading.reader
    found = reading.moments()
    if isinstance(found, Moments) and found.found is not None:
        found = replace(found, found=found.found.without(("serial", "repeated-rows")))
    moments = Moments._of(found)
    if not moments.coding.is_plain:
        return None
    read = {name: _words(reader, place) for name, place in places.items()}
    told = {name: str(reader.names[place]) for name, place in places.items()}
    times = time_numbers(data, told["time"], read["time"]) if "time" in read else None
    units = _labels(*read["unit"], "unit", told["unit"]) if "unit" in read else None
    counts = [len(own) for own in (times, units) if own is not None]
    one = moments.names[:1]
    rows = counts[0] if counts else sum(len(part.values) for part in reading.parts(one))
    codes, labels = _coded(units) if units is not None else (np.zeros(rows, np.intp), ("",))
    numbers, notes = series_numbers(times, codes, labels)
    lengths = np.bincount(numbers)
    asked = options.lags
    tried = lags_tried(lengths, len(moments.names), 1, MOST_LAGS)
    lags = asked if isinstance(asked, int) else tried
    done, first = streamed_rows(reading, moments, numbers, codes, max(lags, 1))
    sums, static = done.ended(max(lags, 1))
    cut = np.flatnonzero(np.diff(numbers[: len(first)]) != 0) + 1
    bounds = np.stack([np.r_[0, cut], np.r_[cut, len(first)]], axis=1)
    own = codes[: len(first)][bounds[:, 0]], labels, static, tuple(notes)
    more: Any = {"streamed": sums, "places": np.arange(len(first))}
    return SeriesData(moments.names, first, moments.coding, bounds, *own, **more)


MOST_LAGS, MOST_STEPS, MOST_COLUMNS = 12, 3, 3000
"""Lags that are tried first, and with a step above 1; columns up to which they are."""


def lags_tried(lengths: Indices, n_variables: int, step: int, most: int) -> int:
    """How many lags are tried: rows must be left, and columns must not be too many."""
    rows, n = int(lengths.sum()), max(n_variables, 1)
    while most > 1 and (
        usable_rows(lengths, most, step) < max((0.7 if most > 3 else 0.5) * rows, 20)
        or n * (most + 1) > MOST_COLUMNS
    ):
        most -= 1
    return most if usable_rows(lengths, most, step) >= 10 else 0


def _refuse(data: Any, reading: ReadArguments) -> None:
    if isinstance(data, Moments):
        raise ArgumentError(
            "lags need rows in the order of time, but the data are Moments; give the table",
            option="lags",
        )
    name = estimator_name(reading.get("covariance_estimator", "plain"))
    if name != "plain":
        raise ArgumentError(
            f"covariance_estimator is {name!r}, which does not go with lags; leave it out",
            option="covariance_estimator",
        )
    if reading.get("weights") is not None:
        raise ArgumentError(
            "weights count independent rows, and rows of a series are none; leave weights out",
            option="weights",
        )


def _stacked_panel(data: FloatArray) -> tuple[FloatArray, list[str]]:
    n_units, n_rows, width = data.shape
    labels = [str(u) for u in range(n_units) for _ in range(n_rows)]
    return data.reshape(-1, width), labels


def _words(reader: Reader, place: int) -> tuple[FloatArray, list[str | None] | None]:
    """The values of one column as numbers, and as text where it is text."""
    name = str(reader.names[place])
    numbers, texts = [], list[str | None]()
    for batch in reader.batches([place], WHOLE_ROWS):
        rows = batch.load()
        words = rows.words([name], name) if rows.refused else None
        numbers.append(rows.values[:, 0])
        if words is not None:
            own = np.array([*words.levels, None], dtype=object)
            texts += own[words.codes].tolist()
    values = np.concatenate(numbers) if numbers else np.empty(0)
    return values, texts if len(texts) == len(values) else None


def _labels(
    numbers: FloatArray, texts: Sequence[str | None] | None, option: str, name: str
) -> list[str]:
    """The unit or the condition of each row by name."""
    if texts is None:
        texts = [None if np.isnan(v) else f"{v:g}" for v in numbers]
    if any(text is None for text in texts):
        raise ArgumentError(
            f"{sum(t is None for t in texts)} rows have no value of {name!r}, the column of "
            f"{option}s; leave these rows out, or give them a {option}",
            [name],
            option=option,
        )
    return [str(text) for text in texts]


def _as_series(
    table: Table,
    times: FloatArray | None,
    units: Sequence[str] | None,
    missing: Missing,
    regimes: Sequence[str] | None = None,
) -> SeriesData:
    values, notes = table.values, list[str]()
    codes, labels = _coded(units or [""] * len(values))
    under, conditions = (None, ()) if regimes is None else _coded(regimes)
    order = np.lexsort((np.arange(len(values)) if times is None else times, codes))
    if not np.array_equal(order, np.arange(len(values))):
        if times is not None and (np.diff(times[np.argsort(codes, kind="stable")]) < 0).any():
            notes.append("rows were not in the order of time; they are sorted")
        values, codes = values[order], codes[order]
        under = None if under is None else under[order]
    breaks = np.diff(codes) != 0
    places = steps_of(np.arange(len(values), dtype=np.float64), breaks)
    if times is not None:
        ordered, more = times[order], list[str]()
        gaps, more = regular_steps(ordered, breaks, [labels[c] for c in codes[1:]])
        places = steps_of(ordered, breaks)
        breaks, notes = breaks | gaps, [*notes, *more]
    checked = replace(table, values=values)
    _audited(checked, missing)
    if missing == "drop":
        kept = np.isfinite(values).all(axis=1)
        numbers = np.flatnonzero(kept)
        # A row left out ends the series, as a missing step does.
        segment = np.concatenate([[0], np.cumsum(breaks)]) + np.cumsum(~kept)
        values, codes, places = values[numbers], codes[numbers], places[numbers]
        under = None if under is None else under[numbers]
        breaks = np.diff(segment[numbers]) != 0
    edges = np.flatnonzero(breaks) + 1
    bounds = np.stack([np.r_[0, edges], np.r_[edges, len(values)]], axis=1)
    static = _static(values, codes, len(labels))
    own = table.names, np.ascontiguousarray(values), table.coding, bounds, codes[bounds[:, 0]]
    told: Any = (labels, static, tuple(notes), under, conditions, None, places)
    return SeriesData(*own, *told)


def _coded(texts: Sequence[str]) -> tuple[Indices, tuple[str, ...]]:
    """Texts as numbers, in the order in which they come up, and what the numbers stand for."""
    labels = tuple(dict.fromkeys(texts))
    places = {label: k for k, label in enumerate(labels)}
    return np.array([places[text] for text in texts], np.intp), labels


def _audited(table: Table, missing: Missing) -> None:
    """The checks of any table; that rows depend on each other is what lags are for."""
    found = estimate_table(table, "plain", missing)
    if isinstance(found, Moments) and found.found is not None:
        found = replace(found, found=found.found.without(("serial", "repeated-rows")))
    Moments._of(found)


def _static(values: FloatArray, codes: Indices, n_units: int) -> Indices:
    """Variables that are constant within every unit, and differ between units."""
    if n_units < 2:
        return np.empty(0, np.intp)
    starts = np.flatnonzero(np.r_[True, np.diff(codes) != 0])
    low, high = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
    return np.flatnonzero((low == high).all(axis=0))


def check_length(series: SeriesData, n_lags: int, step: int, rows: int) -> None:
    """Refuse series that are too short for their lags."""
    wanted = max(10, 2 * n_lags)
    if rows < wanted:
        longest = int(series.all_lengths.max())
        raise ArgumentError(
            f"lags is {n_lags}, but only {rows} rows have {n_lags * step} rows before them in "
            f"their series (the longest has {longest} rows); ask for fewer lags",
            option="lags",
            cures=[Cure("lags", 1, "looks back one row")] if n_lags > 1 else [],
        )
