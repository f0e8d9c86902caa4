"""Times as numbers in which steps are equal: days, working days, months; and where steps lack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, list_names
from qwo.types import FloatArray, Indices, Mask

TOLERANCE = 0.05
"""Share of a step by which it may be off and still count as one."""

DAY = 86400.0
"""Seconds."""

QUARTER = re.compile(r"\s*(\d{4})[-\s]?Q([1-4])\s*")
"""A quarter of a year."""

DAY_OR_MONTH = re.compile(r"\s*(\d{1,2})([-/.])(\d{1,2})\2\d{4}")
"""The beginning of a date in numbers with the year behind."""


def time_numbers(
    data: Any, name: str, read: tuple[FloatArray, Sequence[str | None] | None]
) -> FloatArray:
    """A column of times as numbers: itself, or what its dates count.

    Dates on one day of the month count months, dates that avoid weekends working days, others
    seconds.
    """
    numbers, texts = read
    if np.isfinite(numbers).all() and len(numbers):
        return _of_digits(numbers)
    if texts is not None:
        stamps = _parsed(name, texts)
    elif hasattr(data, "__dataframe__") or hasattr(data, "columns"):
        import narwhals as nw

        series = nw.from_native(data, eager_only=True)[name]
        stamps = np.asarray(series.to_numpy()).astype("datetime64[us]")
    else:
        stamps = np.full(len(numbers), np.datetime64("NaT"), "datetime64[us]")
    if np.isnat(stamps).any() or not len(stamps):
        raise ArgumentError(
            f"time is {name!r}, of which {int(np.isnat(stamps).sum())} of {len(stamps)} values are "
            "missing or no times; wanted numbers, or dates such as 2024-03-31",
            [name],
            option="time",
        )
    return _counted(stamps)


def _of_digits(numbers: FloatArray) -> FloatArray:
    """Numbers such as 202403 as months, such as 20240331 as dates, others as they are."""
    for size, low in ((4, 1700_01), (6, 1700_01_01)):
        if ((numbers < low) | (numbers >= 2 * low) | (numbers % 1 != 0)).any():
            continue
        texts = numbers.astype(np.int64).astype(str).tolist()
        parts = [f"{t[:4]}-{t[4:6]}" + (f"-{t[6:]}" if size > 4 else "") for t in texts]
        try:
            return _counted(np.array(parts, "datetime64[us]"))
        except ValueError:
            continue
    return numbers


def _has_day_first(name: str, texts: Sequence[str]) -> bool:
    """Whether days stand before months, where both are numbers: all dates are read in one way."""
    parts = [DAY_OR_MONTH.match(text) for text in texts]
    least = next((t for t in texts if not re.search(r"\d{4}|:", t)), None)
    first, second = (max((int(p[k]) for p in parts if p), default=0) for k in (1, 3))
    why = ""
    if least is not None:
        why = f"{least!r} has no year of four digits"
    elif first > 12 and second > 12:
        why = "some begin with the day, others with the month"
    elif 0 < first <= 12 and second <= 12 and texts and "." not in texts[0]:
        why = f"{texts[0]!r} may begin with the day or with the month"
    if why:
        raise ArgumentError(
            f"time is {name!r}, of whose dates {why}; wanted numbers, or dates such as 2024-03-31",
            [name],
            option="time",
        )
    return first > 12 or (first > 0 and second <= 12)


def _parsed(name: str, texts: Sequence[str | None]) -> Any:
    texts = [t and QUARTER.sub(lambda q: f"{q[1]}-{3 * int(q[2]) - 2:02d}", t) for t in texts]
    try:
        return np.array(["NaT" if t is None else t for t in texts], "datetime64[us]")
    except ValueError:
        pass
    day_first = _has_day_first(name, [text for text in texts if text is not None])
    try:
        import pandas as pd

        read = pd.to_datetime(pd.Series(list(texts)), format="mixed", dayfirst=day_first)
        return read.to_numpy().astype("datetime64[us]")
    except (ImportError, ValueError, TypeError) as error:
        raise ArgumentError(
            f"time is {name!r}, which holds no dates that can be read: {error}; wanted numbers, or "
            "dates such as 2024-03-31",
            [name],
            option="time",
        ) from error


def _counted(stamps: Any) -> FloatArray:
    seconds = stamps.astype("int64") / 1e6
    days = np.floor(seconds / DAY)
    if not (seconds == days * DAY).all():
        return np.asarray(seconds)
    months = stamps.astype("datetime64[M]")
    into = stamps.astype("datetime64[D]") - months.astype("datetime64[D]")
    last = (months + 1).astype("datetime64[D]") - stamps.astype("datetime64[D]")
    monthly = len(np.unique(into)) == 1 or (last.astype(int) == 1).all()
    if monthly and len(np.unique(months)) > 1:
        return np.asarray(months.astype(np.int64), np.float64)
    weekday = (days.astype(np.int64) + 3) % 7
    if (weekday < 5).all() and len(np.unique(days)) > 10:
        whole = stamps.astype("datetime64[D]")
        return np.asarray(np.busday_count(whole.min(), whole), np.float64)
    return np.asarray(seconds)


def steps_of(times: FloatArray, breaks: Mask) -> Indices:
    """How many usual steps each time is behind the first; units begin where others end."""
    steps = np.where(breaks, 0.0, np.diff(times))
    usual = np.median(steps[~breaks]) if not breaks.all() else 1.0
    return np.concatenate([[0], np.cumsum(np.rint(steps / usual))]).astype(np.intp)


def regular_steps(times: FloatArray, breaks: Mask, units: Sequence[str]) -> tuple[Mask, list[str]]:
    """Where a series ends because a step of time is missing, and what is to be said of it.

    Times are sorted within units, and `breaks` says where another unit begins.
    """
    steps = np.diff(times)
    inside = steps[~breaks]
    if not len(inside):
        return np.zeros_like(breaks), []
    if (inside == 0).any():
        twice = np.flatnonzero((steps == 0) & ~breaks)
        where = f" of {list_names([units[int(twice[0])]])}" if units[0] or breaks.any() else ""
        raise ArgumentError(
            f"several rows{where} have the same time, as when clocks are set back; name the column "
            "that tells their series apart (unit=), or keep one row of each time",
            option="time",
        )
    usual = float(np.median(inside))
    if (np.abs(inside - usual) <= TOLERANCE * usual).mean() < 0.5:
        values, counts = np.unique(np.round(inside / inside.min(), 6), return_counts=True)
        usual = float(values[counts.argmax()] * inside.min())
    regular = np.abs(steps - usual) <= TOLERANCE * usual
    share = float(regular[~breaks].mean())
    if share < 0.5:
        raise ArgumentError(
            f"only {share:.0%} of the steps of time are equal (they go from {inside.min():g} to "
            f"{inside.max():g}, the most frequent is {usual:g}), so that a lag means nothing; "
            "bring the rows to equal steps first, or leave time out if rows count as steps",
            option="time",
        )
    gaps = ~regular & ~breaks
    if not gaps.any():
        return gaps, []
    told = f"unusual steps of time: {int(gaps.sum())} of {len(inside)}; "
    return gaps, [told + "the series is cut there, and no lag reaches across"]
