"""Errors with their cures, worded by who speaks, and across the border of a process."""

from __future__ import annotations

import pickle

import pytest

from qwo import errors
from qwo.errors import Cure, InputError, MissingFileError, MissingPackageError

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, InputError)
]
CURES = (Cure("missing", "drop", "leaves these rows out"), Cure("weights"))


def test_the_cures_follow_the_message_in_pythons_words() -> None:
    error = InputError("column 'a' has a gap", ["a"], CURES)
    assert str(error) == (
        "column 'a' has a gap\nTry: missing='drop' leaves these rows out; weights=…"
    )
    assert error.columns == ("a",)


def test_a_front_end_words_the_cures_its_own_way() -> None:
    error = InputError("a gap", cures=CURES[:1])
    said = error.worded(lambda cure: f"--{cure.option} {cure.value}")
    assert said == "a gap\nTry: --missing drop leaves these rows out"


def test_without_cures_there_is_the_message_alone() -> None:
    assert str(InputError("a gap")) == "a gap"


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_survives_being_pickled(kind: type[InputError]) -> None:
    error = kind("a gap") if kind is MissingPackageError else kind("a gap", ["a"], CURES)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), again.columns, again.cures) == (str(error), error.columns, error.cures)


def test_a_missing_packages_name_survives_being_pickled() -> None:
    assert pickle.loads(pickle.dumps(MissingPackageError("no dask", name="dask"))).name == "dask"


def test_a_missing_file_takes_cures_by_name() -> None:
    assert MissingFileError("no file", cures=CURES).cures == CURES
