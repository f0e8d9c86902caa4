"""The server of the studio: this machine alone, a token in the address, nothing from elsewhere.

Every request must name this host, come from this page, and bear the token; pages may load nothing
but what the server has. The answers are those of `qwo.studio.answers`.
"""

from __future__ import annotations

import hmac
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from qwo.errors import ArgumentError, InputError
from qwo.studio import answers
from qwo.studio.searches import Result, Searches, SupersededError
from qwo.studio.settings import Project, Settings, StudioRun, free_name, offered

PAGES = Path(__file__).parent / "pages"
BUNDLE = Path(__file__).parents[1] / "report" / "_bundle" / "studio.js"
REPORT_STYLE = Path(__file__).parents[1] / "report" / "templates" / "report.css"

MOST_BYTES = 512 * 2**20
"""Of a file that is dropped onto the page."""
MOST_TEXT = 4 * 2**20
"""Of any other request."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a page may load: nothing but what this server has. The graph library writes a style."""

Next = Callable[[Request], Awaitable[Response]]


def make_app(
    project: Project,
    *,
    token: str,
    hosts: tuple[str, ...],
    output: Path,
    most_bytes: int = MOST_BYTES,
) -> Starlette:
    """The application; ``hosts`` are the names with ports by which browsers reach it."""
    studio = _Studio(project, output, most_bytes)

    async def guard(request: Request, call_next: Next) -> Response:
        refused = _refusal(request, token, hosts)
        response = PlainTextResponse(refused, 403) if refused else await call_next(request)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["Cache-Control"] = "no-store"
        return response

    return Starlette(
        routes=studio.routes(), middleware=[Middleware(BaseHTTPMiddleware, dispatch=guard)]
    )


def _refusal(request: Request, token: str, hosts: tuple[str, ...]) -> str:
    """Why a request is not answered; empty if it is."""
    if request.headers.get("host", "") not in hosts:
        return "this server answers to its own address alone"
    origin = request.headers.get("origin")
    if origin is not None and origin not in [f"http://{host}" for host in hosts]:
        return "requests come from the page of the studio alone"
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return "requests come from the page of the studio alone"
    if request.url.path in ("/studio.js", "/studio.css", "/report.css"):
        return ""
    given = request.headers.get("x-qwo-token") or request.query_params.get("token", "")
    if not hmac.compare_digest(given.encode(), token.encode()):
        return "the address lacks its token: open the one that `qwo studio` printed"
    return ""


