"""How numbers and people are shown."""

from __future__ import annotations

import math

from pnsight.schema import Schema
from pnsight.web.state import State

NOTHING = "–"


def number(value: float) -> str:
    """A value of a quantity for a reader."""
    if math.isnan(value):
        return NOTHING
    return f"{value:,.3f}" if abs(value) < 1000 else f"{value:,.1f}"


def described(schema: Schema, state: State) -> str:
    """The people of a state, in words."""
    query = schema.query(state.codes[0])
    return query.words if query.fixed else "Everyone"
