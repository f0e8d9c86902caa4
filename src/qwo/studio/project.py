"""Files, runs and their histories, kept on disk as they change.

A run is a file and the settings that were tried on it, one after the other. The folder of a
project holds `studio.json`, the files that were dropped onto the page, and nothing else.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qwo.errors import ArgumentError, FileFormatError
from qwo.studio.settings import Settings
from qwo.text import write_whole

STATE = "studio.json"
FORMAT = {"format": "qwo-studio", "version": 1}
MOST_STEPS = 500
"""Steps of a history that are kept."""


@dataclass
class StudioRun:
    """A file with a history of settings; `at` is the place in it."""

    name: str
    file: str
    history: list[Settings] = field(default_factory=lambda: [Settings()])
    at: int = 0
    own: list[tuple[str, str]] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """Where the history stands."""
        return self.history[self.at]

    def change(self, settings: Settings) -> None:
        """Go on from here; what was undone is forgotten."""
        if settings == self.settings:
            return
        self.history[self.at + 1 :] = [settings]
        del self.history[: max(len(self.history) - MOST_STEPS, 0)]
        self.at = len(self.history) - 1

    def step(self, by: int) -> None:
        """Undo (-1) or redo (1), as far as the history goes."""
        self.at = min(max(self.at + by, 0), len(self.history) - 1)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        return {
            "name": self.name,
            "file": self.file,
            "history": [settings.to_json() for settings in self.history],
            "at": self.at,
            "own": self.own,
        }

    @classmethod
    def of_json(cls, given: dict[str, Any]) -> StudioRun:
        """A run as it was stored."""
        run = cls(
            str(given["name"]),
            str(given["file"]),
            [Settings.of_json(settings) for settings in given["history"]],
            int(given["at"]),
            [(str(a), str(b)) for a, b in given.get("own", ())],
        )
        run.step(0)
        return run


class Project:
    """All runs, under a lock, stored whole after each change."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.lock = threading.RLock()
        self.runs: dict[str, StudioRun] = {}
        self.files: dict[str, Path] = {}
        if (folder / STATE).is_file():
            self._load()

    def _load(self) -> None:
        path = self.folder / STATE
        try:
            held = json.loads(path.read_text("utf-8"))
            if {key: held[key] for key in FORMAT} != FORMAT:
                raise ValueError("another format")
            self.files = {str(k): Path(v) for k, v in held["files"].items()}
            self.runs = {str(k): StudioRun.of_json(v) for k, v in held["runs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileFormatError(
                f"{str(path)!r} is not a state of qwo studio that can be read ({error}); move it "
                "away, or name another folder by --folder"
            ) from error

    def store(self) -> None:
        """Write the state, whole or not at all."""
        with self.lock:
            held = FORMAT | {
                "files": {name: str(path) for name, path in self.files.items()},
                "runs": {name: run.to_json() for name, run in self.runs.items()},
            }
            write_whole(self.folder / STATE, json.dumps(held, ensure_ascii=False) + "\n")

    def add_file(self, path: Path) -> str:
        """A file on this machine, under a name of its own."""
        with self.lock:
            for name, known in self.files.items():
                if known == path:
                    return name
            name = free_name(path.name, self.files)
            self.files[name] = path
            self.store()
            return name

    def keep_upload(self, name: str, content: bytes) -> str:
        """A file that was dropped onto the page, kept in the folder of the project."""
        plain = re.sub(r"[^\w.() -]", "_", Path(name.replace("\\", "/")).name).strip(". ")
        if not plain:
            raise ArgumentError(f"{name!r} is no name of a file")
        with self.lock:
            path = self.folder / "files" / free_name(plain[-120:], self.files)
            path.parent.mkdir(exist_ok=True)
            write_whole(path, content)
            return self.add_file(path)

    def add_run(self, file: str) -> str:
        """A new run on a file, which is stored at once."""
        with self.lock:
            if file not in self.files:
                raise ArgumentError(f"there is no file {file!r}")
            name = free_name(Path(file).stem, self.runs)
            self.runs[name] = StudioRun(name, file)
            self.store()
            return name

    def run(self, name: str) -> StudioRun:
        """A run by its name."""
        if name not in self.runs:
            raise ArgumentError(f"there is no run {name!r}")
        return self.runs[name]


def free_name(wanted: str, taken: Any) -> str:
    """The name, or the name with the first number that is free."""
    if wanted not in taken:
        return wanted
    stem, dot, end = wanted.rpartition(".")
    stem, end = (stem, dot + end) if stem else (wanted, "")
    return next(made for k in range(2, len(taken) + 3) if (made := f"{stem} {k}{end}") not in taken)
