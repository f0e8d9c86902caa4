"""Options that several commands share, as fields of a record."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with each parameter that is a group of options replaced by these.

    A group is a dataclass, whose fields are annotated as typer's parameters are, or a class that
    says what its ``parameters()`` are. Commands that take the same group have the same options.
    """
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    groups = {name: hints[name] for name in signature.parameters if _is_group(hints[name])}
    flat: dict[str, inspect.Parameter] = {}
    for name, parameter in signature.parameters.items():
        added = (
            _options(groups[name])
            if name in groups
            else [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])]
        )
        flat.update((option.name, option) for option in added)

    @wraps(command)
    def flattened(**values: Any) -> Any:
        records = {
            name: group(**{option.name: values.pop(option.name) for option in _options(group)})
            for name, group in groups.items()
        }
        return command(**values, **records)

    # What typer looks at; `wraps` has left the original's.
    flattened.__signature__ = inspect.Signature(list(flat.values()))  # type: ignore[attr-defined]
    flattened.__annotations__ = {name: option.annotation for name, option in flat.items()}
    del flattened.__wrapped__
    return flattened


def _is_group(hint: Any) -> bool:
    return is_dataclass(hint) or hasattr(hint, "parameters")


def _options(group: Any) -> list[inspect.Parameter]:
    if not is_dataclass(group):
        return list(group.parameters())
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
