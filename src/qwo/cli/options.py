"""The options that commands share: groups of them, made from the records where there are some."""

# Long because every group of flags that several commands share stands here.

from __future__ import annotations

import csv
import inspect
import json
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_type_hints

import typer

from qwo.errors import ArgumentError, FileFormatError, MissingFileError
from qwo.options import DEFAULTS, OPTIONS, STARTS, Flag, SearchOptions

if TYPE_CHECKING:
    from qwo.graph import Knowledge


def option(flags: str, text: str, metavar: str | None = None, **more: Any) -> Any:
    """An option: its flags, separated by spaces, and what it is for; flags alone show no type."""
    panel = more.pop("panel", None)
    return typer.Option(*flags.split(), help=text, metavar=metavar, rich_help_panel=panel, **more)


def with_option_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with each parameter that is a group of options replaced by these.

    A group is a dataclass, whose fields are annotated as typer's parameters are and whose `panel`
    of the help they stand in, or a class that says what its ``parameters()`` are. Commands that
    take the same group have the same options.
    """
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    groups = {k: h for k, h in hints.items() if is_dataclass(h) or hasattr(h, "parameters")}
    flat: dict[str, inspect.Parameter] = {}
    for name, parameter in signature.parameters.items():
        added = (
            _options(groups[name])
            if name in groups
            else [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])]
        )
        flat.update((option.name, option) for option in added)

    @wraps(command)
    def flattened(**values: Any) -> Any:
        records = {
            name: group(**{option.name: values.pop(option.name) for option in _options(group)})
            for name, group in groups.items()
        }
        return command(**values, **records)

    # What typer looks at; `wraps` has left the original's.
    flattened.__signature__ = inspect.Signature(list(flat.values()))  # type: ignore[attr-defined]
    flattened.__annotations__ = {name: option.annotation for name, option in flat.items()}
    del flattened.__wrapped__
    return flattened


def _options(group: Any) -> list[inspect.Parameter]:
    if not is_dataclass(group):
        return list(group.parameters())
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        [shown] = hints[field.name].__metadata__
        shown.rich_help_panel = shown.rich_help_panel or vars(group)["panel"]
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def names_in(values: list[str] | None) -> list[str] | None:
    """The names in options such as ``--drop A,B``; quotes keep a comma within a name."""
    if values is None:
        return None
    fields = (field.strip() for row in csv.reader(values, skipinitialspace=True) for field in row)
    return [field for field in fields if field]


def _transforms(values: list[str]) -> str | dict[str, str] | None:
    """One transformation for all columns, or that of each column named."""
    chosen: dict[str, str] = {}
    for value in values:
        name, colon, columns = value.partition(":")
        if not colon:
            if len(values) > 1:
                raise ArgumentError(
                    f"--transform {value} is for all columns, so that no other can follow; name "
                    f"columns behind a colon, as in --transform {value}:A,B"
                )
            return name
        chosen.update(dict.fromkeys(names_in([columns]) or [], name))
    return chosen or None


class OptionFlags:
    """The options of a record that have a flag."""

    record: ClassVar[Any]
    panel: ClassVar[str]
    says: ClassVar[dict[str, str] | None] = None
    """The options to take and what they mean here; all, as they are, if there is nothing to say."""
    without: ClassVar[frozenset[str]] = frozenset()
    """Options that are not offered here."""

    def __init__(self, **given: Any) -> None:
        self._given = given

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """The flags, as typer takes them."""
        return [
            parameter(own.name, own.metadata["option"].flag, own.default, cls)
            for own in fields(cls.record)
            if own.metadata["option"].flag is not None
            and own.name not in cls.without
            and (cls.says is None or own.name in cls.says)
        ]

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of the library that they stand for."""
        return {k: _PARSERS[k](v) if k in _PARSERS else v for k, v in self._given.items()}


CONDITIONS = frozenset(("regime", "targets", "reference", "effect"))
"""Options that are about conditions under which rows were taken."""


