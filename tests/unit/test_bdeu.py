"""BDeu: the score of tables that hold nothing but categories."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import qwo
from qwo.cli.application import app
from qwo.moments import Moments
from qwo.order.bdeu import BDeu

pytestmark = pytest.mark.filterwarnings("ignore::qwo.DataWarning")


def by_definition(codes, levels, child, parents, alpha):
    """The formula, over all combinations of levels, those that no row has among them."""
    total, q = 0.0, math.prod(levels[p] for p in parents)
    for combination in itertools.product(*(range(levels[p]) for p in parents)):
        rows = codes[(codes[:, list(parents)] == combination).all(axis=1), child]
        total += math.lgamma(alpha / q) - math.lgamma(alpha / q + len(rows))
        for level in range(levels[child]):
            cell = alpha / (q * levels[child])
            total += math.lgamma(cell + (rows == level).sum()) - math.lgamma(cell)
    return total


@pytest.fixture(scope="module")
def coded():
    rng = np.random.default_rng(3)
    levels = [2, 3, 4, 5]
    return np.column_stack([rng.integers(0, r, 60) for r in levels]), levels


@pytest.mark.parametrize("alpha", [0.5, 10.0])
@pytest.mark.parametrize("parents", [(), (0,), (1, 3), (0, 1, 3)])
def test_the_local_score_is_the_formula(coded, parents, alpha):
    codes, levels = coded
    found = BDeu(alpha).of(codes, levels)(2, parents)
    assert found == pytest.approx(by_definition(codes, levels, 2, parents, alpha), rel=1e-12)


def test_equivalent_graphs_have_one_score(coded):
    codes, levels = coded
    local = BDeu(4.0).of(codes, levels)
    chain = local(0, ()) + local(1, (0,)) + local(2, (0, 1))
    back = local(2, ()) + local(1, (2,)) + local(0, (1, 2))
    assert chain == pytest.approx(back, rel=1e-12)


def test_the_prior_must_be_worth_something():
    with pytest.raises(qwo.InputError, match="equivalent_sample_size is 0"):
        BDeu(0)


@pytest.fixture(scope="module")
def parity():
    """c is the parity of a and b, but for one row in ten; d is mostly c."""
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 2, (2, 800))
    c = a ^ b ^ (rng.random(800) < 0.1)
    d = np.where(rng.random(800) < 0.8, c, rng.integers(0, 3, 800))
    words = np.array(["no", "yes", "maybe"])
    return pd.DataFrame({"a": words[a], "b": words[b], "c": words[c], "d": words[d]})


def test_the_result_has_the_score_of_its_graph(parity):
    found = qwo.discover(parity, score="bdeu", knowledge={"tiers": [["a", "b"], ["c"], ["d"]]})
    assert ("c", "-->", "d") in found.edges
    assert found.params["score"] == "bdeu"
    assert found.params["penalty_discount"] is None
    local = BDeu().of(*_codes(parity))
    total = sum(
        local(v, tuple(np.flatnonzero(found.dag[:, v]).tolist())) for v in range(len(found.names))
    )
    assert found.score == pytest.approx(total)


def _codes(frame):
    columns = [np.unique(frame[name], return_inverse=True) for name in frame]
    return np.column_stack([codes for _, codes in columns]), [len(seen) for seen, _ in columns]


def test_a_tree_of_categories_is_found():
    rng = np.random.default_rng(0)
    root = rng.integers(0, 3, 3000)

    def noisy(column):
        return np.where(rng.random(3000) < 0.7, (column + 1) % 3, rng.integers(0, 3, 3000))

    left, right = noisy(root), noisy(root)
    leaf = noisy(left)
    frame = pd.DataFrame({"root": root, "left": left, "right": right, "leaf": leaf})
    found = qwo.discover(frame, score="bdeu", types=dict.fromkeys(frame, "nominal"), random_state=0)
    links = {frozenset((one, other)) for one, _, other in found.edges}
    wanted = {("root", "left"), ("root", "right"), ("left", "leaf")}
    assert links == set(map(frozenset, wanted))
    again = qwo.discover(
        frame, score=BDeu(10.0), types=dict.fromkeys(frame, "nominal"), random_state=0
    )
    assert (again.cpdag == found.cpdag).all()
    assert again.params["score"] == "BDeu(equivalent_sample_size=10.0)"


def test_numbers_are_refused_by_name(parity):
    frame = parity.assign(age=np.random.default_rng(0).normal(size=len(parity)))
    with pytest.raises(qwo.InputError, match="'age' holds numbers") as caught:
        qwo.discover(frame, score="bdeu")
    assert "score='bic'" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty_discount": 2.0}, "penalty_discount is 2.0"),
        ({"engine": "qwo"}, "engine is 'qwo'"),
        ({"alpha": 0.01}, "alpha is 0.01"),
        ({"missing": "em"}, "counts complete rows"),
        ({"weights": np.ones(800)}, "counts each row once"),
        ({"score": "bde"}, "score is 'bde'; wanted one of"),
    ],
)
def test_what_does_not_go_with_counts_is_refused(parity, options, message):
    with pytest.raises(qwo.InputError, match=message):
        qwo.discover(parity, **{"score": "bdeu", **options})


def test_moments_and_resamples_have_no_rows_to_count(parity):
    with pytest.raises(qwo.InputError, match="the data are Moments"):
        qwo.discover(Moments.from_data(parity), score="bdeu")
    with pytest.raises(qwo.InputError, match="the data are Moments"):
        qwo.bootstrap(Moments.from_data(parity), score="bdeu", n_resamples=2)


def test_rows_with_missing_categories_are_dropped(parity):
    holes = parity.copy()
    holes.loc[:49, "a"] = None
    found = qwo.discover(holes, score="bdeu", missing="drop", random_state=0)
    whole = qwo.discover(parity[50:], score="bdeu", random_state=0)
    assert found.score == pytest.approx(whole.score)


def test_the_command_line_takes_it(parity, tmp_path):
    file, out = tmp_path / "parity.csv", tmp_path / "out"
    parity.to_csv(file, index=False)
    done = CliRunner().invoke(app, ["learn", str(file), "--score", "bdeu", "-o", str(out)])
    assert done.exit_code == 0, done.output
    result = json.loads((out / "result.json").read_text())
    assert result["params"]["score"] == "bdeu"
    assert (out / "report.html").exists()
    refused = CliRunner().invoke(
        app, ["learn", str(file), "--score", "bdeu", "--penalty", "2", "-q"]
    )
    assert refused.exit_code == 1
    assert "--score bic" in refused.output


def test_words_that_spell_numbers_are_named():
    """It was said that there are no numeric columns, and not why."""
    words = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 3)), columns=list("xyz"))
    with pytest.raises(qwo.InputError, match="text that spells numbers"):
        qwo.discover(words.astype(str).astype(object), score="bdeu")
