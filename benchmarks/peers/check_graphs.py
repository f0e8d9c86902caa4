"""CPDAGs, Meek's closure, distances and class sizes against the packages that also compute them.

Run in an environment with ``requirements-graphs.txt`` and this package::

    python -m benchmarks.peers.check_graphs --graphs 2000
    python -m benchmarks.peers.check_graphs --graphs 200 --sample FILE

The second also writes the graphs and answers to a file, for the tests. Tetrad takes part if
QWO_TETRAD_JAR is the path of its shaded jar.

Peers' implementations of Meek's rules are not complete, so where an answer about a closure differs,
all members of the class are listed and decide: of 5000 graphs, causal-learn 0.1.4.8 errs in 93 and
pgmpy 1.1.2 in 160.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.graph_peers import PEERS, Answers
from qwo.graph import descendants, enumerate_dags, meek_closure, shd, to_cpdag
from qwo.graph.adjustment import adjustment_set, is_adjustment_set
from qwo.graph.compare import tetrad_shd
from qwo.graph.dag import ancestors, parents
from qwo.graph.sampling import class_size


class Case(NamedTuple):
    """Two DAGs over the same variables, and the first one's CPDAG with some edges given away."""

    truth: np.ndarray
    estimate: np.ndarray
    informed: np.ndarray


def random_cases(count: int, seed: int) -> Iterator[Case]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, 9))  # classes of at most 8! members
        truth, estimate = (_random_dag(rng, n, rng.uniform(0.1, 0.9)) for _ in range(2))
        informed = to_cpdag(truth)
        known = (informed == 2) & (truth == 1) & (rng.random((n, n)) < 0.3)
        informed[known] = 1
        informed[known.T] = 0
        yield Case(truth, estimate, informed)


def _random_dag(rng: np.random.Generator, n: int, density: float) -> np.ndarray:
    order = rng.permutation(n)
    ordered = np.triu(rng.random((n, n)) < density, 1)
    return ordered[np.ix_(order, order)].astype(np.int8)


def wrong_effects(
    estimated: np.ndarray,
    truth: np.ndarray,
    strategy: Callable[[np.ndarray, int, int], list[int] | None],
) -> int:
    """The adjustment identification distance between DAGs, by its definition.

    The strategy names the covariates for an effect in the estimated graph, or None for no effect.
    """
    wrong = 0
    for cause in range(len(truth)):
        affected = set(descendants(truth, cause).tolist())
        for effect in set(range(len(truth))) - {cause}:
            covariates = strategy(estimated, cause, effect)
            if covariates is None:
                wrong += effect in affected
            else:
                wrong += not is_adjustment_set(truth, cause, effect, covariates)
    return wrong


def _by_parents(dag: np.ndarray, cause: int, effect: int) -> list[int] | None:
    chosen = parents(dag, cause).tolist()
    return None if effect in chosen else chosen


def _by_ancestors(dag: np.ndarray, cause: int, effect: int) -> list[int] | None:
    return ancestors(dag, cause).tolist() if effect in descendants(dag, cause) else None


def _by_optimal_set(dag: np.ndarray, cause: int, effect: int) -> list[int] | None:
    if effect not in descendants(dag, cause):
        return None
    return list(adjustment_set(dag, cause, effect, "optimal"))


OURS: Answers = {
    "cpdag": to_cpdag,
    "closure": meek_closure,
    "shd": shd,
    "tetrad_shd": tetrad_shd,
    "class_size": class_size,
    "parent_aid": lambda guess, truth: wrong_effects(guess, truth, _by_parents),
    "ancestor_aid": lambda guess, truth: wrong_effects(guess, truth, _by_ancestors),
    "oset_aid": lambda guess, truth: wrong_effects(guess, truth, _by_optimal_set),
}
ARGUMENTS: dict[str, Callable[[Case], tuple[np.ndarray, ...]]] = {
    "cpdag": lambda case: (case.truth,),
    "closure": lambda case: (case.informed,),
    "shd": lambda case: (to_cpdag(case.estimate), to_cpdag(case.truth)),
    "class_size": lambda case: (to_cpdag(case.truth),),
}


def ask(answer: Callable[..., Any], question: str, case: Case) -> Any:
    """The answer for a case, as plain lists and integers."""
    arguments = ARGUMENTS.get(question, lambda c: (c.estimate, c.truth))(case)
    return np.asarray(answer(*arguments)).tolist()


def closure_by_definition(case: Case) -> list[list[int]]:
    """The arrows that all members of the class share which have the arrows given away."""
    union = np.zeros(case.truth.shape, dtype=int)
    for dag in enumerate_dags(to_cpdag(case.truth)):
        if dag[case.informed == 1].all():
            union |= dag
    return np.where(union & union.T, 2, union).tolist()


def main() -> int:
    options = _options()
    cases = list(random_cases(options.graphs, options.seed))
    ours = {
        question: [ask(answer, question, c) for c in cases] for question, answer in OURS.items()
    }
    versions, confirmed, failures = {}, set(), 0
    print(
        f"{'peer':<14}{'version':<28}{'question':<14}{'graphs':>8}{'differ':>8}{'ours wrong':>12}"
    )
    for peer, load in PEERS.items():
        try:
            versions[peer], answers = load()
        except ImportError as error:
            print(f"{peer:<14}left out: {error}")
            continue
        for question, answer in answers.items():
            theirs = [ask(answer, question, case) for case in cases]
            differing = [k for k, case in enumerate(theirs) if case != ours[question][k]]
            wrong = [k for k in differing if not _is_right(question, cases[k], ours[question][k])]
            print(
                f"{peer:<14}{versions[peer]:<28}{question:<14}"
                f"{len(cases):>8}{len(differing):>8}{len(wrong):>12}"
            )
            confirmed.add(question)
            failures += len(wrong)
            for k in wrong[:1]:
                _show(cases[k], ours[question][k], theirs[k])
    if options.sample and not failures:
        write_sample(options.sample, cases, {q: ours[q] for q in sorted(confirmed)}, versions)
    return 1 if failures else 0


def _is_right(question: str, case: Case, ours: Any) -> bool:
    """Whether a disagreement is the peer's: its Meek rules may miss arrows, or add some."""
    return question == "closure" and ours == closure_by_definition(case)


def _show(case: Case, ours: Any, theirs: Any) -> None:
    print(f"  truth {case.truth.tolist()}\n  estimate {case.estimate.tolist()}")
    print(f"  informed {case.informed.tolist()}\n  ours {ours}\n  theirs {theirs}")


def write_sample(
    path: Path, cases: list[Case], answers: dict[str, list[Any]], versions: dict[str, str]
) -> None:
    """The cases and answers with a checksum of their canonical text."""
    rows = [
        {
            **{name: _text(getattr(case, name)) for name in Case._fields},
            **{question: _text(values[k]) for question, values in answers.items()},
        }
        for k, case in enumerate(cases)
    ]
    lines = ",\n".join(f"    {json.dumps(row, sort_keys=True)}" for row in rows)
    path.write_text(
        f'{{\n  "peers": {json.dumps(versions)},\n  "sha256": "{checksum(rows)}",\n'
        f'  "cases": [\n{lines}\n  ]\n}}\n',
        encoding="utf-8",
    )


def checksum(rows: list[dict[str, Any]]) -> str:
    """The SHA-256 of the rows, independent of how they are laid out."""
    canonical = json.dumps(rows, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _text(answer: Any) -> str | int:
    """A matrix as its rows of digits with blanks between; numbers as they are."""
    if isinstance(answer, int):
        return answer
    return " ".join("".join(map(str, row)) for row in np.asarray(answer).tolist())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
