"""``python -m benchmarks.walk``: how far a call of the library walks through its own modules.

Counts the modules and functions of the package that a call enters, how often it goes from one
module to another, and how many different pairs of modules that are. Few of each make a library that
can be read. How often depends on how long the search takes; the ways do not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import qwo

SOURCE = str(Path(qwo.__file__).parent)


@dataclass(frozen=True)
class Walk:
    """Where a call has been.

    functions: how often each function was entered, as (module, name).
    switches: how often it went from one module to another, in calls.
    """

    functions: Counter[tuple[str, str]]
    switches: Counter[tuple[str, str]]

    @property
    def modules(self) -> set[str]:
        """The modules entered."""
        return {module for module, _ in self.functions}

    def __str__(self) -> str:
        return (
            f"{len(self.modules)} modules, {len(self.functions)} functions, "
            f"{self.switches.total()} changes of module over {len(self.switches)} ways"
        )


def walked(call: Callable[[], object]) -> Walk:
    """The walk of a call that is made for the second time: imports are no part of it."""
    call()
    functions: Counter[tuple[str, str]] = Counter()
    switches: Counter[tuple[str, str]] = Counter()

    def see(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        # Comprehensions and small functions without a name are part of what they stand in.
        if event != "call" or not code.co_filename.startswith(SOURCE) or "<" in code.co_name:
            return
        module, before = _module(frame), _module(frame.f_back)
        functions[str(module), code.co_qualname] += 1
        if before is not None and before != module:
            switches[before, str(module)] += 1

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Walk(functions, switches)


def count_calls(call: Callable[[], object]) -> int:
    """How many functions, of whatever package, a call that is made for the second time calls."""
    call()
    made = 0

    def see(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return made


def _module(frame: FrameType | None) -> str | None:
    """The module of the nearest frame that is the package's own."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(SOURCE):
            return str(Path(file).relative_to(SOURCE).with_suffix(""))
        frame = frame.f_back
    return None


def calls(folder: Path, n_variables: int = 5) -> dict[str, Callable[[], object]]:
    """What is looked at: reading a file; a search from a file, an array and moments."""
    drawn = qwo.simulate("er", n_variables=n_variables, n_samples=200, random_state=1)
    file = folder / f"data-{n_variables}.csv"
    names = ",".join(f"x{k}" for k in range(n_variables))
    np.savetxt(file, drawn.data, delimiter=",", header=names, comments="")
    moments = qwo.Moments.from_data(drawn.data)
    return {
        "Moments of csv": lambda: qwo.Moments.from_data(file),
        "discover(csv)": lambda: qwo.discover(file, random_state=0),
        "… at a given price": lambda: qwo.discover(file, random_state=0, penalty_discount=2.0),
        "discover(array)": lambda: qwo.discover(drawn.data, random_state=0),
        "discover(moments)": lambda: qwo.discover(moments, random_state=0),
    }


def main() -> None:
    """Print the figures of each call, and the functions of the first if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", action="store_true", help="list those of discover(csv)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 30], help="variables")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for n in given.sizes:
            print(f"{n} variables")
            for name, call in calls(Path(folder), n).items():
                walk = walked(call)
                print(f"  {name:<20} {walk}")
                if given.functions and name == "discover(csv)":
                    _list(walk)


def _list(walk: Walk) -> None:
    """Print the functions entered, and the changes of module with how often they were made."""
    for (module, function), times in sorted(walk.functions.items()):
        print(f"    {module:<24} {function:<48} {times}")
    for (before, after), times in walk.switches.most_common():
        print(f"    {before:<24} → {after:<46} {times}")


if __name__ == "__main__":
    main()
