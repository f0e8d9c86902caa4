"""What the pages say of feedback and of proofs is what the results say."""

import re
from pathlib import Path

import pytest

from benchmarks import feedback, proof

DOCS = Path(__file__).parents[2] / "docs"
SAID = [("howto/feedback.md", words) for words in feedback.sentences()]
SAID += [("concepts/search.md", words) for words in proof.sentences()]


@pytest.mark.parametrize(("page", "sentence"), SAID)
def test_the_figures_are_those_of_the_results(page: str, sentence: str) -> None:
    assert sentence in re.sub(r"\s+", " ", (DOCS / page).read_text(encoding="utf-8"))
