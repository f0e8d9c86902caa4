"""The data and networks that come with the package."""

from __future__ import annotations

import dataclasses
import sys
from importlib.resources import files

import numpy as np
import pytest

import qwo
from qwo.datasets import (
    Dataset,
    GaussianNetwork,
    Network,
    list_networks,
    load_gaussian_network,
    load_network,
    load_sachs,
)
from qwo.errors import ArgumentError
from qwo.graph import check_dag, compare

PROTEINS = ("Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk")
SIZES = {"asia": (8, 8), "cancer": (5, 4), "survey": (6, 6), "sachs": (11, 17)}
GAUSSIAN_SIZES = {
    "ecoli70": (46, 70),
    "magic-niab": (44, 66),
    "magic-irri": (64, 102),
    "arth150": (107, 150),
}


def edges(network: Network | Dataset, dag: np.ndarray) -> set[tuple[str, str]]:
    return {(network.names[i], network.names[j]) for i, j in np.argwhere(dag)}


@pytest.mark.parametrize(("observational", "rows"), [(True, 853), (False, 7466)])
def test_sachs_has_the_published_size(observational: bool, rows: int) -> None:
    sachs = load_sachs(observational=observational)
    assert sachs.names == PROTEINS
    assert sachs.values.shape == (rows, 11)
    assert np.isfinite(sachs.values).all()


def test_sachs_is_as_measured_or_in_natural_logarithms() -> None:
    measured, logs = load_sachs(log=False), load_sachs()
    first = [26.4, 13.2, 8.82, 18.3, 58.8, 6.61, 17.0, 414.0, 17.0, 44.9, 40.0]
    assert measured.values[0].tolist() == first
    np.testing.assert_array_equal(logs.values, np.log(measured.values))
    np.testing.assert_array_equal(
        load_sachs(observational=False, log=False).values[:853], measured.values
    )
    assert "log" in logs.description
    assert "log" not in measured.description


def test_the_truth_of_sachs_is_its_network_in_the_order_of_the_columns() -> None:
    sachs, network = load_sachs(), load_network("sachs")
    assert edges(sachs, sachs.truth) == edges(network, network.dag)
    assert {("Raf", "Mek"), ("Mek", "Erk"), ("Erk", "Akt")} <= edges(sachs, sachs.truth)
    assert compare(network, qwo.graph.CausalGraph(sachs.names, sachs.truth, "dag")).exact


def test_sachs_as_a_frame() -> None:
    sachs = load_sachs()
    frame = sachs.to_frame()
    assert tuple(frame.columns) == sachs.names
    np.testing.assert_array_equal(frame.to_numpy(), sachs.values)
    frame.loc[0, "Raf"] = 0.0
    assert sachs.values[0, 0] != 0.0


def test_a_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match='pip install "pandas"'):
        load_sachs().to_frame()


def test_records_cannot_be_changed() -> None:
    sachs, network = load_sachs(), load_gaussian_network("ecoli70")
    arrays = [sachs.values, sachs.truth, network.dag, network.coefficients, network.intercepts]
    for array in [*arrays, network.noise_standard_deviations]:
        assert not array.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        sachs.names = ()


def test_every_network_is_a_dag_over_distinct_names() -> None:
    assert len(list_networks()) == 25
    for name in list_networks():
        network = load_network(name)
        assert network.name == name
        assert len(set(network.names)) == network.n_variables
        check_dag(network.dag, network.names)
        assert network.n_edges > 0


@pytest.mark.parametrize(("name", "size"), [*SIZES.items(), *GAUSSIAN_SIZES.items()])
def test_networks_have_the_published_sizes(name: str, size: tuple[int, int]) -> None:
    network = load_network(name.upper())
    assert (network.n_variables, network.n_edges) == size
    assert repr(network) == f"<Network {name!r}: {size[0]} variables, {size[1]} edges>"


@pytest.mark.parametrize("name", GAUSSIAN_SIZES)
def test_gaussian_networks_have_numbers_on_their_edges_alone(name: str) -> None:
    network = load_gaussian_network(name)
    assert isinstance(network, GaussianNetwork)
    np.testing.assert_array_equal(network.coefficients != 0, network.dag == 1)
    np.testing.assert_array_equal(network.dag, load_network(name).dag)
    assert (network.noise_standard_deviations > 0).all()
    assert network.intercepts.shape == (network.n_variables,)


def test_the_numbers_of_ecoli70_are_those_published() -> None:
    network = load_gaussian_network("ecoli70")
    place = {name: index for index, name in enumerate(network.names)}
    assert network.coefficients[place["ygcE"], place["atpD"]] == -0.7252
    assert network.intercepts[place["b1191"]] == 1.273
    assert network.noise_standard_deviations[place["aceB"]] == pytest.approx(np.sqrt(0.0853))


def test_samples_of_a_gaussian_network_have_its_moments() -> None:
    network = load_gaussian_network("ecoli70")
    rows = network.sample(20_000, random_state=0)
    deviations = np.sqrt(np.diag(network.covariance()))
    assert np.abs((rows.mean(axis=0) - network.means()) / deviations).max() < 0.03
    correlation = network.covariance() / np.outer(deviations, deviations)
    assert np.abs(np.corrcoef(rows.T) - correlation).max() < 0.03
    np.testing.assert_array_equal(rows, network.sample(20_000, random_state=0))
    residuals = network.means() - network.means() @ network.coefficients
    np.testing.assert_allclose(residuals, network.intercepts, atol=1e-12)


def test_exact_moments_of_a_gaussian_network_give_its_class() -> None:
    network = load_gaussian_network("magic-niab")
    moments = qwo.Moments.from_covariance(network.covariance(), None, network.names)
    found = qwo.discover(moments, engine="qwo", search="grasp", random_state=0)
    assert compare(found, network, aid=False).exact


@pytest.mark.parametrize(
    ("load", "name", "hint"),
    [
        (load_network, "alrm", "did you mean 'alarm'"),
        (load_network, "../sachs", "did you mean 'sachs'"),
        (load_network, "zzz", "wanted one of 'alarm', 'andes'"),
        (load_gaussian_network, "asia", "wanted one of 'arth150', 'ecoli70'"),
        (load_gaussian_network, "ecoli", "did you mean 'ecoli70'"),
    ],
)
def test_an_unknown_network_is_refused_with_a_hint(load: object, name: str, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        load(name)


def test_the_sources_are_told_beside_the_data() -> None:
    text = files("qwo.datasets").joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
    for source in ("Sachs", "bnlearn", "pgmpy", "1.1.2", "cdt", "0.6.0", "MIT"):
        assert source in text
