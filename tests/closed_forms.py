"""Closed forms of the tight bounds on the probabilities of causation: what compiled bounds must equal.

Sources: J. Tian and J. Pearl (2000), "Probabilities of causation: bounds and identification" (PNS, PN, PS);
J. Pearl (1999), "Probabilities of causation: three counterfactual interpretations and their identification"
(PD, PE). Each function takes a `Law` and returns (lower, upper), both of shape (rows,). They are plain formulas:
for a law that no population can have they may cross, and they are NaN where the law is or where the event
conditioned on has probability zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from laws import p_xy, p_y_do_x, p_y_do_x0
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.errors import QuantityError
from pnsight.estimands import Payoffs

Ends: TypeAlias = tuple[FloatArray, FloatArray]


def pns(law: Law) -> Ends:
    """Necessity and sufficiency, P(y_x, y'_x'): the share for whom the treatment makes the difference.

    max(0, a - b, P(y) - b, a - P(y)) .. min(a, 1 - b, P(x,y) + P(x',y'), a - b + P(x,y') + P(x',y));
    from the experiment alone max(0, a - b) .. min(a, 1 - b).
    """
    a, b = p_y_do_x(law), p_y_do_x0(law)
    lower, upper = np.maximum(0.0, a - b), np.minimum(a, 1 - b)
    if p_xy(law) is None:
        return lower, upper
    xy, xy0, x0y, x0y0 = p_xy(law).T
    y = xy + x0y
    return (
        np.maximum.reduce([lower, y - b, a - y]),
        np.minimum.reduce([upper, xy + x0y0, a - b + xy0 + x0y]),
    )


def pn(law: Law) -> Ends:
    """Necessity, P(y'_x' | x, y): of those treated who responded, the share who needed the treatment.

    max(0, (P(y) - b) / P(x,y)) .. min(1, (1 - b - P(x',y')) / P(x,y)).
    """
    xy, _, x0y, x0y0 = _joint(law, "pn")
    return _clipped(xy + x0y - p_y_do_x0(law), 1 - p_y_do_x0(law) - x0y0, xy)


def ps(law: Law) -> Ends:
    """Sufficiency, P(y_x | x', y'): of those untreated who did not respond, the share the treatment would help.

    max(0, (a - P(y)) / P(x',y')) .. min(1, (a - P(x,y)) / P(x',y')).
    """
    xy, _, x0y, x0y0 = _joint(law, "ps")
    return _clipped(p_y_do_x(law) - xy - x0y, p_y_do_x(law) - xy, x0y0)


def pd(law: Law) -> Ends:
    """Disablement, P(y'_x' | y): of all who responded, the share who would not have without the treatment.

    PN P(x,y) / P(y), since untreated people who responded respond untreated.
    """
    xy, _, x0y, x0y0 = _joint(law, "pd")
    y = xy + x0y
    return _clipped(y - p_y_do_x0(law), 1 - p_y_do_x0(law) - x0y0, y, most=xy)


def pe(law: Law) -> Ends:
    """Enablement, P(y_x | y'): of all who did not respond, the share who would with the treatment.

    PS P(x',y') / P(y'), since treated people who did not respond do not respond treated.
    """
    xy, xy0, x0y, x0y0 = _joint(law, "pe")
    return _clipped(p_y_do_x(law) - xy - x0y, p_y_do_x(law) - xy, xy0 + x0y0, most=x0y0)


def harm(law: Law) -> Ends:
    """Harm, P(y'_x, y_x'): the share who respond only if untreated; PNS - (a - b)."""
    lower, upper = pns(law)
    effect = p_y_do_x(law) - p_y_do_x0(law)
    return lower - effect, upper - effect


QUANTITIES: Mapping[str, Callable[[Law], Ends]] = {
    "pns": pns,
    "pn": pn,
    "ps": ps,
    "pd": pd,
    "pe": pe,
    "harm": harm,
}
"""The quantities by the name the command line gives them."""


_ROUNDING = 1e-12
"""Sums of a few probabilities are wrong by less."""

_GIVEN = {"pn": (0,), "ps": (3,), "pd": (0, 2), "pe": (1, 3)}
"""Cells of `law.COUNT_CELLS` that a quantity conditions on."""


def given(law: Law, quantity: str) -> FloatArray:
    """Probability of the event that the quantity conditions on, shape (rows,); one where that is nothing."""
    if quantity not in _GIVEN:
        return np.ones_like(p_y_do_x(law))
    return np.asarray(_joint(law, quantity)[list(_GIVEN[quantity])].sum(axis=0))


def _joint(law: Law, quantity: str) -> FloatArray:
    if p_xy(law) is None:
        raise QuantityError(
            f"{quantity} conditions on what people chose, which an experiment alone does not show; "
            "add an observational table, or ask for pns, harm or benefit."
        )
    return p_xy(law).T


def _clipped(low: FloatArray, high: FloatArray, event: FloatArray, most: FloatArray | None = None) -> Ends:
    """max(0, low) / event .. min(most, high) / event, undefined where the event has probability zero.

    Ends that cross by the rounding of probabilities are made equal before a rare event would magnify it.
    """
    least, most = np.maximum(0.0, low), np.minimum(event if most is None else most, high)
    rounded = (least > most) & (least - most < _ROUNDING)
    least, most = np.where(rounded, np.maximum(0.0, most), least), np.where(rounded, np.maximum(0.0, most), most)
    divisor = np.where(event > _ROUNDING, event, np.nan)
    return least / divisor, most / divisor


def benefit(law: Law, payoffs) -> Ends:
    """Benefit of treating (Li and Pearl 2019): slope * PNS + always * a + never * (1 - b) + defier * (b - a).

    The slope is complier - always - never + defier; where it is negative the ends of PNS swap.
    """
    payoffs = Payoffs.of(payoffs)
    a, b = p_y_do_x(law), p_y_do_x0(law)
    slope = payoffs.complier - payoffs.always - payoffs.never + payoffs.defier
    rest = payoffs.always * a + payoffs.never * (1 - b) + payoffs.defier * (b - a)
    ends = [slope * share + rest for share in pns(law)]
    lower, upper = ends if slope >= 0 else ends[::-1]
    return lower, upper
