"""From a table to sample moments: reading, auditing and estimating."""

from qwo.moments.audit import audit_data
from qwo.moments.coercion import as_moments
from qwo.moments.findings import Audit, Finding
from qwo.moments.moments import Moments

__all__ = ["Audit", "Finding", "Moments", "as_moments", "audit_data"]
