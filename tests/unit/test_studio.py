"""The server of the studio: what it answers, what it refuses, and what it keeps."""

from __future__ import annotations

import errno
import json
import shlex
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import qwo
from qwo.errors import FileFormatError, InputError
from qwo.studio import make_app
from qwo.studio.searches import Searches, SupersededError, scatter_plot
from qwo.studio.settings import Project, Settings, StudioRun
from tests.helpers.reports import HOSTILE_NAMES

HOST = "127.0.0.1:7000"
TOKEN = "a-secret-for-tests"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    made = qwo.simulate("er", n_variables=8, n_samples=400, degree=3, random_state=3)
    path = tmp_path / "cells.csv"
    names = ",".join(f"V{k}" for k in range(8))
    np.savetxt(path, made.data, delimiter=",", header=names, comments="")
    return path


@pytest.fixture
def project(tmp_path: Path, table: Path) -> Project:
    project = Project(tmp_path / "state")
    project.add_run(project.add_file(table))
    return project


@pytest.fixture
def client(project: Project, tmp_path: Path) -> TestClient:
    app = make_app(project, token=TOKEN, hosts=(HOST,), output=tmp_path, most_bytes=100_000)
    return TestClient(app, base_url=f"http://{HOST}", headers={"X-Qwo-Token": TOKEN})


def ask(client: TestClient, what: str, **given: Any) -> dict[str, Any]:
    answer = client.post(f"/api/{what}", json=given)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_change_gives_the_graph_that_discover_gives(client: TestClient, table: Path) -> None:
    told = ask(
        client, "change", run="cells", settings={"penalty": 3.0, "forbidden": [["V0", "V1"]]}
    )
    found = qwo.discover(
        table, penalty_discount=3.0, random_state=0, knowledge={"forbidden": [("V0", "V1")]}
    )
    edges = {(e["source"], e["type"], e["target"]) for e in told["graph"]["edges"]}
    assert {frozenset((a, b)) for a, _, b in edges} == {
        frozenset((a, b)) for a, _, b in found.edges
    }
    assert told["graph"]["summary"]["score"] == pytest.approx(found.score)


def test_history_goes_back_and_forth_and_forgets_what_was_undone(client: TestClient) -> None:
    for penalty in (2.0, 4.0, 6.0):
        ask(client, "change", run="cells", settings={"penalty": penalty})
    assert ask(client, "undo", run="cells")["settings"]["penalty"] == 4.0
    assert ask(client, "undo", run="cells")["settings"]["penalty"] == 2.0
    assert ask(client, "redo", run="cells")["settings"]["penalty"] == 4.0
    told = ask(client, "change", run="cells", settings={"penalty": 9.0})
    assert (told["at"], told["steps"]) == (3, 4)
    assert ask(client, "redo", run="cells")["settings"]["penalty"] == 9.0


def test_what_changed_since_the_last_graph_is_said(client: TestClient) -> None:
    before = ask(client, "change", run="cells", settings={"penalty": 1.0})["graph"]
    after = ask(client, "change", run="cells", settings={"penalty": 30.0})["graph"]
    pairs = [{frozenset((e["source"], e["target"])) for e in g["edges"]} for g in (before, after)]
    removed = {frozenset((a, b)) for a, _, b in after["changed"]["removed"]}
    assert removed == pairs[0] - pairs[1] != set()


def test_everything_is_kept_on_disk_as_it_changes(client: TestClient, project: Project) -> None:
    ask(client, "change", run="cells", settings={"penalty": 5.0})
    ask(client, "own", run="cells", edges=[["V0", "V1"]])
    again = Project(project.folder)
    assert again.run("cells").settings.penalty == 5.0
    assert again.run("cells").own == [("V0", "V1")]


def test_a_broken_state_is_named_and_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "studio.json").write_text("{broken")
    with pytest.raises(FileFormatError, match="move it away"):
        Project(tmp_path)
    assert (tmp_path / "studio.json").read_text() == "{broken"


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"X-Qwo-Token": "wrong"}, ""),
        ({"X-Qwo-Token": ""}, ""),
        ({"Origin": "http://evil.example"}, ""),
        ({"Origin": "null"}, ""),
        ({"Host": "evil.example"}, ""),
        ({"Host": "127.0.0.1:7001"}, ""),
        ({"Sec-Fetch-Site": "cross-site"}, ""),
        ({"X-Qwo-Token": ""}, "?token=wrong"),
    ],
)
def test_foreign_requests_are_refused(
    client: TestClient, headers: dict[str, str], query: str
) -> None:
    answer = client.post(f"/api/state{query}", json={}, headers=headers)
    assert answer.status_code == 403
    assert "cells" not in answer.text
    assert client.get(f"/{query}", headers=headers).status_code == 403


