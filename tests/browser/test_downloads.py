"""What the page hands out can be read again."""

from __future__ import annotations

import csv
import io
import json
import struct
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from qwo.graph import as_graph, parse_graph
from tests.helpers.reports import HOSTILE_NAMES

SVG = "{http://www.w3.org/2000/svg}"


def test_json_is_what_the_page_shows(report: Any) -> None:
    assert json.loads(report.download("json")) == report.data()


def test_dot_and_csv_are_the_graph(report: Any) -> None:
    expected = as_graph(report.arguments["discovery"])
    for kind, name in (("dot", "dot"), ("csv", "edges")):
        found = parse_graph(report.download(kind).decode(), name)
        assert np.array_equal(found.reordered(expected.names).matrix, expected.matrix)


def test_csv_holds_coefficients_and_supports(report: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(report.download("csv").decode())))
    for row, edge in zip(rows, report.data()["edges"], strict=False):
        assert (row["source"], row["type"], row["target"]) == (
            edge["source"],
            edge["type"],
            edge["target"],
        )
        for key in ("coefficient", "standard_error", "p_value", "link", "arrow"):
            assert float(row[key]) == edge[key]


def test_hidden_edges_are_left_out(report: Any) -> None:
    report.slide("#least-link", 60)
    kept = sum(edge["link"] >= 0.6 for edge in report.data()["edges"])
    assert parse_graph(report.download("dot").decode(), "dot").n_edges == kept
    assert parse_graph(report.download("csv").decode(), "edges").n_edges == kept
    assert len(ET.fromstring(report.download("svg")).findall(f".//{SVG}path")) == kept


def test_svg_draws_every_variable_and_edge(report: Any) -> None:
    root = ET.fromstring(report.download("svg"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == list(report.arguments["discovery"].names)
    edges = report.data()["edges"]
    assert len(root.findall(f".//{SVG}path")) == len(edges)
    heads = sum(edge["type"] == "-->" for edge in edges)
    assert len(root.findall(f".//{SVG}polygon")) == heads


def test_pictures_are_not_faded_by_a_selection(report: Any) -> None:
    whole = {kind: report.download(kind) for kind in ("svg", "png")}
    report.press("[data-variable='4']")
    assert report.ids("node.dim")
    for kind, before in whole.items():
        assert report.download(kind) == before
    assert report.ids("node.selected") == {4}, "the selection is still there"


def test_png_is_a_picture_of_some_size(report: Any) -> None:
    image = report.download("png")
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", image[16:24])
    assert width > 300
    assert height > 200


def test_hostile_names_survive(open_report: Any, hostile: dict[str, Any]) -> None:
    report = open_report(hostile)
    graph = as_graph(hostile["discovery"])
    assert json.loads(report.download("json"))["variables"][4]["name"] == "__proto__"
    # The table is for people: what a spreadsheet would compute stands behind an apostrophe.
    table = parse_graph(report.download("csv").decode(), "edges")
    assert "'--><!--" in table.names
    assert table.renamed({"'--><!--": "--><!--"}).reordered(graph.names) == graph
    dot = parse_graph(report.download("dot").decode(), "dot")
    assert np.array_equal(dot.matrix, graph.matrix)
    # Two names that DOT cannot hold are written otherwise.
    changed = {"% percent": "_% percent", "ends in a backslash\\": "ends in a backslash\\\\"}
    assert dot.names == tuple(changed.get(name, name) for name in HOSTILE_NAMES)
    titles = {title.text for title in ET.fromstring(report.download("svg")).iter(f"{SVG}title")}
    assert titles == set(HOSTILE_NAMES)
