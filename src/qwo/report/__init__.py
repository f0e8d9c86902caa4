"""A result as one page of HTML that works offline."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qwo.report.data import report_data
    from qwo.report.page import write_report

__all__ = ["report_data", "write_report"]


def __getattr__(name: str) -> Any:
    """What is asked for, imported only then: a verdict on the terminal needs no page."""
    homes = {"report_data": "qwo.report.data", "write_report": "qwo.report.page"}
    if name not in homes:
        raise AttributeError(f"module 'qwo.report' has no attribute {name!r}")
    return getattr(import_module(homes[name]), name)
