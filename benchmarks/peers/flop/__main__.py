"""Side by side with FLOP: accuracy, score, processor time and memory on the same data.

Run with ``python -m benchmarks.peers.flop [--profile smoke]``; `make bench-flop` first makes the
environment that FLOP lives in. Finished runs are kept: started again, the benchmark goes on where
it was. ``--renew`` runs this package anew and keeps the runs of FLOP, and the best scores known.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import groupby
from pathlib import Path

from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.flop.plot import plot_curves
from benchmarks.peers.flop.records import Records, retire
from benchmarks.peers.flop.runner import Pythons, run_jobs
from benchmarks.peers.flop.settings import PROFILES, Setting
from benchmarks.peers.flop.summary import Summary
from benchmarks.peers.flop.table import report
from benchmarks.peers.markdown import update_page
from benchmarks.peers.process import ROOT

RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks" / "flop.md"
PLOT = PAGE.with_name("flop-restarts.png")


def main() -> None:
    """Run what is missing, print the tables, and bring the page up to date."""
    arguments = _arguments()
    settings = PROFILES[arguments.profile]
    standard = arguments.profile == "standard"
    records = Records(RESULTS / ("flop.csv" if standard else f"flop-{arguments.profile}.csv"))
    if not arguments.report:
        kept = records.read()
        records.write(retire(kept) if arguments.renew else kept)
        pythons: Pythons = {"qwo": Path(sys.executable), "flop": arguments.flop_python}
        complete(settings, records, pythons, arguments.jobs)
    summary = Summary(records.read())
    tables = report(settings, summary)
    print(tables)
    if standard:
        plot_curves(settings, summary, PLOT)
        update_page(PAGE, tables)


def complete(
    settings: Sequence[Setting], records: Records, pythons: Pythons, jobs: int = 1
) -> None:
    """Run all jobs that there is no record of, some data sets at a time."""
    done = {record.job for record in records.read()}
    with ThreadPoolExecutor(jobs) as pool:
        running = [
            pool.submit(lambda *given: list(run_jobs(*given)), setting, own, pythons)
            for setting in settings
            for _, same in groupby(setting.jobs(), key=lambda job: job.seed)
            if (own := [job for job in same if job not in done])
        ]
        for number, ended in enumerate(as_completed(running), 1):
            for record in ended.result():
                records.append(record)
                print(
                    f"{number} of {len(running)} data sets: {record.tool}, {record.setting}, seed "
                    f"{record.seed}, restarts {record.restarts}: SHD {record.shd}, "
                    f"{record.cpu:.3g} s",
                    file=sys.stderr,
                    flush=True,
                )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Side by side with FLOP.")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="standard")
    parser.add_argument("--renew", action="store_true", help="run qwo anew, keep FLOP's runs")
    parser.add_argument("--jobs", type=int, default=1, help="data sets at a time")
    parser.add_argument("--report", action="store_true", help="run nothing, show what there is")
    parser.add_argument(
        "--flop-python",
        type=Path,
        default=ENVIRONMENTS["flop"].python,
        help="the Python of the environment with flopsearch",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
