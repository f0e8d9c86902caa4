"""``python -m qwo.cli``, the same as ``qwo``."""

from qwo.cli import main

main()
