"""What went wrong with the user's input, in which columns, and what to do about it.

Every error that the input causes is an `InputError`, which is a `ValueError`: one ``except`` clause
catches them all, and the subclasses tell the cases apart for code that wants to react.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Cure:
    """An option, by its Python name, that makes the input usable.

    Attributes
    ----------
    option : str
        The argument to pass; or, with parentheses, the function to call.
    value : object, optional
        What to pass; None where only the user can know.
    effect : str
        What that does, as in ``"leaves these rows out"``; it follows the option in a sentence.
    """

    option: str
    value: Any = None
    effect: str = ""


HOW_MANY = Cure("n_samples", None, "says how many samples the matrix comes from")
"""The cure for moments whose number of samples is not known, or infinite."""

Wording = Callable[[Cure], str]
"""How a front end spells an option with its value."""


def python_wording(cure: Cure) -> str:
    """A cure as it is written in Python: ``missing='em'``, ``to_dag()``."""
    if cure.option.endswith(")"):
        return cure.option
    return f"{cure.option}={'…' if cure.value is None else repr(cure.value)}"


def worded_cures(cures: Iterable[Cure], wording: Wording = python_wording) -> str:
    """The cures as one sentence, each option as the front end spells it."""
    parts = [f"{wording(cure)} {cure.effect}".rstrip() for cure in cures]
    if not parts:
        return ""
    return "Try: " + "; ".join(parts)


class InputError(ValueError):
    """Input that cannot be used as it is; the message names the cause and the cure.

    Attributes
    ----------
    columns : tuple of str
        Names of the variables concerned; empty where no particular one is to blame.
    cures : tuple of Cure
        Options that would help, each front end to word with its own names; `str` words them for
        Python.
    option : str
        The option whose value is wrong, if it is one; where the message begins with its name, each
        front end spells that its own way.
    """

    columns: tuple[str, ...] = ()
    cures: tuple[Cure, ...] = ()
    option: str = ""

    def __init__(
        self,
        message: str,
        columns: Iterable[str] = (),
        cures: Iterable[Cure] = (),
        *,
        option: str = "",
    ) -> None:
        super().__init__(message)
        self.columns = tuple(columns)
        self.cures = tuple(cures)
        self.option = option

    def worded(self, wording: Wording = python_wording, named: Callable[[str], str] = str) -> str:
        """The message with its cures; both functions say how a front end spells an option."""
        message = str(self.args[0]) if self.args else ""
        if self.option and message.startswith(self.option):
            # A front end spells the option's name its own way.
            message = named(self.option) + message.removeprefix(self.option)
        return "\n".join(filter(None, (message, worded_cures(self.cures, wording))))

    def __str__(self) -> str:
        return self.worded()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[InputError], args: tuple[Any, ...], state: dict[str, Any]) -> InputError:
    """An error that has crossed the border of a process."""
    error = kind.__new__(kind)
    error.args = args
    for name, value in state.items():
        setattr(error, name, value)
    return error


class ArgumentError(InputError):
    """An option has a value outside its range or list of choices."""


class ClusterError(ArgumentError):
    """A Dask cluster does not answer, has no workers, or has gone."""


class ShapeError(InputError):
    """A table, matrix or vector has the wrong number of dimensions, rows or columns."""


class ColumnNameError(InputError):
    """Variable names are empty, repeated or unknown."""


class FileFormatError(InputError):
    """A file is empty, damaged or not of the format that was expected."""


class MissingFileError(InputError, FileNotFoundError):
    """A file does not exist; also a `FileNotFoundError`."""

    def __new__(cls, *_args: object, **_options: object) -> Self:
        """Not that of ValueError, which is found first by name: some picklers call it, in vain.

        Without arguments, of which OSError would take the first two for a code and its meaning.
        """
        return FileNotFoundError.__new__(cls)


class NonNumericError(InputError):
    """Columns hold text, dates or other values that are not real numbers."""


class MissingValuesError(InputError):
    """Columns hold missing or infinite values."""


class SampleSizeError(InputError):
    """The sample is too small for a correlation to mean anything."""


class ConstantColumnError(InputError):
    """Columns do not vary, so that their correlations are undefined."""


class DuplicateColumnError(InputError):
    """Columns are copies of one another, up to shift, scale and sign."""


class LinearDependenceError(InputError):
    """Columns are exact linear combinations of other columns."""


class CovarianceError(InputError):
    """A matrix is not the covariance, correlation or precision matrix of any distribution."""


class MergeError(InputError):
    """Two sets of moments cannot be pooled exactly."""


class GraphError(InputError):
    """A matrix or graph is not what was asked for, such as a directed graph without cycles."""


class OrderError(InputError):
    """A sequence of variables is not a permutation of all of them."""


class IndexRangeError(OrderError, IndexError):
    """The number of a variable or place is out of range; also an `IndexError`."""


class KnowledgeError(InputError):
    """Background knowledge contradicts itself or names variables that do not exist."""


class EngineError(InputError):
    """An order engine cannot work with the moments, search or options it was given."""


class MissingPackageError(InputError, ModuleNotFoundError):
    """An optional package is not installed; also a `ModuleNotFoundError`."""

    def __init__(self, message: str, *, name: str = "") -> None:
        super().__init__(message)
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        # ImportError keeps the name outside the object's dictionary.
        return _restored, (type(self), self.args, {**self.__dict__, "name": self.name})


class DataWarning(UserWarning):
    """The data can be used, but the result deserves distrust for the reason given.

    Attributes
    ----------
    cures : tuple of Cure
        Options that would help, as for an `InputError`.
    """

    def __init__(self, message: str, cures: Iterable[Cure] = ()) -> None:
        super().__init__(message)
        self.cures = tuple(cures)

    def worded(self, wording: Wording = python_wording) -> str:
        """The message with its cures, as a front end spells them."""
        return ". ".join(filter(None, (str(self.args[0]), worded_cures(self.cures, wording))))

    def __str__(self) -> str:
        return self.worded()


def list_names(names: Iterable[str], limit: int = 5) -> str:
    """Quoted names for a message: the first `limit`, and how many more there are."""
    quoted = [repr(str(name)) for name in names]
    shown = ", ".join(quoted[:limit])
    hidden = len(quoted) - limit
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def optional_module(module: str, purpose: str, requirement: str | None = None) -> Any:
    """A module of an optional package; the error that it is not installed says how to.

    The purpose is the start of a sentence, ``"plots need"``; the requirement is what to install,
    such as ``"dask[distributed]"``, and the package itself if not given.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise MissingPackageError(
            f"{purpose} {package}, which is not installed; run pip install "
            f'"{requirement or package}"',
            name=module,
        ) from error
