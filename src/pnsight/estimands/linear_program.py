"""The linear program over response types: referee of the compiled bounds, and answer where there is no formula.

The cells of every table are linear in the distribution over types, and so are assumptions, so the extremes of any
event's probability are two linear programs, solved by HiGHS.
Source: A. Balke and J. Pearl (1997), "Bounds on treatment effects from studies with imperfect compliance".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from pnsight._typing import FloatArray
from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL, MAX_TYPES, OBSERVATIONAL, Structure
from pnsight.errors import IncoherentError, LimitError, QuantityError
from pnsight.estimands.assumptions import EXOGENOUS
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.expressions import evaluate
from pnsight.estimands.limits import Limit

_TOLERANCE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_SUM_TOLERANCE = 1e-6
_INFEASIBLE = 2


@dataclass(frozen=True)
class ResponseTypeLP:
    """All populations of a structure that have a law; `extremes` of anything over them.

    Attributes
    ----------
    structure : the response types, and what the tables show of them
    cells : shape (cells,)
        Probability of each cell; NaN for what is not known, such as an arm that was not tried.
    possible : shape (types,)
        Types that there may be.
    exogenous : whether the treatment chosen is independent of the outcomes under each treatment
    limits : what else is limited; people may be moved between cells as far as limits on moves allow
    """

    structure: Structure
    cells: FloatArray
    possible: npt.NDArray[np.bool_]
    exogenous: bool = False
    limits: tuple[Limit, ...] = ()

    def extremes(self, value: FloatArray, given: FloatArray) -> tuple[float, float]:
        """Smallest and largest mean of `value` among the types `given`, both of shape (types,).

        The ratio of a conditional mean is made linear by scaling the unknowns so that the people conditioned on have
        mass one (Charnes and Cooper 1962).
        Raises `IncoherentError` when no population fits; NaN when no fitting population has people to condition on.
        """
        matrix, right, types = self._fitting
        more = np.zeros(matrix.shape[1] - types.shape[1])
        cost = np.concatenate([types.T @ (value * given), more, [0.0]])
        mass = np.concatenate([types.T @ given, more, [0.0]])
        scaled = vstack([hstack([matrix, csr_array(-right[:, None])]), csr_array(mass[None, :])], format="csr")
        target = np.append(np.zeros(len(right)), 1.0)
        ends = [linprog(sign * cost, A_eq=scaled, b_eq=target, options=_TOLERANCE) for sign in (1, -1)]
        if any(end.status != 0 for end in ends):
            return float("nan"), float("nan")
        return float(ends[0].fun), float(-ends[1].fun)

    @cached_property
    def _fitting(self) -> tuple[csr_array, FloatArray, csr_array]:
        """Equations of the unknowns, left and right side, and what the unknowns make of the types."""
        known = ~np.isnan(self.cells)
        rows = np.vstack([np.ones((1, self.structure.n_types)), self.structure.incidence[known]])
        right = np.append(1.0, self.cells[known])
        types = self._unknowns()
        matrix, right = self._limited(csr_array(rows @ types), right, types, known)
        free = linprog(np.zeros(matrix.shape[1]), A_eq=matrix, b_eq=right, options=_TOLERANCE)
        if free.status == _INFEASIBLE:
            assumed = " under what is assumed" if self.exogenous or self.limits or not self.possible.all() else ""
            raise IncoherentError(f"no population fits the tables{assumed}: they contradict each other.")
        return matrix, right, types

    def _limited(
        self, matrix: csr_array, right: FloatArray, types: csr_array, known: npt.NDArray[np.bool_]
    ) -> tuple[csr_array, FloatArray]:
        """The equations with shares moved between cells among the unknowns, and each limit with what is left of it."""
        moves = [(number, *move) for number, limit in enumerate(self.limits) for move in limit.moves]
        moved = np.zeros((self.structure.n_cells, len(moves)))
        counted = np.zeros((len(self.limits), types.shape[1] + len(moves)))
        for number, limit in enumerate(self.limits):
            if limit.of_types:
                counted[number, : types.shape[1]] = types.T @ np.array(limit.of_types, dtype=np.float64)
        for place, (number, source, target) in enumerate(moves):
            moved[source, place], moved[target, place] = 1.0, -1.0
            counted[number, types.shape[1] + place] = 1.0
        size = len(self.limits)
        shifted = csr_array(np.vstack([np.zeros((1, len(moves))), moved[known]]))
        fitted = hstack([matrix, shifted, csr_array((matrix.shape[0], size))], format="csr")
        left = hstack([csr_array(counted), eye_array(size)], format="csr")
        sides = [self._right_side(limit) for limit in self.limits]
        return csr_array(vstack([fitted, left], format="csr")), np.append(right, sides)

    def _right_side(self, limit: Limit) -> float:
        of_cells = float(np.dot(limit.of_cells, self.cells)) if limit.of_cells else 0.0
        return limit.at_most + of_cells + (0.0 if limit.curve is None else float(limit.curve(self.cells[None])[0]))

    def _unknowns(self) -> csr_array:
        """Types by unknowns, shape (types, unknowns): an unknown is the share of a type that may be there.

        Where choice is exogenous it is the share of a kind of response, and P(chosen, response) is P(chosen), which the
        observational table shows, times that.
        """
        if not self.exogenous:
            return csr_array(eye_array(self.structure.n_types, format="csc")[:, self.possible])
        if OBSERVATIONAL not in self.structure.tables:
            raise QuantityError("exogenous is about the treatment that people choose; give an observational table.")
        chosen = self._chosen()
        by_choice = self.possible.reshape(len(chosen), -1)
        kept = (by_choice | (chosen == 0)[:, None]).all(axis=0)
        return vstack([share * eye_array(by_choice.shape[1], format="csc")[:, kept] for share in chosen], format="csr")

    def _chosen(self) -> FloatArray:
        """How many choose each arm: every cell of the observational table belongs to people who chose one arm."""
        columns = self.structure.columns_of(OBSERVATIONAL)
        holds, shares = self.structure.incidence[columns] == 1, self.cells[columns]
        chooses = self.structure.people["X"]
        arms = [int(chooses[types][0]) for types in holds]
        return np.asarray(
            np.bincount(arms, weights=shares, minlength=len(self.structure.variables[0].values)), dtype=np.float64
        )


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
        tables = {EXPERIMENTAL: self.experimental, OBSERVATIONAL: self.observational}
        given = {name: np.asarray(table, dtype=np.float64) for name, table in tables.items() if table is not None}
        if not given:
            raise QuantityError("neither an experimental nor an observational table is given; give one or both.")
        for name, table in given.items():
            object.__setattr__(self, name, table)
        _validate_tables(given)

    @cached_property
    def structure(self) -> Structure:
        """The response types, and what the tables show of them."""
        tables = {EXPERIMENTAL: self.experimental, OBSERVATIONAL: self.observational}
        given = {name: table for name, table in tables.items() if table is not None}
        treatments, outcomes = next(iter(given.values())).shape
        _validate_size(treatments, outcomes)
        return arms_and_outcomes([f"x{k}" for k in range(treatments)], [f"y{j}" for j in range(outcomes)], list(given))

    @property
    def types(self) -> npt.NDArray[np.intp]:
        """The response types, shape (types, 1 + treatments): the treatment chosen, then the outcome under each."""
        return self.structure.types

    @property
    def people(self) -> dict[str, npt.NDArray[Any]]:
        """What statements can name: X, Y and the outcome under each treatment, Y0, Y1, ..., of each type."""
        return dict(self.structure.people)

    def bounds(self, value: str | FloatArray, given: str | FloatArray | None = None) -> tuple[float, float]:
        """Smallest and largest mean of a value, over all populations that fit.

        Parameters
        ----------
        value
            A statement such as ``"Y0 == 0 and Y2 == 1"``, of which the mean is its probability, or a sum of events
            with payoffs, such as ``"100 * (Y1 > Y0) - 60 * (Y0 == 1 and Y1 == 1)"``; the module
            `pnsight.estimands.expressions` explains them. In place of one, an array with one number a type will do.
        given
            Of whom the mean is taken; None for everyone.

        Returns
        -------
        Both ends; NaN when no fitting population has people to condition on. Raises `IncoherentError` when no
        population fits.
        """
        among = np.ones(self.structure.n_types) if given is None else (self._values(given) != 0).astype(np.float64)
        return self._populations.extremes(self._values(value), among)

    @cached_property
    def _populations(self) -> ResponseTypeLP:
        tables = (table for table in (self.experimental, self.observational) if table is not None)
        possible = np.ones(self.structure.n_types) if self.possible is None else self._values(self.possible)
        return ResponseTypeLP(
            self.structure, np.concatenate([table.ravel() for table in tables]), possible != 0, self.exogenous
        )

    def _values(self, value: str | FloatArray) -> FloatArray:
        found = evaluate(value, self.people) if isinstance(value, str) else np.asarray(value)
        if found.shape != (self.structure.n_types,):
            raise QuantityError(
                f"an array of shape {found.shape} is given; expected one number for each of the "
                f"{self.structure.n_types:,} response types, in the order of `types`."
            )
        return found.astype(np.float64)


def lp_bounds(law: Law, estimand: Estimand, row: int = 0) -> tuple[float, float]:
    """Bounds on an estimand for one row of a law, by linear programming.

    Parameters
    ----------
    law
        Laws of any structure.
    estimand
        What is asked.
    row
        Which row of the law.

    Returns
    -------
    Both ends; raises `IncoherentError` when no population has the law.
    """
    structure = law.structure
    populations = ResponseTypeLP(
        structure,
        law.cells[row],
        estimand.possible(structure),
        EXOGENOUS in estimand.assume,
        estimand.limits(structure),
    )
    return populations.extremes(estimand.value(structure), estimand.given(structure).astype(np.float64))


def _validate_size(treatments: int, outcomes: int) -> None:
    number = treatments * outcomes**treatments
    if number > MAX_TYPES:
        raise LimitError(
            f"{treatments} treatments and {outcomes} outcomes make {treatments} * {outcomes}^{treatments} = {number:,} "
            f"response types, more than the {MAX_TYPES:,} that the program takes; merge levels."
        )


def _validate_tables(tables: dict[str, FloatArray]) -> None:
    shapes = {name: table.shape for name, table in tables.items()}
    if len(set(shapes.values())) > 1 or any(len(shape) != 2 or 0 in shape for shape in shapes.values()):
        raise QuantityError(
            f"tables have the shapes {shapes}; expected one row a treatment and one column an outcome, alike in both."
        )
    for name, table in tables.items():
        whole = table.sum(axis=1) if name == EXPERIMENTAL else table.sum()
        unknown = np.isnan(whole) if name == EXPERIMENTAL else False
        if (table < 0).any() or not (unknown | (np.abs(whole - 1) < _SUM_TOLERANCE)).all():
            total = "each row must add up to one" if name == EXPERIMENTAL else "all of it must add up to one"
            raise QuantityError(f"the {name} table holds {table.tolist()}; its numbers are probabilities, and {total}.")
