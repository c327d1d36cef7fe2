"""Plain data against a type: what fits passes, what does not is named with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from pnsight._plain import validate_type


class Person(TypedDict):
    name: str
    age: NotRequired[float]
    friends: list[tuple[str, int]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"name": "a", "friends": [["b", 1]], "more": None}, Person),
        ({"name": "a", "age": 3, "friends": []}, Person),
        (None, float | None),
        ("auto", int | Literal["auto"]),
        ([1, 2], Sequence[int]),
        ({"a": 1.5}, dict[str, float]),
        ({"a": [None]}, dict[str, Any]),
        (10**400, float),
    ],
)
def test_what_fits_passes(value, expected):
    validate_type(value, expected, "here")


@pytest.mark.parametrize(
    ("value", "expected", "said"),
    [
        ([], Person, "here is []; expected an object"),
        ({"friends": []}, Person, "here.name is missing"),
        ({"name": "a", "friends": [["b", 1], ["c", 1.0]]}, Person, "here.friends.1.1 is 1.0; expected a whole number"),
        ({"name": "a", "friends": [["b"]]}, Person, "here.friends.0 is ['b']; expected a list of 2"),
        (True, int, "here is True; expected a whole number"),
        (False, float, "here is False; expected a number"),
        (float("nan"), float, "here is nan; expected a number"),
        (1, bool, "here is 1; expected true or false"),
        (True, Literal[1], "here is True; expected 1"),
        ("much", float | None, "here is 'much'; expected a number or null"),
        ("all", int | Literal["auto"], "here is 'all'; expected a whole number or 'auto'"),
        ("ab", Sequence[str], "here is 'ab'; expected a list"),
    ],
)
def test_what_does_not_is_named_with_its_place_and_what_was_expected(value, expected, said):
    with pytest.raises(ValueError, match="here") as refused:
        validate_type(value, expected, "here")
    assert str(refused.value) == said
