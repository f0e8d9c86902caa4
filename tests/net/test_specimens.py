"""Files of every stored format, written at version 61e37f8: they are read to the last digit.

A specimen is never written anew; a format that changes gets a further one. ``expected.json`` holds
what the files said to the version that wrote them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo

HERE = Path(__file__).parent.parent / "specimens"
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
READERS = {
    "moments": qwo.Moments.load,
    "bootstrap": qwo.Bootstrap.load,
    "posterior": qwo.Posterior.load,
    "knowledge": qwo.Knowledge.from_file,
}


def agree(found: Any, expected: Any, where: str) -> None:
    """Every field that the file had then is there, and is the same."""
    if isinstance(expected, dict) and set(expected) == {"dtype", "values"}:
        assert str(found.dtype) == expected["dtype"], where
        np.testing.assert_array_equal(found, np.array(expected["values"]), err_msg=where)
    elif isinstance(expected, dict):
        if hasattr(found, "to_dict") and not isinstance(found, Mapping) and "order" not in expected:
            found = found if all(hasattr(found, key) for key in expected) else found.to_dict()
        for key, value in expected.items():
            part = found[key] if isinstance(found, Mapping) else getattr(found, key)
            agree(part, value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for k, (part, value) in enumerate(zip(found, expected, strict=True)):
            agree(part, value, f"{where}[{k}]")
    else:
        assert found == expected, where


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "graphs"])
def test_results_of_an_earlier_version_are_read_to_the_last_digit(name: str) -> None:
    found = READERS[name.partition(".")[0].partition("_")[0]](HERE / name)
    expected = dict(EXPECTED[name])
    coding = expected.pop("coding", None)
    agree(found, expected, name)
    if coding is not None:
        assert json.loads(json.dumps(found.coding.to_plain())) == coding


@pytest.mark.parametrize("name", EXPECTED["graphs"])
def test_graphs_of_an_earlier_version_are_read_as_they_were(name: str) -> None:
    found, expected = qwo.read_graph(HERE / name), EXPECTED["graphs"][name]
    assert (list(found.names), found.kind) == (expected["names"], expected["kind"])
    assert found.matrix.tolist() == expected["matrix"]
    assert found.variables == expected["variables"]
    values = {key: np.where(np.isnan(v), -1, v).tolist() for key, v in found.values.items()}
    assert values == expected["values"]


def test_every_stored_format_has_a_specimen() -> None:
    suffixes = {form.suffixes[0] for form in qwo.graph.formats.FORMATS.values()}
    assert {name.removeprefix("graph") for name in EXPECTED["graphs"]} == suffixes


def test_a_run_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    """Options that are added later do not make it another run."""
    data = qwo.simulate("er", n_variables=4, n_samples=80, degree=2, random_state=5).data.round(3)
    names = ["dose", "blood pressure", "größe", "outcome"]
    file = tmp_path / "bootstrap.npz"
    file.write_bytes((HERE / "bootstrap.npz").read_bytes())
    found = qwo.bootstrap(
        pd.DataFrame(data, columns=names),
        n_resamples=10,
        random_state=1,
        knowledge=HERE / "knowledge.txt",
        checkpoint=file,
    )
    assert found.n_done == 10
    assert found.fingerprint == EXPECTED["bootstrap.npz"]["fingerprint"]