RELATIONS = frozenset(("relations", "arrows", "level", "feedback", "hidden_causes"))
"""Options that are about the form of relations and what is behind them."""

SERIES = frozenset(("lags", "time", "unit", "within", "difference", "detrend", "season"))
"""Options that are about rows in the order of time."""


class SearchFlags(OptionFlags):
    """How to search; what is left out is chosen to suit the data."""

    record = SearchOptions
    panel = "Search"
    without = CONDITIONS | RELATIONS | SERIES

    def of_resamples(self) -> dict[str, Any]:
        """The keyword arguments of `qwo.bootstrap`, whose time limit is that of each resample."""
        arguments = self.arguments()
        return arguments | {"replicate_time_limit": arguments.pop("time_limit")}

    @property
    def counts_rows(self) -> bool:
        """Whether the score needs the rows themselves."""
        return bool(self._given.get("score", "bic") != "bic")


class ConditionFlags(OptionFlags):
    """Under which conditions rows were taken, and what these are known to have touched."""

    record = SearchOptions
    panel = "Conditions"
    without = frozenset(OPTIONS) - CONDITIONS

    @property
    def column(self) -> str | None:
        """The column that tells conditions apart, if there is one, be it one of targets."""
        regime: str | None = self._given["regime"]
        targets: str | None = self._given["targets"]
        return regime or (targets if targets and "=" not in targets else None)


class RelationFlags(OptionFlags):
    """How effects depend on their causes, and whether some of these may be hidden."""

    record = SearchOptions
    panel = "Relations"
    without = frozenset(OPTIONS) - RELATIONS

    def asked(self) -> dict[str, Any]:
        """What is not the default: empty where lines are to be looked for."""
        return {k: v for k, v in self.arguments().items() if v != DEFAULTS[k]}

    def refuse(self, *, resampled: bool, drawn: bool, checked: bool) -> None:
        """Refuse a bootstrap, a posterior or a check that assumes what is dropped here."""
        dropped = self.asked()
        of_rows = dropped.keys() & {"relations", "arrows", "level"}  # searched in each resample
        if of_rows and drawn:
            raise ArgumentError(
                f"--{min(of_rows)} does not go with --posterior, whose graphs are of linear "
                "relations with normal noise; take --bootstrap"
            )
        if "relations" in dropped and checked:
            raise ArgumentError(
                "--relations curved does not go with --check, which tests linear equations; leave "
                "it out, and check the linear graph by qwo learn --check"
            )
        others = [f"--{name.replace('_', '-')}" for name in dropped if name not in of_rows]
        # Marks of hidden causes can be counted in resamples, a graph with cycles can be checked.
        hidden = others == ["--hidden-causes"]
        if others and (drawn or (checked if hidden else resampled)):
            beside = "--posterior and --check" if hidden else "--bootstrap and --posterior"
            text = f"{others[0]} does not go with {beside}, which assume what it drops"
            raise ArgumentError(f"{text}; leave them out")


class SeriesFlags(RelationFlags):
    """Rows in the order of time, and which effects of earlier rows are looked for."""

    panel = "Time"
    without = frozenset(OPTIONS) - SERIES


def parameter(name: str, flag: Flag, default: Any, group: type[OptionFlags]) -> inspect.Parameter:
    """The flag of an option, as typer takes it."""
    kind = flag.type
    value = default if flag.default is ... else flag.default
    if kind == list[str]:
        value = None
    text = (group.says or {}).get(name, flag.help)

    def starts(incomplete: str) -> list[str]:
        return [start for start in STARTS if start.startswith(incomplete)]

    shown = typer.Option(
        *flag.names,
        metavar=flag.metavar,
        help=f"{text} Repeatable." if kind == list[str] else text,
        rich_help_panel=flag.panel or group.panel,
        show_default=kind is not bool,
        autocompletion=starts if name == "start" else None,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=str(value) if kind is str and value is not None else value,
        annotation=Annotated[kind | None if value is None else kind, shown],
    )


def _penalty(text: str) -> float | str:
    """A number, or a word that stands for one."""
    try:
        return float(text)
    except ValueError:
        return text


