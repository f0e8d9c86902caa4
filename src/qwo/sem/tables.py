"""Records as data frames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def records_frame(fields: Sequence[str], records: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    """A data frame with one row for each record.

    Raises
    ------
    ModuleNotFoundError
        If pandas is not installed.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a table as a data frame needs pandas, which is not installed; run "
            "pip install 'qwo[pandas]', or use the records in .edges and .nodes"
        ) from error
    return pd.DataFrame(list(records), columns=list(fields))
