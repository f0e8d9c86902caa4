"""The numbers of a report: edges, supports, places and wording."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qwo
from qwo.drawing.scene import MOST_BOXES, page_scene
from qwo.report import report_data, write_report
from qwo.report.contents import Contents
from qwo.report.pictures import price_chart, trace_chart
from qwo.report.remarks import percent, remarks, seconds, text_pairs
from qwo.report.tables import edges_table, further_table, variables_table
from qwo.resample import bootstrap
from qwo.text import about, count, number, p_value, plain
from tests.helpers.reports import Supports, discovery_of, example


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    return example(8)


def test_edges_carry_estimates_and_supports(small: dict[str, Any]) -> None:
    data = report_data(**small)
    discovery, model, bootstrap = small["discovery"], small["model"], small["bootstrap"]
    place = {name: v for v, name in enumerate(discovery.names)}
    assert len(data["edges"]) == discovery.n_edges
    for edge in data["edges"]:
        i, j = place[edge["source"]], place[edge["target"]]
        assert discovery.dag[i, j] == 1
        assert edge["type"] == ("-->" if discovery.cpdag[i, j] == 1 else "---")
        assert edge["coefficient"] == pytest.approx(model.coefficients[i, j])
        assert edge["standard_error"] == pytest.approx(model.standard_errors[i, j])
        assert edge["link"] == bootstrap.link_support[i, j]
        assert edge["arrow"] == bootstrap.arrow_support[i, j]
        assert edge["reverse"] == bootstrap.arrow_support[j, i]
        shares = edge["arrow"] + edge["reverse"] + edge["undirected"]
        assert shares == pytest.approx(edge["link"])


def test_pairs_are_listed_by_support_with_their_edge(small: dict[str, Any]) -> None:
    data = report_data(**small)
    pairs = data["bootstrap"]["pairs"]
    assert [pair["link"] for pair in pairs] == sorted(
        (pair["link"] for pair in pairs), reverse=True
    )
    known = {(edge["source"], edge["target"]): edge for edge in data["edges"]}
    listed = 0
    for pair in pairs:
        ends = pair["first"], pair["second"]
        edge = known.get(ends) or known.get(ends[::-1])
        assert pair["reference"] == ("" if edge is None else edge["type"])
        if pair["reference"] == "-->":
            assert pair["arrow"] == known[ends]["arrow"]
        listed += edge is not None
    assert listed == len(data["edges"])
    assert data["bootstrap"]["n_pairs"] == len(pairs)


def test_a_real_bootstrap_is_taken() -> None:
    data, _, _ = qwo.simulate("er", n_variables=5, n_samples=300, random_state=3)
    found = qwo.discover(data, random_state=1)
    supports = bootstrap(data, n_resamples=10, random_state=1)
    record = report_data(found, bootstrap=supports)["bootstrap"]
    assert record["n_resamples"] == 10
    assert record["pairs"][0]["link"] == supports.link_support.max()


def test_what_was_not_given_is_none(small: dict[str, Any]) -> None:
    data = report_data(small["discovery"])
    absent = ("audit", "bootstrap", "command", "comparison", "data", "fit")
    assert all(data[key] is None for key in absent)
    doubts = ("link_doubt", "arrow_doubt", "directed_by")
    assert set(data["edges"][0]) == {"source", "target", "type", *doubts}


def test_exact_moments_leave_gaps_not_nans() -> None:
    moments = qwo.Moments.from_precision(np.array([[1.5, -0.5], [-0.5, 1.0]]), names=["a", "b"])
    found = qwo.discover(moments, search="grasp", random_state=0)
    data = report_data(found, model=qwo.fit_sem(moments, found.dag))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["summary"]["n_samples"] is None
    assert data["summary"]["score"] is None
    assert data["edges"][0]["p_value"] is None
    assert edges_table(data).rows[0][5].text == "–"


def test_variables_count_their_edges(small: dict[str, Any]) -> None:
    cpdag = small["discovery"].cpdag
    for v, record in enumerate(report_data(**small)["variables"]):
        assert record["parents"] == (cpdag[:, v] == 1).sum()
        assert record["children"] == (cpdag[v] == 1).sum()
        assert record["undirected"] == (cpdag[v] == 2).sum()
        assert small["discovery"].order[record["place"] - 1] == v


def test_tables_have_a_row_for_each_record(small: dict[str, Any]) -> None:
    data = report_data(**small)
    edges, supports = edges_table(data), further_table(data, "supports")
    assert len(edges.rows) == len(data["edges"])
    assert len(variables_table(data).rows) == 8
    assert supports is not None
    assert len(supports.rows) == len(data["bootstrap"]["pairs"])
    assert edges.rows[0][3].sort == 1 - data["edges"][0]["link"]
    assert edges.rows[0][5].sort == data["edges"][0]["coefficient"]
    assert further_table(report_data(small["discovery"]), "supports") is None


@pytest.mark.parametrize("n_variables", [3, 40, MOST_BOXES])
def test_boxes_do_not_overlap(n_variables: int) -> None:
    _, dag, _ = qwo.simulate(
        "er", n_variables=n_variables, n_samples=5, degree=min(3, n_variables - 1), random_state=4
    )
    names = [f"a rather long name, number {k}" for k in range(n_variables)]
    drawing = page_scene(names, np.argwhere(dag))
    assert drawing.boxes
    centres, sizes = drawing.layout.centres, drawing.layout.sizes
    apart = np.abs(centres[:, None] - centres[None]) >= (sizes[:, None] + sizes[None]) / 2 - 1e-6
    assert (apart.any(axis=2) | np.eye(n_variables, dtype=bool)).all()
    tails, heads = drawing.edges.T
    assert (centres[tails, 1] < centres[heads, 1]).all()


def test_many_variables_are_dots() -> None:
    n = MOST_BOXES + 1
    _, dag, _ = qwo.simulate("er", n_variables=n, n_samples=5, degree=2, random_state=4)
    drawing = page_scene([f"V{k}" for k in range(n)], np.argwhere(dag))
    assert not drawing.boxes
    assert len(set(drawing.labels)) == n


def test_pairs_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qwo.report.data.MOST_PAIRS", 4)
    n = 5
    full = Supports(tuple("abcde"), 10, np.ones((n, n)), np.zeros((n, n)))
    found = discovery_of(np.zeros((n, n), dtype=np.int8), full.names)
    record = report_data(found, bootstrap=full)["bootstrap"]
    assert len(record["pairs"]) == 4
    assert record["n_pairs"] == 10


def test_chart_steps_up_in_time(small: dict[str, Any]) -> None:
    data = report_data(**small)
    chart = trace_chart(data)
    assert chart is not None
    assert chart.x_title == "time (ms)"
    drawn = chart.svg()
    places = re.findall(r'class="dot" r="3.2" cx="([\d.]+)" cy="([\d.]+)"', drawn)
    xs, ys = zip(*[map(float, place) for place in places], strict=True)
    assert list(xs) == sorted(xs)
    assert list(ys) == sorted(ys, reverse=True)
    ticks = re.findall(r'text-anchor="middle">(\d+)<', drawn)
    assert ticks == ["0", "50", "100", "150", "200"]
    assert "from 100 to 1234.5 in 2 improvements" in chart.summary
    assert trace_chart(data | {"trace": data["trace"][:1]}) is None


def test_a_trace_of_one_score_can_be_drawn(small: dict[str, Any]) -> None:
    chart = trace_chart(report_data(**small) | {"trace": [[0.0, 5.0], [0.1, 5.0]]})
    assert chart is not None
    assert len(chart.y.ticks(5)) > 1


def test_long_traces_are_thinned(small: dict[str, Any]) -> None:
    trace = tuple((k / 1000, float(k)) for k in range(5000))
    dag, names = small["discovery"].dag, small["discovery"].names
    kept = report_data(discovery_of(dag, names, trace=trace))["trace"]
    assert len(kept) == 2000
    assert kept[0] == [0.0, 0.0]
    assert kept[-1] == [4.999, 4999.0]


def test_plain_values() -> None:
    given = {1: np.float64("nan"), "b": (np.int8(3), np.array([1.5, np.inf])), "c": Path("x")}
    assert plain(given)["1"] is None  # type: ignore[index,call-overload]
    assert plain(given["b"]) == [3, [1.5, None]]
    assert json.loads(json.dumps(plain(given))) == plain(given)
    assert plain("text") == "text"


def test_wording() -> None:
    assert [number(x) for x in (None, 0.0, 0.1234, -12.0, 1e-5, 2e6)] == [
        "–",
        "0.000",
        "0.123",
        "-12.000",
        "1e-05",
        "2e+06",
    ]
    assert [percent(x) for x in (None, 0.0, 0.001, 0.5, 0.995, 1.0)] == [
        "–",
        "0 %",
        "<1 %",
        "50 %",
        ">99 %",
        "100 %",
    ]
    assert [p_value(x) for x in (None, 0.0, 0.2)] == ["–", "<0.001", "0.200"]
    assert [seconds(x) for x in (0.02, 3.0, 600.0)] == ["20 ms", "3.0 s", "10.0 min"]
    assert [count(1, "edge"), count(2000, "edge")] == ["1 edge", "2,000 edges"]
    pairs = text_pairs({"a_b": "x" * 50, "core": {"kernels": "avx2"}, "on": True, "none": None})
    assert pairs == [("core kernels", "avx2"), ("on", "yes"), ("none", "–"), ("a b", "x" * 50)]


def test_contents_order_edges_by_row(small: dict[str, Any]) -> None:
    contents = Contents(small["discovery"])
    tails, heads = contents.ends
    assert np.array_equal(np.lexsort((heads, tails)), np.arange(len(tails)))
    assert contents.directed.sum() == (small["discovery"].cpdag == 1).sum()


def test_edges_carry_their_strength_and_the_chance_that_they_are_false() -> None:
    data, _, _ = qwo.simulate("er", n_variables=20, n_samples=60, degree=3, random_state=1)
    found = qwo.discover(data, penalty_discount="auto", restarts=0, random_state=0)
    shown = report_data(found)
    known = {
        frozenset((row.source, row.target)): (row.strength, row.false_rate)
        for row in found.to_frame().itertuples()
    }
    for edge in shown["edges"]:
        ends = frozenset((edge["source"], edge["target"]))
        assert (edge["strength"], edge["false_rate"]) == pytest.approx(known[ends])
    price = shown["price"]
    assert price["chosen"]
    assert price["taken"] == pytest.approx(found.params["penalty_discount"])
    curve = np.array(price["curve"])
    assert (np.diff(curve[:, 1:], axis=0) <= 0).all()
    assert [c.key for c in edges_table(shown).columns[3:6]] == [
        "link_doubt",
        "arrow_doubt",
        "strength",
    ]
    assert shown["edges"][0]["link_doubt"] == shown["edges"][0]["false_rate"]
    chart = price_chart(shown)
    assert chart is not None
    assert chart.mark is not None
    assert chart.x.start <= chart.mark <= chart.x.stop
    assert "are to be expected false" in chart.summary


def test_a_report_without_a_price_has_no_chart_of_it(small: dict[str, Any]) -> None:
    data = report_data(**small)
    assert data["price"] is None
    assert price_chart(data) is None
    assert "false_rate" not in [column.key for column in edges_table(data).columns]


def test_what_is_roughly_known_is_said_roughly() -> None:
    assert [about(x) for x in (0.0, 0.09, 0.44, 3.04, 9.94, 12.3, 1234.0)] == [
        "under 0.1",
        "under 0.1",
        "about 0.4",
        "about 3.0",
        "about 9.9",
        "about 12",
        "about 1,234",
    ]


@pytest.fixture(scope="module")
def judged() -> dict[str, Any]:
    data, _, _ = qwo.simulate("er", n_variables=8, n_samples=60, degree=3, random_state=3)
    return {
        "discovery": qwo.discover(data, penalty_discount=1.0, random_state=1),
        "posterior": qwo.posterior(data, n_draws=400, random_state=1),
    }


def test_edges_carry_probabilities(judged: dict[str, Any]) -> None:
    data, found = report_data(**judged), judged["posterior"]
    names = list(found.names)
    for edge in data["edges"]:
        i, j = names.index(edge["source"]), names.index(edge["target"])
        assert edge["p_link"] == found.link_probabilities[i, j]
        assert edge["p_arrow"] == found.arrow_probabilities[i, j]
        assert edge["p_reverse"] == found.arrow_probabilities[j, i]
        holds = edge["p_arrow"] > 0.5 and edge["p_arrow"] >= 2 * edge["p_reverse"]
        assert edge["coin_toss"] == (edge["type"] == "-->" and not holds)
        assert "link" not in edge
    columns = [column.title for column in edges_table(data).columns]
    assert columns[3:5] == ["Link wrong", "Arrow wrong"]
    assert all(edge["link_doubt"] == 1 - edge["p_link"] for edge in data["edges"])


def test_pairs_and_effects_are_those_of_the_posterior(judged: dict[str, Any]) -> None:
    record, found = report_data(**judged)["posterior"], judged["posterior"]
    linked = np.triu(found.link_probabilities >= 0.01, 1) | (np.triu(judged["discovery"].cpdag) > 0)
    assert len(record["pairs"]) == record["n_pairs"] >= linked.sum()
    assert record["n_draws"] == 400
    wanted = (found.path_probabilities > 0.5) | (judged["discovery"].dag == 1)
    listed = {(effect["cause"], effect["effect"]) for effect in record["effects"]}
    names = found.names
    assert {(names[i], names[j]) for i, j in np.argwhere(wanted).tolist()} <= listed
    for effect in record["effects"]:
        alone = found.effect(effect["cause"], effect["effect"])
        assert effect["low"] == alone.interval()[0]
        assert effect["probability"] == alone.probability


def test_links_that_posterior_and_graph_disagree_about_are_noted(judged: dict[str, Any]) -> None:
    found = judged["posterior"]
    empty = discovery_of(np.zeros((8, 8), dtype=np.int8), found.names)
    number = int((np.triu(found.link_probabilities, 1) > 0.5).sum())
    texts = [remark.text for remark in remarks(Contents(empty, posterior=found))]
    assert any(text.startswith(f"{number} links that the graph lacks are more") for text in texts)
    full = discovery_of(np.triu(np.ones((8, 8), dtype=np.int8), 1), found.names)
    texts = [remark.text for remark in remarks(Contents(full, posterior=found))]
    assert any(text.startswith("links that are less probable than not: ") for text in texts)


def test_a_posterior_of_other_variables_is_refused(judged: dict[str, Any]) -> None:
    other = discovery_of(judged["discovery"].dag, tuple("abcdefgh"))
    with pytest.raises(qwo.InputError, match="variables of the posterior are not those"):
        report_data(other, posterior=judged["posterior"])


def test_a_coin_toss_is_said_only_of_arrows_that_are_one() -> None:
    """An arrow that all resamples turn round is no coin toss, and neither is a weak link."""
    names = tuple("abcdef")
    dag = np.zeros((6, 6), dtype=np.int8)
    dag[[0, 1, 3, 4], [2, 2, 2, 2]] = 1
    links, arrows = np.zeros((6, 6)), np.zeros((6, 6))
    for i, (forth, back, open_) in ((0, (0, 1, 0)), (1, (0.5, 0.5, 0)), (3, (0.3, 0, 0.6))):
        arrows[i, 2], arrows[2, i] = forth, back
        links[i, 2] = links[2, i] = forth + back + open_
    arrows[4, 2] = links[4, 2] = links[2, 4] = 0.3
    known = Contents(discovery_of(dag, names), bootstrap=Supports(names, 10, links, arrows))
    said = {r.text.partition(" (?)")[0]: r.text for r in remarks(known) if " (?)" in r.text}
    assert {text: text_of.count("-->") for text, text_of in said.items()} == {
        "arrows that most resamples turn round": 1,
        "arrows that most resamples leave without direction": 1,
        "arrows whose direction is not settled": 1,
    }
    assert "a --> c (arrow 0 %, reverse 100 %)" in said["arrows that most resamples turn round"]


def test_arrows_that_are_not_shown_are_said_to_be_stable_where_resamples_repeat_them() -> None:
    """In chains and bands, resamples repeat the wrong arrows that missed edges bring about."""
    sample = qwo.simulate("er", n_variables=8, n_samples=300, degree=4, random_state=3)
    found = qwo.discover(sample.data)
    opened = np.argwhere((found.cpdag == 1) & (found.graph.matrix == 2))
    links = (found.cpdag + found.cpdag.T > 0).astype(float)
    arrows = np.zeros((8, 8))
    arrows[*opened[0]] = 0.95
    arrows[*opened[1]] = 0.85
    known = Contents(found, bootstrap=Supports(found.names, 20, links, arrows))
    (said,) = (r.text for r in remarks(known) if "shown without a direction" in r.text)
    assert "Resamples direct 1 of them nearly always, which tells little" in said
    known = Contents(found, bootstrap=Supports(found.names, 20, links, arrows.clip(0, 0.85)))
    assert not any("nearly always" in r.text for r in remarks(known))


def test_chains_that_do_not_mix_are_said_in_words(judged: dict[str, Any], tmp_path: Path) -> None:
    """An infinite R-hat is no JSON, and ended the report in a TypeError."""
    found = judged["posterior"]
    stuck = replace(found, rhat=np.full(found.rhat.shape, np.inf))
    page = write_report(tmp_path / "r.html", judged["discovery"], posterior=stuck).read_text(
        "utf-8"
    )
    assert "The chains of the posterior do not mix" in page
    assert "infinite: the chains do not mix" in page
