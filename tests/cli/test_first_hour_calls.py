"""Wrong calls that a newcomer makes: each is answered by what to change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import qwo
from tests.cli.running import chain, run


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    a, b, c, _ = chain(60)
    rows = "\n".join(f"{a[k]},{b[k]},{c[k]}," for k in range(60))
    Path("ok.csv").write_text(f"a,b,c\n{rows.replace(',' + chr(10), chr(10)).rstrip(',')}\n")
    Path("holes.csv").write_text(f"a,b,c,empty\n{rows}\n")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("studio ok.csv --port 99999999", "wanted a whole number from 0 to 65535"),
        ("learn ok.csv --tiers a,b<c", "--tiers go from causes to effects"),
        ("learn ok.csv --hidden-causes --feedback", "and hidden causes do not go together"),
        ("learn holes.csv", "'empty' has no value at all. Try: --drop empty"),
    ],
)
def test_what_to_change_is_said(command: str, said: str) -> None:
    result = run(*command.split())
    assert result.exit_code == 1, result.output
    assert said in " ".join(result.stderr.split())


def test_few_resamples_make_nothing_sure() -> None:
    assert "1 resample cannot tell how often" in run("learn", "ok.csv", "-b", "1").stderr
    assert "cannot tell how often" not in run("learn", "ok.csv", "-b", "20").stderr
    assert run("bootstrap", "ok.csv", "-b", "4").exit_code == 0


def test_columns_in_a_dict_and_names_beside_an_array() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(qwo.InputError, match=r"for columns: pandas.DataFrame"):
        qwo.discover({"a": rows[:, 0].tolist(), "b": rows[:, 1].tolist()})
    with pytest.raises(TypeError, match=r"pandas.DataFrame\(data, columns=names\)"):
        qwo.discover(rows, names=["a", "b"])
