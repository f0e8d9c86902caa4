"""Background knowledge: what it forbids and requires, its contradictions, its files."""

from __future__ import annotations

import dataclasses
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.errors import FileFormatError, InputError, KnowledgeError, MissingFileError
from qwo.graph import Knowledge, ancestor_matrix
from qwo.graph.knowledge import as_knowledge
from qwo.graph.tetrad_knowledge import parse
from tests.oracles.equivalence import all_dags
from tests.oracles.random_models import random_dag

NAMES = ["a", "b", "c", "d"]


def edges(matrix, names=NAMES):
    return {names[i] + names[j] for i, j in np.argwhere(matrix)}


def test_no_knowledge_allows_everything():
    resolved = Knowledge().resolve(NAMES)
    assert not resolved.forbidden.any()
    assert not resolved.required.any()
    assert not resolved.before.any()
    np.testing.assert_array_equal(resolved.allowed_parents, ~np.eye(4, dtype=bool))


def test_tiers_forbid_edges_back_and_order_their_variables():
    resolved = Knowledge(tiers=[["c"], ["a", "b"]]).resolve(NAMES)
    assert edges(resolved.forbidden) == {"ac", "bc"}
    assert edges(resolved.before) == {"ca", "cb"}


def test_edges_inside_a_tier_can_be_forbidden():
    tiers = [["a", "b"], ["c", "d"]]
    later = {"ca", "cb", "da", "db"}
    one = Knowledge(tiers=tiers, forbidden_within_tiers=[1]).resolve(NAMES)
    assert edges(one.forbidden) == later | {"cd", "dc"}
    both = Knowledge(tiers=tiers, forbidden_within_tiers=True).resolve(NAMES)
    assert edges(both.forbidden) == later | {"cd", "dc", "ab", "ba"}


def test_empty_tiers_change_nothing():
    resolved = Knowledge(tiers=[[], ["a"], [], ["b"], []]).resolve(NAMES)
    assert edges(resolved.before) == {"ab"}


def test_a_variable_may_be_named_twice_in_one_tier():
    resolved = Knowledge(tiers=[["a", "*"], []]).resolve(NAMES)
    assert not resolved.before.any()


def test_required_edges_order_their_ends_transitively():
    resolved = Knowledge(required=[("b", "c"), ("c", "a")]).resolve(NAMES)
    assert edges(resolved.required) == {"bc", "ca"}
    assert edges(resolved.before) == {"bc", "ca", "ba"}
    assert edges(resolved.forbidden) == {"cb", "ac", "ab"}


def test_order_passes_through_variables_in_no_tier():
    resolved = Knowledge(tiers=[["a"], ["b"]], required=[("b", "c"), ("d", "a")]).resolve(NAMES)
    assert edges(resolved.before) == {"ab", "bc", "ac", "da", "db", "dc"}


def test_forbidden_edges_roots_and_leaves_restrict_no_order():
    resolved = Knowledge(forbidden=[("a", "b")], roots=["c"], leaves=["d"]).resolve(NAMES)
    assert edges(resolved.forbidden) == {"ab", "ac", "bc", "dc", "da", "db"}
    assert not resolved.before.any()


def test_variables_by_number_and_by_pattern():
    names = ["X1", "X2", "Y1", "Y*"]
    resolved = Knowledge(forbidden=[("X*", 2), ("Y*", 0)], roots=["X*"]).resolve(names)
    assert edges(resolved.forbidden & ~Knowledge(roots=["X*"]).resolve(names).forbidden, names) == {
        "X1Y1",
        "X2Y1",
    }
    assert resolved.forbidden[3, 0]


def test_a_pattern_never_means_an_edge_to_itself():
    resolved = Knowledge(forbidden=[("X*", "X*")]).resolve(["X1", "X2", "Y"])
    assert edges(resolved.forbidden, ["X1", "X2", "Y"]) == {"X1X2", "X2X1"}


