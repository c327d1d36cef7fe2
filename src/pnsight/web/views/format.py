"""How numbers and people are shown."""

from __future__ import annotations

import math

from pnsight.data.labels import Labels
from pnsight.data.schema import Schema
from pnsight.queries.query import decode
from pnsight.web.state import State
from pnsight.wording import apart, people_of_hundred

NOTHING = "–"

FULL = 99.95
"""Per cent from which on shares are shown as those of all people."""


def number(value: float, threshold: float | None = None) -> str:
    """A value of a quantity for a reader, with as many digits as tell it from a threshold."""
    if math.isnan(value):
        return NOTHING
    if threshold is not None and abs(value) < 1000:
        return apart(value, threshold)
    return f"{value:,.3f}" if abs(value) < 1000 else f"{value:,.1f}"


def described(schema: Schema, labels: Labels, state: State) -> tuple[str, ...]:
    """The people of a state, in words: one for each thing known about them."""
    fixed = decode(schema, state.codes[0]).fixed
    return tuple(labels.term(name, level) for name, level in fixed.items()) or ("Everyone",)


def harm_words(share: float) -> str:
    """How many are harmed at most, to stand beside a decision to treat; empty where that is not known."""
    return "" if math.isnan(share) else f"harms {most_of_hundred(share)}"


def most_of_hundred(share: float) -> str:
    """A share that is an upper bound, of a hundred people."""
    return NOTHING if math.isnan(share) else f"at most {people_of_hundred(share)} of 100"
