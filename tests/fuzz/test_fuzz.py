"""A small part of the fuzz suite, every time; ``make fuzz`` runs much more of it."""

from __future__ import annotations

import pytest

from tests.fuzz.harness import Counts, area, load_areas, run

SEEDS = range(25)


@pytest.mark.parametrize("name", sorted(load_areas()))
def test_inputs_are_refused_or_answered(name: str) -> None:
    counts = run(name, SEEDS)
    assert counts.tried == len(SEEDS)
    assert not counts.failures, "\n".join(f"seed {k}:\n{v}" for k, v in counts.failures.items())


def test_the_harness_tells_failures_from_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    known = load_areas()
    monkeypatch.setattr("tests.fuzz.harness.AREAS", dict(known))

    def make(seed: int) -> object:
        raised = [ValueError("raw"), TypeError("wanted a number"), None][seed % 3]

        def case() -> None:
            if raised is not None:
                raise raised

        return case

    area("example")(make)  # type: ignore[arg-type]
    counts: Counts = run("example", range(6))
    assert (counts.answered, counts.refused, sorted(counts.failures)) == (2, 2, [0, 3])
