"""What the exit code of a command says."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    FINE = 0
    """Done."""

    INPUT = 1
    """The input cannot be used, or a file cannot be written; the message says why."""

    USAGE = 2
    """The command line itself is wrong: an unknown command, option or choice."""

    ATTENTION = 3
    """Done, and something asks for attention: warnings of an audit, a bootstrap that failed."""

    BUG = 70
    """A fault of qwo itself."""

    INTERRUPTED = 130
    """Ctrl-C or a request to terminate; ``qwo learn`` has saved the best graph so far."""

    BROKEN_PIPE = 141
    """Whoever read the output went away, as ``head`` does."""
