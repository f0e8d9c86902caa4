"""``qwo studio``: the same in a browser, live."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from qwo.cli.options import option
from qwo.errors import ArgumentError, optional_module


def studio(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A file to begin with, as for learn.")
    ] = None,
    *,
    port: Annotated[int, option("--port", "The port; a free one if not given.", "P")] = 0,
    folder: Annotated[
        Path, option("--folder", "Where the studio keeps its state.", "FOLDER")
    ] = Path("qwo-studio"),
    browser: Annotated[
        bool, option("--browser/--no-browser", "Open the page in the browser of this machine.")
    ] = True,
) -> None:
    """Learn, look, correct and learn again, in a browser.

    [b]qwo studio cells.csv[/b]

    The page is served to this machine alone and asks nothing of the network. What you do is kept
    in the folder as you do it; Ctrl-C ends the studio, and the same command goes on with it.
    """
    uvicorn = optional_module("uvicorn", "the studio needs", "qwo[studio]")
    optional_module("starlette", "the studio needs", "qwo[studio]")
    from qwo.moments.readers import existing_file
    from qwo.studio.server import make_app
    from qwo.studio.settings import Project

    project = Project(folder)
    if file is not None:
        name = project.add_file(existing_file(file).absolute())
        if not any(run.file == name for run in project.runs.values()):
            project.add_run(name)
    if not 0 <= port < 65536:
        raise ArgumentError(f"--port is {port}; wanted a whole number from 0 to 65535")
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        own = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        hosts = (f"127.0.0.1:{own}", f"localhost:{own}")
        app = make_app(project, token=token, hosts=hosts, output=Path.cwd())
        address = f"http://127.0.0.1:{own}/?token={token}"
        typer.echo(f"qwo studio: {address}\nCtrl-C ends it; its state is in {folder}")
        if browser:
            import webbrowser

            webbrowser.open(address)
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
        typer.echo(f"ended; qwo studio --folder {folder} goes on with what is there")
