"""Laws of two arms and two outcomes for tests, the familiar numbers of one, and the program as their referee."""

from __future__ import annotations

from functools import partial

import numpy as np

from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.two_by_two import TWO_BY_TWO, Y_X, Y_X0
from pnsight.estimands import Estimand, bounds
from pnsight.estimands.linear_program import lp_bounds


def empirical_law(experimental, observational=None) -> Law:
    """The law that counts of either table show, each of shape (rows, 4)."""
    tables = [experimental] if observational is None else [experimental, observational]
    structure = TWO_BY_TWO if observational is not None else TWO_BY_TWO.only([EXPERIMENTAL])
    return Law.from_counts(np.concatenate(tables, axis=1), structure)


def of_types(types) -> Law:
    """The law of populations with these shares of the response types, shape (rows, 8)."""
    return Law.from_types(types, TWO_BY_TWO)


def p_y_do_x(law):
    """P(y_x)."""
    return law.p(Y_X)


def p_y_do_x0(law):
    """P(y_x')."""
    return law.p(Y_X0)


def p_xy(law):
    """P(x,y), P(x,y'), P(x',y), P(x',y'); None for an experiment alone."""
    return law.table(OBSERVATIONAL)


def asking(quantity=None, payoffs=None, assume=(), refine="none") -> Estimand:
    """The estimand, by position."""
    return Estimand.parse(quantity, payoffs=payoffs, assume=assume, refine=refine)


def referee(law, quantity, row=0, payoffs=None, assume=()) -> tuple[float, float]:
    """Bounds for one row of a law, by linear programming."""
    return lp_bounds(law, asking(quantity, payoffs, assume), row)


pns, pn, ps, pd, pe, harm = (partial(bounds, quantity=name) for name in ("pns", "pn", "ps", "pd", "pe", "harm"))
"""Bounds of each quantity, by name."""


def benefit(law, payoffs):
    """Bounds on the mean payoff of treating."""
    return bounds(law, payoffs=payoffs)