@pytest.mark.parametrize(
    ("knowledge", "message"),
    [
        (
            {"required": [("a", "b"), ("b", "c"), ("c", "a")]},
            "a → b is required, b → c is required, c → a is required",
        ),
        ({"required": [("a", "b"), ("b", "a")]}, "a → b is required, b → a is required"),
        (
            {"required": [("a", "b")], "forbidden": [("a", "b")]},
            "a → b is required, but it is forbidden too",
        ),
        (
            {"required": [("a", "b")], "tiers": [["b"], ["a"]]},
            "a → b is required, but 'b' is in an earlier tier",
        ),
        (
            {"required": [("b", "c"), ("c", "a")], "tiers": [["a"], ["d"], ["b"]]},
            "a is in a tier before b, b → c is required, c → a is required",
        ),
        (
            {"required": [("a", "b")], "tiers": [["a", "b"]], "forbidden_within_tiers": [0]},
            "a → b is required, but their tier has no edges inside",
        ),
        ({"required": [("a", "b")], "roots": ["b"]}, "'b' is a root, which nothing causes"),
        ({"required": [("a", "b")], "leaves": ["a"]}, "'a' is a leaf, which causes nothing"),
        ({"tiers": [["a"], ["b"], ["a"]]}, r"'a' is in tiers\[0\] and in tiers\[2\]"),
        ({"required": [("a", 0)]}, "required: 'a' cannot cause itself"),
        ({"roots": ["dd"]}, "roots: no variable is called 'dd'; did you mean 'd'"),
        (
            {"leaves": ["zebra"]},
            "leaves: no variable is called 'zebra'; there are 'a', 'b', 'c', 'd'",
        ),
        ({"tiers": [["a"], ["x*"]]}, r"tiers\[1\]: no column matches 'x\*'"),
        ({"forbidden": [(0, 4)]}, "forbidden: there is no column 4; columns are numbered 0 to 3"),
    ],
)
def test_contradictions_are_refused_with_the_reason(knowledge, message):
    with pytest.raises(KnowledgeError, match=message):
        Knowledge(**knowledge).resolve(NAMES)


@pytest.mark.parametrize(
    ("knowledge", "message"),
    [
        ({"forbidden": ["ab"]}, r"forbidden must hold \(cause, effect\) pairs; got 'ab'"),
        ({"required": [("a", "b", "c")]}, "required must hold"),
        ({"required": [{"a", "b"}]}, "required must hold"),
        ({"tiers": ["ab"]}, r"tiers\[0\] must be a list; write \['ab'\]"),
        ({"roots": "a"}, r"roots must be a list; write \['a'\]"),
        ({"roots": [True]}, "a name or a column number.*; got True"),
        ({"leaves": [1.5]}, "a name or a column number.*; got 1.5"),
        ({"tiers": [["a"]], "forbidden_within_tiers": [1]}, r"from 0 to 0; got 1"),
    ],
)
def test_malformed_arguments_are_refused(knowledge, message):
    with pytest.raises(InputError, match=message):
        Knowledge(**knowledge)


def test_knowledge_is_frozen_and_comparable():
    knowledge = Knowledge(tiers=[["a"]], forbidden=[["a", "b"]])
    assert knowledge == Knowledge(tiers=(("a",),), forbidden=(("a", "b"),))
    with pytest.raises(dataclasses.FrozenInstanceError):
        knowledge.tiers = ()
    with pytest.raises(ValueError, match="read-only"):
        knowledge.resolve(NAMES).forbidden[0, 0] = True


def test_allowed_orders():
    resolved = Knowledge(tiers=[["a"], ["b"]], required=[("c", "a")]).resolve(NAMES)
    allowed = {order for order in permutations(range(4)) if resolved.allows_order(order)}
    expected = {
        order for order in permutations(range(4)) if [v for v in order if v < 3] == [2, 0, 1]
    }
    assert allowed == expected


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_start_and_places_of_random_knowledge(seed):
    rng = np.random.default_rng(seed)
    truth = random_dag(rng, 6)
    required = np.argwhere(truth)[rng.random(truth.sum()) < 0.3]
    resolved = Knowledge(required=required).resolve(list("abcdef"))
    wish = rng.permutation(6)
    order = resolved.topological_start(wish)
    assert sorted(order) == list(range(6))
    assert resolved.allows_order(order)
    np.testing.assert_array_equal(resolved.topological_start(order), order)
    if resolved.allows_order(wish):
        np.testing.assert_array_equal(order, wish)
    for v in range(6):
        others = [u for u in order if u != v]
        places = [q for q in range(6) if resolved.allows_order([*others[:q], v, *others[q:]])]
        first, last = resolved.place_range(order, v)
        assert places == list(range(first, last + 1))


def test_start_follows_column_order_by_default():
    resolved = Knowledge(required=[("d", "a")]).resolve(NAMES)
    assert resolved.topological_start().tolist() == [1, 2, 3, 0]


def test_allowed_dags_are_those_with_an_allowed_order():
    knowledge = Knowledge(tiers=[["a"], ["b"]], required=[("b", "c")], forbidden=[("d", "c")])
    resolved = knowledge.resolve(NAMES)
    a, b, c, d = range(4)
    for dag in all_dags(4):
        ancestral = ancestor_matrix(dag)
        fits = dag[b, c] and not dag[d, c] and not ancestral[b, a]
        if fits:
            resolved.check_dag(dag)
        else:
            with pytest.raises(KnowledgeError):
                resolved.check_dag(dag)


