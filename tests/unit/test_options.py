"""The options of a search have one list, from which everything else is made."""

from __future__ import annotations

import inspect
import sys
import warnings
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo import arguments, compute, options
from qwo.arguments import SearchArguments
from qwo.cli.options import OptionFlags
from qwo.discovery import resolve
from qwo.errors import ArgumentError
from qwo.graph.knowledge import KnowledgeLike
from qwo.options import OPTIONS, READING, ReadOptions, SearchOptions
from qwo.order import objective
from qwo.order.bdeu import BDeu
from qwo.order.protocol import OrderEngine

CONDITIONS = {
    *("reference", "feedback"),
    *get_type_hints(arguments.ConditionArguments),
    *get_type_hints(arguments.AssumptionArguments),
}
SERIES = set(get_type_hints(arguments.SeriesArguments))
CALLS = {
    "discover": (qwo.discover, {"dask"}),
    # Its reference is the graph whose edges are counted.
    "bootstrap": (
        qwo.bootstrap,
        {"time_limit", *CONDITIONS, *SERIES}
        - {
            "reference",
            "regime",
            "targets",
            "effect",
            "relations",
            "arrows",
            "level",
            "hidden_causes",
        },
    ),
    "penalty_path": (
        qwo.penalty_path,
        {"method", "penalty_discount", "alpha", "score", *CONDITIONS, *SERIES},
    ),
    "QWO": (qwo.QWO, {"score", "dask", *CONDITIONS, *SERIES}),
}
DATA = qwo.simulate("er", n_variables=6, n_samples=300, degree=2, random_state=4)[0]


def test_type_checkers_see_the_same_options_as_the_record() -> None:
    names = {"KnowledgeLike": KnowledgeLike, "OrderEngine": OrderEngine, "BDeu": BDeu, "np": np}
    names |= {"Weights": Any}
    told = get_type_hints(SearchArguments, localns=names)
    told |= {"dask": Any}
    assert set(told) == {*OPTIONS, *READING} - {"names", "progress"}
    for record in (ReadOptions, SearchOptions):
        known = get_type_hints(record, localns=names)
        differ = {name for name in known if name in told and told[name] != known[name]}
        assert differ <= {"random_state"}, "QWO takes scikit-learn's random states as well"


def test_names_that_other_modules_list_too_are_the_same() -> None:
    assert get_args(options.Device) == get_args(compute.Device)
    assert get_args(options.ObjectiveName) == get_args(objective.ObjectiveName)


@pytest.mark.parametrize("name", CALLS)
def test_signature_and_docstring_have_every_option(name: str) -> None:
    function, without = CALLS[name]
    parameters = inspect.signature(function).parameters
    assert set(OPTIONS) - without <= set(parameters)
    assert not without & set(parameters)
    assert "{options}" not in (function.__doc__ or "")
    for option in set(OPTIONS) - without:
        assert f"\n    {option} : " in (function.__doc__ or "")
    for field in fields(SearchOptions):
        if field.name in parameters:
            assert parameters[field.name].default == field.default


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_option_is_refused_as_python_does(name: str) -> None:
    function, _ = CALLS[name]
    arguments = () if name == "QWO" else (DATA,)
    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'restart'"):
        function(*arguments, restart=3)


def test_an_option_of_another_function_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"alpha does not go with penalty_path\(\)"):
        qwo.penalty_path(DATA, alpha=0.1)  # type: ignore[call-arg]


CHAIN = np.eye(6, k=1, dtype=int)
WITHOUT_A_SEARCH: dict[str, Any] = {
    "check": (DATA, CHAIN),
    "posterior": (DATA,),
    "changes": (DATA, DATA),
    "fit_sem": (DATA, CHAIN),
    "ida": (DATA, CHAIN, 0, 1),
    "score_graph": (DATA, CHAIN),
    "audit": (DATA,),
    "penalty_path": (DATA,),
}


