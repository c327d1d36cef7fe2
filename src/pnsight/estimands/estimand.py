"""What is asked of a law: which quantity, with which payoffs, under which assumptions, refined or not.

Assumptions and refinement work profile by profile, and a query is a mean over its profiles. So a question says what to
take the mean of (`parts`), and how to make the ends of the mean (`ends_of`); models and populations only mix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.errors import QuantityError, did_you_mean, join_names
from pnsight.estimands.assumptions import ALIKE, EXOGENOUS, MONOTONE, AssumeLike, impose, read_assumptions
from pnsight.estimands.closed_forms import QUANTITIES, Ends, given, pns
from pnsight.estimands.events import true_value
from pnsight.estimands.payoffs import Payoffs, PayoffsLike, benefit
from pnsight.estimands.resolve import settle

BENEFIT = "benefit"

Refine: TypeAlias = Literal["none", "covariates"]
"""Bounds of the average law of a query's people, or the average of their profiles' own bounds."""


@dataclass(frozen=True)
class Question:
    """What is asked of a law; `asking` makes one from what a person gives.

    Attributes
    ----------
    quantity : one of `QUANTITIES`, or benefit
    payoffs : of the benefit; None for other quantities
    assume : names of assumptions, in the order of `ASSUMPTIONS`
    refine : whether to bound the average law of a query's profiles, or to average the profiles' own bounds
    """

    quantity: str = "pns"
    payoffs: Payoffs | None = None
    assume: tuple[str, ...] = ()
    refine: Refine = "none"

    @property
    def refined(self) -> bool:
        """Whether profiles are bounded before they are averaged.

        Where nobody is harmed every quantity is linear in the law, so that nothing is left to refine.
        """
        return self.refine == "covariates" and MONOTONE not in self.assume

    @property
    def by_profile(self) -> bool:
        """Whether the law of a query is not enough, and those of its profiles are needed."""
        return self.refined or EXOGENOUS in self.assume

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest value that the quantity can have."""
        return (0.0, 1.0) if self.payoffs is None else self.payoffs.span

    @property
    def notes(self) -> tuple[str, ...]:
        """What an answer is about beyond the name of the quantity, in words."""
        found = [] if self.payoffs is None else [f"payoffs: {self.payoffs}"]
        if self.refined:
            found.append("refined: the average of the profiles' own bounds")
        return tuple(found)

    def ends(self, law: Law, rows: FloatArray = ALIKE) -> Ends:
        """Both ends at the law of a query, shape (rows,) each.

        Of the assumptions only ``monotone`` is used: it holds of a mixture if it holds of the parts. For `rows` see
        `impose`.
        """
        monotone = MONOTONE in self.assume
        if monotone:
            law = impose(law, (MONOTONE,), rows)
        if self.payoffs is not None and monotone:
            mean = self.payoffs.mean(law, pns(law)[0])
            return mean, mean
        lower, upper = QUANTITIES[self.quantity](law) if self.payoffs is None else benefit(law, self.payoffs)
        return (lower, lower) if monotone else (lower, upper)

    def ends_of_profiles(self, law: Law, rows: FloatArray = ALIKE) -> Ends:
        """Both ends at the law of a profile, of which every assumption holds, shape (rows,) each."""
        return self.ends(impose(law, self.assume, rows), rows)

    def parts(self, law: Law, rows: FloatArray = ALIKE) -> FloatArray:
        """What a profile brings to the mean over its people, from its law; shape (profiles, k), NaN without an answer.

        Its law, ``exogenous`` if that is assumed; or, refined, both ends times the probability of the event that the
        quantity conditions on, and that probability. A profile in which the event is impossible brings nothing.
        What ``monotone`` makes of an estimate is left to the mean, as noise of profiles would not cancel after it.
        """
        if EXOGENOUS in self.assume:
            law = impose(law, (EXOGENOUS,), rows)
        if not self.refined:
            return law.columns()
        event = given(law, self.quantity)
        lower, upper, _ = settle(*self.ends(law, rows), within=self.span)
        return np.column_stack([*(np.where(event == 0, 0.0, end * event) for end in (lower, upper)), event])

    def ends_of(self, parts: FloatArray, rows: FloatArray = ALIKE) -> Ends:
        """Both ends of queries from the means of `parts`, shape (queries,) each."""
        if not self.refined:
            return self.ends(Law.from_columns(parts), rows)
        lower, upper, event = parts.T
        possible = np.where(event > 0, event, np.nan)
        return lower / possible, upper / possible

    def truth(self, types: FloatArray) -> FloatArray:
        """The value in populations with these shares of types, shape (rows, 8); NaN where it conditions on nobody."""
        return true_value(types, self.quantity) if self.payoffs is None else types @ self.payoffs.of_types


def asking(
    quantity: str | None = None,
    payoffs: PayoffsLike | None = None,
    assume: AssumeLike = (),
    refine: str = "none",
    otherwise: str = "pns",
) -> Question:
    """The question, if what was given makes one; no quantity means benefit with payoffs, and `otherwise` without."""
    if quantity is None:
        quantity = otherwise if payoffs is None else BENEFIT
    if quantity not in (*QUANTITIES, BENEFIT):
        known = (*QUANTITIES, BENEFIT)
        raise QuantityError(
            f"no quantity is called {quantity!r}; known: {join_names(known)}." + did_you_mean(quantity, known)
        )
    if quantity == BENEFIT and payoffs is None:
        raise QuantityError(
            "benefit needs payoffs: what treating a complier, an always-taker, a never-taker and a defier is worth, "
            "such as --payoffs 100,-60,0,-140 (payoffs=(100, -60, 0, -140))."
        )
    if quantity != BENEFIT and payoffs is not None:
        raise QuantityError(
            f"payoffs are given, but {quantity} has none; ask for --quantity benefit (quantity='benefit'), or leave "
            "them out."
        )
    if refine not in get_args(Refine):
        raise QuantityError(f"refine is {refine!r}; expected one of {join_names(map(repr, get_args(Refine)))}.")
    chosen: Any = refine
    return Question(quantity, None if payoffs is None else Payoffs.of(payoffs), read_assumptions(assume), chosen)


def refuse_to_fit(quantity: str) -> None:
    """Refuse a quantity that a model cannot be fitted for."""
    if quantity == BENEFIT:
        raise QuantityError(
            "a model is not fitted for benefit, whose payoffs are given when asking; fit without --quantity, then ask "
            "with --quantity benefit --payoffs."
        )
    asking(quantity)


def bounds(
    law: Law, quantity: str | None = None, *, payoffs: PayoffsLike | None = None, assume: AssumeLike = ()
) -> Ends:
    """Bounds on the quantity of that name, each row of the law being a group within which the assumptions hold."""
    return asking(quantity, payoffs, assume).ends_of_profiles(law)
