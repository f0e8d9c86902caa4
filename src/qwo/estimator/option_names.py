"""Messages about an option in the name that it has here.

What the rest of the package calls ``estimator`` is ``covariance_estimator`` in this one, whose
`QWO` is an estimator itself.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from qwo.errors import DataWarning, InputError

_OPTION = re.compile(r"\bestimator(?==| is )")


@contextmanager
def covariance_estimator_named() -> Iterator[None]:
    """Errors and warnings of the block that speak of ``estimator`` name it as it is named here."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            yield
        except InputError as error:
            error.args = (_renamed(str(error)),)
            raise
    for warning in caught:
        text = _renamed(str(warning.message))
        warnings.warn_explicit(text, warning.category, warning.filename, warning.lineno)


def _renamed(message: str) -> str:
    return _OPTION.sub("covariance_estimator", message)