@pytest.mark.parametrize("function", WITHOUT_A_SEARCH)
@pytest.mark.parametrize("option", ["hidden_causes", "lags", "relations", "feedback", "arrows"])
def test_an_option_that_does_not_go_with_a_function_is_refused_in_words(
    function: str, option: str
) -> None:
    call, given = getattr(qwo, function), WITHOUT_A_SEARCH[function]
    with pytest.raises(
        ArgumentError, match=rf"^{option} does not go with {function}\(\): "
    ) as told:
        call(*given, **{option: 2})
    assert told.value.option == option
    assert "qwo.discover" in str(told.value)
    with pytest.raises(
        TypeError, match=rf"{function}\(\) got an unexpected .* 'colums'; did you mean"
    ):
        call(*given, colums=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'reading'"):
        call(*given, reading=2)


def test_numbers_of_numpy_are_kept_as_pythons_own() -> None:
    chosen = SearchOptions(penalty_discount=np.float32(2), restarts=np.int8(3), depth=np.int64(2))
    assert [type(v) for v in (chosen.penalty_discount, chosen.restarts, chosen.depth)] == [
        float,
        int,
        int,
    ]


@pytest.mark.parametrize("name", [n for n, option in OPTIONS.items() if option.rule is not None])
def test_every_checked_option_refuses_what_it_cannot_be(name: str) -> None:
    class Odd:
        def __repr__(self) -> str:
            return "an odd thing"

    if name == "engine":
        pytest.skip("an engine may be any object; the protocol is looked at later")
    with pytest.raises(ArgumentError, match=f"{name} is an odd thing; wanted") as caught:
        SearchOptions(**{name: Odd()})
    assert caught.value.option == name
    assert caught.value.worded(named=lambda option: f"--{option}!").startswith(f"--{name}! is")


def test_every_flag_is_documented_and_no_two_share_a_name() -> None:
    names = [flag for option in OPTIONS.values() if option.flag for flag in option.flag.names]
    assert len(names) == len(set(names))
    assert all(option.flag.help for option in OPTIONS.values() if option.flag)


def test_fingerprints_change_with_what_the_graph_depends_on() -> None:
    first = SearchOptions().fingerprint()
    assert SearchOptions(n_jobs=2, dask="tcp://a").fingerprint() == first
    for changed in ({"restarts": 3}, {"start": ["a", "b"]}, {"engine": "qwo"}, {"depth": 2}):
        assert SearchOptions(**changed).fingerprint() != first  # type: ignore[arg-type]


def test_knowledge_may_be_given_by_its_arguments() -> None:
    found = qwo.discover(DATA, knowledge={"tiers": [["X5"], ["X0"]]}, random_state=0)
    same = qwo.discover(DATA, knowledge=qwo.Knowledge(tiers=[["X5"], ["X0"]]), random_state=0)
    assert np.array_equal(found.cpdag, same.cpdag)


def test_columns_are_left_out_and_transformed_where_they_are_read() -> None:
    found = qwo.discover(DATA, drop=["X0"], transform="rank-normal", random_state=0)
    assert found.names == ("X1", "X2", "X3", "X4", "X5")
    resampled = qwo.bootstrap(DATA, drop=["X0"], n_resamples=4, random_state=0)
    assert resampled.names == found.names


ADDED = """
    look_back: int | None = option(
        None,
        "int, optional",
        "How often the search may look back. Twice is enough.",
        WHOLE_FROM_0,
        "--look-back L",
    )

    def __post_init__"""


def made_wider(name: str, text: str) -> Any:
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), vars(module))
    return module


