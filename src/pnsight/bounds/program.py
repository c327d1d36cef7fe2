"""The linear program over response types: referee of the closed forms, and answer where there is none.

A response type says which treatment a person would choose and the outcome under each treatment. Both tables are
linear in the distribution over types, so the extremes of any event's probability are two linear programs.
Source: A. Balke and J. Pearl (1997), "Bounds on treatment effects from studies with imperfect compliance".
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from pnsight.bounds.events import EVENTS
from pnsight.errors import IncoherentError
from pnsight.law import FloatArray, Law

_TOLERANCE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def response_types(treatments: int, outcomes: int) -> npt.NDArray[np.intp]:
    """All types, shape (types, 1 + treatments): the treatment chosen, then the outcome under each treatment."""
    return np.array(list(product(range(treatments), *[range(outcomes)] * treatments)), dtype=np.intp)


def extremes(
    event: npt.NDArray[np.bool_],
    given: npt.NDArray[np.bool_],
    experimental: FloatArray,
    observational: FloatArray | None,
) -> tuple[float, float]:
    """Smallest and largest P(event | given) over all populations that fit both tables.

    `event` and `given` have shape (types,) in the order of `response_types`; `experimental` holds P(outcome | do)
    and `observational` P(treatment, outcome), both of shape (treatments, outcomes). The ratio is made linear by
    scaling the unknowns so that the event conditioned on has mass one (Charnes and Cooper 1962).
    Raises `IncoherentError` when no population fits; NaN when no fitting population has the event conditioned on.
    """
    matrix, right = _equations(experimental, observational)
    if linprog(np.zeros(matrix.shape[1]), A_eq=matrix, b_eq=right, options=_TOLERANCE).status == 2:
        raise IncoherentError("no population fits both tables: the two contradict each other.")
    scaled = np.block([[matrix, -right[:, None]], [given.astype(float)[None, :], np.zeros((1, 1))]])
    target = np.append(np.zeros(len(right)), 1.0)
    cost = np.append((event & given).astype(float), 0.0)
    ends = [linprog(sign * cost, A_eq=scaled, b_eq=target, options=_TOLERANCE) for sign in (1, -1)]
    if any(end.status != 0 for end in ends):
        return float("nan"), float("nan")
    return float(ends[0].fun), float(-ends[1].fun)


def referee(law: Law, quantity: str, row: int = 0) -> tuple[float, float]:
    """Bounds on a quantity of `causation` for one row of a law, by linear programming."""
    a, b = law.a[row], law.b[row]
    experimental = np.array([[1 - b, b], [1 - a, a]])
    if law.joint is None:
        return extremes(*EVENTS[quantity], experimental, None)
    xy, xy0, x0y, x0y0 = law.joint[row]
    return extremes(*EVENTS[quantity], experimental, np.array([[x0y0, x0y], [xy0, xy]]))


def _equations(experimental: FloatArray, observational: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Equality constraints on the type probabilities: each table's cells, and total one."""
    treatments, outcomes = experimental.shape
    types = response_types(treatments, outcomes)
    chosen, responses = types[:, 0], types[:, 1:]
    realised = responses[np.arange(len(types)), chosen]
    cells = list(product(range(treatments), range(outcomes)))
    rows = [np.ones(len(types)), *(responses[:, x] == y for x, y in cells)]
    right = [1.0, *experimental.ravel()]
    if observational is not None:
        rows += [(chosen == x) & (realised == y) for x, y in cells]
        right += [*observational.ravel()]
    return np.array(rows, dtype=float), np.array(right)
