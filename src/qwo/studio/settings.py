"""What a user has settled about one run: how the file is read, what is known, how to search.

Everything is plain JSON, so that it travels, is stored as it changes, and can be written out as the
command line and the Python lines that do the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from qwo.errors import ArgumentError
from qwo.graph.knowledge import Knowledge
from qwo.options import DEFAULTS, OPTIONS, READING

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
        gone = set(self.drop)
        tiers = [[v for v in tier if v not in gone] for tier in self.tiers]
        if any(tiers):
            words += ["--tiers", " > ".join(",".join(tier) for tier in tiers if tier)]
        for flag, pairs in (("--forbid", self.forbidden), ("--require", self.required)):
            words += [
                word for pair in pairs if not gone & set(pair) for word in (flag, ",".join(pair))
            ]
        words += _flags("--roots", [v for v in self.roots if v not in gone])
        words += _flags("--leaves", [v for v in self.leaves if v not in gone])
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


def _flags(flag: str, names: Sequence[str]) -> list[str]:
    return [flag, ",".join(names)] if names else []


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
