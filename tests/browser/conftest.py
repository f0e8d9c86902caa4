"""A headless Chromium, and reports opened in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from qwo.report import write_report
from qwo.report.page import find_bundle
from tests.helpers.reports import HOSTILE_NAMES, example

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def _lacking(reason: str) -> None:
    """Skip, unless whoever runs the tests says that nothing may be lacking."""
    if os.environ.get("QWO_REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(f"{reason}; make test-browser provides it")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        _lacking("Chromium is not installed")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _lacking("playwright is not installed")
    if find_bundle() is None:
        _lacking("the report's script is not bundled")
    with sync_playwright() as playwright:
        # Chromium refuses to be its own sandbox's root, as it is in a container.
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@dataclass
class Opened:
    """A report in a tab, and everything that went on there which should not."""

    page: Any
    path: Path
    arguments: dict[str, Any]
    complaints: list[str] = field(default_factory=list)

    @property
    def cpdag(self) -> Any:
        return self.arguments["discovery"].cpdag

    def data(self) -> dict[str, Any]:
        """The data that the page embeds."""
        result: dict[str, Any] = self.page.evaluate(
            "JSON.parse(document.getElementById('data').textContent)"
        )
        return result

    def graph(self, expression: str) -> Any:
        """A JavaScript expression about the graph ``cy``."""
        return self.page.evaluate(
            f"(() => {{ const cy = document.getElementById('canvas')._cyreg.cy;"
            f"return {expression}; }})()"
        )

    def ids(self, selector: str) -> set[int]:
        """The numbers of the nodes or edges that a selector of the graph finds."""
        found = self.graph(f"cy.elements({selector!r}).map((e) => Number(e.id().slice(1)))")
        return set(found)

    def press(self, selector: str) -> None:
        """Press a button, wherever in the page it is."""
        self.page.locator(selector).dispatch_event("click")

    def details(self) -> str:
        """What the panel says of the selection."""
        text: str = self.page.locator("#details").inner_text()
        return text

    def on_screen(self, element: str) -> tuple[float, float]:
        """Where the middle of a node or an edge is in the window."""
        point = self.graph(
            f"(() => {{ const e = cy.getElementById({element!r});"
            "const at = e.isNode() ? e.renderedPosition() : e.renderedMidpoint();"
            "const box = cy.container().getBoundingClientRect();"
            "return [at.x + box.x, at.y + box.y]; })()"
        )
        return point[0], point[1]

    def slide(self, slider: str, value: float) -> None:
        """Set a slider as a reader would who drags it."""
        self.page.locator(slider).fill(str(value))

    def download(self, kind: str) -> bytes:
        with self.page.expect_download() as waiting:
            self.page.click(f"[data-download={kind}]")
        return Path(waiting.value.path()).read_bytes()


@pytest.fixture
def open_report(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Write a report, open it, and see in the end that nothing went wrong in it."""
    opened: list[tuple[Opened, Any]] = []

    def open_it(arguments: dict[str, Any], **context: Any) -> Opened:
        path = write_report(tmp_path / "report.html", **({"figures": False} | arguments))
        usual = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        tab = browser.new_context(**(usual | context))
        page = tab.new_page()
        report = Opened(page, path, arguments)
        page.on("console", lambda message: report.complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: report.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: report.complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: _check_request(request.url, report))
        page.goto(path.as_uri())
        # Filters are folded away at first.
        page.evaluate("document.getElementById('filters')?.setAttribute('open', '')")
        # The view follows the size of its place, which is settled after some frames.
        if context.get("java_script_enabled", True):
            page.evaluate(
                "new Promise((done) => { let k = 0; const wait = () =>"
                " (k++ < 6 ? requestAnimationFrame(wait) : done()); wait(); })"
            )
        opened.append((report, tab))
        return report

    yield open_it
    for report, tab in opened:
        tab.close()
        assert report.complaints == []


def _check_request(address: str, report: Opened) -> None:
    if address != report.path.as_uri() and not address.startswith(("data:", "blob:")):
        report.complaints.append(f"request: {address}")


@pytest.fixture(scope="session")
def small() -> dict[str, Any]:
    return example(12)


@pytest.fixture(scope="session")
def hostile() -> dict[str, Any]:
    return example(len(HOSTILE_NAMES), names=HOSTILE_NAMES) | {
        "title": "</title><script>alert(3)</script>",
        "command": "</code><script>alert(4)</script>",
        "data_summary": {"<i>file</i>": "<img src=x onerror=alert(5)>"},
    }


@pytest.fixture
def report(open_report: Callable[..., Opened], small: dict[str, Any]) -> Opened:
    return open_report(small)
