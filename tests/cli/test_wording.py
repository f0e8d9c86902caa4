"""Messages of the library in the words of the command line."""

from __future__ import annotations

import pytest

from qwo.cli.wording import count, in_options, table, wrapped_list


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("pass missing='drop' to leave", "add --missing drop to leave"),
        ("pass n_samples=, the number", "add --samples, the number"),
        ("penalty_discount must be above 0; got -1", "--penalty must be above 0; got -1"),
        ("search must be one of", "--search must be one of"),
        ("the search is over", "the search is over"),
        ("a line; pass header=False", "a line; add --no-header"),
        (
            "pass covariance_estimator='ledoit-wolf' or 'oas' with the data",
            "add --covariance-estimator ledoit-wolf or oas",
        ),
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
