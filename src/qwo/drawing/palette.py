"""The colours of pictures; the hues are those of Okabe and Ito (2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.colors import Colormap


@dataclass(frozen=True)
class Palette:
    """The colours of one picture."""

    ink: str
    edge: str
    faint: str
    fill: str
    outline: str
    positive: str
    negative: str
    reverse: str
    retyped: str
    bar: str
    pale_signs: tuple[str, str]
    support: tuple[str, ...]

    def support_colours(self) -> Colormap:
        """From pale to strong as the support goes from 0 to 1."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("support", list(self.support))

    def sign_colours(self) -> Colormap:
        """From negative to positive; small values are pale, but never as pale as no value."""
        from matplotlib.colors import LinearSegmentedColormap

        pale_negative, pale_positive = self.pale_signs
        stops = [(0, self.negative), (0.5, pale_negative), (0.5, pale_positive), (1, self.positive)]
        return LinearSegmentedColormap.from_list("sign", stops)


LIGHT = Palette(
    ink="#1f2328",
    edge="#5b6570",
    faint="#c9d0d8",
    fill="#eef2f7",
    outline="#8b97a5",
    positive="#0072b2",
    negative="#d55e00",
    reverse="#aa4499",
    retyped="#b8860b",
    bar="#a9c6dd",
    pale_signs=("#f8dcc8", "#d3e6f3"),
    support=("#d6e0ea", "#5a9bd4", "#08306b"),
)
DARK = Palette(
    ink="#e6e8eb",
    edge="#a9b3be",
    faint="#444c56",
    fill="#2b323b",
    outline="#75808d",
    positive="#56b4e9",
    negative="#e69f00",
    reverse="#cc79a7",
    retyped="#f0e442",
    bar="#3d5f7a",
    pale_signs=("#4a3510", "#1d3d50"),
    support=("#3a424c", "#4f8fc4", "#cfe8ff"),
)