def test_pages_load_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get(f"/?token={TOKEN}", headers={"X-Qwo-Token": ""})
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "http://" not in page.text
    assert "https://" not in page.text


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/pages/studio.css", "/studio.json"]
)
def test_nothing_but_the_pages_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "..\\..\\evil.csv", "/etc/evil.csv", "a\0b.csv"]
)
def test_uploads_stay_in_their_folder(client: TestClient, project: Project, name: str) -> None:
    answer = client.post("/api/upload", params={"name": name}, content=b"a,b\n1,2\n")
    kept = project.files[answer.json()["file"]]
    assert kept.parent == project.folder / "files"
    assert kept.read_bytes() == b"a,b\n1,2\n"


def test_uploads_are_bounded(client: TestClient, project: Project) -> None:
    answer = client.post("/api/upload", params={"name": "big.csv"}, content=b"x" * 100_001)
    assert answer.status_code == 413
    assert "larger than" in answer.json()["error"]
    assert not (project.folder / "files").exists()


@pytest.mark.parametrize(
    "given",
    [
        {"settings": {"penalty": "much"}},
        {"settings": {"nonsense": 1}},
        {"settings": {"tiers": [[1]]}},
        {"settings": {"forbidden": [["V0"]]}},
        {"settings": {"extras": {"os": "system"}}},
        {"settings": []},
        {},
        {"settings": {}, "more": 1},
    ],
)
def test_odd_requests_are_answered_in_words(client: TestClient, given: dict[str, Any]) -> None:
    answer = client.post("/api/change", json={"run": "cells", **given})
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_a_file_that_cannot_be_used_says_why_and_offers_fixes(
    client: TestClient, tmp_path: Path, project: Project
) -> None:
    path = tmp_path / "holes.csv"
    path.write_text(
        "a,b,c\n" + "".join(f"{k},{k % 7},{'' if k == 3 else k % 5}\n" for k in range(60))
    )
    run = ask(client, "new", file=project.add_file(path))["run"]
    told = ask(client, "change", run=run, settings={})
    assert told["graph"] is None
    assert "missing" in told["error"]
    fixes = [fix for f in ask(client, "data", run=run)["findings"] for fix in f["fixes"]]
    change = next(fix["change"] for fix in fixes if fix["change"] == {"missing": "drop"})
    assert ask(client, "change", run=run, settings=change)["graph"] is not None


def test_two_variables_are_explained(client: TestClient, table: Path) -> None:
    told = ask(client, "change", run="cells", settings={"penalty": 2.0})["graph"]
    edge = told["edges"][0]
    pair = ask(client, "pair", run="cells", first=edge["source"], second=edge["target"])
    assert len(pair["points"]) == 400
    assert pair["why"]
    found = qwo.discover(table, penalty_discount=2.0, random_state=0)
    a, b = next((i, j) for i in range(8) for j in range(8) if found.dag[i, j])
    names = found.names
    told = ask(client, "pair", run="cells", first=names[a], second=names[b])["effects"][0]
    model = qwo.fit_sem(table, found.dag)
    assert told["estimate"] == pytest.approx(qwo.total_effect(model, a, b).estimate)
    assert [names[a], names[b]] in told["paths"]


def test_a_missing_edge_is_explained_by_what_separates(client: TestClient, table: Path) -> None:
    ask(client, "change", run="cells", settings={"penalty": 2.0})
    found = qwo.discover(table, penalty_discount=2.0, random_state=0)
    absent = [
        (i, j) for i in range(8) for j in range(i) if not found.dag[i, j] and not found.dag[j, i]
    ]
    first, second = (found.names[v] for v in absent[0])
    (why,) = ask(client, "pair", run="cells", first=first, second=second)["why"]
    assert "partial correlation" in why


