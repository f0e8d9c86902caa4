"""The harness that compares tools, run with our own method alone."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.peers import environments
from benchmarks.peers.analysis import CellFigures, figures_of, losses
from benchmarks.peers.cells import PROFILES, Cell, Kind, Profile
from benchmarks.peers.data import Sources
from benchmarks.peers.markdown import update_page
from benchmarks.peers.methods import METHODS
from benchmarks.peers.page import write_page
from benchmarks.peers.process import Workers
from benchmarks.peers.results import OUTCOME, RUN, Results
from benchmarks.peers.study import DATA_SET, Study
from benchmarks.peers.tools.call import cpdag_of_ones
from benchmarks.peers.tools.causal_learn import from_endpoints
from qwo.reproduction.store import Row

KIND = Kind("er", 6, 200, 2)
CELL = Cell(KIND, "size", 2, only=("qwo", "qwo, 0 restarts", "FLOP, 0 restarts"), limit=5.0)
PROFILE = Profile((CELL,), allowance=10.0, at_least=1)


Complete = Callable[..., list[str]]


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers({"qwo": Path(sys.executable)}) as started:
        yield started


@pytest.fixture
def complete(workers: Workers) -> Complete:
    """Run what is missing with nothing but our own environment, and tell what was said."""

    def run(results: Results, profile: Profile = PROFILE) -> list[str]:
        said: list[str] = []
        with results.store() as store:
            Study(profile, store, workers, Sources(workers), said.append).complete()
        return said

    return run


def test_renewed_methods_are_run_again_and_the_others_are_kept(
    tmp_path: Path, complete: Complete
) -> None:
    results = Results(tmp_path, "test")
    complete(results)
    before = results.table()
    with results.store(["qwo"]) as store:
        left = {row.run["method"] for row in store.rows().values()}
    assert left == {DATA_SET, "qwo, 0 restarts", "FLOP, 0 restarts"}
    assert len(complete(results)) == 2
    after = results.table()
    assert len(after) == len(before)
    keys = ["method", "seed"]
    kept = [table[table["method"] != "qwo"].sort_values(keys) for table in (before, after)]
    pd.testing.assert_frame_equal(*(t.reset_index(drop=True) for t in kept))


def test_a_study_judges_our_runs_reports_absent_peers_and_resumes(
    tmp_path: Path, complete: Complete
) -> None:
    results = Results(tmp_path, "test")
    assert len(complete(results)) == 6
    table = results.table().set_index(["method", "seed"])
    assert (table.loc["FLOP, 0 restarts", "status"] == "absent").all()
    ours = table.loc[("qwo", 0)]
    assert ours["status"] == "done"
    assert ours["shd"] <= 3
    assert ours["cpu"] > 0
    assert ours["score"] == pytest.approx(
        max(ours["score"], table.loc[(DATA_SET, 0), "score"]), abs=1e-3
    )
    assert "qwo" in ours["build"]
    assert complete(results) == []


def test_a_kind_of_data_that_is_missing_is_said_to_be_skipped(
    tmp_path: Path, complete: Complete
) -> None:
    profile = Profile((Cell(Kind("chamber", 20, 100), "real", 1),), 1.0, 1)
    (line,) = complete(Results(tmp_path, "test"), profile)
    assert "skipped" in line


def test_a_call_that_takes_too_long_is_a_timeout_and_the_worker_starts_anew(
    tmp_path: Path, workers: Workers
) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "large.npy", rng.normal(size=(500, 120)) @ rng.normal(size=(120, 120)))
    np.save(tmp_path / "small.npy", rng.normal(size=(50, 3)))
    slow = {"search": "grasp", "engine": "reference"}
    request = {"task": "run", "tool": "qwo", "options": slow, "graph": str(tmp_path / "graph.npy")}
    worker = workers["qwo"]
    answer = worker.ask(request | {"data": str(tmp_path / "large.npy")}, limit=0.1)
    assert answer["timeout"]
    quick = request | {"data": str(tmp_path / "small.npy"), "options": {}}
    assert not worker.ask(quick, limit=5.0)["error"]
    refused = worker.ask(quick | {"options": {"penalty_discount": -1.0}}, limit=5.0)
    assert "penalty" in refused["error"]


def test_after_two_timeouts_a_method_is_cut_off_at_that_size_and_above(
    tmp_path: Path, complete: Complete
) -> None:
    results = Results(tmp_path, "test")
    with results.store() as store:
        for seed in (100, 101):
            run = CELL.run(seed, "qwo")
            store.append(Row(run, {"status": "timeout", "limit": 5.0}, {"build": ""}))
    complete(results)
    statuses = results.table().set_index(["method", "seed"])["status"]
    assert statuses.loc[("qwo", 0)] == "cut off"
    assert statuses.loc[("qwo, 0 restarts", 0)] == "done"


def test_a_method_that_has_used_its_time_gets_no_more_data_sets(
    tmp_path: Path, complete: Complete
) -> None:
    results = Results(tmp_path, "test")
    complete(results, Profile((CELL,), allowance=1e-9, at_least=1))
    assert results.table().groupby("method")["seed"].max().eq(0)["qwo"]


def made_up(values: dict[str, list[tuple[float, float, float]]]) -> CellFigures:
    """A cell from SHD, score and seconds of each method on each data set."""
    rows = []
    for method, runs in values.items():
        for seed, (shd, score, cpu) in enumerate(runs):
            run = CELL.run(seed, method)
            outcome = {"status": "done", "shd": shd, "score": score, "cpu": cpu, "memory": 1.0}
            rows.append(run | outcome | {"exact": shd == 0})
    frame = pd.DataFrame(rows).reindex(columns=[*RUN, *OUTCOME, "build"])
    (figures,) = figures_of(PROFILE, frame)
    return figures


def test_differences_are_paired_and_gaps_are_to_the_best_graph_known() -> None:
    figures = made_up(
        {
            "qwo": [(2, 10.0, 1.0), (4, 20.0, 1.0), (6, 30.0, 1.0)],
            "FLOP, 0 restarts": [(1, 9.0, 2.0), (3, 25.0, 2.0)],
        }
    )
    difference = figures.difference("FLOP, 0 restarts")
    assert (difference.count, difference.mean, difference.half) == (2, 1.0, 0.0)
    assert figures.means.loc["qwo", "gap"] == pytest.approx(5 / 3)
    assert figures.means.loc["FLOP, 0 restarts", "gap"] == pytest.approx(0.5)
    assert figures.time_ratio("FLOP, 0 restarts") == pytest.approx(2.0)
    assert figures.comparable_shd.to_dict() == {"qwo": 4.0, "FLOP, 0 restarts": 3.0}


def test_the_interval_is_students() -> None:
    figures = made_up(
        {
            "qwo": [(1, 0.0, 1.0), (2, 0.0, 1.0), (3, 0.0, 1.0)],
            "FLOP, 0 restarts": [(0, 0.0, 2.0)] * 3,
        }
    )
    difference = figures.difference("FLOP, 0 restarts")
    assert difference.half == pytest.approx(4.302653 / math.sqrt(3))
    assert not difference.is_positive


@pytest.mark.parametrize(
    ("theirs", "accuracy", "time"),
    [
        ([(0, 1.0, 5.0)] * 3, True, False),
        ([(1, 1.0, 0.5)] * 3, False, True),
        ([(1, 1.0, 5.0)] * 3, False, False),
        ([(9, 1.0, 0.5)] * 3, False, False),
    ],
)
def test_a_loss_is_in_accuracy_or_in_time_at_the_same_accuracy(
    theirs: list[tuple[float, float, float]], accuracy: bool, time: bool
) -> None:
    figures = made_up({"qwo": [(1, 1.0, 1.0)] * 3, "FLOP, 0 restarts": theirs})
    found = losses([figures])
    assert [(loss.is_in_accuracy, loss.is_in_time) for loss in found] == (
        [(accuracy, time)] if accuracy or time else []
    )


def test_the_page_has_plots_and_tables(tmp_path: Path, complete: Complete) -> None:
    results = Results(tmp_path, "test")
    complete(results)
    page = tmp_path / "page.md"
    parts = (
        "scoreboard",
        "overview",
        "accuracy losses",
        "time losses",
        "failures",
        "sortability",
        "versions",
    )
    page.write_text("".join(f"<!-- begin {p} --><!-- end {p} -->\n" for p in (*parts, "plots")))
    (tmp_path / "page-figures.md").write_text("<!-- begin figures --><!-- end figures -->")
    write_page(PROFILE, results.table(), page)
    assert "ER, n = 6, degree 2, N = 200" in page.read_text()
    assert (tmp_path / "page-size.png").stat().st_size > 10_000
    assert "| qwo, 0 restarts | 2 |" in (tmp_path / "page-figures.md").read_text()


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("words")
    with pytest.raises(ValueError, match="lacks the marks"):
        update_page(page, "content", "results")
    assert page.read_text() == "words"


def test_an_environment_that_cannot_be_made_is_reported_and_the_others_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[str] = []

    def build(environment: environments.Environment) -> None:
        if environment.name == "xges":
            raise environments.BuildError("no wheel")
        made.append(environment.name)

    monkeypatch.setattr(environments.Environment, "build", build)
    environments.main(["xges", "flop"])
    assert made == ["flop"]
    assert "xges: absent: no wheel" in capsys.readouterr().err
    assert not environments.Environment("x", tmp_path, "requirements-flop.txt").is_ready


def test_matrices_of_other_tools_become_ours() -> None:
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    assert cpdag_of_ones(chain).tolist() == [[0, 1, 0], [0, 0, 2], [0, 2, 0]]
    endpoints = np.array([[0, -1, 0], [1, 0, -1], [0, -1, 0]])
    assert from_endpoints(endpoints).tolist() == [[0, 1, 0], [0, 0, 2], [0, 2, 0]]


def test_data_are_shuffled_standardised_and_the_same_for_a_seed() -> None:
    sources = Sources(Workers({}))
    kind = Kind("gaussian", 46, 300, network="ecoli70")
    first, again, other = (sources.draw(kind, seed) for seed in (0, 0, 1))
    assert np.array_equal(first.data, again.data)
    assert not np.array_equal(first.dag, other.dag)
    assert first.data.std(axis=0) == pytest.approx(1.0)
    assert abs(first.data.mean(axis=0)).max() < 1e-12
    assert sources.missing(Kind("dao", 5, 10, 2))


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_the_cells_of_a_profile_differ_and_their_methods_are_known(name: str) -> None:
    cells = PROFILES[name].cells
    assert len({(cell.kind, cell.penalty_discount) for cell in cells}) == len(cells)
    assert all(method in METHODS for cell in cells for method in cell.only)
    assert all(any(cell.methods) for cell in cells)
