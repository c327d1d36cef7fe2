"""Harm: how many of a group a decision to treat harms at most, and how to spend a budget under a cap on that.

Of each profile the upper end of the bounds on harm is known. Under a cap no more of those treated are harmed, for
certain, than a share. How many of each to treat is then a linear program: the gain is largest if those harmed at most,
summed over all who are treated, are no more than the share of them that is allowed.
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import Codes
from pnsight.errors import QueryError, percent_hint
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.quantities import HARM
from pnsight.models import Model


def most_harmed(model: Model, codes: Codes, asked: Estimand) -> FloatArray:
    """Which share of the people of each query treating them harms at most, shape (queries,).

    Parameters
    ----------
    model
        A fitted model.
    codes : shape (queries, covariates)
        The people.
    asked
        What the decision goes by; harm is asked about under the same assumptions.

    Returns
    -------
    The upper bound on harm; NaN where it is not known, or where the question is no reason to treat.
    """
    if not len(codes) or not model.capabilities.law or asked.is_statement or asked.quantity.direction != "gain":
        return np.full(len(codes), np.nan)
    return model.bounds(codes, asked.of_quantity(HARM)).upper


def mean_among(values: FloatArray, share: FloatArray, chosen: BoolArray) -> float:
    """The mean over the people of some profiles, all shape (profiles,); NaN if there are none."""
    total = float(share[chosen].sum())
    return float(values[chosen] @ share[chosen]) / total if total else np.nan


def spend_with_cap(
    gain: FloatArray, price: FloatArray, crowd: FloatArray, budget: float, harm: FloatArray, cap: float
) -> FloatArray:
    """How many of each profile to treat, shape (profiles,).

    Parameters
    ----------
    gain, price, crowd, harm : shape (profiles,)
        What treating one person brings and costs, how many there are, and the share of them harmed at most.
    budget
        What can be spent.
    cap
        The share of those treated who may be harmed at most.

    Returns
    -------
    Those numbers, between 0 and `crowd`, that gain most.
    """
    from scipy.optimize import linprog  # loads much, which a budget without a cap can do without

    if not len(gain):
        return np.zeros(0)
    found = linprog(-gain, np.stack([price, harm - cap]), [budget, 0.0], bounds=np.column_stack([0 * crowd, crowd]))
    return np.asarray(np.clip(found.x, 0.0, crowd))


def validate_harm_caps(*caps: float | None) -> None:
    """Refuse a share of people that is none."""
    for cap in caps:
        if cap is not None and not 0 <= cap <= 1:
            raise QueryError(
                f"the cap on harm is {cap:g}; give a share of those treated, from 0 to 1{percent_hint(cap)}"
            )
