"""Records as data frames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qwo.optional import optional_module

if TYPE_CHECKING:
    import pandas as pd


def records_frame(fields: Sequence[str], records: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    """A data frame with one row for each record.

    Raises
    ------
    MissingPackageError
        If pandas is not installed.
    """
    pandas = optional_module("pandas", "a table as a data frame needs", "qwo[pandas]")
    frame: pd.DataFrame = pandas.DataFrame(list(records), columns=list(fields))
    return frame
