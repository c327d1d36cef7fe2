"""Options that several commands share, as fields of a data class: a command is decorated, and takes the data class."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, get_type_hints


def expand_options(
    group: type, parameter: str, left_out: tuple[str, ...] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a data class as options, in place of one of its parameters.

    Parameters
    ----------
    group
        A data class whose fields are annotated as options.
    parameter
        The parameter that takes a value of the class.
    left_out
        Fields that are no options of this command.

    Returns
    -------
    A decorator.
    """
    hints = get_type_hints(group, include_extras=True)
    taken = [each for each in fields(group) if each.name not in left_out]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            chosen = {each.name: given.pop(each.name) for each in taken}
            command(**given, **{parameter: group(**chosen)})

        kind = inspect.Parameter.KEYWORD_ONLY
        own = inspect.signature(command, eval_str=True).parameters
        added = [
            inspect.Parameter(each.name, kind, default=each.default, annotation=hints[each.name]) for each in taken
        ]
        shown: list[inspect.Parameter] = []
        for name, own_parameter in own.items():
            shown += added if name == parameter else [own_parameter.replace(kind=kind)]
        run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in shown}
        return run

    return decorate
