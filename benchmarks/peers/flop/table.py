"""The results as Markdown: figures, goals, and the data sets on which ours is not the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.peers.flop.settings import Setting
from benchmarks.peers.flop.summary import Figures, Summary, best_by_data_set, paired_difference
from benchmarks.peers.markdown import Row, markdown_table

WIDE_SKF1, WIDE_SHD, WIDE_SECONDS = 0.87, 77, 0.2


def report(settings: Sequence[Setting], summary: Summary) -> str:
    """All tables that there are results for."""
    tall = [setting for setting in settings if not setting.is_wide]
    wide = [setting for setting in settings if setting.is_wide]
    parts = [
        "### Figures",
        markdown_table(_HEADER, [row for setting in tall for row in _figures(setting, summary)]),
        "### Goals",
        markdown_table(_GOAL_HEADER, [row for setting in tall for row in _goal(setting, summary)]),
        "### More variables than samples",
        markdown_table(_WIDE_HEADER, [row for setting in wide for row in _wide(setting, summary)]),
        "### Data sets on which a run of FLOP scores better",
        markdown_table(
            _LOSS_HEADER, [row for setting in tall for row in _losses(setting, summary)]
        ),
    ]
    return "\n\n".join(parts) + "\n"


_HEADER = (
    "data",
    "tool",
    "SHD",
    "worst run",
    "exact",
    "score gap",
    "CPU s",
    "memory MB",
    "FLOP's time / this",
)


def _figures(setting: Setting, summary: Summary) -> Iterator[Row]:
    flop = summary.figures(setting, "flop", setting.flop_restarts)
    ways = (
        (f"FLOP, {setting.flop_restarts} restarts", flop),
        ("qwo", summary.figures(setting, "qwo", None)),
        ("qwo, 0 restarts", summary.figures(setting, "qwo", 0)),
    )
    for label, figures in ways:
        if figures is None:
            continue
        yield (
            setting.name,
            label,
            f"{figures.shd:.2f}",
            f"{figures.worst}",
            f"{figures.exact:.0%}",
            f"{figures.gap:.1f}",
            _seconds(figures.cpu),
            f"{figures.memory / 1e6:.0f}",
            f"{flop.cpu / figures.cpu:.0f}" if flop else "",
        )


_GOAL_HEADER = (
    "data",
    "data sets",
    "SHD, ours − FLOP's",
    "no worse",
    "score gap, ours; FLOP's",
    "no worse",
    "times faster",
    "wanted",
    "fast enough",
)


def _goal(setting: Setting, summary: Summary) -> Iterator[Row]:
    flop = summary.figures(setting, "flop", setting.flop_restarts)
    ours = summary.figures(setting, "qwo", None)
    if flop is None or ours is None or setting.speed_goal is None:
        return
    found = paired_difference(ours, flop)
    ratio = flop.cpu / ours.cpu
    yield (
        setting.name,
        str(len(ours.shd_by_data_set)),
        f"{found.mean:+.2f} ± {found.error:.2f}",
        _met(found.mean <= 0),
        f"{ours.gap:.1f}; {flop.gap:.1f}",
        _met(ours.gap <= flop.gap),
        f"{ratio:.0f}",
        str(setting.speed_goal),
        _met(ratio >= setting.speed_goal),
    )


_WIDE_HEADER = ("data", "tool", "SKF1", "SHD", "worst run", "CPU s", "memory MB", "reached")


def _wide(setting: Setting, summary: Summary) -> Iterator[Row]:
    refusals = [r for r in summary.refusals if r.setting == setting.name and r.tool == "flop"]
    if refusals:
        runs = setting.data_sets * setting.flop_repeats
        tool = f"FLOP refuses {len(refusals)} of {runs}: “{refusals[0].error}”"
        yield (setting.name, tool, *[""] * 6)
    ways = (
        ("qwo (extended BIC, gamma 0.5)", summary.figures(setting, "qwo", None)),
        ("qwo, 0 restarts", summary.figures(setting, "qwo", 0)),
        ("qwo, gamma = 0 (plain BIC)", summary.figures(setting, "qwo", None, gamma=0.0)),
    )
    for label, figures in ways:
        if figures is None:
            continue
        yield (
            setting.name,
            label,
            f"{figures.skf1:.3f}",
            f"{figures.shd:.1f}",
            f"{figures.worst}",
            _seconds(figures.cpu),
            f"{figures.memory / 1e6:.0f}",
            _met(_wide_goal(figures)),
        )


def _wide_goal(figures: Figures) -> bool:
    return figures.skf1 >= WIDE_SKF1 and figures.shd <= WIDE_SHD and figures.cpu < WIDE_SECONDS


_LOSS_HEADER = (
    "data",
    "seed",
    "our score",
    "FLOP's best run",
    "runs of FLOP that are better",
    "our SHD",
    "FLOP's SHD",
)


def _losses(setting: Setting, summary: Summary) -> Iterator[Row]:
    flop = summary.figures(setting, "flop", setting.flop_restarts)
    ours = summary.figures(setting, "qwo", None)
    if flop is None or ours is None:
        return
    peers = best_by_data_set(flop)
    for data_set, result in best_by_data_set(ours).items():
        runs = [peer for peer in flop.results if peer.data_set == data_set]
        better = [peer for peer in runs if peer.gap < result.gap]
        if not better:
            continue
        yield (
            setting.name,
            str(data_set[1]),
            f"{result.record.score:.2f}",
            f"{peers[data_set].record.score:.2f}",
            f"{len(better)} of {len(runs)}",
            str(result.shd),
            ", ".join(str(peer.shd) for peer in runs),
        )


def _seconds(value: float) -> str:
    return f"{value:.3g}"


def _met(reached: bool) -> str:
    return "yes" if reached else "**no**"
