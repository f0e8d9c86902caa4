"""Results as records that do not change, and as files: .npz archives without pickles.

An archive has arrays, mostly beside a JSON text called ``header`` that names their format. Nothing
is expanded before its type and shape are known to be what the header calls for: a file of a few
megabytes may otherwise fill any memory.
"""

from __future__ import annotations

import html
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, fields
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from qwo.errors import FileFormatError, InputError, MissingFileError
from qwo.names import check_names
from qwo.text import plain, whole_file

Arrays = dict[str, npt.NDArray[Any]]
Layout = Mapping[str, tuple[str, str]]
"""Of arrays, by name: the type, and a letter for each axis. An axis ``n`` is as long as there are
variables; another is as long as it is, but the same in all arrays."""

Result = TypeVar("Result")

MOST_BYTES = 2**32
"""What an archive may expand to: counts of 15,000 variables fit, which is beyond any search."""

MOST_DRAWS = 10**7
"""Replicates or draws at most, or whatever an array has beside variables."""

HEADER_BYTES, HEADER_RATIO = 2**20, 100
"""A header may be this long, or so many times its compressed size: that of real ones is below 20.
Lists of JSON take twenty times their text as objects."""

DAMAGES = (
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What an archive that is damaged, or none, makes its readers raise."""


class Archive:
    """The arrays of an open file, each looked at before it is expanded."""

    def __init__(self, stream: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(stream)
        self._members = {m.filename.removesuffix(".npy"): m for m in self._zip.infolist()}
        total = sum(member.file_size for member in self._members.values())
        if total > MOST_BYTES:
            raise ValueError(f"it would expand to {total / 2**30:.1f} GB")
        kinds = {member.compress_type for member in self._members.values()}
        if not kinds <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise ValueError("it is compressed in a way that qwo does not use")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def array(self, name: str, dtype: str, shape: Sequence[int | None]) -> npt.NDArray[Any]:
        """An array, once it has this type (of any width) and shape; None is any length."""
        wanted, member = np.dtype(dtype), self._members[name]
        with self._zip.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            read = {(1, 0): np.lib.format.read_array_header_1_0}.get(version)
            seen, _, found = (read or np.lib.format.read_array_header_2_0)(stream)
        fits = len(seen) == len(shape) and all(
            want in (None, length) for want, length in zip(shape, seen, strict=True)
        )
        if found.kind != wanted.kind or not fits:
            raise ValueError(
                f"{name} is {found} of shape {seen}; wanted {wanted.name} of shape "
                f"{tuple('any' if length is None else length for length in shape)}"
            )
        free = prod(length for want, length in zip(shape, seen, strict=True) if want is None)
        if free > MOST_DRAWS or prod(seen) * found.itemsize > member.file_size:
            raise ValueError(f"{name} has shape {seen}, which it does not hold or nobody needs")
        with self._zip.open(member) as stream:
            values = np.lib.format.read_array(stream, allow_pickle=False)
        return values if wanted.kind == "U" else values.astype(wanted, copy=False)

    def text(self, name: str) -> str:
        """A text: one string, or the bytes of one."""
        member = self._members[name]
        if member.file_size > max(HEADER_BYTES, HEADER_RATIO * member.compress_size):
            raise ValueError(f"{name} is a text of {member.file_size / 2**20:.0f} MB")
        with self._zip.open(member) as stream:
            value = np.lib.format.read_array(stream, allow_pickle=False)
        return value.tobytes().decode() if value.dtype == np.uint8 else str(value)

    def arrays(self, layout: Layout, sizes: dict[str, int]) -> Arrays:
        """The arrays of a layout; lengths that it leaves open are noted in ``sizes``."""
        found: Arrays = {}
        for name, (dtype, axes) in layout.items():
            found[name] = self.array(name, dtype, [sizes.get(axis) for axis in axes])
            sizes |= dict(zip(axes, found[name].shape, strict=True))
        return found


@contextmanager
def opened(path: str | os.PathLike[str], what: str) -> Iterator[Archive]:
    """The archive in a file; whatever is wrong with it is a `FileFormatError`."""
    file = Path(path)
    if not file.is_file():
        raise MissingFileError(f"there is no file {str(file)!r}")
    try:
        with file.open("rb") as stream:
            yield Archive(stream)
    except FileFormatError:
        raise
    except (InputError, *DAMAGES) as error:
        raise FileFormatError(
            f"{str(file)!r} is not a {what} that qwo has saved ({type(error).__name__}: {error})"
        ) from error


def write_arrays(
    path: str | os.PathLike[str], arrays: Mapping[str, Any], *, compressed: bool = True
) -> None:
    """Write arrays to a file, whole or not at all."""
    save = np.savez_compressed if compressed else np.savez
    with whole_file(path) as made, made.open("wb") as file:
        save(file, allow_pickle=False, **arrays)
        # It takes the place of another only once it is on the disk.
        file.flush()
        os.fsync(file.fileno())


def write_archive(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a header and arrays to a file, whole or not at all."""
    text = json.dumps(plain(header), ensure_ascii=False, allow_nan=False)
    write_arrays(path, {"header": np.frombuffer(text.encode(), dtype=np.uint8), **arrays})


def read_archive(
    path: str | os.PathLike[str],
    form: str,
    what: str,
    layout: Layout,
    build: Callable[[dict[str, Any], Arrays], Result],
) -> Result:
    """What ``build`` makes of header and arrays; it may raise any of `DAMAGES`.

    The header must name the format ``form``, and the variables, for which `check_names` holds. An
    array whose name ends with ``?`` in the layout may be missing.
    """
    with opened(path, what) as archive:
        header = json.loads(archive.text("header"))
        if header["format"] != form:
            raise FileFormatError(
                f"{str(path)!r} is of format {header['format']!r}; wanted {form!r}"
            )
        header["names"] = check_names(header["names"])
        present = {
            name.removesuffix("?"): kind
            for name, kind in layout.items()
            if not name.endswith("?") or name[:-1] in archive
        }
        return build(header, archive.arrays(present, {"n": len(header["names"])}))


def typed(header: Mapping[str, Any], **kinds: type) -> dict[str, Any]:
    """Parts of a header, each of its type; a whole number is a float too."""
    for name, kind in kinds.items():
        if not isinstance(header[name], (int, float) if kind is float else kind):
            raise TypeError(f"{name} is a {type(header[name]).__name__}")
    return {name: header[name] for name in kinds}


class ResultRecord:
    """Base of frozen dataclasses that are results: read-only arrays and mappings, and a summary."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            elif isinstance(value, Mapping):
                object.__setattr__(self, field.name, MappingProxyType(dict(value)))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self))
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

    def summary(self) -> str:
        """The gist, for people to read."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"


class StoredResult(ResultRecord):
    """Base of results that are saved: subclasses say what header and arrays hold."""

    FORMAT: ClassVar[str]
    LAYOUT: ClassVar[Layout]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file (.npz, without pickles), from which `load` has it again."""
        write_archive(path, {"format": self.FORMAT, **self._header()}, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """What `save`, or a run with a checkpoint, has written."""
        return read_archive(path, cls.FORMAT, cls.__name__.lower(), cls.LAYOUT, cls._of)

    def _header(self) -> dict[str, Any]:
        raise NotImplementedError

    def _arrays(self) -> Arrays:
        raise NotImplementedError

    @classmethod
    def _of(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        """The record of a header and of the arrays of the layout."""
        raise NotImplementedError
