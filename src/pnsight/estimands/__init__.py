"""Bounds as pure functions of a `Law`, and the linear program that referees them."""

from __future__ import annotations

from pnsight.estimands.assumptions import ASSUMPTIONS, impose
from pnsight.estimands.closed_forms import QUANTITIES, harm, pd, pe, pn, pns, ps
from pnsight.estimands.estimand import Question, asking, bounds, refuse_to_fit
from pnsight.estimands.payoffs import Payoffs, benefit

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