def _start(text: str | None) -> str | list[str] | None:
    named = text is None or text in STARTS or "," not in text
    return text if named else names_in([text or ""])


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "penalty_discount": _penalty,
    "start": _start,
    "columns": names_in,
    "drop": names_in,
    "transform": lambda values: _transforms(values or []),
    "separator": lambda text: {"\\t": "\t", "tab": "\t"}.get(text or "", text),
    "null_values": lambda values: values or [],
}
"""How the text of a flag becomes the value of its option, where it is not that itself."""


FIELDS = ("tiers", "forbidden", "required", "forbidden_within_tiers", "roots", "leaves", "likely")


@dataclass(frozen=True)
class KnowledgeOptions:
    """What is known beforehand; the graph keeps to it strictly."""

    panel: ClassVar[str] = "Knowledge"

    knowledge: Annotated[
        Path | None,
        option(
            "--knowledge -k",
            "Tiers and edges: Tetrad's format, or .toml/.json with the keys tiers, "
            "forbidden, required, roots, leaves.",
            "FILE",
        ),
    ] = None
    tiers: Annotated[
        list[str] | None,
        option(
            "--tiers --tier",
            "[b]'A,B > C > D'[/b]: nothing later causes anything earlier. Or one --tier each.",
            "TIERS",
        ),
    ] = None
    forbid: Annotated[list[str] | None, option("--forbid", "No edge A → B. Repeatable.", "A,B")] = (
        None
    )
    require: Annotated[
        list[str] | None, option("--require", "There is an edge A → B. Repeatable.", "A,B")
    ] = None
    likely: Annotated[
        list[str] | None,
        option("--likely", "Prior probability P of the edge A → B. Repeatable.", "A,B,P"),
    ] = None
    roots: Annotated[list[str] | None, option("--roots", "Nothing causes these.", "A,B,…")] = None
    leaves: Annotated[list[str] | None, option("--leaves", "These cause nothing.", "A,B,…")] = None

    def build(self) -> Knowledge | None:
        """All of it together, or None if there is none."""
        from qwo.graph import Knowledge

        if any("<" in tier and ">" not in tier for tier in self.tiers or []):
            raise ArgumentError("--tiers go from causes to effects: --tiers 'age > dose,diet'")
        fields = {} if self.knowledge is None else _fields_of_file(self.knowledge)
        inline = self._inline()
        if fields.get("tiers") and inline["tiers"]:
            raise ArgumentError("tiers are both in the --knowledge file and in --tiers; choose one")
        for name, value in inline.items():
            fields[name] = [*fields.get(name, ()), *value]
        return Knowledge(**fields) if any(fields.values()) else None

    def _inline(self) -> dict[str, list[Any]]:
        return {
            "tiers": [
                names_in([tier]) or [] for value in self.tiers or [] for tier in value.split(">")
            ],
            "forbidden": pairs_in("--forbid", self.forbid),
            "required": pairs_in("--require", self.require),
            "likely": _likely(self.likely),
            "roots": names_in(self.roots) or [],
            "leaves": names_in(self.leaves) or [],
        }


def pairs_in(option: str, values: list[str] | None) -> list[tuple[str, str]]:
    """The causes and effects in options such as ``--forbid A,B``."""
    pairs = []
    for value in values or []:
        names = names_in([value]) or []
        if len(names) != 2:
            raise ArgumentError(
                f"{option} is {value!r}; wanted a cause and an effect, as in {option} dose,outcome"
            )
        pairs.append((names[0], names[1]))
    return pairs


def _likely(values: list[str] | None) -> list[tuple[str, str, float]]:
    """Edges with their probabilities."""
    found = []
    for value in values or []:
        names = names_in([value]) or []
        try:
            cause, effect, chance = names
            found.append((cause, effect, float(chance)))
        except ValueError:
            raise ArgumentError(
                f"--likely is {value!r}; wanted a cause, an effect and a probability, as in "
                "--likely dose,outcome,0.8"
            ) from None
    return found