def test_a_graph_that_is_drawn_is_judged(client: TestClient, table: Path) -> None:
    found = qwo.discover(table, penalty_discount=2.0, random_state=0)
    ask(client, "change", run="cells", settings={"penalty": 2.0})
    edges = [[found.names[i], found.names[j]] for i, j in np.argwhere(found.dag)]
    good = ask(client, "own", run="cells", edges=edges)
    bad = ask(client, "own", run="cells", edges=[])
    assert good["score"] == pytest.approx(found.score)
    assert bad["score"] == pytest.approx(0)
    assert len(good["unexplained"]) < len(bad["unexplained"])
    answer = client.post("/api/own", json={"run": "cells", "edges": [["V0", "V1"], ["V1", "V0"]]})
    assert answer.status_code == 400


def test_runs_are_compared(client: TestClient) -> None:
    ask(client, "change", run="cells", settings={"penalty": 1.0})
    other = ask(client, "new", file="cells.csv")["run"]
    ask(client, "change", run=other, settings={"penalty": 30.0})
    told = ask(client, "compare", first="cells", second=other)
    assert told["changed"]["removed"]
    assert told["comparison"]["shd_cpdag"] > 0


def test_a_run_is_saved_as_learn_saves_it(client: TestClient, tmp_path: Path) -> None:
    ask(client, "change", run="cells", settings={"penalty": 3.0, "tiers": [["V1"], ["V0", "V2"]]})
    folder = Path(ask(client, "save", run="cells", name="kept")["folder"])
    record = json.loads((folder / "result.json").read_text())
    assert folder.parent == tmp_path
    assert record["params"]["penalty_discount"] == 3.0
    assert record["knowledge"]["tiers"] == [["V1"], ["V0", "V2"]]
    for name in ("../out", "a/b", ".hidden", ""):
        if name:
            answer = client.post("/api/save", json={"run": "cells", "name": name})
            assert answer.status_code == 400


def test_the_lines_to_reproduce_it_give_the_same_graph(client: TestClient, table: Path) -> None:
    settings = {"penalty": 3.0, "drop": ["V7"], "required": [["V0", "V1"]], "transform": {}}
    told = ask(client, "change", run="cells", settings=settings)["graph"]
    space: dict[str, Any] = {}
    exec(told["reproduce"]["python"], space)
    assert space["found"].score == pytest.approx(told["summary"]["score"])
    assert "V7" not in space["found"].names
    words = shlex.split(told["reproduce"]["command"])
    assert words[:3] == ["qwo", "learn", str(table)]
    assert words[words.index("--require") + 1] == "V0,V1"


def test_the_newest_change_cancels_the_search_in_flight(tmp_path: Path) -> None:
    made = qwo.simulate("er", n_variables=150, n_samples=300, degree=8, random_state=1)
    path = tmp_path / "wide.csv"
    np.savetxt(
        path, made.data, delimiter=",", header=",".join(f"V{k}" for k in range(150)), comments=""
    )
    searches = Searches()
    searches.data(path, Settings()).moments  # noqa: B018 - read before the race
    ends: list[str] = []
    begun = threading.Event()

    def first() -> None:
        begun.set()
        try:
            searches.result("run", path, Settings(penalty=1.0))
            ends.append("found")
        except SupersededError:
            ends.append("superseded")

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait()
    newest = searches.result("run", path, Settings(penalty=40.0))
    thread.join()
    assert ends == ["superseded"]
    assert newest.settings.penalty == 40.0


def test_hostile_names_travel_as_text(client: TestClient, tmp_path: Path, project: Project) -> None:
    import pandas as pd

    names = [name for name in HOSTILE_NAMES if "\0" not in name][:5]
    data = qwo.simulate("er", n_variables=len(names), n_samples=200, random_state=0).data
    path = tmp_path / "hostile.parquet"
    pd.DataFrame(data, columns=names).to_parquet(path)
    run = ask(client, "new", file=project.add_file(path))["run"]
    told = ask(client, "change", run=run, settings={"penalty": 2.0})
    assert [v["name"] for v in told["graph"]["variables"]] == names
    assert ask(client, "pair", run=run, first=names[0], second=names[1])["first"] == names[0]


def test_a_history_is_bounded() -> None:
    run = StudioRun("r", "f")
    for k in range(1200):
        run.change(Settings(penalty=1.0 + k))
    assert len(run.history) == 500
    assert run.settings.penalty == 1200.0


