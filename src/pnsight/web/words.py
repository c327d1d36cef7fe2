"""What the pages say about quantities, decisions and options, in plain words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pnsight.decisions import NONE, NOT, TREAT, UNCERTAIN
from pnsight.estimands.assumptions import EXOGENOUS, MONOTONE
from pnsight.estimands.estimand import BENEFIT
from pnsight.estimands.resolve import CROSSED, INCOHERENT, UNDEFINED

QuantityName = Literal["pns", "pn", "ps", "pd", "pe", "harm", "benefit"]
PeopleName = Literal["observational", "experimental", "pooled"]


@dataclass(frozen=True)
class Quantity:
    """A quantity as a reader meets it: the name it goes by, the same in a few words, and what it is."""

    short: str
    title: str
    meaning: str


QUANTITIES: dict[str, Quantity] = {
    "pns": Quantity(
        "PNS",
        "treating makes the difference",
        "Of all these people, the share who respond if treated and would not if untreated.",
    ),
    "pn": Quantity(
        "PN",
        "treating was needed",
        "Of those who were treated and responded, the share who needed the treatment to do so.",
    ),
    "ps": Quantity(
        "PS",
        "treating would be enough",
        "Of those who were not treated and did not respond, the share whom the treatment would have made respond.",
    ),
    "pd": Quantity(
        "PD",
        "no response without treating",
        "Of all who responded, the share who would not have if untreated.",
    ),
    "pe": Quantity(
        "PE",
        "a response with treating",
        "Of all who did not respond, the share who would have if treated.",
    ),
    "harm": Quantity(
        "harm",
        "treating prevents the response",
        "Of all these people, the share who respond only if they are not treated.",
    ),
    "benefit": Quantity(
        "benefit",
        "what treating is worth",
        "What treating one of these people is worth on average, from what it is worth for each kind of person.",
    ),
}

PAYOFFS = {
    "complier": "responds because of it",
    "always": "responds either way",
    "never": "responds neither way",
    "defier": "responds only without it",
}
"""The kinds of people that payoffs are for, in the order of `Payoffs`."""

ASSUMPTIONS = {
    MONOTONE: "The treatment harms nobody: no one responds only if untreated.",
    EXOGENOUS: "Given the covariates, people choose the treatment as if by lot.",
}

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


def signs(quantity: str) -> dict[str, Sign]:
    """How decisions on a quantity are shown, by what `decide` calls them."""
    return _TREATING if decides(quantity) else _HARM if quantity == "harm" else _MEASURING


def decides(quantity: str) -> bool:
    """Whether reaching a threshold is a reason to treat."""
    return quantity in ("pns", BENEFIT)


NO_ANSWER = {
    UNDEFINED: "One of the tables has no row of these people that could tell.",
    INCOHERENT: "Here the two tables contradict each other: no population fits both.",
    CROSSED: "The two networks of this model disagree here: the lower bound would be above the upper one.",
}
"""Why there is no answer, by status."""

NO_ADVICE = "Without an answer there is nothing to compare with."
NO_GROUP = "No group is large enough and stands out."

FEW_ROWS = 30
"""Where either table has fewer people than this, an answer says so."""
