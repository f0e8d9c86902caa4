"""What the page waits for: searches, the newest of a run first, and scatter plots."""

from __future__ import annotations

import math
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from qwo.agreement import Check, ConditionChecks, check
from qwo.bayes import Posterior, posterior
from qwo.columns.recipes import Coding, Variable
from qwo.curved.partial import fit_equation
from qwo.discovery import Discovery, discover
from qwo.errors import InputError
from qwo.inspection.audit import Audit
from qwo.moments import Moments, as_moments
from qwo.moments.curves import RowSample
from qwo.moments.reading import audit, read_table
from qwo.moments.tables import Table
from qwo.report.contents import model_of
from qwo.sem import LinearSem
from qwo.sem.cyclic import CyclicSem
from qwo.studio.settings import Settings
from qwo.types import FloatArray

MOST_KEPT = 24
"""Results and readings that stay in memory."""
MOST_SECONDS = 5.0
"""For probabilities that are drawn behind the scene."""


class SupersededError(Exception):
    """A newer change of the same run came in."""


class Kept:
    """The last results of a computation, by what they depend on."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most, self._lock = most, threading.Lock()
        self._values: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made for the key, made now if it was not."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value


@dataclass(frozen=True, eq=False)
class Data:
    """A file as it is read: what is doubtful, moments, rows."""

    path: Path
    reading: dict[str, Any]

    @cached_property
    def audit(self) -> Audit:
        """What is wrong or doubtful."""
        return audit(self.path, **self.reading)

    @cached_property
    def moments(self) -> Moments:
        """What a search needs."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the audit says it
            return as_moments(self.path, **self.reading)

    @cached_property
    def table(self) -> Table:
        """The rows, for pictures."""
        return read_table(self.path, **self.reading)


@dataclass(frozen=True, eq=False)
class Result:
    """What a search has found, and what belongs to it."""

    data: Data
    settings: Settings
    found: Discovery
    said: tuple[str, ...]

    @cached_property
    def model(self) -> LinearSem | CyclicSem | None:
        """The linear model on the graph, where there can be one."""
        try:
            return model_of(self.data.moments, self.found)
        except InputError:
            return None

    @cached_property
    def check(self) -> Check | ConditionChecks | None:
        """How far data and graph agree; None where that cannot be checked."""
        try:
            if self.found.regimes is not None:
                return self.found.check(random_state=0)
            known = self.settings.knowledge
            return check(self.data.moments, self.found, knowledge=known, random_state=0)
        except InputError:
            return None

    @cached_property
    def posterior(self) -> Posterior | None:
        """How probable each edge is, within `MOST_SECONDS`."""
        if self.settings.extras:
            return None
        try:
            return posterior(
                self.data.moments,
                knowledge=self.settings.knowledge,
                time_limit=MOST_SECONDS,
                random_state=self.settings.seed,
            )
        except InputError:
            return None


class Searches:
    """Data that were read, results that were found, and the newest request of each run."""

    def __init__(self) -> None:
        self._data, self._results = Kept(6), Kept()
        self._newest: dict[str, int] = {}
        self._lock, self._one = threading.Lock(), threading.Lock()

    def data(self, path: Path, settings: Settings) -> Data:
        """The file as the settings read it; a file that was changed meanwhile is read anew."""
        stamp = path.stat()
        reading = settings.reading
        key = (path, stamp.st_mtime_ns, stamp.st_size, repr(sorted(reading.items())))
        found: Data = self._data.get(key, lambda: Data(path, reading))
        return found

    def result(self, run: str, path: Path, settings: Settings) -> Result:
        """What the settings find; `SupersededError` if the run has asked for more since."""
        with self._lock:
            mine = self._newest[run] = self._newest.get(run, 0) + 1
        data = self.data(path, settings)
        stamp = path.stat()
        key = (path, stamp.st_mtime_ns, stamp.st_size, repr(settings))

        def search() -> Result:
            # Warnings are caught for the whole process, and so one search at a time.
            with self._one, warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                source: dict[str, Any] = {"data": data.moments}
                if settings.extras:
                    source = {"data": path, **settings.reading}
                found = discover(
                    **source,
                    **settings.search,
                    knowledge=settings.knowledge,
                    callback=lambda _: self._newest[run] != mine,
                )
            if found.status == "stopped":
                raise SupersededError
            said = dict.fromkeys(str(warning.message) for warning in caught)
            return Result(data, settings, found, tuple(said))

        made: Result = self._results.get(key, search)
        if self._newest[run] != mine:
            raise SupersededError
        return made


MOST_POINTS = 1500
"""Points of a scatter plot; rows from all over the table."""
FEWEST = 40
"""Rows below which no curve is looked for."""
COLUMNS, BENT = 5, 0.001
"""Columns of a curve through a scatter plot, and the p-value of a line below which it is shown."""


def scatter_plot(data: Data, first: str, second: str) -> dict[str, Any]:
    """Points, the line, a curve where the relation bends, and residuals of what fits."""
    table = data.table
    a, b = (table.names.index(name) for name in (first, second))
    rows = table.values[:, [a, b]]
    rows = rows[np.isfinite(rows).all(axis=1)]
    chosen = np.linspace(0, len(rows) - 1, min(len(rows), MOST_POINTS)).astype(int)
    slope, middle = math.nan, math.nan
    if len(rows) > 2 and rows[:, 0].std() > 0:
        slope, middle = np.polyfit(rows[:, 0], rows[:, 1], 1)
    kept = rows[chosen]
    curve = _curve(rows) if not any(table.coding.variables[v].levels for v in (a, b)) else None
    fitted = slope * kept[:, 0] + middle
    if curve is not None:
        fitted = np.interp(kept[:, 0], *curve.T)
    return {
        "points": np.round(kept, 6),
        "n_rows": len(rows),
        "line": [slope, middle],
        "curve": None if curve is None else np.round(curve, 6),
        "residuals": np.round(kept[:, 1] - fitted, 6),
        "labels": [list(table.coding.variables[v].levels) for v in (a, b)],
        "correlation": float(np.atleast_2d(np.corrcoef(rows.T))[0, 1])
        if len(rows) > 2
        else math.nan,
    }


def _curve(rows: FloatArray) -> FloatArray | None:
    """Points of the curve, where it fits better than the line by more than chance."""
    if len(rows) < FEWEST:
        return None
    sample, coding = RowSample(rows, None, len(rows)), Coding((Variable(), Variable()))
    equation = fit_equation(sample, coding, np.array([[0, 1], [0, 0]], np.int8), 1, COLUMNS)
    if not equation.p_value(slice(1, None)) <= BENT:
        return None
    at = np.linspace(rows[:, 0].min(), rows[:, 0].max(), 60)
    away = equation.columns_of(0, at) - equation.centre
    return np.column_stack([at, rows[:, 1].mean() + away @ equation.slopes])