def test_a_violation_is_shown():
    resolved = Knowledge(tiers=[["a"], ["b"]], required=[("c", "d")]).resolve(NAMES)
    graph = np.zeros((4, 4), dtype=np.int8)
    with pytest.raises(KnowledgeError, match="c → d: required, but not in the graph"):
        resolved.check_dag(graph)
    graph[2, 3] = graph[1, 0] = 1
    with pytest.raises(KnowledgeError, match="b → a: in the graph, but forbidden"):
        resolved.check_dag(graph)
    graph[1, 0] = 0
    graph[1, 2] = graph[3, 0] = 1
    with pytest.raises(KnowledgeError, match="a must come before b, b → c, c → d, d → a"):
        resolved.check_dag(graph)


def test_thousands_of_variables():
    n = 2000
    names = [f"X{i}" for i in range(n)]
    knowledge = Knowledge(
        tiers=[names[k::4] for k in range(4)],
        required=[(names[i], names[i + 1]) for i in range(0, n, 4)],
        forbidden_within_tiers=[3],
    )
    resolved = knowledge.resolve(names)
    tier = np.arange(n) % 4
    np.testing.assert_array_equal(resolved.before, tier[:, None] < tier)
    assert resolved.allows_order(resolved.topological_start(np.arange(n)[::-1]))


FILE = """\
/knowledge
addtemporal

1*  Chord Attack
2  Frequency
4- Pressure Level

// a comment
forbiddirect
Chord Frequency

requiredirect
Attack Frequency"""


def test_reading_a_file(tmp_path):
    path = tmp_path / "knowledge.txt"
    path.write_text(FILE, encoding="utf-8-sig")
    assert Knowledge.from_file(path) == Knowledge(
        tiers=[["Chord", "Attack"], ["Frequency"], ["Pressure", "Level"]],
        forbidden_within_tiers=[0],
        forbidden=[("Chord", "Frequency")],
        required=[("Attack", "Frequency")],
    )


def test_a_tier_that_causes_only_the_next():
    text = "/knowledge\naddtemporal\n0- a\n1*- b\n2 c d\n"
    assert parse(text) == {
        "tiers": [["a"], ["b"], ["c", "d"]],
        "forbidden_within_tiers": [1],
        "forbidden": [("a", "c"), ("a", "d")],
        "required": [],
    }


def test_groups_and_further_tiers():
    text = (
        "/knowledge\nforbiddengroup\na b\nc\nrequiredgroup\nd\na e\n"
        "tierstructure Units\n0* u v*\n1 w\n"
    )
    fields = parse(text)
    assert fields["tiers"] == []
    assert fields["required"] == [("d", "a"), ("d", "e")]
    assert sorted(fields["forbidden"]) == [
        ("a", "c"),
        ("b", "c"),
        ("u", "v*"),
        ("v*", "u"),
        ("v*", "v*"),
        ("w", "u"),
        ("w", "v*"),
    ]


def test_names_with_blanks_are_separated_by_commas():
    fields = parse(
        '/knowledge comma\naddtemporal\n0* Exam 1\n1  Exam 2, "Last, First"\n'
        "forbiddirect\nOther, Exam 1\n"
    )
    assert fields["tiers"] == [["Exam 1"], ["Exam 2", "Last, First"]]
    assert fields["forbidden"] == [("Other", "Exam 1")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\n", "line 1: expected /knowledge"),
        ("/knowledge\naddtemporal\nfirst a b\n", "line 3: under addtemporal comes a tier number"),
        ("/knowledge\nforbiddirect\n\na\n", "line 4: under forbiddirect comes one cause and"),
        ("/knowledge\nrequiredirect\na b c\n", "one cause and one effect; got 'a b c'"),
        ("/knowledge\nforbiddengroup\na b\n", "a line of effects"),
    ],
)
def test_damaged_files_are_refused_with_the_line(text, message):
    with pytest.raises(FileFormatError, match=message):
        parse(text)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingFileError, match="nowhere"):
        Knowledge.from_file(tmp_path / "nowhere")


def test_a_binary_file_is_refused(tmp_path):
    path = tmp_path / "knowledge"
    path.write_bytes(b"/knowledge\n\xff\xfe")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        Knowledge.from_file(path)


