"""Bounds as pure functions of a `Law`, and the linear program that referees them."""

from __future__ import annotations

from pnsight.bounds.assumptions import ASSUMPTIONS, impose
from pnsight.bounds.benefit import Payoffs, benefit
from pnsight.bounds.causation import QUANTITIES, harm, pd, pe, pn, pns, ps
from pnsight.bounds.question import Question, asking, bounds, refuse_to_fit

__all__ = [
    "ASSUMPTIONS",
    "QUANTITIES",
    "Payoffs",
    "Question",
    "asking",
    "benefit",
    "bounds",
    "harm",
    "impose",
    "pd",
    "pe",
    "pn",
    "pns",
    "ps",
    "refuse_to_fit",
]
