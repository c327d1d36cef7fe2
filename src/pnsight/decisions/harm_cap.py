"""A cap on harm: how to spend a budget so that no more of those treated are harmed than a share, for certain.

Of each profile the upper end of the bounds on harm is known. How many of each to treat is a linear program: the gain is
largest if those harmed at most, summed over all who are treated, are no more than the share of them that is allowed.
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import FloatArray
from pnsight.errors import QueryError, percent_hint


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
