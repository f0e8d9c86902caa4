"""Options that several commands share, as fields of a record."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with each parameter that is a dataclass replaced by one option for each field.

    A field is annotated as typer's parameters are, and its default is that of the option. Commands
    that take the same record have the same options.
    """
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    groups = {name: hints[name] for name in signature.parameters if is_dataclass(hints[name])}
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
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(**values, **records)

    # What typer looks at; `wraps` has left the original's.
    flattened.__signature__ = inspect.Signature(list(flat.values()))  # type: ignore[attr-defined]
    flattened.__annotations__ = {name: option.annotation for name, option in flat.items()}
    del flattened.__wrapped__
    return flattened


def _options(group: type) -> list[inspect.Parameter]:
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
