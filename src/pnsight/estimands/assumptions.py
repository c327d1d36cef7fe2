"""Assumptions that tighten bounds: what each says of people, and the nearest law of which it holds.

Monotonicity, ``monotone``: nobody is harmed by the treatment, no one responds only if untreated (Tian and Pearl 2000).
Response types that are harmed are left out of the program. A population of the others has a law iff

    P(x',y) <= P(y_x') <= P(y) <= P(y_x) <= 1 - P(x,y')         (from the experiment alone: P(y_x') <= P(y_x))

Exogeneity, ``exogenous``: within a profile the treatment that people choose says nothing about how they would respond,
as if it had been randomised (no unmeasured confounding). Such a profile has P(y_x) = P(y|x) and P(y_x') = P(y|x'); the
bounds are the usual ones.

With noncompliance: ``no-defiers``, nobody takes the treatment only if not assigned to it (G. W. Imbens and J. D.
Angrist 1994), and ``one-sided``, nobody takes it who was not assigned to it.

An estimated law may lie off these edges, if only by noise: `project_onto_assumptions` gives the nearest one on them,
with two arms and two outcomes; `nearest_law` does so for any other structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import OBSERVATIONAL
from pnsight.data.two_by_two import X0Y, XN, XY, Y_X, Y_X0, two_by_two_law
from pnsight.errors import AssumptionError, did_you_mean, join_names
from pnsight.wording import ASSUMPTIONS as MEANINGS

MONOTONE, EXOGENOUS, NO_DEFIERS, ONE_SIDED = "monotone", "exogenous", "no-defiers", "one-sided"


@dataclass(frozen=True)
class Assumption:
    """One assumption.

    Attributes
    ----------
    name : in the command line and the JSON interface
    meaning : in words
    possible : statement that holds of everyone; None if it leaves no type out
    of_mixtures : whether it holds of a group if it holds of the group's profiles
    of_assignment : whether it is about what people take when they are assigned an arm
    """

    name: str
    meaning: str
    possible: str | None = None
    of_mixtures: bool = True
    of_assignment: bool = False


ASSUMPTIONS: dict[str, Assumption] = {
    MONOTONE: Assumption(MONOTONE, MEANINGS[MONOTONE], "Y1 >= Y0"),
    EXOGENOUS: Assumption(EXOGENOUS, MEANINGS[EXOGENOUS], of_mixtures=False),
    NO_DEFIERS: Assumption(NO_DEFIERS, MEANINGS[NO_DEFIERS], "not (D1 == 0 and D0 == 1)", of_assignment=True),
    ONE_SIDED: Assumption(ONE_SIDED, MEANINGS[ONE_SIDED], "D0 == 0", of_assignment=True),
}
"""The assumptions there are, by name."""

AssumeLike: TypeAlias = str | Iterable[str]
"""The name of an assumption, several separated by commas, or a sequence of names; empty for none."""

EQUAL_ROWS = (1.0, 1.0, 2.0)
"""Rows of each group where nothing says how many there are."""


def read_assumptions(assume: AssumeLike) -> tuple[str, ...]:
    """The assumptions named, each once and in the order of `ASSUMPTIONS`."""
    names = assume.split(",") if isinstance(assume, str) else list(assume)
    found = {name.strip() for name in names if name.strip()}
    for name in sorted(found - set(ASSUMPTIONS)):
        raise AssumptionError(
            f"no assumption is called {name!r}; known: {join_names(ASSUMPTIONS)}." + did_you_mean(name, ASSUMPTIONS)
        )
    return tuple(name for name in ASSUMPTIONS if name in found)


def project_onto_assumptions(law: Law, assume: Sequence[str], rows: FloatArray | None = None) -> Law:
    """The nearest law under the assumptions, each row of the law being a profile.

    Parameters
    ----------
    law
        Estimated laws of two arms and two outcomes.
    assume
        Names of assumptions.
    rows : shape (groups,) or (laws, groups), or None
        How many rows of each group a law rests on: estimates of the same probability are pooled by these.

    Returns
    -------
    A law under the assumptions is left as it is.
    """
    found = _projected(law, assume, np.array(EQUAL_ROWS) if rows is None else rows)
    return Law(law.structure, found.cells)  # which has names of its own


def _projected(law: Law, assume: Sequence[str], by_group: FloatArray) -> Law:
    treated, control, *registry = np.moveaxis(by_group, -1, 0)
    if EXOGENOUS in assume:
        return _exogenous(law, treated, control, registry, ordered=MONOTONE in assume)
    if MONOTONE not in assume:
        return law
    a, b, joint = law.p(Y_X), law.p(Y_X0), law.table(OBSERVATIONAL)
    if joint is None:
        return two_by_two_law(*_pool_violators(a, b, treated, control))
    y = law.p(XY) + law.p(X0Y)
    return two_by_two_law(np.clip(a, y, np.maximum(y, 1 - law.p(XN))), np.clip(b, law.p(X0Y), y), joint)


def _exogenous(
    law: Law, treated: FloatArray, control: FloatArray, registry: Sequence[FloatArray], ordered: bool
) -> Law:
    """P(x) from the observational table; P(y_x) = P(y|x) and P(y_x') = P(y|x') from the rows of both together."""
    if law.table(OBSERVATIONAL) is None:
        raise AssumptionError(
            f"{EXOGENOUS!r} was assumed, which is about the treatment that people choose, but there is an experiment "
            "alone; leave the assumption out, or fit with an observational table."
        )
    (chosen_rows,) = registry
    xy, x0y = law.p(XY), law.p(X0Y)
    chosen = xy + law.p(XN)
    rows_x, rows_x0, _ = np.moveaxis(exogenous_rows(law, np.stack([treated, control, chosen_rows], axis=-1)), -1, 0)
    a = _pooled(law.p(Y_X), treated, chosen_rows * xy, rows_x)
    b = _pooled(law.p(Y_X0), control, chosen_rows * x0y, rows_x0)
    if ordered:
        a, b = _pool_violators(a, b, rows_x, rows_x0)
    joint = np.stack([chosen * a, chosen * (1 - a), (1 - chosen) * b, (1 - chosen) * (1 - b)], axis=1)
    return two_by_two_law(a, b, joint)


def exogenous_rows(law: Law, rows: FloatArray) -> FloatArray:
    """Rows behind each group of a law that exogeneity was imposed on: both tables show how people respond.

    Parameters
    ----------
    law
        Estimated laws of two arms and two outcomes.
    rows : shape (groups,) or (laws, groups)
        Rows in the treated arm, the untreated one and the observational table.

    Returns
    -------
    Shape (laws, groups): each arm's with those of the people who chose it.
    """
    treated, control, registry = np.moveaxis(rows, -1, 0)
    chosen = registry * (law.p(XY) + law.p(XN))
    return np.stack([treated + chosen, control + registry - chosen, np.broadcast_to(registry, chosen.shape)], axis=-1)


def _pooled(share: FloatArray, arm: FloatArray, responded: FloatArray, rows: FloatArray) -> FloatArray:
    """The share of both tables' rows; NaN where neither has any."""
    total = np.where(arm > 0, arm * share, 0.0) + responded
    return np.asarray(np.divide(total, rows, out=np.full(np.shape(total), np.nan), where=rows > 0))


def _pool_violators(
    a: FloatArray, b: FloatArray, rows_a: FloatArray, rows_b: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Isotonic regression of two: where a is below b, their mean by rows in place of both."""
    total = np.maximum(rows_a + rows_b, 1e-300)
    common = (rows_a * a + rows_b * b) / total
    return np.where(a < b, common, a), np.where(a < b, common, b)
