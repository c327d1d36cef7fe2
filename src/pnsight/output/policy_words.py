"""What readers of a report or a page call policies, and what is said about those compared."""

from __future__ import annotations

from pnsight._text import percent
from pnsight.decisions.policies import BY_CHOICE, BY_COVARIATES, TREAT_ALL, TREAT_NONE, USUAL, Policies

NAMES = {
    USUAL: "Usual care: people choose for themselves",
    TREAT_ALL: "Treat all",
    TREAT_NONE: "Treat none",
    BY_COVARIATES: "Best rule by covariates",
    BY_CHOICE: "Best rule by covariates and by what they would choose",
}
"""By policy, what it is called."""


def verdict(found: Policies, row: int = 0) -> str:
    """In a sentence or two, whether a rule is better than usual care for the people of a query.

    Parameters
    ----------
    found
        Policies compared.
    row
        Which of the queries.

    Returns
    -------
    The sentences; empty where nothing is known.
    """
    rule, choice = found.of(BY_COVARIATES, row), found.of(BY_CHOICE, row)
    if rule["gain"] is None or choice["gain"] is None:
        return ""
    return f"{_against('The best rule by covariates', rule, found.level)} {_with_choice(choice, found.level)}"


def _against(name: str, numbers: dict[str, float | None], level: float | None) -> str:
    gain, low, high = (numbers[key] for key in ("gain", "gain_low", "gain_high"))
    assert gain is not None  # asked before
    if abs(gain) < _SHOWN:
        return f"{name} has as many respond as usual care."
    more = f"{name} has {percent_points(abs(gain))} {'more' if gain > 0 else 'fewer'} respond than usual care"
    if low is None or high is None or level is None:
        return f"{more}."
    between = f"{100 * low:+.1f} to {100 * high:+.1f} with {level:.0%} confidence"
    return f"{more} ({between})." if low > 0 or high < 0 else f"{more}, which may be chance ({between})."


def _with_choice(numbers: dict[str, float | None], level: float | None) -> str:
    to_treat, to_not = numbers["overruled_to_treat"] or 0.0, numbers["overruled_to_not"] or 0.0
    if to_treat + to_not < _SHOWN:
        return "Going also by what people would choose, nobody is better overruled: leave it to them."
    text = _against("A rule that also goes by what people would choose", numbers, level)
    return (
        f"{text} Of all people, {percent(to_treat)} are then treated although they would go without, and "
        f"{percent(to_not)} go without although they would be treated."
    )


_SHOWN = 0.0005


def percent_points(share: float) -> str:
    """A difference of shares, in words."""
    return f"{100 * share:.1f} in 100"
