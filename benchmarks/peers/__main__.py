"""Side by side with the field: ``python -m benchmarks.peers [--profile smoke]``.

`make bench-peers` first makes the environments that the peers live in. Finished runs are kept:
started again, the benchmark goes on where it was. ``--report`` runs nothing, it shows what there
is. ``--renew`` runs our own methods again, unless that was begun, and leaves the peers' runs as
they are in the table.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from benchmarks.peers.cells import PROFILES
from benchmarks.peers.data import Sources
from benchmarks.peers.environments import ready_pythons
from benchmarks.peers.methods import METHODS
from benchmarks.peers.page import write_page
from benchmarks.peers.process import ROOT, Workers
from benchmarks.peers.results import Results
from benchmarks.peers.study import Study

RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks" / "peers.md"
CHAMBER = "QWO_CAUSAL_CHAMBER"


def main() -> None:
    """Run what is missing, keep the results, and bring the page up to date."""
    # A termination ends the workers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    arguments = _arguments()
    profile = PROFILES[arguments.profile]
    results = Results(RESULTS, arguments.profile)
    if not arguments.report:
        pythons = ready_pythons() | dict(arguments.python)
        ours = [m.name for m in METHODS.values() if m.environment == "qwo"]
        renewed = ours if arguments.renew else ()
        with Workers(pythons) as workers, results.store(renewed) as store:
            sources = Sources(workers, arguments.chamber)
            Study(profile, store, workers, sources, _say).complete()
    tables = write_page(profile, results.table(), PAGE if arguments.profile == "standard" else None)
    print(tables)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Side by side with the field.")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="standard")
    parser.add_argument("--report", action="store_true", help="run nothing, show what there is")
    parser.add_argument(
        "--renew",
        action="store_true",
        help="begin with the peers' runs of the table that is kept, and run our own again",
    )
    parser.add_argument(
        "--chamber",
        type=Path,
        default=os.environ.get(CHAMBER),
        help=f"the folder of the causal chamber's data; by default what {CHAMBER} names",
    )
    parser.add_argument(
        "--python",
        type=_named_path,
        action="append",
        default=[],
        metavar="ENVIRONMENT=PATH",
        help="the Python of an environment, in the place of the one made for it",
    )
    return parser.parse_args()


def _named_path(text: str) -> tuple[str, Path]:
    name, _, path = text.partition("=")
    return name, Path(path)


if __name__ == "__main__":
    main()
