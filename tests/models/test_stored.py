"""Stored data against a type: what fits passes, what does not is named with its place."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pytest

from pnsight.models.stored import parse


class Pet(NamedTuple):
    kind: str
    legs: int = 4


@dataclass
class Person:
    name: str
    friends: list[tuple[str, int]]
    age: float | None = None
    pets: tuple[Pet, ...] = ()


def person(**changes) -> dict[str, Any]:
    return {"name": "a", "friends": [["b", 1]], "age": None, "pets": []} | changes


@pytest.mark.parametrize(
    ("value", "expected", "found"),
    [
        (person(), Person, Person("a", [("b", 1)])),
        (person(age=3, pets=[["bird", 2]]), Person, Person("a", [("b", 1)], 3.0, (Pet("bird", 2),))),
        (None, float | None, None),
        ("auto", int | Literal["auto"], "auto"),
        ([1, 2], Sequence[int], [1, 2]),
        ({"a": 1.5}, dict[str, float], {"a": 1.5}),
        ({"a": [None]}, dict[str, Any], {"a": [None]}),
        (3, int | float, 3),
    ],
)
def test_what_fits_is_parsed(value, expected, found):
    assert repr(parse(value, expected, "here")) == repr(found)


@pytest.mark.parametrize(
    ("value", "expected", "said"),
    [
        ([], Person, "here is []; expected an object"),
        ({"friends": []}, Person, "here.name is missing"),
        (person(friends=[["b", 1], ["c", 1.0]]), Person, "here.friends.1.1 is 1.0; expected a whole number"),
        (person(friends=[["b"]]), Person, "here.friends.0 is ['b']; expected a list of 2"),
        (person(friends=[[]]), Person, "here.friends.0 is []; expected a list of 2"),
        (person(friends=[["b", 1, 1]]), Person, "here.friends.0 is ['b', 1, 1]; expected a list of 2"),
        (person(more=None), Person, "here.more is None; expected no part of this name"),
        (person(pets=[3]), Person, "here.pets.0 is 3; expected a list"),
        (True, int, "here is True; expected a whole number"),
        (False, float, "here is False; expected a number"),
        (float("nan"), float, "here is nan; expected a number"),
        (10**400, float, f"here is {reprlib.repr(10**400)}; expected a number"),
        ("few", int | float, "here is 'few'; expected a number"),
        (1, bool, "here is 1; expected true or false"),
        (True, Literal["1"], "here is True; expected '1'"),
        ("much", float | None, "here is 'much'; expected a number"),
        ("all", int | Literal["auto"], "here is 'all'; expected a whole number or 'auto'"),
        ("ab", Sequence[str], "here is 'ab'; expected a list"),
        ({"a": {"b": "c"}}, dict[str, dict[str, int]], "here.a.b is 'c'; expected a whole number"),
    ],
)
def test_what_does_not_is_named_with_its_place_and_what_was_expected(value, expected, said):
    with pytest.raises(ValueError, match="here") as refused:
        parse(value, expected, "here")
    assert str(refused.value) == said


@pytest.mark.parametrize("name", ["age", "pets"])
def test_nothing_is_left_to_a_default(name):
    with pytest.raises(ValueError, match=rf"^here\.{name} is missing$"):
        parse({each: value for each, value in person().items() if each != name}, Person, "here")
    with pytest.raises(ValueError, match=r"^here\.pets\.0\.1 is missing$"):
        parse(person(pets=[["dog"]]), Person, "here")
