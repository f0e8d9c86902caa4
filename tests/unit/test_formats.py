"""Formats: what each writes, what each reads from other tools, and what each refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from qwo.errors import (
    ArgumentError,
    ColumnNameError,
    FileFormatError,
    GraphError,
    InputError,
    MissingFileError,
)
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats import (
    CODES,
    FORMATS,
    can_hold,
    convert,
    decode_matrix,
    encode_matrix,
    parse_graph,
    read_graph,
    write_graph,
)
from qwo.graph.formats.objects import to_networkx
from qwo.graph.formats.registry import format_of_name, format_of_text
from tests.oracles.hostile_names import BLANK

DAG = CausalGraph(("A", "B", "C"), np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], np.int8), "dag")
CPDAG = CausalGraph(("A", "B", "C"), np.array([[0, 1, 0], [0, 0, 2], [0, 2, 0]], np.int8), "cpdag")

WRITTEN = {
    "tetrad": "Graph Nodes:\nA;B;C\n\nGraph Edges:\n1. A --> B\n2. B --- C\n",
    "dagitty": "pdag {\nA\nB\nC\nA -> B\nB -- C\n}\n",
    "dot": "digraph {\n  A;\n  B;\n  C;\n  A -> B;\n  B -> C [dir=none];\n}\n",
    "edges": "source,target,type\nA,B,-->\nB,C,---\n",
    "adjacency": ",A,B,C\nA,0,1,0\nB,0,0,2\nC,0,2,0\n",
    "zero-one": ",A,B,C\nA,0,1,0\nB,0,0,1\nC,0,1,0\n",
    "pcalg": ",A,B,C\nA,0,0,0\nB,1,0,1\nC,0,1,0\n",
    "causal-learn": ",A,B,C\nA,0,-1,0\nB,1,0,-1\nC,0,-1,0\n",
}


@pytest.mark.parametrize("form", WRITTEN)
def test_what_is_written(form):
    assert FORMATS[form].write(CPDAG).decode() == WRITTEN[form]


SURE = {"link_probability": np.array([[0, 1, 0], [1, 0, 0.25], [0, 0.25, 0]])}
SURE["edge_probability"] = np.array([[0, 0.9, 0], [0.1, 0, np.nan], [0, 0.05, 0]])
KNOWN = [{"link_probability": 1.0, "edge_probability": 0.9}, {"link_probability": 0.25}]


def test_values_go_with_their_edges():
    graph = replace(CPDAG, values=SURE)
    text = FORMATS["dot"].write(graph).decode()
    assert "  A -> B [link_probability=1, edge_probability=0.9];\n" in text
    assert "  B -> C [dir=none, link_probability=0.25];\n" in text
    arrows = to_networkx(graph)
    assert arrows.edges["A", "B"] == KNOWN[0]
    assert arrows.edges["B", "C"] == KNOWN[1]
    assert arrows.edges["C", "B"] == {"link_probability": 0.25, "edge_probability": 0.05}
    again = parse_graph(FORMATS["json"].write(graph).decode(), "json")
    assert again.edge_values() == graph.edge_values() == KNOWN
    for form in ("dot", "graphml", "gml", "json", "tetrad"):
        assert parse_graph(FORMATS[form].write(graph).decode(), form) == CPDAG
    moved = graph.reordered(["C", "A", "B"]).renamed({"A": "Z"})
    assert moved.values_at(1, 2) == KNOWN[0]
    assert moved.to_dag().values_at(1, 2) == KNOWN[0]
    assert graph.to_frame()["edge_probability"].tolist()[0] == 0.9
    assert list(CPDAG.to_frame()) == ["source", "mark", "target"]


def test_values_that_do_not_fit_are_refused():
    with pytest.raises(GraphError, match=r"'x' have the shape \(2, 2\); wanted .*\(3, 3\)"):
        replace(CPDAG, values={"x": np.zeros((2, 2))})
    text = FORMATS["json"].write(replace(CPDAG, values=SURE)).decode()
    for wrong in ('"sure"', "true", "null"):
        with pytest.raises(FileFormatError, match=r"edges\[0\].values.link_probability is"):
            parse_graph(
                text.replace('"link_probability": 1.0', f'"link_probability": {wrong}'), "json"
            )
    with pytest.raises(FileFormatError, match=r"edges\[1\].values is"):
        parse_graph(text.replace('{"link_probability": 0.25}', "[]"), "json")


def test_what_is_written_of_a_dag():
    assert FORMATS["bnlearn"].write(DAG).decode() == "[A][B|A][C|A:B]\n"
    assert FORMATS["lavaan"].write(DAG).decode() == ("A ~~ A\nB ~~ B\nC ~~ C\nB ~ A\nC ~ A + B\n")


@pytest.mark.parametrize("form", ["bnlearn", "lavaan"])
def test_formats_for_dags_refuse_a_cpdag(form):
    with pytest.raises(GraphError, match=r"'B' — 'C' has no direction\nTry: to_dag\(\)"):
        FORMATS[form].write(CPDAG)


@pytest.mark.parametrize("form", FORMATS)
def test_files_of_every_format_come_back(form, tmp_path):
    path = tmp_path / f"graph{FORMATS[form].suffixes[0]}"
    write_graph(DAG, path)
    assert read_graph(path) == DAG
    assert read_graph(str(path), form) == DAG


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"parquet", "adjacency", *CODES}))
def test_texts_of_every_format_are_recognised(form):
    text = FORMATS[form].write(DAG).decode()
    assert format_of_text(text) == form
    assert read_graph(text) == DAG


# --- what other tools and people write -----------------------------------------------------------

OF_OTHERS = {
    "digraph with defaults and comments": (
        "dot",
        """// drawn by hand
        strict digraph "my graph" {
          rankdir=LR; node [shape=box];
# a chain
          A -> B -> C [color="red", weight=2];
          { D E } -> C;
          subgraph cluster_0 { edge [dir=none]; A -> F }
          G [label=<a <b>bold</b> label>];
          B:south -> G:n:w /* ports */
        }""",
        ["A → B", "A — F", "B → C", "B → G", "D → C", "E → C"],
    ),
    "undirected graph": ("dot", "graph { A -- B; B -- C }", ["A — B", "B — C"]),
    "arrowheads as causal-learn draws them": (
        "dot",
        """digraph { 0 -> 1 [arrowhead=normal, arrowtail=none, dir=both];
          1 -> 2 [arrowhead=none, arrowtail=none, dir=both]; 3 -> 2 [dir=back] }""",
        ["0 → 1", "1 — 2", "2 → 3"],
    ),
    "two arrows": ("dot", "digraph { A -> B; B -> A; }", ["A — B"]),
    "joined strings": ("dot", 'digraph { "a\\\nb" + "c" -> "say \\"x\\"" }', ['abc → say "x"']),
    "dagitty with roles": (
        "dagitty",
        """dag {
        bb="0,0,1,1"
        X [exposure,pos="-0.5,1"]
        Y [outcome]
        "body mass" -> {X Y}
        X -> Y
        Z <- Y
        }""",
        ["X → Y", "Y → Z", "body mass → X", "body mass → Y"],
    ),
    "dagitty with keywords as names": ("dagitty", "dag { node -> edge }", ["node → edge"]),
    "tetrad with marks and frequencies": (
        "tetrad",
        """Graph Nodes:
        A,B,C

        Graph Edges:
        1. A --> B nl dd
        2. B --- C [B --> C]:0.51;[no edge]:0.1;
        3. C <-- A

        Graph Attributes:
        BIC: -12.5
        """,
        ["A → B", "A → C", "B — C"],
    ),
    "lavaan with labels and breaks": (
        "lavaan",
        "# regressions\ny ~ b1*x1 + 0.5*x2 +\n  x3 ! comment\nz + w ~ y; x1 ~~ x1\ny ~ 1\nw ~ 0*x1",
        ["x1 → y", "x2 → y", "x3 → y", "y → z", "y → w"],
    ),
    "bnlearn in any order": ("bnlearn", " [C|A:B][A][B|A] ", ["A → C", "B → C", "A → B"]),
    "edge list with other columns": (
        "edges",
        "Target,weight,Source\nB,0.5,A\n",
        ["A → B"],
    ),
    "adjacency without names in front": ("adjacency", "A,B\n0,1\n0,0\n", ["A → B"]),
    "adjacency as pandas and R write it": (
        "adjacency",
        '"","A","B"\r\n"A",0.0, 1\r\n"B",0,0\r\n',
        ["A → B"],
    ),
    "GML of another program": (
        "gml",
        """Creator "someone"
        graph [
          directed 1
          node [ id 5 label "A" ]
          node [ id 7 label "B" ]
          edge [ source 5 target 7 value 2 ]
        ]""",
        ["A → B"],
    ),
}


@pytest.mark.parametrize("what", OF_OTHERS)
def test_what_others_write(what):
    form, text, edges = OF_OTHERS[what]
    graph = parse_graph(text, form)
    assert sorted(map(str, graph.edges)) == sorted(edges)


def test_isolated_variables_are_kept():
    graph = CausalGraph(("A", "lonely", "B"), np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]]), "dag")
    for form, how in FORMATS.items():
        assert set(how.read(how.write(graph), form).names) == {"A", "lonely", "B"}


# --- what is refused, and where ------------------------------------------------------------------

REFUSED = {
    "tetrad": [
        ("Graph Nodes:\nA;B\n\nGraph Edges:\n1. A o=> B\n", "line 5: wanted an edge"),
        ("Graph Nodes:\nA;B\n\nGraph Edges:\n1. A x-> B\n", "line 5: .*got x->"),
        ("Graph Nodes:\nA;A\n", "line 2: the variable 'A' is there twice"),
        ("Graph Nodes:\nA;(L)\n", "line 2: '\\(L\\)' is a latent or selection variable"),
        ("Graph Nodes:\nA;B\n\nGraph Edges:\n1. A -->\n", "line 5: wanted an edge"),
        ("Graph Nodes:\nA;\n", "line 2: a variable is called ''"),
        ("nothing of the kind", "wanted a line 'Graph Nodes:'"),
    ],
    "dot": [
        ("digraph {\n A -> \n}", "line 3: wanted a name; got '}'"),
        ("digraph { A -> B", "wanted a name; got 'the end of the text'"),
        ("digraph {\n\nA -> A }", "line 3: 'A' has an edge to itself"),
        ("digraph { A <-> B }", "DOT has the arrows -> and --"),
        ("digraph { " + "{" * 60 + "}" * 60 + "}", "at most 50 levels of braces"),
        ('digraph { "A }', "wanted a name; got '\"'"),
        ("digraph { A -> B } x", "wanted the end of the text; got 'x'"),
        ("flowchart { A }", "wanted one of digraph, graph; got 'flowchart'"),
        ("digraph { A -> B -> C -> A }", "has a cycle: A → B → C → A"),
    ],
    "dagitty": [
        ("dag { A <- }", "wanted a name"),
        ("dag { A -- B }", "a DAG has no undirected edges"),
        ("dag {\nA -> B\nB -> A\n}", "line 3: 'B' and 'A' have two edges"),
    ],
    "bnlearn": [
        ("[A][B|C]", "'C', a parent of 'B', has no brackets"),
        ("[A][B|A", "at character 4"),
        ("[A][A]", "'A' is there twice"),
        ("", "wanted a model string"),
        ("[A|B][B|A]", "'B' and 'A' have two edges|'A' and 'B' have two edges"),
    ],
    "lavaan": [
        ("f =~ x1 + x2", "line 1: wanted a regression"),
        ("y ~ x\n\ny ~~ x", "line 3: .* two edges"),
        ("y ~ 2x", "'2x' is not the name of a variable"),
        ("y ~ x\nx ~ y", "line 2: 'y' and 'x' have two edges"),
    ],
    "edges": [
        ("from,to\nA,B\n", "wanted the header source,target,type"),
        ("source,target,type\nA,B,<=>\n", "line 2: the type is '<=>'"),
        ("source,target,type\nA,B\n", "line 2: 2 fields; the header has 3"),
        ('source,target,type\n"A,B,-->\n', "unexpected end of data"),
    ],
    "adjacency": [
        (",A,B\nA,0,1\nC,0,0\n", "line 3: the row of 'C' stands where that of 'B' belongs"),
        (",A,B\nA,0,x\nB,0,0\n", "line 2: 'x' is not the code of an edge"),
        (",A,B\nA,0,1,0\nB,0,0\n", "line 2: 4 fields"),
        (",A,A\nA,0,1\nA,0,0\n", "'A' occurs more than once"),
        (",A,B\nA,0,2\nB,0,0\n", "give 1 and 0 for A → B, or 2 and 2 for undirected"),
        (",A,B\nA,0,9\nB,0,0\n", "integers from 0 to 8"),
        (",A,B\nA,0,7\nB,0,0\n", "no edge of a MAG or PAG"),
        ("", "wanted a line of names"),
    ],
    "causal-learn": [
        (",A,B\nA,0,1\nB,0,0\n", "a mark at one end only"),
        (",A,B\nA,0,3\nB,1,0\n", "integers from -1 to 2"),
    ],
    "graphml": [
        ("<graphml>\n<graph>", "line 2: not XML"),
        ('<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "b">]><graphml/>', "document type"),
        ("<graphml/>", "not GraphML"),
    ],
    "gml": [
        ("graph [ node [ id 0 ] ]", "not GML"),
        ("graph [", "not GML"),
        ("a [" * 5000, "not GML"),
        ('graph [\n  node [\n    id 0\n    label "a\n\n', "not GML"),
    ],
}


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [(form, text, message) for form, cases in REFUSED.items() for text, message in cases],
)
def test_what_is_refused_and_where(form, text, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_graph(text, form, "graph.txt")
    assert str(caught.value).startswith("graph.txt")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", BLANK)
def test_blank_names_are_refused(form, name):
    with pytest.raises(ColumnNameError, match="has no name"):
        FORMATS[form].write(CausalGraph((name, "B"), np.zeros((2, 2), np.int8), "dag"))


def test_entities_are_not_expanded():
    bomb = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(20)
    )
    text = f"<?xml version='1.0'?><!DOCTYPE x [{bomb}]><graphml>&t;</graphml>"
    with pytest.raises(FileFormatError, match="document type or entities"):
        read_graph(text)


# --- JSON ----------------------------------------------------------------------------------------


def test_json_keeps_the_kind_and_the_metadata():
    metadata = {"note": "ünïcode", "numbers": [1, 2.5, None], "nested": {"a": True}}
    directed = CausalGraph(("A", "B"), np.zeros((2, 2), np.int8), "cpdag", metadata)
    found = parse_graph(FORMATS["json"].write(directed), "json")
    assert found == directed
    assert found.metadata == metadata


def test_json_refuses_metadata_that_it_cannot_hold():
    graph = CausalGraph(("A",), np.zeros((1, 1), np.int8), "dag", {"bad": float("nan")})
    with pytest.raises(FileFormatError, match="metadata cannot be written as JSON"):
        FORMATS["json"].write(graph)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "format is 'other'; wanted 'qwo-graph'"),
        ({"version": 2}, "version is '2'; wanted 1"),
        ({"version": True}, "version is 'True'; wanted 1"),
        ({"kind": "tree"}, "kind is 'tree'; wanted 'dag', 'cpdag'"),
        ({"names": "AB"}, "names is 'AB'; wanted a list"),
        ({"names": ["A", ""]}, r"names\[1\] is ''; wanted a name"),
        ({"names": ["A", 1]}, r"names\[1\] is '1'; wanted a name"),
        ({"names": ["A", "A"]}, r"names\[1\] is 'A'; wanted a name that is not there yet"),
        ({"edges": {}}, "edges is '{}'; wanted a list"),
        ({"edges": [["A", "B"]]}, r"edges\[0\] is .*; wanted an object"),
        ({"edges": [{"source": "A", "target": "Z", "type": "-->"}]}, r"edges\[0\]\.target is 'Z'"),
        ({"edges": [{"source": "A", "target": "B", "type": "o-o"}]}, r"edges\[0\]\.type is 'o-o'"),
        ({"edges": [{"source": "A", "target": "B"}]}, r"edges\[0\] has no key 'type'"),
        ({"edges": [{"source": "A", "target": "A", "type": "-->"}]}, r"itself.*\(edges\[0\]\)"),
        ({"metadata": []}, "metadata is '\\[\\]'; wanted an object"),
        ({"weights": []}, "a key 'weights' that the schema does not know"),
    ],
)
def test_json_errors_name_the_key(change, message):
    document = {
        "format": "qwo-graph",
        "version": 1,
        "kind": "dag",
        "names": ["A", "B"],
        "edges": [],
    }
    with pytest.raises(FileFormatError, match=message):
        parse_graph(json.dumps(document | change), "json")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": }', "[" * 100_000, "1" * 5000])
def test_texts_that_are_not_json_are_refused(text):
    with pytest.raises(FileFormatError):
        parse_graph(text, "json")


# --- files ---------------------------------------------------------------------------------------


def test_the_ending_of_the_name_tells_the_format():
    assert format_of_name("a/graph.PCALG.csv") == ("pcalg", ".pcalg.csv")
    assert format_of_name("graph.csv") == ("adjacency", ".csv")
    assert format_of_name("graph.edges.csv") == ("edges", ".edges.csv")
    assert format_of_name("graph") is None


@pytest.mark.parametrize("form", ["edges", "tetrad", "bnlearn"])
def test_a_text_tells_its_format_under_a_plain_ending(form, tmp_path):
    for name in ("graph.csv", "graph.txt", "graph"):
        path = tmp_path / name
        path.write_bytes(FORMATS[form].write(DAG))
        assert read_graph(path) == DAG


def test_a_byte_order_mark_is_no_part_of_the_graph(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_bytes(b"\xef\xbb\xbf" + FORMATS["adjacency"].write(DAG))
    assert read_graph(path) == DAG


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MissingFileError, match=r"there is no file 'nowhere\.csv'"):
        read_graph("nowhere.csv")
    with pytest.raises(MissingFileError):
        read_graph(tmp_path / "nowhere.json")
    with pytest.raises(FileFormatError, match="is a folder"):
        read_graph(tmp_path)
    with pytest.raises(FileFormatError, match=r"the format of .* is unknown"):
        read_graph("some\ntext")
    (tmp_path / "graph.dot").write_bytes(b"digraph {\n\xff }")
    with pytest.raises(FileFormatError, match="line 2: not UTF-8"):
        read_graph(tmp_path / "graph.dot")
    (tmp_path / "graph.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileFormatError, match="not a readable Parquet file"):
        read_graph(tmp_path / "graph.parquet")


def test_unknown_formats_are_named():
    with pytest.raises(ArgumentError, match="no graph format 'xyz'; choose one of json"):
        parse_graph("x", "xyz")
    with pytest.raises(FileFormatError, match=r"is unknown; wanted one of json.*\nTry: format=…"):
        write_graph(DAG, "graph.unknown")


def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "graph.json"
    write_graph(DAG, path)
    before = path.read_bytes()
    with pytest.raises(FileFormatError):
        write_graph(CausalGraph.from_matrix([[0]], ["a b"]), path, "tetrad")

    def fail(*_arguments):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        write_graph(CPDAG, path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["graph.json"]


def test_a_link_keeps_pointing_to_the_file(tmp_path):
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    write_graph(DAG, target)
    link.symlink_to(target)
    write_graph(CPDAG, link)
    assert link.is_symlink()
    assert read_graph(target) == CPDAG


def test_writing_into_no_folder_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="folder that exists"):
        write_graph(DAG, tmp_path / "none" / "graph.json")


def test_conversion(tmp_path):
    write_graph(DAG, tmp_path / "graph.gml")
    assert convert(tmp_path / "graph.gml", tmp_path / "graph.dot") == DAG
    assert read_graph(tmp_path / "graph.dot") == DAG
    convert(tmp_path / "graph.dot", tmp_path / "m.csv", target_format="pcalg")
    assert read_graph(tmp_path / "m.csv", "pcalg") == DAG


def test_names_put_the_variables_in_order(tmp_path):
    write_graph(DAG, tmp_path / "graph.edges.csv")
    assert read_graph(tmp_path / "graph.edges.csv", names=["C", "A", "B"]).names == ("C", "A", "B")
    with pytest.raises(ColumnNameError, match="the graph has 'C', which is not among"):
        read_graph(tmp_path / "graph.edges.csv", names=["Z", "A", "B"])


def test_pandas_reads_and_writes_the_tables(tmp_path):
    write_graph(CPDAG, tmp_path / "a.csv")
    write_graph(CPDAG, tmp_path / "a.parquet")
    frame = pd.read_csv(tmp_path / "a.csv", index_col=0)
    same = pd.read_parquet(tmp_path / "a.parquet").set_index("")
    pd.testing.assert_frame_equal(frame, same, check_dtype=False, check_names=False)
    frame.to_csv(tmp_path / "b.csv")
    frame.to_parquet(tmp_path / "b.parquet")
    assert read_graph(tmp_path / "b.csv") == CPDAG
    assert read_graph(tmp_path / "b.parquet") == CPDAG


def test_matrix_codes_refuse_what_has_no_meaning():
    with pytest.raises(ArgumentError, match="no matrix code 'r'; choose one of qwo"):
        encode_matrix([[0]], "r")
    with pytest.raises(GraphError, match="must be square"):
        decode_matrix([[0, 1]], "pcalg")
    with pytest.raises(GraphError, match=r"row X, column Y is 0\.5"):
        decode_matrix([[0, 0.5], [0, 0]], "zero-one", ["X", "Y"])
    with pytest.raises(GraphError, match="must be numeric"):
        decode_matrix([["0"]], "pcalg")


def test_large_sparse_graphs_are_read():
    rng = np.random.default_rng(0)
    n = 1000
    matrix = np.zeros((n, n), dtype=np.int8)
    ends = np.sort(rng.integers(0, n, (5000, 2)), axis=1)
    matrix[ends[:, 0], ends[:, 1]] = 1
    np.fill_diagonal(matrix, 0)
    graph = CausalGraph.from_matrix(matrix)
    for how in FORMATS.values():
        assert how.read(how.write(graph), "graph").reordered(graph.names) == graph


@pytest.mark.parametrize("name", ["%fat", "ends in \\", "a b", "1st", "[]", "(x)", "tab\there"])
def test_a_format_that_cannot_hold_a_name_says_so_and_the_others_hold_it(tmp_path, name):
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]], [name, "y"])
    for format_name in FORMATS:
        reason = can_hold(format_name, graph)
        path = tmp_path / f"graph.{format_name}"
        if reason is None:
            write_graph(graph, path, format_name)
            assert read_graph(path, format_name).names == graph.names
        else:
            assert repr(name) in reason
            with pytest.raises(FileFormatError):
                write_graph(graph, path, format_name)
    assert can_hold("json", graph) is None
    assert can_hold("adjacency", graph) is None


def test_formats_for_dags_cannot_hold_undirected_edges():
    graph = CausalGraph.from_matrix([[0, 2], [2, 0]], ["x", "y"])
    refused = {name for name in FORMATS if can_hold(name, graph)}
    assert refused == {"bnlearn", "lavaan"}


@pytest.mark.parametrize("inside", ["node 3", "edge 3", "node [ id 1 ] edge 3", "node [ id [ ] ]"])
def test_a_gml_file_with_a_number_in_the_place_of_a_node_is_refused(inside):
    with pytest.raises(FileFormatError, match="not GML"):
        parse_graph(f"graph [ directed 1 {inside} ]", "gml")


@pytest.mark.parametrize("wrong", [None, 3, b"graph", ["a"], {"a": 1}])
def test_what_is_no_path_or_format_is_refused(wrong):
    with pytest.raises(InputError):
        read_graph(wrong)
    if wrong is not None:
        with pytest.raises(InputError):
            read_graph("digraph { a -> b }", wrong)
    if not isinstance(wrong, bytes):
        with pytest.raises(InputError):
            parse_graph(wrong, "json")


@pytest.mark.parametrize(
    ("form", "text", "joint"),
    [
        ("dot", "digraph {{ {{{}}} -> {{{}}} }}", " "),
        ("dagitty", "dag {{ {{{}}} -> {{{}}} }}", " "),
        ("lavaan", "{} ~ {}", " + "),
    ],
)
def test_small_texts_do_not_name_millions_of_edges(form, text, joint):
    """22 kB of DOT took 36 seconds and a gigabyte; groups this large are refused at once."""
    groups = [joint.join(f"{side}{k}" for k in range(2500)) for side in "ab"]
    with pytest.raises(FileFormatError, match="more than 200,000 edges"):
        parse_graph(text.format(*groups), form)


def test_groups_name_every_pair():
    assert parse_graph("digraph { {a b} -> {c d} -> e }", "dot").n_edges == 6
    assert parse_graph("y + z ~ a + b", "lavaan").n_edges == 4


def test_many_comments_before_something_else_are_passed_over_once():
    """Each further one doubled the time to see that a text is no DOT."""
    assert format_of_text("/**/" * 200 + "x\n") is None
    assert format_of_text("/**/" * 200 + "graph {}\n") == "dot"


def test_values_of_a_short_text_do_not_fill_the_memory(monkeypatch):
    """Every kind of value takes a number for each pair of variables, however few edges have it."""
    monkeypatch.setattr("qwo.graph.formats.json_graph.MOST_VALUES", 100)
    edges = [{"source": "a", "target": "b", "type": "-->", "values": dict.fromkeys("pqr", 0.5)}]
    document = {"format": "qwo-graph", "version": 1, "kind": "dag", "edges": edges}
    few = parse_graph(json.dumps(document | {"names": list("abcd")}), "json")
    assert list(few.values) == list("pqr")
    with pytest.raises(FileFormatError, match="3 kinds of values for the pairs of 6 variables"):
        parse_graph(json.dumps(document | {"names": list("abcdef")}), "json")
