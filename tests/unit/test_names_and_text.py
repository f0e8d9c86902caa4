"""Names that are looked up, texts that people read, and what the package shows of itself."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qwo
from qwo.cli.folder import write_csv
from qwo.errors import ColumnNameError, KnowledgeError
from qwo.names import as_column, as_pair, check_names, default_names
from qwo.text import count, csv_line, listed, no_formula, number, p_value, plain, short, two_digits


def test_a_variable_by_name_or_number():
    names = ("dose", "age", "outcome")
    assert as_column(names, "age", "cause") == as_column(names, np.int64(1), "cause") == 1


@pytest.mark.parametrize("wrong", [3, -1, True, 1.0, None, ["age"], "Age "])
def test_a_variable_that_does_not_exist(wrong):
    with pytest.raises(KnowledgeError, match="cause"):
        as_column(("dose", "age", "outcome"), wrong, "cause", KnowledgeError)


def test_a_near_miss_is_suggested():
    with pytest.raises(ColumnNameError, match="did you mean 'outcome'"):
        as_column(("dose", "age", "outcome"), "outcom", "effect")


def test_cause_and_effect_differ():
    with pytest.raises(ColumnNameError, match="both 'age'"):
        as_pair(("dose", "age"), "age", 1)


def test_default_names_are_valid_names():
    assert check_names(default_names(3)) == ("X0", "X1", "X2")


def test_numbers_as_people_read_them():
    assert [number(v) for v in (0.5, 1e-9, 123456.0, math.nan, None, 0.0)] == [
        *("0.500", "1e-09", "1.23e+05", "–", "–", "0.000")
    ]
    assert [p_value(v) for v in (1e-5, 0.25, math.nan, None)] == ["<0.001", "0.250", "–", "–"]
    assert [count(1, "edge"), count(1200, "edge"), count(2, "class", "classes")] == [
        *("1 edge", "1,200 edges", "2 classes")
    ]


def test_lists_and_long_texts_are_cut():
    assert listed(["b", "a"]) == "'a', 'b'"
    assert listed(f"x{k}" for k in range(7)).endswith("and 2 more")
    assert len(short("x" * 100)) == 60
    assert short("two\nlines") == "two lines"


def test_values_become_json():
    values = {1: np.array([1.5, np.inf]), "t": (np.int8(2), {"b"}, b"x"), "n": None, "y": True}
    assert json.loads(json.dumps(plain(values))) == {
        "1": [1.5, None],
        "t": [2, ["b"], "b'x'"],
        "n": None,
        "y": True,
    }


def test_the_package_lists_its_public_names_only():
    command = "import qwo; assert dir(qwo) == sorted(qwo.__all__); qwo.discover; print(dir(qwo))"
    told = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    assert "import_module" not in told.stdout
    assert dir(qwo) == sorted(qwo.__all__)
    seen = re.findall(
        r"^    from \S+ import (\w+) as \1$", Path(qwo.__file__).read_text(), re.MULTILINE
    )
    assert sorted(seen) == sorted(qwo.__all__), "what type checkers see is what there is"


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "\tx"])
def test_names_that_a_spreadsheet_would_compute_are_protected(name, tmp_path):
    assert no_formula(name) == f"'{name}"
    assert no_formula(f"x{name}") == f"x{name}"
    path = tmp_path / "table.csv"
    for spreadsheet in (True, False):
        write_csv(path, ("name", "value"), [(name, -1.5)], spreadsheet=spreadsheet)
        with path.open(newline="", encoding="utf-8") as file:
            row = list(csv.reader(file))[1]
        assert row == [f"'{name}" if spreadsheet else name, "-1.5"]


@pytest.mark.parametrize("name", ["a\rb", "c\nd", 'e"f', "g,h", " i ", "\r", "j\r\n", ""])
def test_a_line_of_csv_keeps_every_name(name: str) -> None:
    line = csv_line([name, "x", 1.5])
    assert list(csv.reader(io.StringIO(line + "\n", newline=""))) == [[name, "x", "1.5"]]


def test_large_numbers_of_two_digits_have_no_exponent() -> None:
    shown = [two_digits(value) for value in (0.00123, 4.56, 99.4, 99.6, 712.3)]
    assert shown == ["0.0012", "4.6", "99", "100", "712"]
