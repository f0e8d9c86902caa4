"""What ``make demo`` runs: the command line on the bundled data of Sachs et al., with a bootstrap.

The table comes with the package; it is written to a file first, to begin where a user would.
"""

from __future__ import annotations

import csv
import shlex
import subprocess
import sys
import time
from pathlib import Path

from qwo.datasets import load_sachs

OUTPUT = Path("demo-output")
TABLE = OUTPUT / "sachs.csv"
RESULT = OUTPUT / "result"
RESAMPLES = 200


def write_table() -> None:
    """The 853 observational cells, as intensities."""
    sachs = load_sachs(log=False)
    OUTPUT.mkdir(exist_ok=True)
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(sachs.names)
        writer.writerows(sachs.values.tolist())


def main() -> None:
    started = time.perf_counter()
    write_table()
    arguments = ["learn", str(TABLE), "--transform", "log", "--bootstrap", str(RESAMPLES)]
    arguments += ["--output", str(RESULT), "--force"]
    print(f"$ {shlex.join(['qwo', *arguments])}", flush=True)
    subprocess.run([sys.executable, "-m", "qwo.cli", *arguments], check=True)
    print(f"\n{time.perf_counter() - started:.0f} seconds. Open in a browser:")
    print(f"  {(RESULT / 'report.html').resolve().as_uri()}")


if __name__ == "__main__":
    main()