def _fields_of_file(path: Path) -> dict[str, Any]:
    """The arguments of `Knowledge` that a file holds."""
    from qwo.graph import Knowledge

    if not path.is_file():
        raise MissingFileError(f"there is no file {str(path)!r} (looked from {Path.cwd()})")
    if path.suffix.lower() not in (".json", ".toml"):
        known = Knowledge.from_file(path)
        return {name: list(getattr(known, name)) for name in FIELDS}
    try:
        text = path.read_text(encoding="utf-8")
        fields = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}") from error
    unknown = [name for name in fields if name not in FIELDS] if isinstance(fields, dict) else ["?"]
    if unknown:
        raise FileFormatError(
            f"{path}: {unknown[0]!r} is not a kind of knowledge; wanted some of {', '.join(FIELDS)}"
        )
    return dict(fields)


REPORT = "report.html"
DEFAULT_FORMATS = ("json", "adjacency", "dot")


def format_names(incomplete: str) -> list[str]:
    """The graph formats that begin like this, for the shell's completion."""
    from qwo.graph.formats import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


RegimeColumn = Annotated[
    str | None,
    option("--regime", "Column that says under which condition a row was taken.", "COLUMN"),
]

ResampledHow = Annotated[
    Literal["halves", "subsamples", "replacement"],
    option(
        "--resampling",
        "What a resample is: either of the [b]halves[/b] of a random cut; a share of the rows, "
        "drawn each time ([b]subsamples[/b]); or rows drawn with [b]replacement[/b].",
        "HOW",
    ),
]

GraphFile = Annotated[
    Path, typer.Argument(metavar="GRAPH", help="A graph file, or a folder that qwo learn wrote.")
]


def format_option(flag: str, text: str) -> Any:
    """The option for the format of a graph that a command reads or writes."""
    return option(flag, text, "FORMAT", autocompletion=format_names)


GraphFormat = Annotated[
    str | None, format_option("--from", "Format of GRAPH, where it does not tell.")
]


Formats = Annotated[
    list[str] | None,
    option(
        "--format -f",
        "Graph format besides json: graphml, gml, dagitty, dot, tetrad, bnlearn, "
        "lavaan, edges, pcalg, pcalg-pag, causal-learn, zero-one, adjacency, parquet. Repeatable; "
        "adjacency and dot if not given.",
        "NAME",
        autocompletion=format_names,
    ),
]


def folder_option(text: str, panel: str | None = None) -> Any:
    """The option for the folder to write; the text says what, and what happens without."""
    return typer.Option("--output", "-o", metavar="FOLDER", help=text, rich_help_panel=panel)


def force_option(text: str = "", panel: str | None = None) -> Any:
    """The option to write into a folder that is not empty."""
    text = text or "Replace what qwo wrote into the folder before; other files stay."
    return typer.Option("--force", metavar="", help=text, rich_help_panel=panel)


def graph_formats(given: list[str] | None) -> list[str]:
    """The formats to write; JSON always, as other commands read it."""
    return list(dict.fromkeys(("json", *(given or DEFAULT_FORMATS))))


@dataclass(frozen=True)
class OutputOptions:
    """The result folder and what goes into it."""

    panel: ClassVar[str] = "Output"

    output: Annotated[
        Path | None,
        folder_option(
            "Write graph, coefficients, figures and report here. Without: the edges alone, to "
            "standard output."
        ),
    ] = None
    formats: Formats = None
    report: Annotated[
        bool, option("--report/--no-report", "The HTML report.", show_default=False)
    ] = True
    figures: Annotated[
        bool, option("--figures/--no-figures", "Figures as SVG and PNG.", show_default=False)
    ] = True
    force: Annotated[bool, force_option()] = False
    benchpress: Annotated[
        tuple[Path, Path, Path] | None,
        option(
            "--benchpress",
            "Write the outputs of a Benchpress module: adjmat, time, ntests.",
            "FILE FILE FILE",
        ),
    ] = None
