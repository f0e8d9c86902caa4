"""``python -m tests.fuzz``: the fuzz suite, with counts for each area."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.harness import load_areas, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("areas", nargs="*", help="areas to run; all if none is named")
    parser.add_argument("--seeds", type=int, default=2000, help="cases of each area")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=60.0, help="at most so long an area")
    arguments = parser.parse_args()
    known = load_areas()
    unknown = [name for name in arguments.areas if name not in known]
    if unknown:
        parser.error(f"no such areas: {', '.join(unknown)}; there are {', '.join(known)}")
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    all_counts = []
    for name in arguments.areas or known:
        counts = run(name, seeds, arguments.seconds)
        all_counts.append(counts)
        print(counts, flush=True)  # noqa: T201
        for seed, failure in list(counts.failures.items())[:5]:
            print(f"  seed {seed}:\n{failure}")  # noqa: T201
    total = sum(counts.tried for counts in all_counts)
    failed = sum(len(counts.failures) for counts in all_counts)
    print(f"{total} cases, {failed} failed")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
