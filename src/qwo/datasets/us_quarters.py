"""The economy of the United States by quarters, 1959 to 2009: a time series to try things on.

Public domain: Federal Reserve Bank of St. Louis (FRED) and, for unemployment, the Bureau of Labor
Statistics, as compiled by Skipper Seabold for statsmodels (``macrodata``).
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from qwo.errors import optional_module

if TYPE_CHECKING:
    import pandas as pd


def load_us_quarters() -> pd.DataFrame:
    """203 quarters of gdp, consumption and investment (billions of 2005 dollars), and three rates.

    These are unemployment, inflation and the rate of three-month Treasury bills, in percent;
    ``date`` is the first day of the quarter.
    """
    pandas = optional_module("pandas", "data frames need", "pandas")
    with (files("qwo.datasets") / "us-quarters.csv").open() as file:
        frame: pd.DataFrame = pandas.read_csv(file)
    return frame
