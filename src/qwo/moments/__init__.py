"""From a table to sample moments: reading, auditing and estimating.

`Moments` and its constructors are for use in Python; `as_moments` takes whatever the user calls
data, with the options of `qwo.options.ReadOptions`. `read_moments` gives moments and audit
without warnings, `audit_data` looks at the same input without raising what is wrong, and
`read_table` gives the rows themselves.
"""

from qwo.inspection.audit import Audit, Finding
from qwo.moments.moments import Moments
from qwo.moments.reading import as_moments, read_moments, read_table
from qwo.moments.reading import audit as audit_data
from qwo.moments.reading import audit as audit_file

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
