"""Results in files: what was written comes back, and what was damaged is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import qwo
from qwo.archives import read_archive, write_archive
from qwo.bayes.store import read_posterior
from qwo.errors import FileFormatError, InputError, MissingFileError
from qwo.resample import Bootstrap


def test_header_and_arrays_come_back(tmp_path: Path) -> None:
    file, values = tmp_path / "a.npz", np.arange(6.0).reshape(2, 3)
    header = {"format": "test 1", "score": np.float64(1.5), "lost": np.nan, "pair": (1, 2)}
    write_archive(file, header, {"values": values})
    read, arrays = read_archive(file, "test 1", "test", lambda *both: both)
    assert read == {"format": "test 1", "score": 1.5, "lost": None, "pair": [1, 2]}
    np.testing.assert_array_equal(arrays["values"], values)
    with pytest.raises(FileFormatError, match="is of format 'test 1'; wanted 'test 2'"):
        read_archive(file, "test 2", "test", lambda *both: both)
    with pytest.raises(MissingFileError):
        read_archive(tmp_path / "b.npz", "test 1", "test", lambda *both: both)


def mutant(content: bytes, seed: int) -> bytes:
    """A file that was cut off, or some of whose bytes were changed."""
    rng = np.random.default_rng(seed)
    if seed % 4 == 0:
        return content[: rng.integers(len(content))]
    changed = bytearray(content)
    for place in rng.integers(len(content), size=1 + seed % 3):
        changed[place] = rng.integers(256)
    return bytes(changed)


@pytest.mark.parametrize("kind", ["bootstrap", "posterior"])
def test_damaged_results_are_refused_as_such(kind: str, tmp_path: Path) -> None:
    """Whatever the decompression raises, such as zlib.error and NotImplementedError."""
    data = qwo.simulate("er", n_variables=4, n_samples=100, random_state=1).data
    file = tmp_path / "result.npz"
    read: Callable[[Path], object]
    if kind == "bootstrap":
        qwo.bootstrap(data, n_resamples=4, random_state=0, restarts=0).save(file)
        read = Bootstrap.load
    else:
        qwo.posterior(data, n_draws=16, random_state=0).save(file)
        read = read_posterior
    content = file.read_bytes()
    refused = 0
    for seed in range(300):
        file.write_bytes(mutant(content, seed))
        try:
            read(file)
        except InputError:
            refused += 1
    assert refused > 200
