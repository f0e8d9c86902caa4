"""The command line, ``qwo``: options and wording only, no numerics.

Every module here is quick to import: what takes time is imported by the command that needs it.
"""

from qwo.cli.application import app, main

__all__ = ["app", "main"]
