"""Names, parameters, flags and graphs that users rely on stay what they were written down as.

Who changes one on purpose names it in the list of changes and writes the record anew:
``python -m tests.net.promises --write``.
"""

from __future__ import annotations

import json

import pytest

from tests.helpers.pinned import Problem
from tests.net.promises import RECORD, attributes, flags, found, parameters, searches

PROMISED = json.loads(RECORD.read_text(encoding="utf-8"))


def test_no_parameter_is_lost_and_no_default_changes() -> None:
    now = parameters()
    for name, promised in PROMISED["parameters"].items():
        assert promised.items() <= now[name].items(), name


def test_no_attribute_of_a_result_is_lost() -> None:
    now = attributes()
    for name, promised in PROMISED["attributes"].items():
        assert set(promised) <= set(now[name]), name


def test_no_flag_is_lost() -> None:
    now = flags()
    for command, promised in PROMISED["flags"].items():
        assert set(promised) <= set(now[command]), command


@pytest.mark.parametrize(
    ("problem", "way"), list(searches()), ids=lambda part: getattr(part, "name", part)
)
def test_the_same_moments_give_the_same_graph(problem: Problem, way: str) -> None:
    promised = PROMISED["graphs"][f"{problem.name}, {way}"]
    now = dict(found(problem, way))
    assert now["class"] == promised["class"]
    assert now["penalty"] == pytest.approx(promised["penalty"], rel=1e-9)
    # Kernels of other instruction sets sum in another order.
    assert now["score"] == pytest.approx(promised["score"], rel=1e-9, abs=1e-7)
