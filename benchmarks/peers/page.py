"""The pages: plots, tables of all figures, and where we lose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.peers.analysis import CellFigures, figures_of, losses
from benchmarks.peers.cells import PROFILES, Profile
from benchmarks.peers.figures import plot_growth, plot_section
from benchmarks.peers.markdown import update_page
from benchmarks.peers.results import Results
from benchmarks.peers.tables import (
    accuracy_losses,
    cell_table,
    coverage,
    failure_table,
    overview,
    scoreboard,
    sortability_table,
    time_losses,
    version_table,
)

SECTIONS = {
    "size": "Number of variables",
    "degree": "Average degree",
    "samples": "Number of samples",
    "graph": "Scale-free and DaO models",
    "thin": "Long, thin and clustered graphs",
    "noise": "Noise that is not Gaussian",
    "penalty": "Other penalties",
    "gaussian network": "Published Gaussian networks",
    "structure": "Structures of published discrete networks",
    "real": "Real data",
}


def write_page(profile: Profile, table: pd.DataFrame, page: Path | None) -> str:
    """The tables; with a page, also that page, a page of all figures beside it, and the plots."""
    found = figures_of(profile, table)
    lost = losses(found)
    parts = {
        "scoreboard": f"{coverage(profile, found)}\n\n{scoreboard(found)}",
        "overview": overview(found),
        "accuracy losses": accuracy_losses(lost),
        "time losses": time_losses(lost),
        "failures": failure_table(found),
        "sortability": sortability_table(found),
        "versions": version_table(table),
    }
    everything = _all_cells(found)
    if page is not None:
        for part, content in parts.items():
            update_page(page, content, part)
        update_page(page, _plots(found, page), "plots")
        update_page(page.with_name(f"{page.stem}-figures.md"), everything, "figures")
    titled = [f"### {part.capitalize()}\n\n{content}" for part, content in parts.items()]
    return "\n\n".join([*titled, everything])


def draw_again(page: Path, results: Path) -> None:
    """The plots of a page from the results that are kept in a folder."""
    profile = PROFILES["standard"]
    _plots(figures_of(profile, Results(results, "standard").table()), page)


def _all_cells(found: Sequence[CellFigures]) -> str:
    lines = []
    for section, title in SECTIONS.items():
        cells = [figures for figures in found if figures.cell.section == section]
        if cells:
            lines.append(f"## {title}")
        for figures in cells:
            lines += [f"### {figures.cell.title}", cell_table(figures)]
    return "\n\n".join(lines)


def _plots(found: Sequence[CellFigures], page: Path) -> str:
    """One picture a section, and one of how cost grows with size."""
    lines = []
    for section, title in SECTIONS.items():
        cells = [figures for figures in found if figures.cell.section == section]
        if not cells:
            continue
        path = page.with_name(f"{page.stem}-{section.replace(' ', '-')}.png")
        plot_section(cells, path)
        lines += [f"### {title}", f"![Mean SHD over processor seconds: {title}]({path.name})"]
        if section == "size" and len(cells) > 1:
            grown = page.with_name(f"{page.stem}-growth.png")
            plot_growth(cells, grown)
            lines += [
                f"![Time, SHD and memory over the number of variables]({grown.name})",
            ]
    return "\n\n".join(lines)
