"""Validation of plain data, as JSON holds them, against a type."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}


def validate_type(value: Any, expected: Any, place: str) -> None:
    """Check that a value is of a type.

    Parameters
    ----------
    value
        Plain data.
    expected
        A type made of None, bool, int, float, str, Any, Literal, unions, list and Sequence, tuples of a given length,
        dict and TypedDict. Numbers must be finite. Keys that a TypedDict does not name are ignored.
    place
        What the value is called in the message.

    Raises
    ------
    ValueError
        With the place, what is there and what was expected.
    """
    mistake = next(_mistakes(value, expected, place), None)
    if mistake is not None:
        raise ValueError(mistake)


def _mistakes(value: Any, expected: Any, place: str) -> Iterator[str]:
    kind, parts = get_origin(expected), get_args(expected)
    if is_typeddict(expected) and isinstance(value, dict):
        yield from _of_record(value, get_type_hints(expected, include_extras=True), place)
    elif kind is dict and isinstance(value, dict):
        for name, item in value.items():
            yield from _mistakes(item, parts[1], f"{place}.{name}")
    elif kind is tuple and isinstance(value, list) and len(value) == len(parts):
        for number, (item, part) in enumerate(zip(value, parts, strict=True)):
            yield from _mistakes(item, part, f"{place}.{number}")
    elif kind in (list, Sequence) and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _mistakes(item, parts[0], f"{place}.{number}")
    elif not _is(value, expected, place):
        yield f"{place} is {reprlib.repr(value)}; expected {_called(expected)}"


def _of_record(value: dict[str, Any], hints: dict[str, Any], place: str) -> Iterator[str]:
    for name, part in hints.items():
        optional = get_origin(part) is NotRequired
        if name in value:
            yield from _mistakes(value[name], get_args(part)[0] if optional else part, f"{place}.{name}")
        elif not optional:
            yield f"{place}.{name} is missing"


def _is(value: Any, expected: Any, place: str) -> bool:
    """Whether a value is of a type that has no parts, or of one of several."""
    if expected is Any:
        return True
    if expected is float:
        return type(value) in (int, float) and -math.inf < value < math.inf
    if get_origin(expected) is Literal:
        return any(type(value) is type(each) and value == each for each in get_args(expected))
    if get_origin(expected) in (Union, UnionType):
        return any(next(_mistakes(value, part, place), None) is None for part in get_args(expected))
    return type(value) is expected


def _called(expected: Any) -> str:
    """A type in words."""
    kind, parts = get_origin(expected), get_args(expected)
    if kind is Literal:
        return " or ".join(map(repr, parts))
    if kind in (Union, UnionType):
        return " or ".join(map(_called, parts))
    if kind is tuple:
        return f"a list of {len(parts)}"
    if kind in (list, Sequence):
        return "a list"
    return _WORDS.get(expected, "an object")
