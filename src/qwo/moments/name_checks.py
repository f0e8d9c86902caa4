"""What the names of columns suggest: variables that nothing else can cause, and conditions.

A suggestion, which is never acted upon: only the user can know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from qwo.errors import Cure, list_names
from qwo.moments.audit import Finding
from qwo.options import Kind, offered

ROOTS = frozenset(
    re.findall(
        r"\w+",
        "age sex gender male female race ethnicity ethnic year yob dob birthyear birthdate site "
        "center centre hospital clinic country region",
    )
)
"""Words for what hardly anything in a table can cause: who, when and where."""

MEASURED = frozenset(
    ["at", "of", "since", "until", "onset", "death", "diagnosis", "per", "rate", "duration"]
)
"""Words beside which the same are measurements, as in ``age_at_onset``."""

CONDITIONS = frozenset(
    re.findall(
        r"\w+",
        "batch plate condition treatment arm experiment environment intervention stimulus regime",
    )
)
"""Words for columns that tell under which circumstances a row was taken."""


CLUSTERS = frozenset(
    [
        "patient",
        "subject",
        "participant",
        "person",
        "individual",
        "household",
        "family",
        "school",
        "classroom",
        "village",
        "animal",
        "mouse",
        "litter",
        "firm",
        "company",
        "pid",
    ]
)
"""Words for whom or what several rows may be of."""


def looks_like_cluster(name: str) -> bool:
    """Whether a column is named like someone of whom there may be several rows."""
    words = words_of(name)
    return bool(words) and (words[0] in CLUSTERS or (len(words) > 1 and words[-1] == "id"))


def belonging(name: str, n_values: int) -> Finding:
    """Advice about a column that seems to say which rows belong together."""
    return Finding(
        "clusters",
        "warning",
        (name,),
        f"{name!r} is named like someone or something measured several times ({n_values} different "
        "values). Rows that belong together tell less than independent ones, so that edges "
        "appear by chance",
        (Cure("cluster", name, "counts and draws them together, and makes it no variable"),),
    )


def words_of(name: str) -> list[str]:
    """The words in the name of a column, such as age, at, onset in ``AgeAtOnset``."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]


def looks_like_root(name: str) -> bool:
    """Whether a column is named like something that nothing else in a table can cause."""
    words = words_of(name)
    named = ROOTS.intersection(words) or any(word.endswith("year") for word in words)
    return bool(named) and MEASURED.isdisjoint(words)


def inspect_names(
    names: Sequence[str], kinds: Mapping[str, Kind], levels: Mapping[str, int] | None = None
) -> Iterator[Finding]:
    """Columns named like causes of all others, like clusters of rows, and like conditions.

    Of categories, how many levels they have, as far as it is known.
    """
    levels = levels or {}
    roots = [name for name in names if looks_like_root(name)]
    if 0 < len(roots) < len(names) - 1:
        one = len(roots) == 1
        yield Finding(
            "roots",
            "note",
            tuple(roots),
            f"{list_names(roots)} {'is' if one else 'are'} named like what other variables cannot "
            f"cause. Only you can know; if so, telling the search rules out arrows into "
            f"{'it' if one else 'them'}",
            (Cure("knowledge", {"roots": roots}, "says so"),),
        )
    for name in names:
        if kinds.get(name) == "nominal" and looks_like_cluster(name) and levels.get(name, 0) > 2:
            yield belonging(name, levels[name])
    told = [
        name
        for name in names
        if CONDITIONS.intersection(words_of(name)) and kinds.get(name) not in (None, "continuous")
    ]
    for name in told[:1]:
        cures = offered(
            "regime", name, "takes its values for conditions, whose changes direct edges"
        )
        if cures:
            yield Finding(
                "conditions",
                "note",
                (name,),
                f"{name!r} is named like conditions under which rows were taken, such as "
                "treatments or batches",
                cures,
            )
