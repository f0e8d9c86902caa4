"""How far a graph agrees with rows of several conditions, each with equations of its own.

Conditions change coefficients, not which variables stand in an equation: the independences that a
DAG implies hold in the rows of each by themselves, whatever was touched there. So each condition is
checked with coefficients fitted to its own rows; as rows of different conditions are independent,
p-values of the same kind of evidence combine by Fisher's method.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from qwo.agreement.result import Check, Test
from qwo.archives import ResultRecord
from qwo.arguments import ReadArguments
from qwo.errors import (
    ArgumentError,
    DataWarning,
    InputError,
    SampleSizeError,
    Wording,
    list_names,
    python_wording,
)
from qwo.graph.coercion import as_graph
from qwo.options import SearchOptions
from qwo.regimes.reading import regime_rows
from qwo.text import count

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ConditionChecks(ResultRecord):
    """How far the rows of each condition agree with a graph; `summary` says it in plain words.

    Attributes
    ----------
    alarm : bool
        Whether any kind of evidence flags a conflict, over all conditions.
    tests : tuple of Test
        The kinds of evidence, each combined over conditions (Fisher), all at ``alpha`` together.
    checks : mapping
        From each condition to the `Check` of its rows alone, each at ``alpha`` by itself.
    left_out : mapping
        From conditions that cannot be checked to the reason.
    names : tuple of str
        The variables.
    params : mapping
        The parameters.
    """

    alarm: bool
    tests: tuple[Test, ...]
    checks: Mapping[str, Check]
    left_out: Mapping[str, str]
    names: tuple[str, ...]
    params: Mapping[str, Any]

    def __getitem__(self, condition: str) -> Check:
        return self.checks[condition]

    @property
    def noise_may_tell(self) -> bool:
        """Whether open edges may be directed by noise that is not normal, in any condition."""
        return any(own.noise_may_tell for own in self.checks.values())

    def summary(self, _wording: Wording = python_wording) -> str:
        """What was found, in plain words first, figures below."""
        return f"{self._verdict()}\n\n{self._conditions()}\n\n{self._figures()}"

    def _verdict(self) -> str:
        flagged = [test.name for test in self.tests if test.alarm]
        many = count(len(self.checks), "condition")
        if flagged:
            return f"Alarm: the rows of {many} contradict the graph ({', '.join(flagged)})."
        return (
            f"No alarm: the rows of {many} do not contradict the graph, each with coefficients of "
            "its own. That is no proof of it."
        )

    def _conditions(self) -> str:
        width = max(map(len, (*self.checks, *self.left_out)))
        alone = sum(own.alarm for own in self.checks.values())
        many = count(len(self.checks), "condition")
        lines = [f"{alone} of {many} flag a conflict by themselves, at the same level:"]
        for label, own in self.checks.items():
            flagged = [test.name for test in own.tests if test.alarm]
            said = f"flags a conflict ({', '.join(flagged)})" if flagged else "no conflict"
            fails = f"{int(own.failing.sum())} of {len(own.independences)} independences fail"
            lines.append(f"  {label:<{width}}  {own.n_samples:>6.0f} rows  {fails}; {said}")
        lines += [f"  {label:<{width}}  not checked: {why}" for label, why in self.left_out.items()]
        return "\n".join(lines)

    def _figures(self) -> str:
        return "\n".join(
            ["p-values over all conditions (Fisher):", *(f"  {t}" for t in self.tests)]
        )

    def to_frame(self) -> pd.DataFrame:
        """The implied independences of every condition, as `Check.to_frame` has them."""
        import pandas as pd

        frames = {label: own.to_frame() for label, own in self.checks.items()}
        together = pd.concat(frames, names=["condition", None]).reset_index("condition")
        return together.reset_index(drop=True)

    def to_dict(self) -> dict[str, Any]:
        """The verdict, the tests over all conditions, and the check of each."""
        return {
            "alarm": self.alarm,
            "tests": [asdict(test) for test in self.tests],
            "conditions": {label: own.to_dict() for label, own in self.checks.items()},
            "left_out": dict(self.left_out),
            "parameters": dict(self.params),
        }

    def __repr__(self) -> str:
        state = "alarm" if self.alarm else "no alarm"
        return f"<ConditionChecks: {state}, {count(len(self.checks), 'condition')}>"


def check_conditions(
    data: Any,
    graph: Any,
    regime: str | int | None,
    options: Mapping[str, Any],
    **reading: Unpack[ReadArguments],
) -> ConditionChecks:
    """`qwo.check` of the rows of each condition: those of a column, or the keys of a mapping.

    Rows without an entry are a condition in which nothing was touched, as in a column of targets.
    The graph counts as given beforehand: it was learnt from all rows, of which those of one
    condition are a small part.
    """
    from qwo.agreement.check import check

    if reading.get("weights") is not None:
        raise ArgumentError(
            "weights do not go with a check of conditions, which looks at rows; leave them out",
            option="weights",
        )
    search = SearchOptions(regime=regime, targets=None if regime is None else str(regime))
    table, labels = regime_rows(data, search, reading)
    as_graph(graph, table.names, kind="dag")
    checks: dict[str, Check] = {}
    left_out: dict[str, str] = {}
    for label in dict.fromkeys(labels.tolist()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # said of all rows already
            try:
                checks[label] = check(table.rows(labels == label), graph, learnt=False, **options)
            except InputError as error:
                left_out[label] = str(error.args[0])
    if not checks:
        raise SampleSizeError(
            f"the rows of no condition can be checked by themselves: {list_names(left_out)}; "
            f"of the first: {next(iter(left_out.values()))}"
        )
    tests = _combined(list(checks.values()), options["alpha"])
    params = {"regime": regime, **options}
    alarm = any(test.alarm for test in tests)
    return ConditionChecks(alarm, tests, checks, left_out, table.names, params)


def _combined(checks: list[Check], alpha: float) -> tuple[Test, ...]:
    """Fisher's combination of each kind of evidence, at its share of alpha."""
    from scipy.special import chdtrc

    kinds: dict[str, list[float]] = {}
    for own in checks:
        for test in own.tests:
            if not math.isnan(test.p_value):
                kinds.setdefault(test.name, []).append(test.p_value)
    found = {
        name: float(chdtrc(2 * len(p), -2 * np.log(np.maximum(p, 1e-300)).sum()))
        for name, p in kinds.items()
    }
    return tuple(Test(name, p, bool(p <= alpha / len(found))) for name, p in found.items())
