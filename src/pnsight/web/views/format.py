"""How numbers and people are shown."""

from __future__ import annotations

import math

from pnsight.data.labels import Labels
from pnsight.data.schema import Schema
from pnsight.queries.query import decode
from pnsight.web.state import State

NOTHING = "–"


def number(value: float) -> str:
    """A value of a quantity for a reader."""
    if math.isnan(value):
        return NOTHING
    return f"{value:,.3f}" if abs(value) < 1000 else f"{value:,.1f}"


def described(schema: Schema, labels: Labels, state: State) -> tuple[str, ...]:
    """The people of a state, in words: one for each thing known about them."""
    fixed = decode(schema, state.codes[0]).fixed
    return tuple(labels.term(name, level) for name, level in fixed.items()) or ("Everyone",)
