"""What a user has settled about each run: how the file is read, what is known, how to search.

Everything is plain JSON, so that it travels, is kept on disk as it changes, and can be written out
as the command line and the Python lines that do the same. A run is a file and the settings that
were tried on it, one after the other. The folder of a project holds `studio.json`, the files that
were dropped onto the page, and nothing else.
"""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from qwo.errors import ArgumentError, FileFormatError
from qwo.graph.knowledge import Knowledge
from qwo.options import DEFAULTS, OPTIONS, READING
from qwo.text import write_whole

EXTRAS = ("regime", "lags", "time", "unit", "relations", "arrows", "hidden_causes", "feedback")
"""Options of `qwo.discover` that drop an assumption; those that this version has are offered."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Settings:
    """One state of a run; every change makes a new one."""

    drop: tuple[str, ...] = ()
    transform: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    missing: str = "raise"
    penalty: float | str = "auto"
    tiers: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[Pair, ...] = ()
    required: tuple[Pair, ...] = ()
    roots: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @classmethod
    def of_json(cls, given: Any) -> Settings:
        """Settings as the browser or a stored file has them; refused if they make no sense."""
        if not isinstance(given, Mapping):
            raise ArgumentError("settings must be an object")
        unknown = set(given) - {own.name for own in fields(cls)}
        if unknown:
            raise ArgumentError(f"unknown settings: {', '.join(sorted(map(str, unknown)))}")
        try:
            made: dict[str, Any] = {
                **{name: _texts(given.get(name, ())) for name in ("drop", "roots", "leaves")},
                **{name: _pairs(given.get(name, ())) for name in ("forbidden", "required")},
                **{name: _named(given.get(name, {})) for name in ("transform", "types")},
                "tiers": tuple(_texts(tier) for tier in given.get("tiers", ())),
                "extras": _extras(given.get("extras", {})),
                "missing": str(given.get("missing", "raise")),
                "penalty": _penalty(given.get("penalty", "auto")),
                "seed": int(given.get("seed", 0)),
            }
        except (TypeError, ValueError, AttributeError) as error:
            raise ArgumentError(f"settings that cannot be read: {error}") from error
        return cls(**made)

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return asdict(self)

    @property
    def reading(self) -> dict[str, Any]:
        """The keyword arguments of whatever reads the file; what changes them reads it anew."""
        named = {
            "drop": list(self.drop) or None,
            "transform": dict(self.transform) or None,
            "types": dict(self.types) or None,
            "missing": self.missing,
        }
        return {name: value for name, value in named.items() if value != READING_DEFAULTS[name]}

    @property
    def knowledge(self) -> Knowledge | None:
        """What the user knows, about variables that are not left out."""
        gone = set(self.drop)
        tiers = [[v for v in tier if v not in gone] for tier in self.tiers]
        pairs = [
            [pair for pair in own if not gone & set(pair)]
            for own in (self.forbidden, self.required)
        ]
        names = [[v for v in own if v not in gone] for own in (self.roots, self.leaves)]
        if not any((*tiers, *pairs, *names)):
            return None
        filled = [tier for tier in tiers if tier]
        return Knowledge(filled, *pairs, roots=names[0], leaves=names[1])

    @property
    def search(self) -> dict[str, Any]:
        """The keyword arguments of `qwo.discover` but knowledge and reading."""
        return {"penalty_discount": self.penalty, "random_state": self.seed, **self.extras}

    def python(self, file: str) -> str:
        """The Python lines that do the same."""
        given = {**self.reading, **{k: v for k, v in self.search.items() if v != DEFAULTS.get(k)}}
        known = self.knowledge
        if known is not None:
            parts = {k: v for k, v in asdict(known).items() if v}
            given["knowledge"] = _Code(f"qwo.Knowledge({_arguments(parts)})")
        listed = "".join(f",\n    {name}={value!r}" for name, value in given.items())
        return f"import qwo\n\nfound = qwo.discover(\n    {file!r}{listed},\n)\nprint(found)\n"

    def command(self, file: str, folder: str = "") -> list[str]:
        """The command line that does the same, as words."""
        words = ["qwo", "learn", file]
        if folder:
            words += ["-o", folder]
        words += _flags("--drop", self.drop) + [
            word for name, how in self.transform.items() for word in ("-t", f"{how}:{name}")
        ]
        for kind in ("nominal", "ordinal"):
            words += _flags(f"--{kind}", [v for v, own in self.types.items() if own == kind])
        if self.missing != "raise":
            words += ["--missing", self.missing]
        if self.penalty != "auto":
            words += ["--penalty", f"{self.penalty:g}"]
        known = self.knowledge or Knowledge()
        if known.tiers:
            words += ["--tiers", " > ".join(",".join(map(str, tier)) for tier in known.tiers)]
        for flag, pairs in (("--forbid", known.forbidden), ("--require", known.required)):
            words += [word for pair in pairs for word in (flag, ",".join(map(str, pair)))]
        words += _flags("--roots", known.roots) + _flags("--leaves", known.leaves)
        for name, value in self.extras.items():
            flag = f"--{name.replace('_', '-')}"
            words += [flag] if value is True else [flag, str(value)]
        return [*words, "--seed", str(self.seed)]

    def command_line(self, file: str) -> str:
        """The command line as one types it."""
        return shlex.join(self.command(file, "result"))


READING_DEFAULTS = dict.fromkeys(READING) | {"missing": "raise"}


def offered() -> list[str]:
    """The options that drop an assumption and that this version has."""
    return [name for name in EXTRAS if name in OPTIONS]


class _Code:
    """Text that stands for itself among values."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _arguments(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_listed(value)!r}" for name, value in given.items())


def _listed(value: Any) -> Any:
    """Tuples of names as lists; pairs stay tuples."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return [list(v) if len(v) != 2 else v for v in value]
    return list(value) if isinstance(value, tuple) else value


def _flags(flag: str, names: Sequence[str | int]) -> list[str]:
    return [flag, ",".join(map(str, names))] if names else []


def _texts(given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"wanted a list of names, got {given!r}"[:200])
    return tuple(dict.fromkeys(given))


def _pairs(given: Any) -> tuple[Pair, ...]:
    pairs = [_texts(pair) for pair in given]
    if any(len(pair) != 2 for pair in pairs):
        raise TypeError("wanted pairs of two different names")
    return tuple(dict.fromkeys((a, b) for a, b in pairs))


def _named(given: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in given.items()}


def _penalty(given: Any) -> float | str:
    return "auto" if given == "auto" else float(given)


def _extras(given: Any) -> dict[str, Any]:
    known = offered()
    for name in given:
        if name not in known:
            raise ValueError(f"this version of qwo has no option {name!r}")
    return {n: v for n, v in given.items() if v not in (None, False, "", DEFAULTS.get(n))}


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
