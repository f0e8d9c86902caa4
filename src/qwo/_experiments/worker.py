"""Runs in a process of their own: ``python -m qwo._experiments.worker``.

The runs and the budget of each come as a JSON object on standard input; a row goes to standard
output as each run ends. Where the system can, a run that exceeds its budget of processor
time ends the process: other people's code cannot be asked to stop.
"""

from __future__ import annotations

import json
import signal
import sys

from qwo._experiments.tasks import GRACE, run_here


def main() -> None:
    """Read the runs, make them, write their rows."""
    request = json.load(sys.stdin)
    budget = request["budget"]
    rows = run_here(request["runs"], budget)
    while True:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, budget + GRACE)
        row = next(rows, None)
        if row is None:
            break
        sys.stdout.write(json.dumps(row._asdict()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
