"""Results in files: what was written comes back, what is damaged or hostile is refused in time."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qwo
from qwo.archives import read_archive, write_archive
from qwo.errors import FileFormatError, InputError, MissingFileError

SPECIMENS = Path(__file__).parent.parent / "specimens"
LOAD: dict[str, Callable[[Path], Any]] = {
    "bootstrap": qwo.Bootstrap.load,
    "posterior": qwo.Posterior.load,
}


def test_header_and_arrays_come_back(tmp_path: Path) -> None:
    file, values = tmp_path / "a.npz", np.arange(6.0).reshape(2, 3)
    header = {"format": "test 1", "names": ["a", "b"], "lost": np.nan, "pair": (1, 2)}
    write_archive(file, header, {"values": values})

    def read(form: str, axes: str, path: Path = file) -> Any:
        layout = {"values": ("float64", axes), "other?": ("int8", "n")}
        return read_archive(path, form, "test", layout, lambda *both: both)

    found, arrays = read("test 1", "nk")
    assert found == {"format": "test 1", "names": ("a", "b"), "lost": None, "pair": [1, 2]}
    np.testing.assert_array_equal(arrays["values"], values)
    with pytest.raises(FileFormatError, match="is of format 'test 1'; wanted 'test 2'"):
        read("test 2", "nk")
    with pytest.raises(FileFormatError, match=r"wanted float64 of shape \(2, 2\)"):
        read("test 1", "nn")
    with pytest.raises(MissingFileError):
        read("test 1", "nk", tmp_path / "b.npz")


def mutant(content: bytes, seed: int) -> bytes:
    """A file that was cut off, or some of whose bytes were changed."""
    rng = np.random.default_rng(seed)
    if seed % 4 == 0:
        return content[: rng.integers(len(content))]
    changed = bytearray(content)
    for place in rng.integers(len(content), size=1 + seed % 3):
        changed[place] = rng.integers(256)
    return bytes(changed)


@pytest.mark.parametrize("kind", LOAD)
def test_damaged_results_are_refused_as_such(kind: str, tmp_path: Path) -> None:
    """Whatever the decompression raises, such as zlib.error and NotImplementedError."""
    content = (SPECIMENS / f"{kind}.npz").read_bytes()
    file = tmp_path / "result.npz"
    refused = 0
    for seed in range(300):
        file.write_bytes(mutant(content, seed))
        try:
            LOAD[kind](file)
        except InputError:
            refused += 1
    assert refused > 200


def changed(kind: str, file: Path, name: str, value: Any) -> Path:
    """The specimen with one of its arrays, or a part of its header, replaced."""
    with np.load(SPECIMENS / f"{kind}.npz") as archive:
        arrays = {key: archive[key] for key in archive.files}
    if name in arrays:
        arrays[name] = value
    else:
        header = json.loads(arrays["header"].tobytes())
        header[name] = value
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez_compressed(file, allow_pickle=True, **arrays)
    return file


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("posterior", "masks", np.full((4, 4, 4), "a")),
        ("posterior", "masks", np.ones((4, 4, 4))),
        ("posterior", "masks", np.full((4, 4, 4), 2**20, dtype=np.uint32)),
        ("posterior", "rhat", np.full((4, 4), "1")),
        ("posterior", "log_scores", np.ones((4, 3))),
        ("posterior", "edge_probabilities", np.array([[None] * 4] * 4)),
        ("posterior", "candidates", [[9], [], [], []]),
        ("posterior", "moments_correlation", np.full((4, 4), np.nan)),
        ("posterior", "moments_correlation", np.ones((4, 4)) - 2 * np.eye(4)),
        ("posterior", "moments_scales", np.zeros(4)),
        ("posterior", "core", [["a"], [], [], []]),
        ("posterior", "params", 3),
        ("posterior", "seconds", "long"),
        ("posterior", "n_samples", "80"),
        ("posterior", "names", ["a", "a", "b", "c"]),
        ("bootstrap", "directed_counts", np.ones((4, 4))),
        ("bootstrap", "outcomes", np.full(8, "1")),
        ("bootstrap", "reference_cpdag", np.full((4, 4), 7, dtype=np.int8)),
        ("bootstrap", "reference_dag", 1 - np.eye(4, dtype=np.int8)),
        ("bootstrap", "reference_order", np.zeros(4, dtype=np.int64)),
        ("bootstrap", "knowledge_before", np.zeros((2, 2), dtype=np.bool_)),
        ("bootstrap", "status", 1),
        ("bootstrap", "reference", {}),
    ],
)
def test_what_a_result_cannot_hold_is_refused_when_it_is_read(
    kind: str, name: str, value: Any, tmp_path: Path
) -> None:
    """Text and float arrays were taken, and failed only when the posterior was used."""
    assert LOAD[kind](SPECIMENS / f"{kind}.npz").summary()
    with pytest.raises(FileFormatError, match=f"is not a {kind} that qwo has saved"):
        LOAD[kind](changed(kind, tmp_path / "a.npz", name, value))


def of_zeros(
    file: Path, name: str, shape: tuple[int, ...], how: int = zipfile.ZIP_DEFLATED
) -> Path:
    """The specimen with an array of as many zeros as that: a megabyte of it is a kilobyte here."""
    head = io.BytesIO()
    described = {"descr": "<i4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, described)
    with (
        zipfile.ZipFile(SPECIMENS / "bootstrap.npz") as old,
        zipfile.ZipFile(file, "w", how) as new,
    ):
        for member in old.infolist():
            if member.filename != f"{name}.npy":
                new.writestr(member.filename, old.read(member))
        with new.open(f"{name}.npy", "w", force_zip64=True) as stream:
            stream.write(head.getvalue())
            for _ in range(4 * int(np.prod(shape)) // 2**20):
                stream.write(bytes(2**20))
    return file


@pytest.mark.parametrize("name", ["directed_counts", "outcomes", "header", "unknown"])
def test_a_small_file_does_not_fill_the_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2.3 MB that expand to 4.7 GB were accepted; sizes are now looked at before."""
    file = of_zeros(tmp_path / "a.npz", name, (2**24,) if name == "outcomes" else (2**12, 2**12))
    assert file.stat().st_size < 2**17
    read: list[int] = []
    expand = np.lib.format.read_array

    def counted(stream: Any, **options: Any) -> Any:
        read.append(stream._left)
        return expand(stream, **options)

    monkeypatch.setattr(np.lib.format, "read_array", counted)
    if name == "unknown":
        assert qwo.Bootstrap.load(file).n_done == 8  # nobody asks for it
    else:
        with pytest.raises(FileFormatError):
            qwo.Bootstrap.load(file)
    assert sum(read) < 2**20


def test_a_file_larger_than_any_result_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qwo.archives.MOST_BYTES", 2**20)
    with pytest.raises(FileFormatError, match="it would expand to"):
        qwo.Bootstrap.load(of_zeros(tmp_path / "a.npz", "unknown", (2**10, 2**10)))


def test_other_ways_of_compression_are_refused(tmp_path: Path) -> None:
    """They expand a thousand times more than the one that qwo uses."""
    with pytest.raises(FileFormatError, match="compressed in a way"):
        qwo.Bootstrap.load(of_zeros(tmp_path / "a.npz", "unknown", (4, 4), zipfile.ZIP_BZIP2))
