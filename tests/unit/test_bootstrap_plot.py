"""The bars of `plot_support` are the shares of the pairs."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import qwo
from qwo.errors import ArgumentError
from qwo.plot import plot_support
from qwo.resample import Bootstrap, bootstrap


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def found() -> Bootstrap:
    data, _, _ = qwo.simulate("er", n_variables=6, n_samples=200, degree=2, random_state=2)
    names = ["a", "b$x$", "c", "d", "e" * 60, "f"]
    return bootstrap(qwo.Moments.from_data(data, names), n_resamples=20, random_state=0)


def test_bars_are_the_shares(found: Bootstrap) -> None:
    ax = plot_support(found, most=8)
    records = found.to_records()[:8]
    widths = [[bar.get_width() for bar in bars] for bars in ax.containers]
    np.testing.assert_allclose(widths[0], [record.arrow for record in records])
    np.testing.assert_allclose(widths[1], [record.reverse for record in records])
    np.testing.assert_allclose(widths[2], [record.undirected for record in records])
    ends = [bar.get_x() + bar.get_width() for bar in ax.containers[2]]
    np.testing.assert_allclose(ends, [record.link for record in records])
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert len(labels) == len(records)
    assert all(len(label) < 35 for label in labels)
    assert any("b$x$" in label for label in labels)
    ax.figure.canvas.draw()


def test_a_line_at_the_threshold(found: Bootstrap) -> None:
    assert [line.get_xdata()[0] for line in plot_support(found, threshold=0.7).lines] == [0.7]
    assert not plot_support(found, threshold=None).lines


def test_nothing_to_draw() -> None:
    data = np.random.default_rng(0).normal(size=(200, 2))
    empty = bootstrap(data, n_resamples=3, random_state=0, penalty_discount=50)
    with pytest.raises(ArgumentError, match="nothing to draw"):
        plot_support(empty)