def test_written_file(tmp_path):
    path = tmp_path / "knowledge.txt"
    Knowledge(
        tiers=[["a", "b"], ["c"]], forbidden_within_tiers=[0], required=[("a", "c")], leaves=["c"]
    ).to_file(path, names=["a", "b", "c"])
    assert path.read_text(encoding="utf-8") == (
        "/knowledge\naddtemporal\n1* a b\n2 c\n\nforbiddirect\nc a\nc b\n\nrequiredirect\na c\n"
    )


LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters='"')
HOSTILE = st.text(LETTERS | st.sampled_from(" ,*/"), min_size=1).filter(lambda s: s == s.strip())


@given(names=st.lists(HOSTILE, min_size=4, max_size=4, unique=True))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_name_survives_the_file(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("knowledge") / "file.txt"
    knowledge = Knowledge(
        tiers=[names[:2], names[2:3]],
        forbidden_within_tiers=[1],
        forbidden=[(names[0], names[3])],
        required=[(names[1], names[3]), (names[3], names[2])],
    )
    knowledge.to_file(path)
    assert Knowledge.from_file(path) == knowledge


def test_names_that_look_like_the_format_survive_the_file(tmp_path):
    path = tmp_path / "knowledge.txt"
    knowledge = Knowledge(forbidden=[("//a", "b"), ("tierstructure", "c"), ("1*", "2-")])
    knowledge.to_file(path)
    assert Knowledge.from_file(path) == knowledge


def test_roots_leaves_and_numbers_survive_the_file(tmp_path):
    path = tmp_path / "knowledge.txt"
    knowledge = Knowledge(tiers=[[0], [1]], forbidden=[(3, "c")], roots=["d"], leaves=[1])
    knowledge.to_file(path, names=NAMES)
    read = Knowledge.from_file(path).resolve(NAMES)
    np.testing.assert_array_equal(read.forbidden, knowledge.resolve(NAMES).forbidden)
    np.testing.assert_array_equal(read.before, knowledge.resolve(NAMES).before)


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    path = tmp_path / "knowledge.txt"
    for knowledge in (Knowledge(roots=["a"]), Knowledge(tiers=[[0]])):
        with pytest.raises(KnowledgeError, match="names="):
            knowledge.to_file(path)
    for name in ('a "b"', "a\nb", " a", ""):
        with pytest.raises(KnowledgeError, match="cannot hold the name"):
            Knowledge(roots=[name]).to_file(path, names=[name, "c"])
    assert not path.exists()


def test_knowledge_as_a_dictionary():
    given = {"tiers": [["a"], ["b"]], "forbidden": [("c", "d")], "forbidden_within_tiers": True}
    assert as_knowledge(given) == Knowledge(**given)


@pytest.mark.parametrize("given", [{"tier": [["a"]]}, {1: 2}, 5, [("a", "b")], Knowledge])
def test_what_is_no_knowledge_is_refused(given):
    with pytest.raises(KnowledgeError, match="knowledge"):
        as_knowledge(given)


@pytest.mark.parametrize(
    "arguments",
    [
        *({"tiers": 5}, {"tiers": "ab"}, {"tiers": [5]}, {"forbidden": 5}, {"required": "ab"}),
        *({"roots": 5}, {"leaves": "a"}, {"tiers": [["a"]], "forbidden_within_tiers": ["x"]}),
        *({"forbidden_within_tiers": 1.5}, {"forbidden_within_tiers": [0]}, {"roots": None}),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused_by_name(arguments):
    with pytest.raises(KnowledgeError, match=list(arguments)[-1]):
        Knowledge(**arguments)


@pytest.mark.parametrize("text", ["", "\n\n", "// nothing\n"])
def test_an_empty_file_is_not_silently_no_knowledge(tmp_path, text):
    path = tmp_path / "knowledge.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match="is empty"):
        Knowledge.from_file(path)


def test_a_file_that_says_it_knows_nothing_is_read(tmp_path):
    path = tmp_path / "knowledge.txt"
    Knowledge().to_file(path)
    assert Knowledge.from_file(path) == Knowledge()


@pytest.mark.parametrize("path", ["", ".", "a\0b"])
def test_a_folder_or_no_name_is_no_knowledge_file(path):
    with pytest.raises(InputError, match="knowledge file"):
        as_knowledge(path)


def test_a_variable_named_like_the_opening_line_survives_the_file(tmp_path):
    path = tmp_path / "knowledge.txt"
    known = Knowledge(forbidden=[("/knowledge", "comma")], required=[("/knowledge comma", "x")])
    known.to_file(path)
    assert Knowledge.from_file(path) == known
