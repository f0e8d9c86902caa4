"""``qwo learn``: what it prints and what it writes."""

from __future__ import annotations

import csv
import json
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qwo
from qwo.graph.formats import FORMATS
from tests.cli.running import chain, run, run_json, write_table

EDGES = [["a", "-->", "b"], ["c", "-->", "b"], ["c", "---", "d"]]
FILES = {
    "coefficients.csv",
    "cpdag.csv",
    "cpdag.dot",
    "cpdag.json",
    "dag.csv",
    "dag.dot",
    "dag.json",
    "result.json",
}
FIGURES = {f"figures/{name}.{kind}" for name in ("graph", "matrix") for kind in ("svg", "png")}


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_edges_go_to_standard_output_and_remarks_to_standard_error(data: Path) -> None:
    result = run("learn", data)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == ["a  -->  b", "c  -->  b", "c  ---  d"]
    assert result.stderr.startswith(f"read {data}: 4 variables, 300 samples\nfound 3 edges")
    assert "note: 1 of 3 edges could point either way" in result.stderr


def test_the_graph_is_that_of_discover(data: Path) -> None:
    found = qwo.discover(str(data), random_state=0)
    shown = run_json("learn", data)
    assert shown["edges"] == [list(edge) for edge in found.edges] == EDGES
    assert shown["score"] == found.score
    assert shown["params"]["random_state"] == 0


def test_quiet_says_nothing_else(data: Path) -> None:
    result = run("learn", data, "--quiet")
    assert not result.stderr
    assert result.stdout.count("\n") == 3
    silent = run("learn", data, "--quiet", "-o", "result", "--no-report", "--no-figures")
    assert not silent.output
    assert Path("result", "cpdag.json").is_file()


def test_json_is_all_there_is_on_standard_output(data: Path) -> None:
    result = run("learn", data, "--json")
    shown = json.loads(result.stdout)
    assert shown["status"] == "converged"
    assert shown["versions"]["core"]
    assert shown["fit"]["df"] == 3
    assert [edge["cause"] for edge in shown["coefficients"]]


