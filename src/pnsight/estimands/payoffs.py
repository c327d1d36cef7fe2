"""Payoffs: what treating a person of each kind is worth, whose mean is the benefit of treating.

Source: A. Li and J. Pearl (2019), "Unit selection based on counterfactual logic". Treated rather than not, a complier
responds because of it (is helped), an always-taker responds either way, a never-taker neither way, and a defier stops
responding (is harmed). With more outcomes than two, those are helped whose outcome is better for it, and harmed whose
outcome is worse; of the others, never are those who have the lowest outcome either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.structure import People
from pnsight.errors import QuantityError

MAX_PAYOFF = 1e12
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
        if len(numbers) != len(fields(cls)) or not all(abs(number) <= MAX_PAYOFF for number in numbers):
            raise QuantityError(
                f"payoffs are {payoffs!r}; expected four numbers no larger than {MAX_PAYOFF:g}: for a person who is "
                "helped, one who always responds, one who never does, and one who is harmed, such as 100,-60,0,-140."
            )
        return cls(*numbers)

    def as_tuple(self) -> tuple[float, ...]:
        """The four numbers, in order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest mean payoff there can be."""
        return min(self.as_tuple()), max(self.as_tuple())

    def of_types(self, people: People) -> FloatArray:
        """The payoff of each response type, shape (types,), from the outcomes ``Y0`` and ``Y1`` of a contrast."""
        y0, y1 = people["Y0"], people["Y1"]
        same = np.where(y0 > 0, self.always, self.never)
        return np.asarray(np.where(y1 > y0, self.complier, np.where(y1 < y0, self.defier, same)), dtype=np.float64)

    def __str__(self) -> str:
        return ", ".join(f"{field.name} {getattr(self, field.name):g}" for field in fields(self))


PayoffsLike: TypeAlias = Payoffs | Sequence[float]
"""`Payoffs`, or four numbers in the order of its attributes."""


def _numbers(given: Any) -> tuple[float, ...]:
    """The numbers given, or none if they are not numbers."""
    try:
        return tuple(float(number) for number in given)
    except (TypeError, ValueError):
        return ()
