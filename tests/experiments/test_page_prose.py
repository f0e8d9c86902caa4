"""What the page says follows from the stored runs; what is written there by hand are settings."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from qwo.datasets import load_network
from qwo.reproduction.aggregate import Cells
from qwo.reproduction.page import render
from qwo.reproduction.paper import load_paper_table2, raw_bdeu, true_edges_found
from qwo.reproduction.store import ResultStore, Row
from qwo.reproduction.tasks import COLUMNS

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
SETTINGS = {
    "the experiments' own settings": {"10,000", "500", "2", "3", "4", "5", "8", "10", "20", "30"},
    "dense graphs have weights in ±[0.1, 0.3]": {"0.1", "0.3"},
    "weights, levels, intervals, formulas": {"0.5", "95", "1", "0", "2024", "0.1.4.8"},
    "Table 2 of the paper": {"0.97", "18", "19"},
}


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(ResultStore(FOLDER / "runs.csv", COLUMNS).rows().values())


def test_every_number_in_the_prose_is_a_setting() -> None:
    text = files("qwo.reproduction").joinpath("templates", "page.md.j2").read_text("utf-8")
    prose = re.sub(r"{{.*?}}|{%.*?%}|`[^`]*`|\(#?[\w./-]*\)", "", text, flags=re.DOTALL)
    numbers = set(re.findall(r"(?<![\w.^])\d[\d.,]*\d|(?<![\w.^])\d", prose))
    assert numbers <= set().union(*SETTINGS.values())


def test_the_page_is_what_the_stored_runs_give(rows: list[Row]) -> None:
    page = (FOLDER / "index.md").read_text(encoding="utf-8")
    figures = re.findall(r"\]\(([\w-]+\.png)\)", page)
    assert render(Cells(rows), rows, figures) == page


def test_new_runs_tell_their_commit_processor_and_budget(rows: list[Row]) -> None:
    new = [row for row in rows if "commit" in row.record]
    assert len(new) > 1000
    assert all(row.record["processor"] and row.outcome["budget"] for row in new)
    authors = [row for row in rows if row.run["method"].startswith("authors/")]
    assert authors
    assert all(row.record["authors"] for row in authors)


def test_raw_bdeu_gives_trees_and_all_values_of_the_paper_s_networks(rows: list[Row]) -> None:
    raw = [
        row
        for row in rows
        if row.run["method"].endswith("bdeu-raw") and row.outcome["status"] == "done"
    ]
    assert len(raw) > 20
    for row in raw:
        n, e = row.run["n_variables"], row.outcome["true_edges"]
        assert row.outcome["edges"] == n - 1
        t = true_edges_found(row.outcome["skf1"], n, e)
        assert row.outcome["skf1"] == pytest.approx(2 * t / (n - 1 + e), abs=1e-4)
    cells = [c for c in load_paper_table2() if (c.module, c.metric) == ("BDeu", "SKF1")]
    networks = [cell for cell in cells if cell.graph != "ER2"]
    assert len(networks) == 8
    for cell in networks:
        dag = load_network(cell.graph).dag
        n, e = len(dag), int(dag.sum())
        t = true_edges_found(cell.value, n, e)
        assert abs(cell.value - 2 * t / (n - 1 + e)) < 0.01, cell


def test_random_trees_find_as_many_edges_as_the_formula_says() -> None:
    assert raw_bdeu("CANCER", "SKF1") == "0.40 by formula"
    assert raw_bdeu("ER2", "SKF1") is None
    assert raw_bdeu("ASIA", "PSHD") == raw_bdeu("ASIA", "PSHD")


def test_the_table_of_steps_is_in_one_order() -> None:
    lines = (FOLDER / "results-growth.csv").read_text(encoding="utf-8").splitlines()[1:]
    keys = [(*line.split(",")[:5], int(line.split(",")[5])) for line in lines]
    assert keys == sorted(keys)
