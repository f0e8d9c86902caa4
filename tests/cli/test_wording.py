"""Messages of the library in the words of the command line."""

from __future__ import annotations

import pytest

from qwo.cli.wording import as_flag, count, in_options, table, worded, wrapped_list
from qwo.errors import ArgumentError, Cure, DataWarning


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("pass missing='drop' to leave", "add --missing drop to leave"),
        ("pass n_samples=, the number", "add --samples, the number"),
        ("penalty_discount must be above 0; got -1", "--penalty must be above 0; got -1"),
        ("search must be one of", "--search must be one of"),
        ("the search is over", "the search is over"),
        ("or penalty_discount alone", "or --penalty alone"),
        ("--penalty is fine already", "--penalty is fine already"),
        (
            "matrix is singular; use engine='bic', the default, or pass covariance_estimator='oas'",
            "matrix is singular; use --engine bic, the default, or add --covariance-estimator oas",
        ),
        ("n_resamples is 0; wanted 1", "--resamples is 0; wanted 1"),
        ("sample_fraction is 2; wanted", "--sample-fraction is 2; wanted"),
        ("resampling='subsamples' draws", "--resampling subsamples draws"),
        (
            "tolerance ends a run; leave tolerance out, or run without shard",
            "--tolerance ends a run; leave it out, or run without --shard",
        ),
        (
            "shard is 9 of 8; wanted (1, 8) to (8, 8)",
            "--shard is 9 of 8; wanted 1/8 to 8/8",
        ),
        (
            "go on: shard was 1 and is 2, replicate_time_limit was 1 and is 2",
            "go on: --shard was 1 and is 2, --time-limit was 1 and is 2",
        ),
        ("no shard was lost", "no shard was lost"),
        ("what the column 'missing' is", "what the column 'missing' is"),
    ],
)
def test_cures_are_options(message: str, shown: str) -> None:
    assert in_options(message) == shown


def test_counts_and_lists() -> None:
    assert count(1, "edge") == "1 edge"
    assert count(0, "edge") == "0 edges"
    assert wrapped_list(["a", "b", "c"], 2) == "a, b and 1 more"


def test_tables_are_aligned() -> None:
    assert table([["a", "10"], ["long", "9"]], right=1) == "a     10\nlong   9"
    assert table([]) == ""


@pytest.mark.parametrize(
    ("cure", "said"),
    [
        (Cure("missing", "em"), "--missing em"),
        (Cure("drop", ["a", "b c", "d,e"]), "--drop 'a,b c,\"d,e\"'"),
        (Cure("null_values", [".", "-999"]), "--null-value . --null-value -999"),
        (Cure("header", False), "--no-header"),
        (
            Cure("transform", {"a": "log", "b": "log", "c": "log1p"}),
            "--transform log:a,b --transform log1p:c",
        ),
        (Cure("penalty_discount", 1), "--penalty 1"),
        (Cure("random_state"), "--seed …"),
        (Cure("covariance_estimator", "oas"), "--covariance-estimator oas"),
        (Cure("weights", "w"), "weights='w'"),
    ],
)
def test_a_cure_is_an_option_of_the_command(cure: Cure, said: str) -> None:
    assert as_flag(cure) == said


def test_errors_and_warnings_name_options_as_they_are_given_here() -> None:
    error = ArgumentError("n_jobs is 0; wanted 1", option="n_jobs", cures=[Cure("n_jobs", -1)])
    assert worded(error) == "--jobs is 0; wanted 1\nCure: --jobs -1"
    warning = DataWarning("few samples", cures=[Cure("gamma", 0, "takes the plain BIC")])
    assert worded(warning) == "few samples\nCure: --gamma 0 takes the plain BIC"
    assert str(warning) == "few samples\nCure: gamma=0 takes the plain BIC"
