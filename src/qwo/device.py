"""Where the dense algebra runs: NumPy on the host, or CuPy on a CUDA device.

Both are array modules with the same functions, so that what takes one as a parameter runs on
either; the results differ in rounding alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, get_args

import numpy as np

from qwo.errors import ArgumentError, EngineError
from qwo.optional import optional_module

Device = Literal["cpu", "gpu"]

_present: ContextVar[Any] = ContextVar("array module", default=np)


def array_module(device: str = "cpu") -> Any:
    """NumPy, or CuPy if it is installed and finds a device.

    Raises
    ------
    MissingPackageError
        If CuPy is not installed.
    EngineError
        If there is no CUDA device.
    """
    if device not in get_args(Device):
        raise ArgumentError(f"device is {device!r}; wanted 'cpu' or 'gpu'", option="device")
    if device == "cpu":
        return np
    cupy = optional_module("cupy", "device 'gpu' needs", "cupy-cuda13x")
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise EngineError(f"device 'gpu' needs a CUDA device: {error}") from error
    if not found:
        raise EngineError("device 'gpu' needs a CUDA device, and there is none")
    return cupy


def to_host(array: Any) -> Any:
    """An array of either module as one of NumPy."""
    return array.get() if hasattr(array, "get") else array


@contextmanager
def computing_with(xp: Any) -> Iterator[None]:
    """Let the moments of rows be computed by an array module for as long as this lasts."""
    token = _present.set(xp)
    try:
        yield
    finally:
        _present.reset(token)


def present_module() -> Any:
    """The array module of the innermost `computing_with` of this thread; NumPy without one."""
    return _present.get()