def test_a_new_option_is_a_field_and_its_type() -> None:
    """Then signatures, docstrings, checks, fingerprints and flags have it; the search reads it."""
    record = Path(options.__file__).read_text(encoding="utf-8")
    record = record.replace("\n    def __post_init__", ADDED, 1)
    typed = "    version: int | None\n"
    calls = Path(arguments.__file__).read_text(encoding="utf-8")
    calls = calls.replace(typed, f"{typed}    look_back: int | None\n")
    calls = calls.replace("from qwo.options import", "from wider_options import")
    try:
        wider = made_wider("wider_options", record)
        taking = made_wider("wider_arguments", calls)

        @taking.takes_options(taking.SearchArguments)
        def search(**options: Any) -> Any:
            """Search.

            {options}
            """
            return wider.options_given(search, options)

        assert inspect.signature(search).parameters["look_back"].default is None
        assert "look_back : int, optional" in (search.__doc__ or "")
        assert search(look_back=3)[0].fingerprint()["look_back"] == 3
        with pytest.raises(ArgumentError, match="look_back is -1; wanted a whole number"):
            search(look_back=-1)
        flags = type("Flags", (OptionFlags,), {"record": wider.SearchOptions, "panel": "Search"})
        [flag] = [own for own in flags.parameters() if own.name == "look_back"]
        [shown] = flag.annotation.__metadata__
        assert shown.help == "How often the search may look back."
    finally:
        for name in ("wider_options", "wider_arguments"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("call", [qwo.simulate, qwo.posterior, qwo.check, qwo.discover])
def test_a_seed_by_another_name_is_understood(call: Any) -> None:
    data = [] if call is qwo.simulate else [np.eye(3)] * (2 if call is qwo.check else 1)
    said = (
        rf"{call.__name__}\(\) got an unexpected keyword argument 'seed'; the seed is random_state="
    )
    with pytest.raises(TypeError, match=said):
        call(*data, seed=1)
    with pytest.raises(TypeError, match=r"did you mean .*'random_state'"):
        call(*data, random_sate=1)
    assert "random_state" in inspect.signature(call).parameters


def test_the_time_limit_covers_the_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without time for the inverse of the correlations there is a graph all the same, in time."""
    data, _, _ = qwo.simulate("er", n_variables=40, n_samples=300, random_state=1)
    monkeypatch.setattr(resolve, "ALL_CANDIDATES_UP_TO", 20)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("there is no time for that")

    with monkeypatch.context() as hurried:
        hurried.setattr(resolve, "OPERATIONS_A_SECOND", 1.0)
        hurried.setattr(resolve, "precision_matrix", refuse)
        found = qwo.discover(data, time_limit=0.5, random_state=0)
        known = qwo.discover(
            data, time_limit=0.5, random_state=0, knowledge={"tiers": [["X39"], ["X0"]]}
        )
    assert found.status in ("time limit", "converged")
    assert found.n_edges > 0
    assert known.dag[0, 39] == 0
    unhurried = qwo.discover(data, time_limit=1e9, random_state=0)
    assert unhurried.params["start"] == "r2"


def test_a_limit_that_reading_alone_exceeds_is_named() -> None:
    """On a busy machine 5 s took 28.9, all of them in reading, without a word."""
    data, _, _ = qwo.simulate("er", n_variables=10, n_samples=300, random_state=1)
    with pytest.warns(qwo.DataWarning, match=r"limit was over before .* first guess") as said:
        assert qwo.discover(data, time_limit=1e-9, random_state=0).status == "time limit"
    assert "Moments.from_data()" in str(said[0].message)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        qwo.discover(data, time_limit=0, random_state=0)
        qwo.discover(data, time_limit=600, random_state=0)


ODD = np.array([1, 2])


@pytest.mark.parametrize(
    "given",
    [
        {"engine": ODD},
        {"start": 2.5},
        {"method": "qwo-grasp", "start": np.arange(6)},
        {"callback": 3},
        {"null_values": 3},
        {"missing": ODD},
        {"search": ODD},
    ],
    ids=str,
)
def test_no_value_of_an_option_ends_in_an_error_of_numpy_or_python(given: dict[str, Any]) -> None:
    name = list(given)[-1]
    with pytest.raises(qwo.InputError, match=f"^{name} is"):
        qwo.discover(DATA, **given)


def test_a_count_of_rows_is_not_told_of_a_cure_that_it_refuses() -> None:
    letters = np.random.default_rng(0).choice(list("abc"), size=(60, 3)).astype(object)
    letters[3, 0] = None
    with pytest.raises(qwo.InputError, match="missing='drop'") as caught:
        qwo.discover(pd.DataFrame(letters, columns=list("xyz")), score="bdeu")
    assert "'em'" not in str(caught.value)
