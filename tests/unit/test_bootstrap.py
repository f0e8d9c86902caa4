"""`bootstrap`: the same table however it is run, and what the result says."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qwo
from qwo.discovery.discover import learn_nearby
from qwo.errors import (
    ArgumentError,
    FileFormatError,
    InputError,
    MergeError,
    MissingFileError,
    SampleSizeError,
)
from qwo.moments.tables import table_of
from qwo.options import SearchOptions
from qwo.resample import Bootstrap, BootstrapProgress, bootstrap, merge
from qwo.resample.support import Outcome, coin_tosses

N_RESAMPLES = 40


def sample(n_variables: int = 8, n_samples: int = 300, seed: int = 1) -> np.ndarray:
    data, _, _ = qwo.simulate(
        "er", n_variables=n_variables, n_samples=n_samples, degree=2, random_state=seed
    )
    return np.asarray(data)


def run(**options: Any) -> Bootstrap:
    defaults: dict[str, Any] = {"n_resamples": N_RESAMPLES, "random_state": 1}
    return bootstrap(sample(), **(defaults | options))


def assert_same(first: Bootstrap, second: Bootstrap) -> None:
    for name in ("directed_counts", "undirected_counts", "outcomes"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert first.fingerprint == second.fingerprint
    assert first.to_records() == second.to_records()


@pytest.fixture(scope="module")
def whole() -> Bootstrap:
    return run()


def test_shares_add_up(whole: Bootstrap) -> None:
    n = whole.n_variables
    adjacency = whole.link_support
    assert adjacency.shape == (n, n)
    assert (whole.n_counted, whole.n_done, whole.status) == (N_RESAMPLES, N_RESAMPLES, "complete")
    np.testing.assert_allclose(
        adjacency, whole.arrow_support + whole.arrow_support.T + whole.undirected_support
    )
    np.testing.assert_array_equal(adjacency, adjacency.T)
    assert 0 < adjacency.max() <= 1
    assert not np.diag(adjacency).any()
    assert not adjacency.flags.writeable


@pytest.mark.parametrize("start", [None, "r2"])
def test_replicates_are_searches_on_physical_resamples(start: str | None) -> None:
    whole = run() if start is None else run(start=start)
    data, counts = sample(), np.zeros((8, 8))
    for number in range(N_RESAMPLES):
        cut = np.random.default_rng(np.random.SeedSequence(1, spawn_key=(0, number // 2)))
        rows = cut.permutation(len(data)).reshape(2, -1)[number % 2]
        rng = np.random.default_rng(np.random.SeedSequence(1, spawn_key=(1, number)))
        seed = int(rng.integers(2**63))
        if start is None:
            near = SearchOptions(
                engine="bic",
                penalty_discount=whole.params["penalty_discount"],
                restarts=0,
                random_state=seed,
            )
            moments = qwo.Moments.from_data(data[rows])
            cpdag, _ = learn_nearby(moments, near, whole.reference.order)
        else:
            penalty = whole.params["penalty_discount"]
            again = qwo.discover(
                data[rows], penalty_discount=penalty, random_state=seed, start=start
            )
            cpdag = again.cpdag
        counts += cpdag == 1
    np.testing.assert_array_equal(whole.directed_counts, counts)


def test_the_reference_is_the_graph_of_all_data(whole: Bootstrap) -> None:
    found = qwo.discover(sample(), random_state=1)
    np.testing.assert_array_equal(whole.reference.cpdag, found.cpdag)
    np.testing.assert_array_equal(whole.consensus_cpdag(), found.cpdag)
    assert whole.reference.score == found.score


def test_the_same_in_two_processes(whole: Bootstrap) -> None:
    assert_same(run(n_jobs=2), whole)


def test_the_same_for_any_hash_seed_and_blas_threads(whole: Bootstrap, tmp_path: Path) -> None:
    data = tmp_path / "data.npy"
    np.save(data, sample())
    code = (
        "import numpy as np, qwo, sys\n"
        "from qwo.resample import bootstrap\n"
        f"found = bootstrap(np.load(sys.argv[1]), n_resamples={N_RESAMPLES}, random_state=1)\n"
        "found.save(sys.argv[2])"
    )
    for number, threads in (("1", "1"), ("2", "2")):
        target = tmp_path / f"{number}.npz"
        environment = {**os.environ, "PYTHONHASHSEED": number, "OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-c", code, str(data), str(target)]
        subprocess.run(command, check=True, env=environment, timeout=120)
        assert_same(Bootstrap.load(target), whole)


def test_shards_merge_to_the_whole_also_from_files(whole: Bootstrap, tmp_path: Path) -> None:
    files = []
    for k in (1, 2, 3):
        shard = run(shard=(k, 3))
        assert shard.status == "complete"
        assert shard.n_done in (13, 14)
        files.append(tmp_path / f"{k}.npz")
        shard.save(files[-1])
    assert_same(merge(files[::-1]), whole)
    part = merge(files[:2])
    assert part.status == "incomplete"
    assert part.n_done == 27
    with pytest.raises(MergeError, match="give each shard once"):
        merge([*files, files[0]])


def test_parts_of_different_runs_do_not_merge() -> None:
    with pytest.raises(MergeError, match=r"differ in what replicates depend on"):
        merge([run(shard=(1, 2)), run(shard=(2, 2), penalty_discount=1.0)])
    given = {"n_resamples": N_RESAMPLES, "random_state": 1, "penalty_discount": 2.0}
    with pytest.raises(MergeError, match="such as data"):
        merge([bootstrap(sample(seed=seed), **given) for seed in (1, 2)])
    with pytest.raises(MergeError, match="run both with the same number"):
        merge([run(shard=(1, 2)), run(shard=(2, 2), n_resamples=10)])
    with pytest.raises(MergeError, match="nothing to merge"):
        merge([])


def test_a_file_holds_everything(whole: Bootstrap, tmp_path: Path) -> None:
    file = tmp_path / "support.npz"
    whole.save(file)
    loaded = Bootstrap.load(file)
    assert_same(loaded, whole)
    assert repr(loaded) == repr(whole)
    assert dict(loaded.params) == dict(whole.params)
    assert dict(loaded.reference.params) == dict(whole.reference.params)
    assert loaded.reference.trace == whole.reference.trace
    np.testing.assert_array_equal(loaded.reference.dag, whole.reference.dag)
    with np.load(file, allow_pickle=False) as archive:
        assert archive["outcomes"].tolist() == whole.outcomes.tolist()
    assert_same(pickle.loads(pickle.dumps(whole)), whole)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut"])
def test_a_file_of_something_else(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.npz"
    file.write_bytes(content)
    with pytest.raises(FileFormatError, match="not a bootstrap"):
        Bootstrap.load(file)


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", values=np.arange(3))
    with pytest.raises(FileFormatError, match="not a bootstrap"):
        Bootstrap.load(tmp_path / "other.npz")
    pickled = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / "objects.npz", header=pickled)
    with pytest.raises(FileFormatError, match="not a bootstrap"):
        Bootstrap.load(tmp_path / "objects.npz")
    with pytest.raises(MissingFileError):
        Bootstrap.load(tmp_path / "nowhere.npz")


def test_parameters_may_be_numbers_of_numpy(tmp_path: Path) -> None:
    numbers = {
        "penalty_discount": np.float32(2),
        "restarts": np.int64(3),
        "random_state": np.int64(1),
        "gamma": np.float64(0.5),
    }
    file = tmp_path / "run.npz"
    found = run(n_resamples=np.int32(3), checkpoint=file, **numbers)
    plain = run(n_resamples=3, **{name: number.item() for name, number in numbers.items()})
    assert_same(Bootstrap.load(file), plain)
    assert json.loads(found.to_json())["params"]["restarts"] == 3


def test_the_table(whole: Bootstrap) -> None:
    records = whole.to_records()
    assert [r.link for r in records] == sorted((r.link for r in records), reverse=True)
    for record in records:
        i, j = whole.names.index(record.first), whole.names.index(record.second)
        assert i < j or record.reference == "-->"
        assert record.link == whole.link_support[i, j]
        assert record.arrow == whole.arrow_support[i, j]
        assert record.reverse == whole.arrow_support[j, i]
        assert record.undirected == pytest.approx(whole.undirected_support[i, j], abs=1e-12)
        codes = {"-->": (1, 0), "---": (2, 2), "": (0, 0)}
        cpdag = whole.reference.cpdag
        assert (cpdag[i, j], cpdag[j, i]) == codes[record.reference]
        assert record.coin_toss == bool(cpdag[i, j] == 1 and whole.coin_tosses[i, j])
    sure = whole.to_records(0.9)
    assert len(sure) == whole.n_links(0.9) < len(records)
    frame = whole.to_frame()
    assert list(frame.columns) == list(records[0]._fields)
    assert len(frame) == len(records)
    document = json.loads(whole.to_json())
    assert document["support"][0]["first"] == records[0].first
    assert document["params"]["random_state"] == 1


def test_it_reads_well(whole: Bootstrap) -> None:
    assert repr(whole).startswith("<Bootstrap: 8 variables ('X0', ")
    assert "40 of 40 replicates, complete" in repr(whole)
    lines = str(whole).splitlines()
    assert lines[3].split() == ["link", "arrow", "reverse", "undirected", "pair"]
    assert lines[4].startswith(" 100%")
    assert lines[2] == "arrows: 6 of 6 of the graph of all data hold"


def test_a_notebook_shows_picture_and_table(whole: Bootstrap) -> None:
    shown = whole._repr_html_()
    assert "data:image/png;base64," in shown
    assert "<th>link</th><th>arrow</th><th>reverse</th><th>undirected</th>" in shown
    assert "<td>X2 --&gt; X0</td><td>100%</td><td>100%</td>" in shown
    assert "arrows: 6 of 6 of the graph of all data hold" in shown


def test_link_and_arrow_are_told_apart() -> None:
    # As on real data: smoke --> race is smoke→race .53, race→smoke .41; sex --> s3 is .38 and .46.
    arrows = np.zeros((6, 6))
    for i, j, forth, back in ((0, 1, 0.53, 0.41), (2, 3, 0.38, 0.46), (4, 5, 0.52, 0.26)):
        arrows[i, j], arrows[j, i] = forth, back
    tosses = coin_tosses(arrows)
    assert tosses[[0, 2], [1, 3]].all()
    assert not tosses[4, 5]
    arrows[4, 5] = 0.5
    assert coin_tosses(arrows)[4, 5]


def test_an_arrow_that_knowledge_fixes_is_no_coin_toss() -> None:
    arrows = np.zeros((3, 3))
    arrows[0, 1], arrows[1, 2] = 0.4, 0.4
    tiers = qwo.Knowledge(tiers=[["a"], ["b"]]).resolve(("a", "b", "c"))
    assert coin_tosses(arrows)[0, 1]
    assert not coin_tosses(arrows, tiers)[0, 1]
    assert coin_tosses(arrows, tiers)[1, 2]
    assert coin_tosses(arrows, tiers)[1, 0]


def test_an_arrow_that_half_of_the_resamples_deny_is_marked(whole: Bootstrap) -> None:
    i, j = np.argwhere(whole.reference.cpdag == 1)[0]
    directed = whole.directed_counts.copy()
    directed[i, j], directed[j, i] = 21, 19
    shaken = dataclasses.replace(whole, directed_counts=directed)
    record = next(
        r for r in shaken.to_records() if (r.first, r.second) == (whole.names[i], whole.names[j])
    )
    assert (record.link, record.arrow, record.reverse) == (1.0, 0.525, 0.475)
    assert record.coin_toss
    assert f"{record.first} --> {record.second} ?" in str(shaken)
    assert "5 of 6 of the graph of all data hold; the other 1 (?)" in str(shaken)
    assert shaken.to_dict()["support"][0].keys() >= {"link", "arrow", "reverse", "coin_toss"}


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "half"])
def test_thresholds_are_shares(whole: Bootstrap, threshold: Any) -> None:
    for method in (whole.consensus_dag, whole.consensus_cpdag, whole.n_links, whole.to_records):
        with pytest.raises(ArgumentError, match="threshold"):
            method(threshold)


def test_knowledge_is_kept_and_saved(tmp_path: Path) -> None:
    knowledge = qwo.Knowledge(tiers=[[0, 1, 2, 3], [4, 5, 6, 7]], required=[(0, 4)])
    found = run(knowledge=knowledge, n_resamples=20)
    assert not found.directed_counts[4:, :4].any()
    assert found.arrow_support[0, 4] == 1
    resolved = knowledge.resolve(found.names)
    for threshold in (0.05, 0.5, 1.0):
        resolved.check_dag(found.consensus_dag(threshold))
        assert found.consensus_cpdag(threshold)[0, 4] == 1
    found.save(tmp_path / "known.npz")
    loaded = Bootstrap.load(tmp_path / "known.npz")
    np.testing.assert_array_equal(loaded.consensus_cpdag(0.05), found.consensus_cpdag(0.05))
    known = tmp_path / "knowledge.txt"
    knowledge.to_file(known, found.names)
    assert_same(run(knowledge=known, n_resamples=20), found)


def test_subsamples() -> None:
    found = run(resampling="subsamples")
    assert found.params["resample_size"] == 150
    assert found.n_counted == N_RESAMPLES
    assert run(resampling="subsamples", sample_fraction=0.8).params["resample_size"] == 240


def test_halves_are_the_default_and_do_not_swell(whole: Bootstrap) -> None:
    assert whole.params["resampling"] == "halves"
    assert whole.params["resample_size"] == 150
    assert_same(run(resampling="halves"), whole)
    # Half the data cannot have spurious edges by repetition: the graphs are sparser.
    drawn = run(resampling="replacement")
    assert drawn.params["resample_size"] == 300
    assert whole.link_support.sum() < drawn.link_support.sum()


def test_an_odd_number_of_rows_leaves_one_out() -> None:
    assert bootstrap(sample()[:101], n_resamples=2, random_state=0).params["resample_size"] == 50


def test_a_hundred_million_resamples_are_refused_at_once() -> None:
    with pytest.raises(ArgumentError, match="n_resamples is 100000000; wanted"):
        run(n_resamples=10**8)


def test_moments_are_resampled_by_a_normal_model(whole: Bootstrap) -> None:
    moments = qwo.Moments.from_data(sample())
    found = bootstrap(moments, n_resamples=N_RESAMPLES, random_state=1)
    assert found.params["method"] == "parametric"
    assert "40 of 40 parametric replicates" in repr(found)
    assert whole.params["method"] == "rows"
    np.testing.assert_array_equal(found.consensus_cpdag(), whole.consensus_cpdag())
    assert_same(bootstrap(moments, n_resamples=N_RESAMPLES, random_state=1), found)
    oracle = qwo.Moments.from_covariance(moments.covariance, None)
    with pytest.raises(SampleSizeError, match="N = ∞"):
        bootstrap(oracle)
    drawn = bootstrap(moments, n_resamples=4, random_state=1, resampling="replacement")
    assert (found.params["resample_size"], drawn.params["resample_size"]) == (150.0, 300.0)


@pytest.mark.filterwarnings("ignore:there are only 25 samples")
def test_more_variables_than_distinct_rows() -> None:
    data = sample(n_variables=20, n_samples=25)
    found = bootstrap(data, n_resamples=10, random_state=0)
    assert found.n_counted == 10
    with pytest.raises(SampleSizeError, match="10 of 10 resamples have no graph"):
        bootstrap(data, n_resamples=10, random_state=0, engine="qwo", search="grasp")


def test_more_variables_than_rows() -> None:
    data = sample(n_variables=20, n_samples=15)
    with pytest.warns(qwo.DataWarning, match="20 variables"):
        found = bootstrap(data, n_resamples=5, penalty_discount=2.0, random_state=0)
    assert found.n_counted == 5
    assert found.reference.params["gamma"] == 0.5


def nearly_constant() -> np.ndarray:
    """A column that varies in two of 60 rows."""
    data = sample(n_variables=4, n_samples=60).copy()
    data[:, 3] = 0.0
    data[:2, 3] = [1.0, 2.0]
    return data


@pytest.mark.filterwarnings("ignore:1 of 4 columns holds few different")
def test_resamples_without_a_graph_are_counted_and_reported() -> None:
    options = {"n_resamples": 60, "random_state": 0, "resampling": "replacement"}
    found = bootstrap(nearly_constant(), **options)
    assert 0 < found.n_degenerate < 20
    assert found.n_counted == 60 - found.n_degenerate
    assert found.link_support.max() <= 1
    assert f"{found.n_degenerate} without a graph" in repr(found)
    assert_same(bootstrap(nearly_constant(), n_jobs=2, **options), found)


@pytest.mark.filterwarnings("ignore:1 of 4 columns holds few different")
def test_halves_in_which_a_column_is_constant_have_no_graph() -> None:
    found = bootstrap(nearly_constant(), n_resamples=60, random_state=0)
    data, constant = nearly_constant()[:, 3], 0
    for number in range(60):
        cut = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0, number // 2)))
        constant += np.ptp(data[cut.permutation(60).reshape(2, -1)[number % 2]]) == 0
    assert found.n_degenerate == constant > 0


@pytest.mark.filterwarnings("ignore:1 of 4 columns holds few different")
def test_too_many_resamples_without_a_graph() -> None:
    with pytest.raises(SampleSizeError, match=r"constant in the resample: 'X3'"):
        bootstrap(
            nearly_constant(),
            n_resamples=20,
            random_state=0,
            resampling="subsamples",
            sample_fraction=0.2,
        )


def test_shrunk_covariances_are_estimated_from_the_rows() -> None:
    data = sample(n_variables=6, n_samples=50)
    found = bootstrap(data, n_resamples=4, random_state=0, covariance_estimator="oas")
    assert found.n_counted == 4
    assert found.reference.params["covariance_estimator"] == "oas"
    plain = bootstrap(data, n_resamples=4, random_state=0)
    assert found.fingerprint != plain.fingerprint


def test_missing_values() -> None:
    data = sample().copy()
    data[::10, 2] = np.nan
    with pytest.raises(InputError, match="missing"):
        bootstrap(data)
    with pytest.warns(qwo.DataWarning, match="30 of 300 rows"):
        dropped = bootstrap(data, n_resamples=10, random_state=0, missing="drop")
    kept = bootstrap(data[~np.isnan(data).any(axis=1)], n_resamples=10, random_state=0)
    np.testing.assert_array_equal(dropped.directed_counts, kept.directed_counts)
    assert dropped.params["resample_size"] == 135
    with pytest.warns(qwo.DataWarning, match="missing"):
        filled = bootstrap(data, n_resamples=4, random_state=0, missing="em")
    assert filled.params["resample_size"] == 150
    assert filled.n_counted == 4


def test_a_table_of_the_package_itself(whole: Bootstrap) -> None:
    table = table_of(sample())
    assert_same(bootstrap(table, n_resamples=N_RESAMPLES, random_state=1), whole)


def test_a_time_limit_of_replicates_is_counted() -> None:
    found = run(replicate_time_limit=0.0, n_resamples=5)
    assert found.n_time_limit == 5
    assert found.n_counted == 5
    assert "5 ended by the time limit" in repr(found)


def test_a_callback_watches_and_stops() -> None:
    seen: list[BootstrapProgress] = []
    found = run(callback=seen.append)
    assert [p.n_done for p in seen] == list(range(1, N_RESAMPLES + 1))
    assert seen[-1].n_wanted == N_RESAMPLES
    assert found.status == "complete"
    stopped = run(callback=lambda progress: progress.n_done >= 7)
    assert (stopped.status, stopped.n_done) == ("stopped", 7)


def test_the_keyboard_ends_a_run_with_what_there_is() -> None:
    def press(progress: BootstrapProgress) -> None:
        if progress.n_done == 5:
            raise KeyboardInterrupt

    found = run(callback=press)
    assert (found.status, found.n_done) == ("interrupted", 5)
    assert set(found.outcomes[:5]) == {Outcome.CONVERGED}


def test_a_progress_bar_is_shown_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    run(n_resamples=3, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "3/3" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples is 0"),
        ({"n_resamples": 1.5}, "n_resamples is 1.5; wanted a whole number"),
        ({"sample_fraction": 0.5}, "half of the rows is a half"),
        ({"resampling": "replacement", "sample_fraction": 0}, "sample_fraction is 0"),
        ({"resampling": "replacement", "sample_fraction": "a"}, "sample_fraction is 'a'"),
        ({"resampling": "replacement", "sample_fraction": 1.5}, "sample_fraction is 1.5"),
        ({"resampling": "replacement", "sample_fraction": 0.005}, "3 rows at"),
        ({"resampling": "subsamples", "sample_fraction": 1}, "fraction below 1"),
        ({"resampling": "thirds"}, "resampling is 'thirds'"),
        ({"random_state": -1}, "random_state is -1"),
        ({"shard": (0, 3)}, "counted from 1"),
        ({"shard": (4, 3)}, "counted from 1"),
        ({"shard": 2}, "shard is 2"),
        ({"shard": (1, 3), "random_state": None}, "must draw from one seed"),
        ({"random_state": "one"}, "random_state is 'one'"),
        ({"engine": object()}, "wanted its name"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"search": "best"}, "search is 'best'; wanted one of"),
        ({"checkpoint": "no/such/folder/file.npz"}, "a folder that exists"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        run(**options)


def test_a_reference_that_is_no_result_is_named() -> None:
    data = qwo.simulate("er", n_variables=3, n_samples=50, random_state=1).data
    with pytest.raises(ArgumentError, match="reference is of type int; wanted"):
        qwo.bootstrap(data, reference=3)  # type: ignore[arg-type]
