"""What a report is made of, checked to belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qwo.discovery import Discovery
from qwo.errors import ArgumentError
from qwo.moments.findings import Audit
from qwo.resample.support import Supports
from qwo.sem import LinearSem
from qwo.types import Indices, Mask


@dataclass(frozen=True, eq=False)
class Contents:
    """A discovery and what is known beside it; None for what is not.

    Attributes
    ----------
    discovery : Discovery
    audit : Audit or None
    model : LinearSem or None
        Fitted to ``discovery.dag``.
    bootstrap : Supports or None
    truth : object or None
        The true graph, as anything that `as_graph` takes.
    command : str or None
        What reproduces the result.
    title : str or None
    data_summary : mapping or None
        What was read, as pairs of a heading and a value.
    """

    discovery: Discovery
    audit: Audit | None = None
    model: LinearSem | None = None
    bootstrap: Supports | None = None
    truth: object | None = None
    command: str | None = None
    title: str | None = None
    data_summary: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        names = tuple(self.discovery.names)
        for what, part in (("model", self.model), ("bootstrap", self.bootstrap)):
            if part is not None and tuple(part.names) != names:
                raise ArgumentError(
                    f"the variables of the {what} are not those of the discovery, in the same "
                    f"order; make both from the same data"
                )
        if self.model is not None and not np.array_equal(self.model.dag, self.discovery.dag):
            raise ArgumentError(
                "the model was fitted to another graph; fit it with "
                "qwo.fit_sem(data, discovery.dag)"
            )

    @cached_property
    def ends(self) -> tuple[Indices, Indices]:
        """Cause and effect of every edge of the DAG, in row order: the order of all edge lists."""
        tails, heads = np.nonzero(self.discovery.dag)
        return tails, heads

    @cached_property
    def directed(self) -> Mask:
        """For each edge whether the equivalence class determines its direction."""
        return np.asarray(self.discovery.cpdag[self.ends] == 1)
