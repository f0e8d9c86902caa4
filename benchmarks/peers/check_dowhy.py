"""Our graphs in DoWhy's CausalModel and in pgmpy's linear Gaussian network, with the same numbers.

Run in an environment with ``requirements-dowhy.txt`` and this package::

    python -m venv .venv-dowhy
    .venv-dowhy/bin/pip install -r benchmarks/peers/requirements-dowhy.txt .
    .venv-dowhy/bin/python -m benchmarks.peers.check_dowhy
"""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from contextlib import chdir
from importlib.metadata import version
from itertools import permutations

import numpy as np
import pandas as pd
from dowhy import CausalModel
from pgmpy.models import LinearGaussianBayesianNetwork

from qwo import discover, fit_sem
from qwo.datasets import load_gaussian_network, load_sachs
from qwo.graph import CausalGraph, descendants, is_adjustment_set, to_networkx
from qwo.sem import adjusted_effect
from tests.docs.pages import TUTORIALS, run_page

TOLERANCE = 1e-6


def check_tutorial() -> tuple[int, float]:
    """Blocks of the page that run and print what it shows, and how far the estimates differ."""
    count, names = 0, {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for block, printed in run_page(TUTORIALS / "sachs.md", ["dowhy"], names):
            if not block.matches(printed):
                raise SystemExit(f"line {block.line} of the tutorial prints\n{printed}")
            count += 1
    theirs = names["estimate"].value
    ours = adjusted_effect(names["logs"], "Erk", "Akt", names["covariates"]).estimate
    return count, abs(theirs - ours)


def check_effects(rows: pd.DataFrame, dag: CausalGraph) -> tuple[int, float]:
    """DoWhy's effects of every variable on each of its descendants against ours."""
    count, worst = 0, 0.0
    graph = to_networkx(dag)
    for x, y in permutations(range(dag.n_variables), 2):
        if y not in descendants(dag.matrix, x):
            continue
        cause, effect = dag.names[x], dag.names[y]
        model = CausalModel(rows, cause, effect, graph=graph)
        estimand = model.identify_effect(proceed_when_unidentifiable=True)
        estimate = model.estimate_effect(
            estimand, method_name="backdoor.linear_regression", effect_modifiers=[]
        )
        theirs = estimand.get_backdoor_variables()
        ours = adjusted_effect(rows, cause, effect, theirs)
        if not is_adjustment_set(dag.matrix, x, y, map(dag.index, theirs)):
            raise SystemExit(f"{cause} → {effect}: DoWhy adjusts for {theirs}, which is not valid")
        worst = max(worst, abs(estimate.value - ours.estimate))
        count += 1
    return count, worst


def check_hidden() -> tuple[int, float]:
    """DoWhy on a graph with hidden causes: it has an effect where ours is identified, and alike."""
    rng = np.random.default_rng(1)
    a, b, c, hidden, x, y, z, v = rng.normal(size=(8, 5000))
    x = x + a + b
    y = y + 0.5 * x + hidden
    columns = {"a": a, "b": b, "x": x, "y": y, "z": z + 0.7 * y, "v": v + c + hidden, "c": c}
    rows = pd.DataFrame(columns)
    found = discover(rows, hidden_causes=True, random_state=0).hidden_causes
    count, worst = 0, 0.0
    for cause, effect in permutations(rows, 2):
        ours = found.effect(cause, effect)
        if ours.estimate == 0:
            continue
        model = CausalModel(rows, cause, effect, graph=found.to_networkx())
        estimand = model.identify_effect(proceed_when_unidentifiable=False)
        theirs = None if estimand.estimands is None else estimand.estimands["backdoor"]
        if (theirs is None) != np.isnan(ours.estimate):
            raise SystemExit(f"{cause} → {effect}: {ours}, but DoWhy has {theirs}")
        if theirs is not None:
            name = "backdoor.linear_regression"
            value = model.estimate_effect(estimand, method_name=name, effect_modifiers=[]).value
            given = estimand.get_backdoor_variables()
            worst = max(worst, abs(value - adjusted_effect(rows, cause, effect, given).estimate))
        count += 1
    return count, worst


def check_coefficients(rows: pd.DataFrame, dag: CausalGraph) -> tuple[int, float]:
    """Coefficients, intercepts and residual deviations of pgmpy's fit against `fit_sem`."""
    network = LinearGaussianBayesianNetwork()
    network.add_nodes_from(dag.names)
    network.add_edges_from(to_networkx(dag).edges)
    network.fit(rows)
    ours, worst = fit_sem(rows, dag.matrix), 0.0
    for equation in network.cpds:
        child = dag.index(equation.variable)
        causes = [dag.index(name) for name in equation.evidence]
        wanted = [
            ours.intercepts[child],
            *ours.coefficients[causes, child],
            np.sqrt(ours.nodes[child].unbiased_variance),
        ]
        worst = max(worst, np.abs(np.array([*equation.beta, equation.std]) - wanted).max())
    return ours.n_edges, float(worst)


def graphs() -> dict[str, tuple[pd.DataFrame, CausalGraph]]:
    """Tables with a graph each: found, published, and drawn from a published model."""
    sachs, ecoli = load_sachs(), load_gaussian_network("ecoli70")
    logs = sachs.to_frame()
    found = discover(logs, penalty_discount=1, random_state=0)
    drawn = pd.DataFrame(ecoli.sample(1000, random_state=0), columns=list(ecoli.names))
    return {
        "Sachs, found": (logs, CausalGraph(found.names, found.dag, "dag")),
        "Sachs, consensus": (logs, CausalGraph(sachs.names, sachs.truth, "dag")),
        "ECOLI70": (drawn, CausalGraph(ecoli.names, ecoli.dag, "dag")),
    }


def main() -> int:
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    results = [("dowhy", "tutorial, blocks", *check_tutorial())]
    results.append(("dowhy", "hidden causes, effects", *check_hidden()))
    for name, (rows, dag) in graphs().items():
        if dag.n_variables < 20:  # DoWhy looks through all sets to adjust for
            results.append(("dowhy", f"{name}, effects", *check_effects(rows, dag)))
        results.append(("pgmpy", f"{name}, coefficients", *check_coefficients(rows, dag)))
    print(f"{'tool':<8}{'version':<10}{'what':<32}{'count':>6}{'largest difference':>21}")
    for tool, what, count, difference in results:
        print(f"{tool:<8}{version(tool):<10}{what:<32}{count:>6}{difference:>21.1e}")
    return 0 if all(difference < TOLERANCE for *_, difference in results) else 1


if __name__ == "__main__":
    sys.exit(main())
