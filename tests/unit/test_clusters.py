"""Rows that belong together: effective N, clusters drawn whole, advice of the audit."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import ArgumentError, DataWarning, InputError
from qwo.inspection.audit import looks_like_cluster
from qwo.moments.estimators import design_effect, intraclass_correlations
from qwo.resample.draws import Scheme


def visits(
    seed: int, patients: int, rows: int, share: float, n: int = 8
) -> tuple[pd.DataFrame, Any]:
    """Independent variables, of whose variance a share is the patient's."""
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(patients), rows)
    own, each = rng.normal(size=(patients, n))[number], rng.normal(size=(len(number), n))
    values = np.sqrt(share) * own + np.sqrt(1 - share) * each
    return pd.DataFrame(values, columns=[f"x{k}" for k in range(n)]), number


def test_the_share_between_clusters_is_found() -> None:
    frame, number = visits(0, 300, 6, 0.4)
    shares = intraclass_correlations(frame.to_numpy(), number)
    assert shares == pytest.approx(0.4, abs=0.09)
    assert design_effect(frame.to_numpy(), number) == pytest.approx(1 + 5 * 0.16, abs=0.15)
    shuffled = np.random.default_rng(1).permutation(number)
    assert design_effect(frame.to_numpy(), shuffled) == pytest.approx(1, abs=0.02)
    constant = frame.groupby(number).transform("mean").to_numpy()
    assert design_effect(constant, number) == pytest.approx(6)


def test_the_design_effect_is_that_of_products() -> None:
    """Over many data sets: how much more correlations vary than those of independent rows."""
    found, expected = [], []
    for seed in range(40):
        frame, number = visits(seed, 30, 10, 0.5, n=5)
        matrix = np.corrcoef(frame.to_numpy().T)
        found += (matrix[np.triu_indices(5, 1)] ** 2 * len(frame)).tolist()
        expected.append(design_effect(frame.to_numpy(), number))
    assert np.mean(found) == pytest.approx(np.mean(expected), rel=0.2)


def test_chance_within_clusters_is_no_structure() -> None:
    plain, told = 0, 0
    for seed in range(6):
        frame, number = visits(seed, 40, 20, 0.6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            plain += qwo.discover(frame, random_state=0).n_edges
        found = qwo.discover(frame.assign(patient=number), cluster="patient", random_state=0)
        told += found.n_edges
        assert "patient" not in found.names
        assert found.params["n_samples"] < 0.4 * len(frame)
    assert plain >= 20
    assert told <= 2


def test_bootstraps_draw_whole_clusters() -> None:
    frame, number = visits(2, 30, 7, 0.5, n=4)
    for resampling, size in (("halves", 15), ("subsamples", 15), ("replacement", 30)):
        scheme = Scheme(resampling, 30, size, number)  # type: ignore[arg-type]
        counts = scheme.weights(5, 3)
        assert counts.sum() == 7 * size
        assert all(len(set(counts[number == k])) == 1 for k in range(30))
    halves = [Scheme("halves", 30, 15, number).weights(5, k) for k in (2, 3)]
    assert (halves[0] + halves[1] == 1).all()
    frame["kind"] = pd.Categorical.from_codes(number % 3, ["a", "b", "c"])
    table = frame.assign(patient=[f"p{k}" for k in number])
    shrunk: dict[str, Any] = {"covariance_estimator": "oas", "drop": ["kind"]}
    for more in ({}, shrunk):
        found = qwo.bootstrap(table, cluster="patient", n_resamples=8, random_state=1, **more)
        assert found.params["n_clusters"] == 30
        assert found.params["resample_size"] == pytest.approx(found.params["n_samples"] / 2)


def test_files_frames_and_positions_give_the_same(tmp_path: Path) -> None:
    frame, number = visits(3, 25, 4, 0.5, n=4)
    table = frame.assign(patient=[f"p{k}" for k in number])
    table.to_csv(tmp_path / "visits.csv", index=False)
    one = qwo.discover(table, cluster="patient", random_state=0)
    two = qwo.discover(tmp_path / "visits.csv", cluster=4, random_state=0)
    assert one.params["n_samples"] == pytest.approx(two.params["n_samples"])
    assert one.fit().n_samples == pytest.approx(one.params["n_samples"])
    told = {a.name: a for a in one.assumptions}["independent rows"]
    assert (told.status, told.reason) == ("dropped", "cluster")
    table.loc[3, "x1"] = np.nan
    for missing in ("drop", "em"):
        moments, audit = qwo.moments.read_moments(
            table,
            cluster="patient",
            missing=missing,  # type: ignore[arg-type]
        )
        assert moments.n_samples < 80
        assert "effective-size" in {finding.code for finding in audit.findings}


@pytest.mark.parametrize(
    "asked",
    [
        {"lags": 1},
        {"regime": "x0"},
        {"relations": "curved"},
        {"arrows": "noise"},
        {"score": "bdeu"},
        {"weights": np.ones(40)},
        {"cluster": "nobody"},
        {"cluster": 2.5},
        {"cluster": "flag"},
    ],
)
def test_what_does_not_go_with_clusters_is_refused(asked: dict[str, Any]) -> None:
    frame, number = visits(4, 10, 4, 0.5, n=3)
    table = frame.assign(patient=number, flag=number % 2)
    with pytest.raises(InputError):
        qwo.discover(table, **{"cluster": "patient", **asked})


def test_the_check_and_holes_in_the_column_are_refused() -> None:
    frame, number = visits(4, 25, 4, 0.5, n=3)
    table = frame.assign(patient=[f"p{k}" for k in number])
    found = qwo.discover(table, cluster="patient", penalty_discount=1.0)
    with pytest.raises(ArgumentError, match="one row of each cluster"):
        found.check()
    table.loc[0, "patient"] = None
    with pytest.raises(ArgumentError, match="1 rows have no value of 'patient'"):
        qwo.discover(table, cluster="patient")


def test_the_audit_proposes_it_where_a_column_repeats() -> None:
    frame, number = visits(5, 30, 5, 0.5, n=3)
    for column, values in (
        ("patient_id", number + 100),
        ("patient", [f"p{k}" for k in number]),
        ("subject", [f"p{k % 6}" for k in number]),
    ):
        found = qwo.audit(frame.assign(**{column: values}))
        cures = [c for f in found.findings for c in f.cures if c.option == "cluster"]
        assert [c.value for c in cures] == [column]
    alone = qwo.audit(frame.assign(patient_id=np.arange(len(frame))))
    assert not [c for f in alone.findings for c in f.cures if c.option == "cluster"]
    assert looks_like_cluster("PatientId")
    assert not looks_like_cluster("patience")


def test_weights_that_make_many_rows_of_few_are_doubted() -> None:
    """Weights of 1000 on noise gave edges with 0.0 expected false."""
    values = np.random.default_rng(1).normal(size=(60, 6))
    with pytest.warns(DataWarning, match="divide the weights by their mean"):
        found = qwo.discover(values, weights=np.full(60, 1000.0), random_state=0)
    assert found.n_edges
    assert np.isnan(found.expected_false_edges)
    counts = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "n": [40, 11, 9, 40]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        qwo.discover(counts, weights="n", random_state=0)