def test_the_folder_is_complete(data: Path) -> None:
    result = run("learn", data, "-o", "result")
    assert result.exit_code == 0, result.output
    folder = Path("result")
    assert "look at result/report.html" in result.stderr
    written = files_in(folder)
    assert FILES | FIGURES | {"report.html"} <= written
    record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert set(record["files"]) == written
    assert record["command"] == f"qwo learn {data} -o result"
    assert len(record["data"]["sha256"]) == 64
    assert record["edges"] == EDGES
    assert record["trace"]
    assert qwo.compare(folder / "cpdag.json", folder / "dag.csv").exact
    with (folder / "coefficients.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {(row["cause"], row["effect"]) for row in rows} >= {("a", "b"), ("c", "b")}
    assert (folder / "report.html").read_text(encoding="utf-8").lstrip().startswith("<!")


def test_the_report_spells_options_as_the_command_line_does() -> None:
    """Its notes said knowledge={'roots': ['age']} below a verdict that said --roots age."""
    a, b, c, _ = chain(200)
    rows = "\n".join(f"{c[k]},{b[k]},{a[k]}" for k in range(200))
    Path("ages.csv").write_text(f"age,dose,effect\n{rows}\n", encoding="utf-8")
    assert run("learn", "ages.csv", "-o", "result", "--no-figures").exit_code == 0
    page = Path("result/report.html").read_text(encoding="utf-8")
    assert "Try: --roots age says so" in page
    assert "knowledge=" not in page
    found = qwo.discover("ages.csv")
    qwo.report.write_report("own.html", found, audit=qwo.audit("ages.csv"))
    assert "knowledge=" in Path("own.html").read_text(encoding="utf-8")


def test_report_and_figures_can_be_left_out(data: Path) -> None:
    run("learn", data, "-o", "result", "--no-report", "--no-figures")
    assert files_in(Path("result")) == FILES


def test_all_formats_at_once(data: Path) -> None:
    options = [word for name in FORMATS for word in ("-f", name)]
    result = run("learn", data, "-o", "result", "--no-report", "--no-figures", *options)
    assert result.exit_code == 0, result.output
    for form in FORMATS.values():
        assert Path("result", f"dag{form.suffixes[0]}").is_file()
    # lavaan has no undirected edges.
    assert not Path("result", "cpdag.lavaan").exists()
    assert qwo.compare("result/cpdag.graphml", "result/cpdag.json").exact


def test_the_same_seed_gives_the_same_files(data: Path) -> None:
    for folder, jobs in (("first", 1), ("second", 2)):
        run("learn", data, "-o", folder, "--seed", 3, "-j", jobs, "--no-report", "--no-figures")
    for name in FILES - {"result.json"}:
        assert Path("first", name).read_bytes() == Path("second", name).read_bytes()


def test_standard_input(data: Path) -> None:
    result = run("learn", "-", input=data.read_bytes())
    assert result.stdout == run("learn", data).stdout
    assert "read standard input: 4 variables" in result.stderr
    broken = run("learn", "-", input="a,b\n1,2\n3\n")
    assert broken.stderr.startswith("error: standard input: line 3")


def test_parquet_tsv_and_covariance_files(data: Path) -> None:
    expected = run("learn", data).stdout
    columns = chain()
    pq.write_table(pa.table(list(columns), names=list("abcd")), "data.parquet")
    write_table(Path("data.tsv"), columns, "abcd", separator="\t")
    covariance = np.cov(columns, bias=True)
    write_table(Path("moments.csv"), covariance.T, "abcd")
    assert run("learn", "data.parquet").stdout == expected
    assert run("learn", "data.tsv").stdout == expected
    assert run("learn", "moments.csv", "--samples", 300).stdout == expected


def test_columns_drop_and_transforms(data: Path) -> None:
    assert run_json("learn", data, "--columns", "a,b", "-c", "c")["data"]["names"] == [
        "a",
        "b",
        "c",
    ]
    assert run_json("learn", data, "-d", "d")["data"]["names"] == ["a", "b", "c"]
    columns = chain()
    write_table(Path("skewed.csv"), [np.exp(columns[0]), *columns[1:]], "abcd")
    assert run_json("learn", "skewed.csv", "-t", "log:a")["edges"] == EDGES
    shown = run("learn", data, "-t", "rank-normal")
    assert "(transform rank-normal)" in shown.stderr


def test_missing_values_by_em() -> None:
    columns = chain()
    columns[1, ::10] = np.nan
    write_table(Path("holes.csv"), columns, "abcd")
    result = run("learn", "holes.csv", "--missing", "em")
    assert result.exit_code == 0
    assert "effective samples" in result.stderr
    assert result.stderr.count("warning: 30 missing") == 1
    dropped = run("learn", "holes.csv", "--missing", "drop", "--json")
    assert json.loads(dropped.stdout)["data"]["samples"] == 270


@pytest.mark.parametrize("kind", ["inline", "tetrad", "toml", "json"])
def test_knowledge_is_kept(data: Path, kind: str) -> None:
    Path("known.toml").write_text('tiers = [["d"], ["c"]]\nforbidden = [["a", "b"]]\n')
    Path("known.json").write_text('{"tiers": [["d"], ["c"]], "forbidden": [["a", "b"]]}')
    qwo.Knowledge(tiers=[["d"], ["c"]], forbidden=[("a", "b")]).to_file("known.txt")
    options = {
        "inline": ["--tiers", "d > c", "--forbid", "a,b"],
        "tetrad": ["-k", "known.txt"],
        "toml": ["-k", "known.toml"],
        "json": ["-k", "known.json"],
    }[kind]
    shown = run_json("learn", data, *options)
    assert ["d", "-->", "c"] in shown["edges"]
    assert ["a", "-->", "b"] not in shown["edges"]
    assert shown["knowledge"]["forbidden"] == [["a", "b"]]


def test_knowledge_from_a_file_and_from_options_adds_up(data: Path) -> None:
    Path("known.toml").write_text('tiers = [["d"], ["c"]]\n')
    shown = run_json("learn", data, "-k", "known.toml", "--require", "d,a", "--leaves", "b")
    assert ["d", "-->", "a"] in shown["edges"]
    both = run("learn", data, "-k", "known.toml", "--tier", "a", "--tier", "b")
    assert both.exit_code == 1
    assert "choose one" in both.stderr


def test_search_options_reach_the_search(data: Path) -> None:
    shown = run_json(
        "learn", data, "--search", "grasp", "--engine", "qwo", "--alpha", 0.01,
        "--restarts", 2, "--start", "d,c,b,a", "--seed", 9, "--time-limit", 60,
    )  # fmt: skip
    wanted = {"search": "grasp", "engine": "qwo", "alpha": 0.01, "restarts": 2, "start": "given"}
    assert wanted.items() <= shown["params"].items()
    assert shown["params"]["random_state"] == 9


def test_no_edges_is_an_empty_output_with_a_note() -> None:
    rng = np.random.default_rng(0)
    write_table(Path("noise.csv"), list(rng.normal(size=(3, 200))), "abc")
    result = run("learn", "noise.csv")
    assert result.exit_code == 0
    assert not result.stdout
    assert "--penalty" in result.stderr


def test_a_terminal_shows_the_gist_of_a_large_graph_that_is_in_a_folder(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qwo.cli.learn.is_terminal", lambda _stream: True)
    monkeypatch.setattr("qwo.cli.learn.MOST_SHOWN", 1)
    lines = run("learn", data, "-o", "result", "--no-report", "--no-figures").stdout.splitlines()
    assert lines == ["a  -->  b", "… 2 more edges"]
    assert len(run("learn", data).stdout.splitlines()) == 3


def test_messages_fit_the_terminal(data: Path) -> None:
    shown = run("learn", data, columns=60).stderr.splitlines()
    assert max(map(len, shown[2:])) < 60
    assert max(map(len, run("learn", data).stderr.splitlines())) > 100


def test_a_time_limit_is_kept_and_told(data: Path) -> None:
    result = run("learn", data, "--time-limit", 0)
    assert result.exit_code == 0
    assert "cut short by the time limit" in result.stderr


def test_bootstrap_supports(data: Path) -> None:
    result = run("learn", data, "-b", 20, "-o", "result", "--no-figures")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "a  -->  b  link 100 %, arrow 100 %"
    with Path("result", "support.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    supports = {(row["first"], row["second"]): float(row["link"]) for row in rows}
    assert supports["a", "b"] == 1.0
    record = json.loads(Path("result", "result.json").read_text(encoding="utf-8"))
    assert record["bootstrap"]["n_resamples"] == 20


def test_bootstrap_takes_the_graph_and_the_rows_that_are_there(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reading, one search of all data and one of each resample: once all but these twice."""
    made: Counter[str] = Counter()

    def counted(where: str, name: str) -> None:
        module = import_module(where)
        call = getattr(module, name)

        def count(*arguments: object, **options: object) -> object:
            made[name] += 1
            return call(*arguments, **options)

        monkeypatch.setattr(module, name, count)

    counted("qwo.moments.reading", "open_source")
    counted("qwo.discovery.discover", "discover_as")
    counted("qwo.resample.bootstrap", "discover_as")
    counted("qwo.resample.runner", "discover_as")
    counted("qwo.resample.runner", "learn_nearby")
    assert run("learn", data, "-b", "20").exit_code == 0
    assert made == {"open_source": 1, "discover_as": 1, "learn_nearby": 20}


def test_a_bootstrap_that_fails_does_not_cost_the_graph() -> None:
    write_table(Path("exact.csv"), np.array([[1, 0.5], [0.5, 1]]), "ab")
    result = run("learn", "exact.csv", "--samples", "inf", "-b", 10)
    assert result.exit_code == 3
    assert result.stdout == "a  ---  b\n"
    assert "warning: no bootstrap: exact moments" in result.stderr
    assert "--samples" in result.stderr
    assert run("learn", "exact.csv", "--samples", "inf", "-b", -1).exit_code == 1


def test_bootstrap_warns_once_of_what_is_doubtful() -> None:
    rng = np.random.default_rng(1)
    names = [f"v{k}" for k in range(15)]
    write_table(Path("wide.csv"), list(rng.normal(size=(15, 12))), names)
    shown = run("learn", "wide.csv", "-b", 3).stderr
    for line in set(shown.splitlines()):
        assert shown.count(line + "\n") == 1


def test_what_a_benchpress_module_needs(data: Path) -> None:
    result = run("learn", data, "--benchpress", "adjmat.csv", "time.txt", "ntests.txt", "-q")
    assert result.exit_code == 0
    lines = Path("adjmat.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["a,b,c,d", "0,1,0,0", "0,0,0,0", "0,1,0,1", "0,0,1,0"]
    assert float(Path("time.txt").read_text(encoding="utf-8")) > 0
    assert Path("ntests.txt").read_text(encoding="utf-8") == "None"


def test_hostile_names_survive() -> None:
    names = ["a,b", "<script>", "ü [b]x[/b]", '"quoted"']
    columns = chain()
    table = pa.table(list(columns), names=names)
    pq.write_table(table, "data.parquet")
    result = run("learn", "data.parquet", "-o", "result", "--no-figures")
    assert result.exit_code == 0, result.output
    assert "ü [b]x[/b]" in result.stdout
    assert qwo.read_graph("result/cpdag.json").names == tuple(names)
    dropped = run_json("learn", "data.parquet", "--drop", '"a,b"')
    assert dropped["data"]["names"] == names[1:]


def test_weak_links_are_told_with_the_size_of_the_resamples() -> None:
    """Half of the rows show less than all: a weak edge is no contradiction."""
    rng = np.random.default_rng(3)
    a, c = rng.normal(size=(2, 60))
    file = write_table(Path("weak.csv"), [a, 0.35 * a + rng.normal(size=60), c], "abc")
    common = ("learn", file, "-b", 30, "--seed", 0, "--penalty", 1)
    told = "links found again in fewer than half of the resamples"
    assert f"{told}, which have half of the rows each: " in run(*common).stderr
    assert "half of the rows each" not in run(*common, "--resampling", "replacement").stderr


def test_the_verdict_comes_before_the_notes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    walk = np.cumsum(rng.normal(size=(200, 3)), axis=0)
    np.savetxt(tmp_path / "w.csv", walk, delimiter=",", header="a,b,age", comments="")
    result = run("learn", str(tmp_path / "w.csv"), "--penalty", "0.5", "--outcome", "b", "--json")
    told = result.stderr
    assert told.index("verdict:") < told.index("try next:")
    assert "do not take this graph at face value" in told
    assert "expected false" not in told
    document = json.loads(result.stdout)
    assert document["verdict"]["verdict"].startswith("do not take")
    assert {a["name"]: a["status"] for a in document["assumptions"]}[
        "independent rows"
    ] == "doubted"
    assert document["outcome"]["outcome"] == "b"
    assert document["expected_false_edges"] is None


def test_an_outcome_is_in_folder_and_report(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    z = rng.normal(size=400)
    w = y + z + rng.normal(size=400)
    table = np.column_stack([x, y, z, w])
    np.savetxt(tmp_path / "d.csv", table, delimiter=",", header="x,y,z,w", comments="")
    folder = tmp_path / "out"
    result = run("learn", str(tmp_path / "d.csv"), "--outcome", "w", "-o", str(folder))
    assert result.exit_code == 0, result.stderr
    assert "of w, the clearest first" in result.stdout
    assert (folder / "outcome.csv").read_text().startswith("cause,low,high")
    page = (folder / "report.html").read_text()
    assert "What affects" in page
    assert 'class="forest"' in page
    wrong = run("learn", str(tmp_path / "d.csv"), "--outcome", "q")
    assert wrong.exit_code != 0
    assert "--outcome" in wrong.stderr


def test_folders_keep_how_data_were_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=500)
    y = 0.7 * x + rng.normal(size=500)
    z = 0.7 * y + rng.normal(size=500)
    file, folder = tmp_path / "raw.csv", tmp_path / "out"
    np.savetxt(file, np.exp([x, y, z]).T, delimiter=",", header="x,y,z", comments="")
    learnt = run("learn", file, "-t", "log", "-o", folder, "--no-figures", "--tiers", "x > y > z")
    assert learnt.exit_code == 0, learnt.stderr
    record = json.loads((folder / "result.json").read_text())
    assert record["data"]["reading"] == {"transform": ["log"]}
    known = run_json("effect", file, folder, "x", "y")["effects"][0]["estimate"]
    said = run_json("effect", file, folder, "x", "y", "-t", "log")["effects"][0]["estimate"]
    assert known == said == pytest.approx(0.7, abs=0.1)
    result = run("effect", file, folder, "x", "y")
    assert "read as when the graph was learnt: --transform log" in result.stderr
    other = run("fit", file, folder, "-t", "rank-normal")
    assert "there with --transform log" in other.stderr
    assert "read as when" in run("check", file, folder, "--draws", "5").stderr
    np.savetxt(file, np.exp([x, z, y]).T, delimiter=",", header="x,y,z", comments="")
    assert "not the file that the graph was learnt from" in run("fit", file, folder).stderr
