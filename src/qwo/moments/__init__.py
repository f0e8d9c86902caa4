"""From a table to sample moments: reading, auditing and estimating.

`Moments` and its constructors are for use in Python. For a file with all that a command line can
ask for (selection of columns, transformation, covariance matrices) there is one call,
`read_moments(path, …) -> (Moments, Audit)`; `audit_file` looks at the same input without raising
what is wrong, and `read_table` gives the rows themselves.
"""

from qwo.moments.audit import audit_data
from qwo.moments.coercion import as_moments
from qwo.moments.findings import Audit, Finding
from qwo.moments.moments import Moments
from qwo.moments.reading import audit_file, read_moments, read_table

__all__ = [
    "Audit",
    "Finding",
    "Moments",
    "as_moments",
    "audit_data",
    "audit_file",
    "read_moments",
    "read_table",
]
