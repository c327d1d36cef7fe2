"""The linear program over response types: referee of the closed forms, and answer where there is none.

A response type says which treatment a person would choose and the outcome under each treatment, of which there may be
more than two. Both tables are linear in the distribution over types, and so are assumptions, so the extremes of any
event's probability are two linear programs.
Source: A. Balke and J. Pearl (1997), "Bounds on treatment effects from studies with imperfect compliance".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.errors import IncoherentError, LimitError, QuantityError
from pnsight.estimands.assumptions import EXOGENOUS, MONOTONE, AssumeLike, read_assumptions
from pnsight.estimands.events import EVENTS
from pnsight.estimands.expressions import value_of
from pnsight.estimands.payoffs import Payoffs, PayoffsLike

MOST_TYPES = 100_000
"""More response types than this are refused: the program would take minutes and gigabytes."""

_TOLERANCE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_SUM_TOLERANCE = 1e-6
_INFEASIBLE = 2


def response_types(treatments: int, outcomes: int) -> npt.NDArray[np.intp]:
    """All types, shape (types, 1 + treatments): the treatment chosen, then the outcome under each treatment."""
    number = treatments * outcomes**treatments
    if number > MOST_TYPES:
        raise LimitError(
            f"{treatments} treatments and {outcomes} outcomes make {treatments} * {outcomes}^{treatments} = {number:,} "
            f"response types, more than the {MOST_TYPES:,} that the program takes; merge levels."
        )
    return np.indices((treatments, *[outcomes] * treatments), dtype=np.intp).reshape(1 + treatments, -1).T


@dataclass(frozen=True)
class Program:
    """All populations that fit one or two tables; `bounds` gives the extremes of anything over them.

    Attributes
    ----------
    experimental : shape (treatments, outcomes), or None
        P(outcome | do(treatment)); NaN for what is not known, such as a treatment that was not tried.
    observational : shape (treatments, outcomes), or None
        P(treatment, outcome).
    possible : statement that holds of everyone, such as ``"Y1 >= Y0"``; None if anything may be
    exogenous : whether the treatment chosen is independent of the outcomes under each treatment
    """

    experimental: FloatArray | None = None
    observational: FloatArray | None = None
    possible: str | None = None
    exogenous: bool = False

    def __post_init__(self) -> None:
        tables = {"experimental": self.experimental, "observational": self.observational}
        given = {name: np.asarray(table, dtype=np.float64) for name, table in tables.items() if table is not None}
        if not given:
            raise QuantityError("neither an experimental nor an observational table is given; give one or both.")
        for name, table in given.items():
            object.__setattr__(self, name, table)
        _refuse_bad(given)

    @cached_property
    def types(self) -> npt.NDArray[np.intp]:
        """The response types, shape (types, 1 + treatments)."""
        table = self.experimental if self.experimental is not None else self.observational
        assert table is not None  # one of them is given
        return response_types(*table.shape)

    @cached_property
    def people(self) -> dict[str, npt.NDArray[Any]]:
        """What statements can name: X, Y and the outcome under each treatment, Y0, Y1, ..., of each type."""
        chosen, responses = self.types[:, 0], self.types[:, 1:]
        shown = responses[np.arange(len(self.types)), chosen]
        return {"X": chosen, "Y": shown, **{f"Y{k}": responses[:, k] for k in range(responses.shape[1])}}

    def bounds(self, value: str | FloatArray, given: str | FloatArray | None = None) -> tuple[float, float]:
        """Smallest and largest mean of `value` among the people of whom `given` holds, over all populations that fit.

        Of an event, such as ``"Y0 == 0 and Y2 == 1"``, the mean is its probability; `value` may also be a sum of events
        with payoffs, such as ``"100 * (Y1 > Y0) - 60 * (Y0 == 1 and Y1 == 1)"``. Statements are explained in
        `pnsight.estimands.expressions`; in place of one, an array with one number a type will do.
        The ratio of a conditional mean is made linear by scaling the unknowns so that the people conditioned on have
        mass one (Charnes and Cooper 1962).
        Raises `IncoherentError` when no population fits; NaN when no fitting population has people to condition on.
        """
        matrix, right, types = self._fitting
        among = np.ones(len(self.types)) if given is None else (self._values(given) != 0).astype(np.float64)
        cost = np.append(types.T @ (self._values(value) * among), 0.0)
        mass = np.append(types.T @ among, 0.0)
        scaled = vstack([hstack([matrix, csr_array(-right[:, None])]), csr_array(mass[None, :])], format="csr")
        target = np.append(np.zeros(len(right)), 1.0)
        ends = [linprog(sign * cost, A_eq=scaled, b_eq=target, options=_TOLERANCE) for sign in (1, -1)]
        if any(end.status != 0 for end in ends):
            return float("nan"), float("nan")
        return float(ends[0].fun), float(-ends[1].fun)

    def _values(self, value: str | FloatArray) -> FloatArray:
        found = value_of(value, self.people) if isinstance(value, str) else np.asarray(value)
        if found.shape != (len(self.types),):
            raise QuantityError(
                f"an array of shape {found.shape} is given; expected one number for each of the {len(self.types):,} "
                "response types, in the order of `types`."
            )
        return found.astype(np.float64)

    @cached_property
    def _fitting(self) -> tuple[csr_array, FloatArray, csr_array]:
        """Equations of the unknowns, left and right side, and what the unknowns make of the types."""
        rows, right = zip(*self._equations(), strict=True)
        types = self._unknowns()
        matrix, found = csr_array(np.array(rows, dtype=np.float64) @ types), np.array(right)
        free = linprog(np.zeros(matrix.shape[1]), A_eq=matrix, b_eq=found, options=_TOLERANCE)
        if free.status == _INFEASIBLE:
            assumed = "" if self.possible is None and not self.exogenous else " under what is assumed"
            raise IncoherentError(f"no population fits the tables{assumed}: they contradict each other.")
        return matrix, found, types

    def _equations(self) -> Iterator[tuple[npt.NDArray[Any], float]]:
        """Which types make up each cell of each table and with what probability, and all of them together."""
        x, shown = self.people["X"], self.people["Y"]
        yield np.ones(len(x)), 1.0
        if self.experimental is not None:
            for (k, y), share in np.ndenumerate(self.experimental):
                if not np.isnan(share):
                    yield self.people[f"Y{k}"] == y, float(share)
        if self.observational is not None:
            for (k, y), share in np.ndenumerate(self.observational):
                yield (x == k) & (shown == y), float(share)

    def _unknowns(self) -> csr_array:
        """Types by unknowns, shape (types, unknowns): an unknown is the share of a type that may be there.

        Where choice is exogenous it is the share of a kind of response, and P(chosen, response) is P(chosen), which the
        observational table shows, times that.
        """
        may_be = np.ones(len(self.types), dtype=bool) if self.possible is None else self._values(self.possible) != 0
        if not self.exogenous:
            return csr_array(eye_array(len(self.types), format="csc")[:, may_be])
        if self.observational is None:
            raise QuantityError("exogenous is about the treatment that people choose; give an observational table.")
        chosen = self.observational.sum(axis=1)
        by_choice = may_be.reshape(len(chosen), -1)
        kept = (by_choice | (chosen == 0)[:, None]).all(axis=0)
        return vstack([share * eye_array(by_choice.shape[1], format="csc")[:, kept] for share in chosen], format="csr")


def referee(
    law: Law, quantity: str, row: int = 0, payoffs: PayoffsLike | None = None, assume: AssumeLike = ()
) -> tuple[float, float]:
    """Bounds on a quantity for one row of a law, by linear programming."""
    names = read_assumptions(assume)
    a, b = law.a[row], law.b[row]
    observational = None
    if law.joint is not None:
        xy, xy0, x0y, x0y0 = law.joint[row]
        observational = np.array([[x0y0, x0y], [xy0, xy]])
    fitting = Program(
        np.array([[1 - b, b], [1 - a, a]]),
        observational,
        "Y1 >= Y0" if MONOTONE in names else None,
        EXOGENOUS in names,
    )
    if payoffs is not None:
        return fitting.bounds(Payoffs.of(payoffs).of_types)
    event, given = EVENTS[quantity]
    return fitting.bounds(event.astype(np.float64), given.astype(np.float64))


def _refuse_bad(tables: dict[str, FloatArray]) -> None:
    shapes = {name: table.shape for name, table in tables.items()}
    if len(set(shapes.values())) > 1 or any(len(shape) != 2 or 0 in shape for shape in shapes.values()):
        raise QuantityError(
            f"tables have the shapes {shapes}; expected one row a treatment and one column an outcome, alike in both."
        )
    for name, table in tables.items():
        whole = table.sum(axis=1) if name == "experimental" else table.sum()
        unknown = np.isnan(whole) if name == "experimental" else False
        if (table < 0).any() or not (unknown | (np.abs(whole - 1) < _SUM_TOLERANCE)).all():
            total = "each row must add up to one" if name == "experimental" else "all of it must add up to one"
            raise QuantityError(f"the {name} table holds {table.tolist()}; its numbers are probabilities, and {total}.")
