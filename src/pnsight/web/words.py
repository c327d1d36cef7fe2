"""What only the pages say: decisions and their signs, options, and why there is no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pnsight.decisions import NONE, NOT, TREAT, UNCERTAIN
from pnsight.estimands.assumptions import ASSUMPTIONS
from pnsight.estimands.quantities import Direction, find_quantity
from pnsight.estimands.resolve import CROSSED, INCOHERENT, UNDEFINED
from pnsight.queries.bound_table import CONTRADICTED, OK
from pnsight.wording import PERSON_TYPES as PAYOFFS
from pnsight.wording import capitalised

__all__ = [
    "ALL_CONTRADICTED",
    "NO_ADVICE",
    "NO_ANSWER",
    "NO_DECISION",
    "NO_GROUP",
    "PAYOFFS",
    "PEOPLE",
    "UNREADABLE",
    "WITHOUT_ANSWER",
    "WITHOUT_DECISION",
    "Sign",
    "assumption_words",
    "decides",
    "sign_of",
    "signs",
]
PEOPLE = {
    "observational": "the observational table",
    "experimental": "the experiment",
    "pooled": "both tables",
}


@dataclass(frozen=True)
class Sign:
    """How a decision is shown: a class for its colour, a shape, and the words beside it."""

    kind: str
    shape: str
    words: str
    short: str


_UNDECIDED = {
    UNCERTAIN: Sign("uncertain", "diamond", "Uncertain", "uncertain"),
    NONE: Sign("none", "cross", "No answer", "no answer"),
}

_TREATING = {
    TREAT: Sign("treat", "circle", "Treat", "treat"),
    NOT: Sign("not", "square", "Do not treat", "do not treat"),
    **_UNDECIDED,
}

_MEASURING = {
    TREAT: Sign("reaches", "up", "Reaches the threshold", "reaches it"),
    NOT: Sign("below", "down", "Stays below the threshold", "stays below"),
    **_UNDECIDED,
}
"""Of people who were treated, or were not, or who responded: no reason to treat others."""

_HARM = {
    **_MEASURING,
    TREAT: replace(_MEASURING[TREAT], kind="harmful"),
    NOT: replace(_MEASURING[NOT], kind="harmless"),
}
"""Harm that reaches a threshold is bad news, and harm that stays below it is good news."""


_SIGNS: Mapping[Direction, Mapping[str, Sign]] = {"gain": _TREATING, "harm": _HARM, "measure": _MEASURING}

WITHOUT_ANSWER = _UNDECIDED[NONE]
"""How it is shown that there is no answer, whatever was asked."""

NO_DECISION = Sign("none", "cross", "No decision", "no decision")
"""How it is shown that nothing is decided on an answer that there is."""

UNREADABLE = Sign("none", "cross", "Cannot be read", "cannot be read")
"""How it is shown that a row of a table cannot be read."""


def signs(quantity: str) -> Mapping[str, Sign]:
    """How decisions on a quantity are shown, by what `decide` calls them."""
    return _SIGNS[find_quantity(quantity).direction]


def sign_of(quantity: str, decision: str, status: str) -> Sign:
    """How one decision is shown; an answer on which nothing is decided is told apart from none."""
    return NO_DECISION if decision == NONE and status == OK else signs(quantity)[decision]


def decides(quantity: str) -> bool:
    """Whether reaching a threshold is a reason to treat."""
    return find_quantity(quantity).direction == "gain"


def assumption_words() -> dict[str, str]:
    """What each assumption says, in a sentence."""
    return {name: f"{capitalised(each.meaning)}." for name, each in ASSUMPTIONS.items()}


NO_ANSWER = {
    UNDEFINED: "One of the tables has no row of these people that could tell.",
    INCOHERENT: "Here the two tables contradict each other, though by no more than chance can do: the lower bound "
    "would be above the upper one.",
    CONTRADICTED: "Here the two tables contradict each other beyond chance: no population fits both.",
    CROSSED: "The two networks of this model disagree here: the lower bound would be above the upper one.",
}
"""Why there is no answer, by status."""

NO_ADVICE = "Without an answer there is nothing to compare with."
WITHOUT_DECISION = (
    "No decision is made about people whose answer is missing, or extrapolated because nobody like them was seen."
)
ALL_CONTRADICTED = (
    "No group can be ranked: the tables contradict each other beyond chance, so that no population fits both."
)
NO_GROUP = "No group is large enough and stands out."
