"""A result as one page of HTML that works offline."""

from qwo.report.data import report_data
from qwo.report.page import write_report

__all__ = ["report_data", "write_report"]
