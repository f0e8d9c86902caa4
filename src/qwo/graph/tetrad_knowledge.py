"""Tetrad's text format for background knowledge.

A file opens with ``/knowledge`` and has sections, each under a line of its own. ``addtemporal``
holds one tier a line, by number: ``1* age sex``. ``*`` behind the number forbids edges inside the
tier, ``-`` allows edges from it only into the tier with the next number. ``forbiddirect`` and
``requiredirect`` hold one cause and effect a line, ``forbiddengroup`` and ``requiredgroup`` causes
on one line and effects on the next, ``tierstructure`` further tiers that do not bear on the main
ones. Lines that begin with ``//`` are comments.

Names are separated by blanks, or by commas if the first line is ``/knowledge comma``, which is how
names with blanks are written; a name with a comma is then put in double quotes.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path
from typing import NoReturn, TypedDict

from qwo.errors import FileFormatError, KnowledgeError, MissingFileError

Pair = tuple[str, str]

_SECTIONS = (
    "addtemporal",
    "tierstructure",
    "forbiddengroup",
    "requiredgroup",
    "forbiddirect",
    "requiredirect",
)


class Fields(TypedDict):
    """The arguments of `qwo.graph.knowledge.Knowledge` that a file can hold."""

    tiers: list[list[str]]
    forbidden_within_tiers: list[int]
    forbidden: list[Pair]
    required: list[Pair]


def read(path: str | os.PathLike[str]) -> Fields:
    """The knowledge in a file."""
    if not str(path):
        raise MissingFileError("the name of the knowledge file is empty")
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no knowledge file {path}") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"the knowledge file {path} is not UTF-8 text: {error}") from error
    except (OSError, ValueError) as error:  # a folder, a file that is locked, a null character
        raise FileFormatError(f"cannot read the knowledge file {str(path)!r}: {error}") from error
    return parse(text, source=str(path))


def parse(text: str, source: str = "knowledge") -> Fields:
    """The knowledge in a text; ``source`` is its name in messages."""
    fields = Fields(tiers=[], forbidden_within_tiers=[], forbidden=[], required=[])
    for section in _sections(text, source):
        if section.keyword == "addtemporal":
            _add_main_tiers(section.tiers(), fields)
        elif section.keyword == "tierstructure":
            fields["forbidden"] += _edges_against(section.tiers())
        else:
            edges = section.groups() if section.keyword.endswith("group") else section.pairs()
            forbids = section.keyword.startswith("forbid")
            fields["forbidden" if forbids else "required"] += edges
    return fields


@dataclass
class _Tier:
    """The names in a tier, whether it has no edges inside, whether it causes only the next."""

    names: list[str] = field(default_factory=list)
    closed: bool = False
    next_only: bool = False


@dataclass(frozen=True)
class _Section:
    """A keyword and the numbered lines below it."""

    keyword: str
    source: str
    commas: bool
    lines: list[tuple[int, str]] = field(default_factory=list)

    def tiers(self) -> dict[int, _Tier]:
        """Tiers by number, in increasing order."""
        tiers: dict[int, _Tier] = {}
        for number, line in self.lines:
            match = re.fullmatch(r"(\d+)([*-]*)(?:\s+(.*))?", line)
            if match is None:
                self._refuse(number, line, "a tier number and names, such as '1 X1 X2'")
            tier = tiers.setdefault(int(match[1]), _Tier())
            tier.closed |= "*" in match[2]
            tier.next_only |= "-" in match[2]
            tier.names += self._names(match[3] or "")
        return dict(sorted(tiers.items()))

    def pairs(self) -> Iterator[Pair]:
        """One (cause, effect) a line."""
        for number, line in self.lines:
            names = self._names(line)
            if len(names) != 2:
                self._refuse(number, line, "one cause and one effect")
            yield names[0], names[1]

    def groups(self) -> Iterator[Pair]:
        """All causes on one line with all effects on the next."""
        if len(self.lines) % 2:
            self._refuse(*self.lines[-1], "a line of effects below each line of causes")
        for (_, causes), (_, effects) in zip(self.lines[::2], self.lines[1::2], strict=True):
            yield from _across(self._names(causes), self._names(effects))

    def _names(self, line: str) -> list[str]:
        if self.commas:
            names = next(csv.reader([line], skipinitialspace=True), [])
            return [name.strip() for name in names]
        return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)]

    def _refuse(self, number: int, line: str, wanted: str) -> NoReturn:
        raise FileFormatError(
            f"{self.source}, line {number}: under {self.keyword} comes {wanted}; got {line!r}"
        )


def _sections(text: str, source: str) -> list[_Section]:
    sections: list[_Section] = []
    commas = opened = False
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        words = line.lower().split()
        if not words or line.startswith("//"):
            continue
        if words[0] == "/knowledge" and not sections:
            commas, opened = "comma" in words[1:], True
        elif words[0] in _SECTIONS and (len(words) == 1 or words[0] == "tierstructure"):
            sections.append(_Section(words[0], source, commas))
        elif sections:
            sections[-1].lines.append((number, line))
        else:
            raise FileFormatError(
                f"{source}, line {number}: expected /knowledge and then one of "
                f"{', '.join(_SECTIONS)}; got {line!r}"
            )
    if not sections and not opened:
        raise FileFormatError(
            f"{source} is empty; knowledge begins with a line /knowledge. Pass no file if nothing "
            f"is known"
        )
    return sections


def _add_main_tiers(tiers: dict[int, _Tier], fields: Fields) -> None:
    for number, tier in tiers.items():
        if not tier.names:
            continue
        if tier.closed:
            fields["forbidden_within_tiers"].append(len(fields["tiers"]))
        fields["tiers"].append(tier.names)
        if tier.next_only:
            beyond = [name for n, t in tiers.items() if n > number + 1 for name in t.names]
            fields["forbidden"] += _across(tier.names, beyond)


def _edges_against(tiers: dict[int, _Tier]) -> Iterator[Pair]:
    """The edges that a sequence of tiers forbids, one by one."""
    for earlier, later in combinations(tiers.values(), 2):
        yield from _across(later.names, earlier.names)
    for tier in tiers.values():
        if tier.closed:
            yield from _across(tier.names, tier.names)


def _across(causes: Iterable[str], effects: Iterable[str]) -> Iterator[Pair]:
    """Every cause with every effect; a pattern may be both, since it stands for several names."""
    return ((a, b) for a, b in product(causes, effects) if a != b or "*" in a)


def write(
    path: str | os.PathLike[str],
    *,
    tiers: Sequence[Sequence[str]],
    forbidden_within_tiers: Sequence[int],
    forbidden: Sequence[Pair],
    required: Sequence[Pair],
) -> None:
    """Write a file that `read` and Tetrad read; tiers are numbered from 1."""
    everything = [name for names in (*tiers, *forbidden, *required) for name in names]
    for name in everything:
        if not name or name != name.strip() or re.search(r'["\r\n]', name):
            raise KnowledgeError(
                f"Tetrad's format cannot hold the name {name!r}; rename it without double quotes, "
                f"line breaks and blanks at its ends",
                columns=[name],
            )
    commas = any(re.search(r"[\s,]", name) for name in everything)
    separator = ", " if commas else " "
    lines = ["/knowledge comma" if commas else "/knowledge", "addtemporal"]
    for t, tier in enumerate(tiers):
        mark = "*" if t in forbidden_within_tiers else ""
        lines.append(f"{t + 1}{mark} {separator.join(map(_quoted, tier))}")
    for keyword, edges in (("forbiddirect", forbidden), ("requiredirect", required)):
        lines += ["", keyword, *(separator.join(map(_quoted, edge)) for edge in edges)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _quoted(name: str) -> str:
    """The name, in quotes if a reader would otherwise split it or take it for something else."""
    special = "," in name or name.lower().startswith(("//", "/knowledge", *_SECTIONS))
    return f'"{name}"' if special else name
