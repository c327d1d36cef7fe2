"""The benefit of treating, on average over people: a payoff for each kind of person.

Source: A. Li and J. Pearl (2019), "Unit selection based on counterfactual logic". Treated rather than not, a complier
responds because of it, an always-taker responds either way, a never-taker neither way, and a defier stops responding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import RESPONSE_TYPES, Law
from pnsight.errors import QuantityError
from pnsight.estimands.closed_forms import Ends, pns

LARGEST = 1e12
"""Payoffs and costs are no larger: beyond that sums and squares of them lose what is small."""


@dataclass(frozen=True)
class Payoffs:
    """What treating one person of each kind is worth, in any unit.

    Attributes
    ----------
    complier : of people who respond if treated and do not if untreated
    always : of people who respond either way
    never : of people who respond neither way
    defier : of people who respond only if untreated
    """

    complier: float
    always: float
    never: float
    defier: float

    @classmethod
    def of(cls, payoffs: PayoffsLike) -> Payoffs:
        """From `Payoffs` or four numbers in the order of its attributes."""
        numbers = payoffs.as_tuple() if isinstance(payoffs, Payoffs) else _numbers(payoffs)
        if len(numbers) != 4 or not all(abs(number) <= LARGEST for number in numbers):
            raise QuantityError(
                f"payoffs are {payoffs!r}; expected four numbers no larger than {LARGEST:g}: of a complier, an "
                "always-taker, a never-taker and a defier, such as 100,-60,0,-140."
            )
        return cls(*numbers)

    def as_tuple(self) -> tuple[float, ...]:
        """The four numbers, in order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def slope(self) -> float:
        """How much the mean payoff rises with PNS while a and b stay: complier - always - never + defier.

        One more complier in an otherwise unchanged law means one more defier, and one person less of the other kinds.
        """
        return self.complier - self.always - self.never + self.defier

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest mean payoff there can be."""
        return min(self.as_tuple()), max(self.as_tuple())

    @property
    def of_types(self) -> FloatArray:
        """The payoff of each of `law.RESPONSE_TYPES`, shape (8,)."""
        _, y0, y1 = RESPONSE_TYPES.T
        by_response = np.array([[self.never, self.complier], [self.defier, self.always]], dtype=np.float64)
        return np.asarray(by_response[y0, y1])

    def mean(self, law: Law, share: FloatArray) -> FloatArray:
        """The mean payoff where that share of people are compliers, shape (rows,).

        slope * PNS + always * a + never * (1 - b) + defier * (b - a), since always-takers are a - PNS, never-takers
        1 - b - PNS and defiers PNS - (a - b).
        """
        rest = self.always * law.a + self.never * (1 - law.b) + self.defier * (law.b - law.a)
        return np.asarray(self.slope * share + rest)

    def __str__(self) -> str:
        return ", ".join(f"{field.name} {getattr(self, field.name):g}" for field in fields(self))


PayoffsLike: TypeAlias = Payoffs | Sequence[float]
"""`Payoffs`, or four numbers in the order of its attributes."""


def benefit(law: Law, payoffs: PayoffsLike) -> Ends:
    """Bounds on the mean payoff of treating: `Payoffs.mean` at the ends of PNS, which swap where its slope is negative.

    They are tight because those of PNS are.
    """
    payoffs = Payoffs.of(payoffs)
    ends = [payoffs.mean(law, share) for share in pns(law)]
    lower, upper = ends if payoffs.slope >= 0 else ends[::-1]
    return lower, upper


def _numbers(given: Any) -> tuple[float, ...]:
    """The numbers given, or none if they are not numbers."""
    try:
        return tuple(float(number) for number in given)
    except (TypeError, ValueError):
        return ()
