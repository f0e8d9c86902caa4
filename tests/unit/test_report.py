"""The report's page, as far as it can be judged without a browser and without npm."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import pickle
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qwo
import qwo.report.page
from qwo.errors import ArgumentError
from qwo.moments import audit_data
from qwo.report import report_data, write_report
from qwo.report.page import Bundle, embedded_json, find_bundle
from tests.helpers.reports import HOSTILE_NAMES, discovery_of, example

FAKE = Bundle("document.title += 1;", "library 1.0\n<its> licence")


class Elements(HTMLParser):
    """The names of all elements, the attributes of each, and the text of the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.found)


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    return example(8)


def page_of(folder: Path, **arguments: Any) -> str:
    options = {"figures": False, "interactive": False} | arguments
    return write_report(folder / "report.html", **options).read_text("utf-8")


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qwo.report.page, "find_bundle", lambda: FAKE)


def test_static_page_has_tables_and_picture_and_no_script(
    tmp_path: Path, small: dict[str, Any]
) -> None:
    page = page_of(tmp_path, **small, title="Eight variables")
    elements = Elements(page)
    assert elements.count("script") == 0
    assert elements.count("table") == 3
    assert elements.count("rect") == 8
    assert elements.count("path") >= small["discovery"].n_edges
    assert "<title>Eight variables</title>" in page
    assert "built without npm" not in page


def test_page_without_a_bundle_says_so(
    tmp_path: Path, small: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qwo.report.page, "find_bundle", lambda: None)
    page = page_of(tmp_path, **small, interactive=True)
    assert "built without npm" in page
    assert Elements(page).count("script") == 0
    assert "script-src 'none'" in html.unescape(page)


@pytest.mark.usefixtures("bundled")
def test_policy_allows_the_bundle_and_nothing_else(tmp_path: Path, small: dict[str, Any]) -> None:
    page = page_of(tmp_path, **small, interactive=True)
    metas = [a for tag, a in Elements(page).found if tag == "meta" and "http-equiv" in a]
    policy = metas[0]["content"] or ""
    digest = base64.b64encode(hashlib.sha256(FAKE.script.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")
    assert f"<script>{FAKE.script}</script>" in page
    assert "&lt;its&gt; licence" in page


@pytest.mark.usefixtures("bundled")
def test_embedded_data_are_what_report_data_gives(tmp_path: Path, small: dict[str, Any]) -> None:
    page = page_of(tmp_path, **small, interactive=True)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert found is not None
    assert json.loads(found.group(1)) == json.loads(json.dumps(qwo.report.report_data(**small)))


def test_nothing_is_loaded_from_elsewhere(tmp_path: Path, small: dict[str, Any]) -> None:
    page = page_of(tmp_path, **small, figures=True)
    addresses = [
        value or ""
        for _, attributes in Elements(page).found
        for key, value in attributes.items()
        if key in ("src", "href", "srcset", "action", "poster")
    ]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert "@import" not in page
    assert "url(" not in page


@pytest.mark.usefixtures("bundled")
@pytest.mark.parametrize("interactive", [True, False])
def test_hostile_names_stay_text(tmp_path: Path, interactive: bool) -> None:
    arguments = example(len(HOSTILE_NAMES), names=HOSTILE_NAMES) | {
        "title": "</title><script>alert(1)</script>",
        "command": "</code><script>alert(2)</script>",
        "data_summary": {"<b>": "<img src=x>"},
    }
    elements = Elements(page_of(tmp_path, **arguments, interactive=interactive))
    assert elements.count("script") == (2 if interactive else 0)
    assert elements.count("img") == elements.count("b") == 0
    assert not any(key.startswith("on") for _, keys in elements.found for key in keys)
    for name in HOSTILE_NAMES:
        assert name.replace("\r", "\n") in elements.text


def test_embedded_json_cannot_be_left() -> None:
    text = embedded_json({"name": "</script><!-- & \u2028 \u2029 >"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"name": "</script><!-- & \u2028 \u2029 >"}


def test_half_a_surrogate_pair_does_not_lose_the_report(tmp_path: Path) -> None:
    dag = np.array([[0, 1], [0, 0]], dtype=np.int8)
    page = page_of(tmp_path, discovery=discovery_of(dag, ("good", "bad\ud800")))
    assert "bad?" in page


def test_notes_tell_what_to_worry_about(tmp_path: Path, small: dict[str, Any]) -> None:
    dag = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    hurried = discovery_of(dag, ("a", "b", "c"), status="time limit")
    audit = audit_data(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]]))
    text = html.unescape(page_of(tmp_path, discovery=hurried, audit=audit))
    assert "The search was cut short by the time limit" in text
    for severity, noun in (("error", "problem"), ("warning", "warning")):
        [finding] = [finding for finding in audit.findings if finding.severity == severity]
        assert f"The data audit has 1 {noun}: {finding.message.partition('. ')[0]}" in text
    assert "3 of 3 edges could point either way: the data fit both equally well." in text
    assert audit.findings[0].message in text
    weak = [edge for edge in qwo.report.report_data(**small)["edges"] if edge["link"] < 0.5]
    assert weak
    page = page_of(tmp_path, **small)
    [told] = re.findall("Links found again in fewer than half of the resamples: [^<]*", page)
    assert min(weak, key=lambda edge: edge["link"])["source"] in told
    drawn = page.partition('class="legend"')[0].partition('class="still')[2]
    assert drawn.count(" weak") == sum(2 if edge["type"] == "-->" else 1 for edge in weak)


