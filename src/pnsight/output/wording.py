"""Wording that reports share: what bounds on a quantity mean, in a sentence.

Sentences of notes are in `pnsight.wording`, and what is said of a quantity itself is in its row of `QUANTITIES`.
"""

from __future__ import annotations

from pnsight._text import share_text
from pnsight.estimands.quantities import Quantity
from pnsight.wording import capitalised


def quantity_sentence(quantity: Quantity, lower: float, upper: float) -> str:
    """What bounds on a quantity for everyone mean.

    Parameters
    ----------
    quantity
        What is bounded; whom a quantity with a condition counts is said as "of those who ..., would ...".
    lower, upper
        Bounds on it.

    Returns
    -------
    a sentence
    """
    if quantity.has_payoffs:
        return f"{capitalised(quantity.holds_for)}, is {amounts(lower, upper)}."
    among, comma, who = quantity.holds_for.partition(", ")
    if quantity.given is None or not comma:
        return f"For {between(lower, upper)} of people {quantity.holds_for}."
    return f"{capitalised(among)}, {between(lower, upper)} {who}."


def amounts(lower: float, upper: float) -> str:
    """Bounds on an amount as they are said.

    Parameters
    ----------
    lower, upper
        The bounds.

    Returns
    -------
    one number where both are the same in the digits shown
    """
    low, high = f"{lower:,.3f}", f"{upper:,.3f}"
    return low if low == high else f"at least {low} and at most {high}"


def between(lower: float, upper: float) -> str:
    """Bounds on a share as they are said: ``at least 12.3% and at most 45.6%``, or the one end that says something.

    Parameters
    ----------
    lower, upper
        Shares from 0 to 1.

    Returns
    -------
    one number where both are the same in the digits shown
    """
    low, high = share(lower), share(upper)
    if low == high:
        return share_text((lower + upper) / 2).replace("<", "less than ").replace(">", "more than ")
    ends = [f"at least {low}"] * (low != share(0)) + [f"at most {high}"] * (high != share(1))
    return " and ".join(ends) or "anything from none to all"


def share(value: float) -> str:
    """A share of people, to a tenth of a percent.

    Parameters
    ----------
    value
        From 0 to 1.

    Returns
    -------
    text such as ``12.3%``
    """
    return f"{value:.1%}"