class _Studio:
    """The answers to requests, by path."""

    def __init__(self, project: Project, output: Path, most_bytes: int) -> None:
        self.project, self.output, self.most_bytes = project, output, most_bytes
        self.searches = Searches()
        self.shown: dict[str, Result] = {}

    def routes(self) -> list[Route]:
        """Pages and answers."""
        answers = (
            *(self.state, self.new, self.close, self.change, self.undo, self.redo, self.jump),
            *(self.data, self.layout, self.doubt, self.pair, self.own, self.compare, self.save),
        )
        return [
            Route("/", _file(PAGES / "studio.html", "text/html")),
            Route("/studio.js", _file(BUNDLE, "text/javascript")),
            Route("/studio.css", _file(PAGES / "studio.css", "text/css")),
            Route("/report.css", _file(REPORT_STYLE, "text/css")),
            Route("/api/upload", self.upload, methods=["POST"]),
            *(
                Route(f"/api/{answer.__name__}", _answered(answer), methods=["POST"])
                for answer in answers
            ),
        ]

    async def upload(self, request: Request) -> Response:
        """A file, read as it comes and refused as soon as it is too long."""
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > self.most_bytes:
                return _failure(f"the file is larger than {self.most_bytes / 2**20:,.0f} MiB", 413)
        try:
            name = self.project.keep_upload(request.query_params.get("name", ""), bytes(content))
        except (InputError, OSError) as error:
            return _failure(_words(error))
        return JSONResponse({"file": name})

    def state(self) -> dict[str, Any]:
        """Files, runs and what this version offers."""
        runs = {
            name: {"file": run.file, "steps": len(run.history), "at": run.at}
            for name, run in self.project.runs.items()
        }
        return {"files": list(self.project.files), "runs": runs, "extras": offered()}

    def new(self, file: str) -> dict[str, Any]:
        """A run on a file."""
        return {"run": self.project.add_run(file)}

    def close(self, run: str) -> dict[str, Any]:
        """Forget a run; files stay."""
        with self.project.lock:
            self.project.run(run)
            del self.project.runs[run]
            self.project.store()
        return self.state()

    def change(self, run: str, settings: Any) -> dict[str, Any]:
        """New settings, and the graph that they give."""
        made = Settings.of_json(settings)
        return self._moved(run, lambda own: own.change(made))

    def undo(self, run: str) -> dict[str, Any]:
        """One step back."""
        return self._moved(run, lambda own: own.step(-1))

    def redo(self, run: str) -> dict[str, Any]:
        """One step forward."""
        return self._moved(run, lambda own: own.step(1))

    def jump(self, run: str, to: int) -> dict[str, Any]:
        """To a step of the history."""
        return self._moved(run, lambda own: own.step(int(to) - own.at))

    def _moved(self, name: str, move: Callable[[StudioRun], None]) -> dict[str, Any]:
        with self.project.lock:
            run = self.project.run(name)
            move(run)
            held = {
                "settings": run.settings.to_json(),
                "steps": len(run.history),
                "at": run.at,
                "own": run.own,
                "unsaved": self._unsaved(),
            }
        try:
            result = self._result(name)
        except InputError as error:
            return held | {"error": str(error), "graph": None}
        before, self.shown[name] = self.shown.get(name), result
        path = self.project.files[run.file]
        return held | {"graph": answers.graph_view(result, str(path), before)}

    def _unsaved(self) -> str | None:
        """Store the state; why it could not be, which is no reason not to go on.

        What is on the disk stays as it was, and the next change that can be stored stores all.
        """
        try:
            self.project.store()
        except OSError as error:
            return (
                f"Not saved: {_words(error)}. The studio goes on and keeps everything in memory; "
                "make room on the disk, and the next change saves all of it."
            )
        return None

    def _result(self, name: str) -> Result:
        run = self.project.run(name)
        return self.searches.result(name, self.project.files[run.file], run.settings)

    def data(self, run: str) -> dict[str, Any]:
        """The table."""
        own = self.project.run(run)
        found = self.searches.data(self.project.files[own.file], own.settings)
        return answers.data_view(found)

    def layout(self, run: str) -> dict[str, Any]:
        """Where the graph shown has its nodes."""
        return answers.layout_view(self._shown(run))

    def doubt(self, run: str) -> dict[str, Any]:
        """How sure the edges are; takes some seconds."""
        return answers.doubt_view(self._shown(run))

    def pair(self, run: str, first: str, second: str) -> dict[str, Any]:
        """Two variables of the graph shown."""
        result = self._shown(run)
        for name in (first, second):
            if name not in result.found.names:
                raise ArgumentError(f"there is no variable {name!r}")
        return answers.pair_view(result, first, second)

    def own(self, run: str, edges: list[list[str]]) -> dict[str, Any]:
        """A graph that the user draws."""
        with self.project.lock:
            held = self.project.run(run)
            held.own = [(str(a), str(b)) for a, b in edges]
            unsaved = self._unsaved()
        found = self.searches.data(self.project.files[held.file], held.settings)
        penalty = self._shown(run).found.params.get("penalty_discount") or 2.0
        told = answers.own_view(found, held.settings, held.own, penalty)
        return told | {"unsaved": unsaved}

    def compare(self, second: str, first: str | None = None) -> dict[str, Any]:
        """Two runs, or a run and the graph that was drawn beside it."""
        if first is None:
            return answers.own_differences(self._shown(second), self.project.run(second).own)
        return answers.compare_view(self._shown(first), self._shown(second))

    def save(self, run: str, name: str = "") -> dict[str, Any]:
        """A folder as `qwo learn` writes it, made by the very command that the page shows."""
        own = self.project.run(run)
        wanted = Path(name or run).name
        if not wanted or wanted != (name or run) or wanted.startswith("."):
            raise ArgumentError(f"{name!r} is no name of a folder; use letters and digits")
        taken = {entry.name for entry in self.output.iterdir()}
        folder = self.output / free_name(wanted, taken)
        words = own.settings.command(str(self.project.files[own.file]), str(folder))
        done = subprocess.run(
            [sys.executable, "-m", "qwo.cli", *words[1:], "--quiet"],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        if not folder.is_dir():
            raise ArgumentError(done.stderr.strip() or "qwo learn wrote nothing")
        return {"folder": str(folder), "notes": done.stderr.strip()}

    def _shown(self, run: str) -> Result:
        if run not in self.shown:
            self.project.run(run)
            self.shown[run] = self._result(run)
        return self.shown[run]


def _file(path: Path, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        if not path.is_file():
            return PlainTextResponse(
                "this installation was built without the studio's script; build it with npm: "
                "make report-bundle",
                503,
            )
        return Response(path.read_bytes(), media_type=kind)

    return answer


def _answered(answer: Callable[..., Any]) -> Callable[[Request], Awaitable[Response]]:
    """A function of plain arguments as an answer to requests whose body is a JSON object."""

    async def respond(request: Request) -> Response:
        if int(request.headers.get("content-length", 0)) > MOST_TEXT:
            return _failure("the request is too long", 413)
        try:
            given = await request.json() if await request.body() else {}
            if not isinstance(given, dict):
                raise TypeError("wanted an object")
            return JSONResponse(await run_in_threadpool(answer, **given))
        except SupersededError:
            return JSONResponse({"superseded": True})
        except (InputError, OSError) as error:
            return _failure(_words(error))
        except (TypeError, ValueError, KeyError) as error:
            return _failure(f"a request that cannot be understood: {error}")

    return respond


def _failure(text: str, status: int = 400) -> Response:
    return JSONResponse({"error": text}, status)


def _words(error: Exception) -> str:
    """What went wrong, as a page says it."""
    if isinstance(error, OSError) and not isinstance(error, InputError):
        return f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")
    return str(error)
