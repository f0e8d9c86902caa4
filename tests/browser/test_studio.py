"""The studio in a browser: every flow as a user goes through it."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn

import qwo
from qwo.studio import make_app
from qwo.studio.settings import Project
from tests.helpers.reports import HOSTILE_NAMES

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
TOKEN = "browser"
CANVAS = "document.getElementById('canvas')._cyreg.cy"
NAMES = ["dose", "age", "sex", "weight", "pulse", "pain", "sleep", "outcome"]


class Served:
    """A studio that listens on this machine, and a tab that shows it."""

    def __init__(self, browser: Any, folder: Path, table: Path | None, **context: Any) -> None:
        self.project = Project(folder / "state")
        if table is not None:
            self.project.add_run(self.project.add_file(table))
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{self.socket.getsockname()[1]}"
        app = make_app(self.project, token=TOKEN, hosts=(host,), output=folder)
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.address = f"http://{host}/?token={TOKEN}"
        self.complaints: list[str] = []
        usual = {"viewport": {"width": 1400, "height": 900}, "reduced_motion": "reduce"}
        self.tab = browser.new_context(**(usual | context))
        self.page = self.open()

    def open(self) -> Any:
        page = self.tab.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self._look(request.url))
        page.goto(self.address)
        return page

    def _look(self, address: str) -> None:
        if not address.startswith((self.address.partition("/?")[0], "data:", "blob:")):
            self.complaints.append(f"request: {address}")

    def settle(self, step: int) -> None:
        """Wait until the graph of a step of the history is drawn."""
        self.page.wait_for_selector(f"body[data-settled='{step}']", timeout=60_000)

    def edges(self) -> set[frozenset[str]]:
        found = self.page.evaluate(f"{CANVAS}.edges().not('.ghost').map(e => e.data('ends'))")
        return {frozenset(ends) for ends in found}

    def tap(self, name: str) -> None:
        self.page.evaluate(f"name => void {CANVAS}.getElementById('n:' + name).emit('tap')", name)

    def tap_edge(self, pair: frozenset[str]) -> None:
        self.page.evaluate(
            f"""ends => void {CANVAS}.edges()
            .filter(e => ends.includes(e.data('ends')[0]) && ends.includes(e.data('ends')[1]))[0]
            .emit('tap')""",
            sorted(pair),
        )

    def panel(self, name: str) -> None:
        self.page.click(f"[data-panel={name}]")

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()

    def close(self) -> None:
        self.tab.close()
        if self.thread.is_alive():
            self.stop()
        assert self.complaints == []


def written(folder: Path, n_variables: int, names: list[str] | None = None) -> Path:
    made = qwo.simulate("er", n_variables=n_variables, n_samples=500, degree=3, random_state=5)
    path = folder / "patients.csv"
    header = ",".join(names or [f"V{k}" for k in range(n_variables)])
    np.savetxt(path, made.data, delimiter=",", header=header, comments="")
    return path


@pytest.fixture
def studio(browser: Any, tmp_path: Path) -> Iterator[Served]:
    served = Served(browser, tmp_path, written(tmp_path, 8, NAMES))
    served.settle(0)
    yield served
    served.close()


def test_the_graph_is_that_of_discover(studio: Served, tmp_path: Path) -> None:
    found = qwo.discover(tmp_path / "patients.csv", random_state=0)
    assert studio.edges() == {frozenset((a, b)) for a, _, b in found.edges}
    assert "8 variables" in studio.page.inner_text("#status")


def test_the_penalty_moves_the_graph_and_undo_brings_it_back(studio: Served) -> None:
    before = studio.edges()
    studio.panel("search")
    studio.page.fill("#penalty", "10")
    studio.settle(1)
    after = studio.edges()
    assert after != before
    studio.page.click("#undo")
    studio.settle(0)
    assert studio.edges() == before
    studio.page.click("#redo")
    studio.settle(1)
    assert studio.edges() == after
    studio.page.locator("body").press("Control+z")
    studio.settle(0)
    assert studio.edges() == before


def test_edges_are_forbidden_required_and_released_by_clicking(studio: Served) -> None:
    pair = min(studio.edges(), key=sorted)
    studio.tap_edge(pair)
    studio.page.click("text=Forbid both")
    studio.settle(1)
    assert pair not in studio.edges()
    first, second = sorted(pair)
    studio.tap(first)
    studio.tap(second)
    studio.page.click(f"text=Require {first} → {second}")
    studio.settle(2)
    assert pair in studio.edges()
    studio.panel("knowledge")
    assert "Required" in studio.page.inner_text("#panel")
    studio.page.click("#panel >> text=release")
    studio.settle(3)
    assert "Required" not in studio.page.inner_text("#panel")


def test_tiers_by_dragging_and_by_buttons(studio: Served) -> None:
    studio.panel("knowledge")
    studio.page.drag_and_drop("li:has-text('outcome')", "section[aria-label='Tier 2']")
    studio.settle(1)
    studio.page.click("button[aria-label='move age to the right']")
    studio.settle(2)
    held = studio.project.run("patients").settings
    assert held.tiers == (("age",), ("outcome",))


def test_columns_are_shown_and_fixes_of_the_audit_are_buttons(studio: Served) -> None:
    studio.panel("data")
    assert studio.page.locator("#panel .column svg").count() == len(NAMES)
    studio.page.click(".note:has-text('age') .fixes button >> nth=0")
    studio.settle(1)
    assert set(studio.project.run("patients").settings.roots) == {"age", "sex"}
    studio.page.select_option("[aria-label='transformation of dose']", "rank-normal")
    studio.settle(2)
    assert studio.project.run("patients").settings.transform == {"dose": "rank-normal"}


@pytest.mark.parametrize(
    ("option", "label"),
    [
        ("hidden_causes", "Hidden causes are possible"),
        ("feedback", "Feedback is possible"),
    ],
)
def test_assumptions_are_dropped_by_a_tick(studio: Served, option: str, label: str) -> None:
    before = studio.edges()
    studio.panel("search")
    studio.page.check(f"[aria-label='{label}']")
    studio.settle(1)
    assert studio.project.run("patients").settings.extras == {option: True}
    assert studio.edges()
    studio.page.uncheck(f"[aria-label='{label}']")
    studio.settle(2)
    assert studio.edges() == before


def test_relations_may_bend_and_rows_may_follow_each_other(studio: Served) -> None:
    studio.panel("search")
    for step, (label, value) in enumerate((("Relations", "curved"), ("Relations", ""))):
        studio.page.select_option(f"label:has-text('{label}') >> select", value)
        studio.settle(step + 1)
    studio.page.select_option("label:has-text('Earlier rows as causes') >> select", "1")
    studio.settle(3)
    assert studio.project.run("patients").settings.extras == {"lags": 1}
    assert studio.page.locator(".note.error").count() == 0


def test_a_variable_is_left_out_and_taken_again(studio: Served) -> None:
    studio.page.uncheck("input[aria-label='take pain']")
    studio.settle(1)
    assert not any("pain" in pair for pair in studio.edges())
    assert "7 variables" in studio.page.inner_text("#status")
    studio.page.check("input[aria-label='take pain']")
    studio.settle(2)
    assert "8 variables" in studio.page.inner_text("#status")


def test_two_variables_show_their_plot_effects_and_reasons(studio: Served) -> None:
    first, second = sorted(min(studio.edges(), key=sorted))
    studio.tap(first)
    studio.tap(second)
    studio.page.wait_for_selector("#details svg.scatter circle")
    text = studio.page.inner_text("#details")
    assert f"Effect of {first} on {second}" in text
    assert "Correlation" in text


def test_doubt_fills_in_behind_the_scene(studio: Served) -> None:
    studio.page.wait_for_selector("body[data-doubted='0']", timeout=60_000)
    studio.tap_edge(next(iter(studio.edges())))
    assert "Probability of a link" in studio.page.inner_text("#details")
    assert "the data" in studio.page.inner_text("#notes")


def test_draw_your_own_is_judged_while_drawing(studio: Served) -> None:
    studio.panel("draw")
    studio.page.wait_for_selector("#own-fit")
    ghosts = f"{CANVAS}.edges('.unexplained').length"
    most = studio.page.evaluate(ghosts)
    assert most > 0
    pair = sorted(min(qwo_edges(studio), key=sorted))
    studio.tap(pair[0])
    studio.tap(pair[1])
    studio.page.wait_for_selector("#own-fit >> text=1 arrow")
    assert studio.page.evaluate(ghosts) < most
    assert studio.project.run("patients").own == [tuple(pair)]
    studio.page.click("text=Complete the rest for me")
    studio.settle(1)
    assert frozenset(pair) in studio.edges()
    assert len(studio.edges()) > 1


def qwo_edges(studio: Served) -> set[frozenset[str]]:
    found = qwo.discover(studio.project.files["patients.csv"], random_state=0)
    return {frozenset((a, b)) for a, _, b in found.edges}


def test_two_runs_are_compared_and_differences_marked(studio: Served) -> None:
    studio.panel("compare")
    studio.page.click("text=Another run on this file")
    studio.page.wait_for_selector("#runs button[aria-pressed=true] >> text=patients 2")
    studio.settle(0)
    studio.panel("search")
    studio.page.fill("#penalty", "10")
    studio.settle(1)
    studio.panel("compare")
    studio.page.click("#panel >> text=/^patients$/")
    studio.page.wait_for_selector("#differences >> text=Only in patients")


def test_the_graph_found_is_compared_with_a_drawing(studio: Served) -> None:
    """What only one of both has is listed, and marked in the picture."""
    names = {frozenset(pair) for pair in qwo_edges(studio)}
    other = next([a, b] for a in NAMES for b in NAMES if a < b and {a, b} not in names)
    studio.panel("draw")
    studio.page.wait_for_selector("#own-fit")
    studio.tap(other[0])
    studio.tap(other[1])
    studio.page.wait_for_selector("#own-fit >> text=/RMSEA .* \\(.* to .*\\)/")
    studio.panel("compare")
    studio.page.click("text=the graph that I have drawn")
    studio.page.wait_for_selector("#differences >> text=Only in your drawing (1)")
    assert studio.page.evaluate(f"{CANVAS}.edges('.elsewhere').length") == 1
    assert studio.page.evaluate(f"{CANVAS}.edges('.fresh').length") == len(names)


def test_a_bent_relation_is_drawn_as_a_curve(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    dose = rng.normal(size=500)
    rows = np.column_stack([dose, dose**2 + rng.normal(size=500), dose + rng.normal(size=500)])
    path = tmp_path / "bent.csv"
    np.savetxt(path, rows, delimiter=",", header="dose,pain,pulse", comments="")
    served = Served(browser, tmp_path, path)
    served.settle(0)
    served.tap("dose")
    served.tap("pain")
    served.page.wait_for_selector("#details svg.scatter polyline.curve")
    assert "the relation bends" in served.page.inner_text("#details")
    assert "Residuals of the curve" in served.page.inner_text("#details")
    served.close()


def test_a_full_disk_is_said(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patched:
        patched.setattr("qwo.studio.settings.write_whole", full)
        studio.panel("search")
        studio.page.fill("#penalty", "9")
        studio.page.wait_for_selector("#notes >> text=No space left on device")
        studio.settle(1)
    studio.page.fill("#penalty", "4")
    studio.settle(2)
    assert "No space" not in studio.page.inner_text("#notes")
    kept = Project(studio.project.folder).run("patients")
    assert [own.penalty for own in kept.history[1:]] == [9.0, 4.0]


def test_a_result_is_saved_and_can_be_reproduced(studio: Served, tmp_path: Path) -> None:
    studio.page.click("#reproduce")
    assert "qwo learn" in studio.page.inner_text("#dialog-text")
    studio.page.click("#close-dialog")
    studio.page.click("#save")
    studio.page.wait_for_selector("#status >> text=Wrote", timeout=60_000)
    assert (tmp_path / "patients-result" / "report.html").is_file()


def test_a_file_is_dropped_and_a_broken_one_is_named(studio: Served, tmp_path: Path) -> None:
    good = tmp_path / "more.csv"
    good.write_text((tmp_path / "patients.csv").read_text())
    studio.page.set_input_files("#file", good)
    studio.page.wait_for_selector("#runs button[aria-pressed=true] >> text=more")
    studio.settle(0)
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"a,b\n1,2\n3\n")
    studio.page.set_input_files("#file", broken)
    studio.page.wait_for_selector(".note.error")


def test_a_server_that_is_gone_is_said_and_nothing_is_lost(studio: Served) -> None:
    studio.panel("search")
    studio.page.fill("#penalty", "7")
    studio.settle(1)
    studio.stop()
    studio.page.fill("#penalty", "3")
    studio.page.wait_for_selector("#notes >> text=does not answer")
    assert Project(studio.project.folder).run("patients").settings.penalty == 7.0


def test_a_second_tab_shows_what_the_first_has_done(studio: Served) -> None:
    studio.panel("search")
    studio.page.fill("#penalty", "9")
    studio.settle(1)
    other = studio.open()
    other.wait_for_selector("body[data-settled='1']", timeout=60_000)
    assert other.inner_text("#status") == studio.page.inner_text("#status")


def test_names_are_text_and_never_markup(browser: Any, tmp_path: Path) -> None:
    import pandas as pd

    names = [name for name in HOSTILE_NAMES if "\0" not in name][:6]
    data = qwo.simulate("er", n_variables=len(names), n_samples=300, random_state=0).data
    path = tmp_path / "hostile.parquet"
    pd.DataFrame(data, columns=names).to_parquet(path)
    served = Served(browser, tmp_path, path)
    served.settle(0)
    served.tap(names[0])
    served.panel("knowledge")
    served.close()


@pytest.mark.parametrize("width", [1400, 800, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; make report-bundle brings it")
    table = written(tmp_path, 8, NAMES)
    look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    served = Served(browser, tmp_path, table, bypass_csp=True, **look)
    served.settle(0)
    served.page.add_script_tag(path=str(AXE))
    for panel in ("data", "knowledge", "search", "draw", "compare"):
        served.panel(panel)
        found = served.page.evaluate("axe.run()")["violations"]
        assert [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in found] == []
    served.close()


def test_three_hundred_variables_can_be_drawn(browser: Any, tmp_path: Path) -> None:
    served = Served(browser, tmp_path, written(tmp_path, 300))
    served.settle(0)
    assert len(served.edges()) > 200
    start = time.perf_counter()
    served.panel("search")
    served.page.fill("#penalty", "10")
    served.settle(1)
    assert time.perf_counter() - start < 30
    served.close()


def test_edges_can_be_chosen_from_a_list(studio: Served) -> None:
    first = studio.page.locator("#details li button").first
    first.focus()
    studio.page.keyboard.press("Enter")
    studio.page.wait_for_selector("#details svg.scatter circle")
    assert "Forbid both" in studio.page.inner_text("#details")


def test_large_graphs_are_shown_by_neighbourhoods(browser: Any, tmp_path: Path) -> None:
    served = Served(browser, tmp_path, written(tmp_path, 500))
    served.settle(0)
    shown = f"{CANVAS}.nodes().not('.absent').length"
    assert 1 < served.page.evaluate(shown) < 200
    served.page.select_option("#find-variable", "V7")
    assert served.page.evaluate(f"{CANVAS}.getElementById('n:V7').visible()")
    served.close()