def test_arrows_that_are_a_coin_toss_are_marked(tmp_path: Path) -> None:
    small = example(20)
    data = qwo.report.report_data(**small)
    arrows = [edge for edge in data["edges"] if edge["type"] == "-->"]
    tosses = [edge for edge in arrows if edge["coin_toss"]]
    for edge in arrows:
        holds = edge["arrow"] > 0.5 and edge["arrow"] >= 2 * edge["reverse"]
        assert edge["coin_toss"] is not holds
    assert 0 < len(tosses) < len(arrows)
    assert not any(edge["coin_toss"] for edge in data["edges"] if edge["type"] == "---")
    page = page_of(tmp_path, **small)
    assert "rrows whose direction is not settled (?)" in page
    assert len(re.findall('class="head (?:positive|negative) toss', page)) == len(tosses)
    assert page.count(">→?<") == 2 * len(tosses), "in the tables of edges and of pairs"


def test_empty_graph(tmp_path: Path) -> None:
    nothing = discovery_of(np.zeros((3, 3), dtype=np.int8), ("a", "b", "c"), trace=())
    page = page_of(tmp_path, discovery=nothing)
    assert "No edge is strong enough for the penalty." in page
    assert Elements(page).count("rect") == 3
    assert 'class="curve"' not in page


def test_truth_is_compared_with(tmp_path: Path, small: dict[str, Any]) -> None:
    page = page_of(tmp_path, **small, truth=small["discovery"].dag, figures=True)
    assert "Against the truth" in page
    assert "The graph beside the truth" in page


def test_the_matrix_has_a_cell_for_each_edge_and_needs_no_matplotlib(
    tmp_path: Path, small: dict[str, Any]
) -> None:
    program = (
        "import sys, pickle; from qwo.report import write_report; "
        "write_report(sys.argv[2], **pickle.load(open(sys.argv[1], 'rb'))); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    (tmp_path / "given").write_bytes(pickle.dumps(small))
    page = tmp_path / "report.html"
    command = [sys.executable, "-c", program, str(tmp_path / "given"), str(page)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[2])
    figure = page.read_text("utf-8").partition('id="figures"')[2].partition("</section>")[0]
    cpdag = small["discovery"].cpdag
    assert figure.count('class="cell') == (cpdag > 0).sum()
    assert figure.count('class="ring"') == (cpdag == 2).sum()


def test_same_result_same_page(tmp_path: Path, small: dict[str, Any]) -> None:
    first = page_of(tmp_path, **small, figures=True)
    assert page_of(tmp_path, **small, figures=True) == first


def test_model_and_bootstrap_must_belong_to_the_discovery(
    tmp_path: Path, small: dict[str, Any]
) -> None:
    other = example(8, seed=2)
    renamed = example(8, names=tuple("abcdefgh"))
    with pytest.raises(ArgumentError, match="fitted to another graph"):
        page_of(tmp_path, discovery=small["discovery"], model=other["model"])
    for part in ("model", "bootstrap"):
        with pytest.raises(ArgumentError, match=f"variables of the {part}"):
            page_of(tmp_path, discovery=small["discovery"], **{part: renamed[part]})
    assert not (tmp_path / "report.html").exists()


def test_a_bundle_needs_its_licences(tmp_path: Path) -> None:
    assert find_bundle(tmp_path) is None
    (tmp_path / "report.js").write_text("1")
    assert find_bundle(tmp_path) is None
    (tmp_path / "LICENSES.txt").write_text("free")
    assert find_bundle(tmp_path) == Bundle("1", "free")


def test_a_graph_too_large_to_be_drawn_has_its_strongest_edges_in_a_table(tmp_path, monkeypatch):
    data = qwo.simulate("er", n_variables=12, n_samples=400, random_state=2).data
    found = qwo.discover(data, random_state=0)
    monkeypatch.setattr("qwo.drawing.scene.MOST_DRAWN", 10)
    monkeypatch.setattr("qwo.report.tables.MOST_LISTED", 3)
    page = write_report(tmp_path / "r.html", found).read_text("utf-8")
    assert "12 variables are too many to be drawn" in page
    assert "<figure" not in page.partition('id="edges"')[0]
    strongest = found.to_frame().nlargest(3, "strength")
    table = page.partition('id="edges"')[2].partition("</table>")[0]
    assert table.count("<tr") == 4
    for name in strongest["source"]:
        assert name in table
    assert len(report_data(found)["edges"]) == found.n_edges
    assert report_data(found)["layout"] is None


def test_a_check_stands_in_plain_words_before_its_figures(tmp_path):
    data, dag, _ = qwo.simulate("er", n_variables=6, n_samples=300, degree=2, random_state=3)
    found = qwo.discover(data, random_state=0)
    wrong = dag.copy()
    wrong[:, np.flatnonzero(dag.sum(axis=0))[0]] = 0
    for graph in (found, wrong):
        check = qwo.check(data, graph, n_draws=100, n_subsets=0, random_state=0)
        page = write_report(tmp_path / "r.html", found, check=check).read_text("utf-8")
        section = html.unescape(page.partition('id="check"')[2].partition("</section>")[0])
        verdict = "Alarm: the data contradict the graph" if check.alarm else "No alarm"
        assert section.index(verdict) < section.index("implied independences</th>")
        assert check.summary().split("\n\n")[1].splitlines()[0] in section
    assert check.alarm
    other = qwo.check(data[:, :4], qwo.discover(data[:, :4]), n_draws=0, n_subsets=0)
    with pytest.raises(ArgumentError, match="variables of the check"):
        write_report(tmp_path / "r.html", found, check=other)


def test_a_notebook_shows_the_page_in_a_frame_of_its_own() -> None:
    found = example(6)["discovery"]
    html = found.explore(height=500)._repr_html_()
    assert html.startswith("<iframe")
    assert "sandbox=" in html
    assert "height: 500px" in html
    assert html.count("<") == 2  # the page itself is escaped