def test_settings_that_drop_everything_known_leave_no_knowledge() -> None:
    settings = Settings.of_json({"tiers": [["a"], ["b"]], "drop": ["a", "b"], "roots": ["a"]})
    assert settings.knowledge is None
    with pytest.raises(InputError):
        Settings.of_json({"seed": "x"})


def test_fixes_of_the_audit_are_changes_of_settings(
    client: TestClient, tmp_path: Path, project: Project
) -> None:
    data = qwo.simulate("er", n_variables=4, n_samples=300, random_state=0).data
    path = tmp_path / "people.csv"
    np.savetxt(path, np.exp(3 * data), delimiter=",", header="age,sex,dose,pain", comments="")
    run = ask(client, "new", file=project.add_file(path))["run"]
    fixes = [fix for f in ask(client, "data", run=run)["findings"] for fix in f["fixes"]]
    assert all(fix["label"] for fix in fixes)
    assert "roots: age, sex (nothing causes them)" in [fix["label"] for fix in fixes]
    changes = [fix["change"] for fix in fixes]
    assert {"transform": dict.fromkeys(("age", "sex", "dose", "pain"), "log")} in changes
    assert any(sorted(change.get("roots", [])) == ["age", "sex"] for change in changes)


def test_a_full_disk_is_said_and_nothing_is_lost(
    client: TestClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(client, "change", run="cells", settings={"penalty": 2.0})
    stored = (project.folder / "studio.json").read_text()
    with monkeypatch.context() as patched:

        def full(path: Path, _: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

        patched.setattr("qwo.studio.settings.write_whole", full)
        told = ask(client, "change", run="cells", settings={"penalty": 5.0})
        assert "No space left on device" in told["unsaved"]
        assert told["graph"] is not None
        assert "No space" in ask(client, "own", run="cells", edges=[["V0", "V1"]])["unsaved"]
        answer = client.post("/api/upload?name=more.csv", content=b"a,b\n1,2\n")
        assert "No space left on device" in answer.json()["error"]
    assert (project.folder / "studio.json").read_text() == stored
    told = ask(client, "change", run="cells", settings={"penalty": 7.0})
    assert told["unsaved"] is None
    kept = Project(project.folder).run("cells")
    assert [own.penalty for own in kept.history[-3:]] == [2.0, 5.0, 7.0]
    assert kept.own == [("V0", "V1")]


def test_the_graph_found_is_compared_with_the_one_drawn(client: TestClient, table: Path) -> None:
    ask(client, "change", run="cells", settings={"penalty": 2.0})
    found = qwo.discover(table, penalty_discount=2.0, random_state=0)
    arrows = [(a, b) for a, mark, b in found.edges if mark == "-->"]
    (a, b), kept, *_ = arrows
    joined = {frozenset((x, y)) for x, _, y in found.edges}
    pairs = ((x, y) for x in found.names for y in found.names if x < y)
    other = next([x, y] for x, y in pairs if {x, y} not in joined and not {x, y} & {a, b})
    lines = [(x, y) for x, mark, y in found.edges if mark == "---"][:1]
    ask(client, "own", run="cells", edges=[[b, a], kept, *lines, other])
    told = ask(client, "compare", second="cells")["changed"]
    assert told["turned"] == [[a, "-->", b]]
    assert told["removed"] == [[other[0], "-->", other[1]]]
    assert len(told["added"]) == len(found.edges) - 2 - len(lines)


def test_relations_that_bend_are_drawn_as_curves(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y, z = x**2 + rng.normal(size=400), x + rng.normal(size=400)
    np.savetxt(tmp_path / "t.csv", np.column_stack([x, y, z]), delimiter=",", header="x,y,z")
    data = Searches().data(tmp_path / "t.csv", Settings())
    names = data.table.names
    bent = scatter_plot(data, names[0], names[1])
    at, heights = np.asarray(bent["curve"]).T
    inner = np.abs(at) < 1.5
    np.testing.assert_allclose(heights[inner], at[inner] ** 2, atol=0.5)
    assert np.std(bent["residuals"]) < 1.1 < np.std(y)
    assert scatter_plot(data, names[0], names[2])["curve"] is None


def test_the_fit_of_a_drawing_has_its_interval(client: TestClient) -> None:
    ask(client, "change", run="cells", settings={"penalty": 2.0})
    fit = ask(client, "own", run="cells", edges=[])["fit"]
    low, high = fit["rmsea_interval"]
    assert 0 < low < fit["rmsea"] < high
