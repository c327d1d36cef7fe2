"""What the pages say about quantities, decisions and options, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pnsight.bound_table import CROSSED, INCOHERENT, UNDEFINED
from pnsight.bounds.assumptions import EXOGENOUS, MONOTONE
from pnsight.decide import NONE, NOT, TREAT, UNCERTAIN

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
        "the treatment makes the difference",
        "Of all these people, the share who respond if treated and would not if untreated.",
    ),
    "pn": Quantity(
        "PN",
        "the treatment was needed",
        "Of those who were treated and responded, the share who needed the treatment to do so.",
    ),
    "ps": Quantity(
        "PS",
        "the treatment would be enough",
        "Of those who were not treated and did not respond, the share whom the treatment would have made respond.",
    ),
    "pd": Quantity(
        "PD",
        "without it, no response",
        "Of all who responded, the share who would not have if untreated.",
    ),
    "pe": Quantity(
        "PE",
        "with it, a response",
        "Of all who did not respond, the share who would have if treated.",
    ),
    "harm": Quantity(
        "harm",
        "the treatment prevents the response",
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
    "observational": "people of the observational table",
    "experimental": "people of the experiment",
    "pooled": "people of both tables",
}


@dataclass(frozen=True)
class Sign:
    """How a decision is shown: a class for its colour and shape, and the words beside it."""

    kind: str
    words: str
    short: str


_SIGNS: dict[str, Sign] = {
    TREAT: Sign("treat", "Treat", "treat"),
    NOT: Sign("not", "Do not treat", "do not treat"),
    UNCERTAIN: Sign("uncertain", "Uncertain", "uncertain"),
    NONE: Sign("none", "No answer", "no answer"),
}

_OF_HARM = {
    **_SIGNS,
    TREAT: Sign("treat", "Reaches the threshold", "reaches it"),
    NOT: Sign("not", "Stays below the threshold", "stays below"),
}
"""Harm that reaches a threshold is no reason to treat."""


def signs(quantity: str) -> dict[str, Sign]:
    """How decisions on a quantity are shown, by what `decide` calls them."""
    return _OF_HARM if quantity == "harm" else _SIGNS


NO_ANSWER = {
    UNDEFINED: "One of the tables has no row of these people that could tell.",
    INCOHERENT: "Here the two tables contradict each other: no population fits both.",
    CROSSED: "The two networks of this model disagree here: the lower bound would be above the upper one.",
}
"""Why there is no answer, by status."""
