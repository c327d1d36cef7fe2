"""Assumptions that tighten bounds: what each makes of a law.

``monotone``: nobody is harmed by the treatment, no one responds only if untreated (Tian and Pearl 2000). A population
of such people has a law iff

    P(x',y) <= b <= P(y) <= a <= 1 - P(x,y')         (from the experiment alone: b <= a)

and harm is zero exactly where PNS = a - b, the least it can be, so every quantity is at the end of its bounds that
goes with the least PNS.

``exogenous``: within a profile the treatment that people choose says nothing about how they would respond, as if it
had been drawn by lot. Such a profile has a = P(y|x) and b = P(y|x'), and no other law; the bounds are the usual ones.

An estimated law may lie off these edges, if only by noise. `impose` gives the nearest law on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.errors import AssumptionError, did_you_mean, join_names

MONOTONE, EXOGENOUS = "monotone", "exogenous"

ASSUMPTIONS = {
    MONOTONE: "nobody is harmed by the treatment",
    EXOGENOUS: "given the covariates, the treatment chosen is as good as random",
}
"""The assumptions there are, in words."""

AssumeLike: TypeAlias = str | Iterable[str]
"""The name of an assumption, several separated by commas, or a sequence of names; empty for none."""

ALIKE = np.array([1.0, 1.0, 2.0])
"""Rows of the treated arm, of the control arm and of the observational table, where nothing says how many there are."""


def read_assumptions(assume: AssumeLike) -> tuple[str, ...]:
    """The assumptions named, each once and in the order of `ASSUMPTIONS`."""
    names = assume.split(",") if isinstance(assume, str) else list(assume)
    found = {name.strip() for name in names if name.strip()}
    for name in sorted(found - set(ASSUMPTIONS)):
        raise AssumptionError(
            f"no assumption is called {name!r}; known: {join_names(ASSUMPTIONS)}." + did_you_mean(name, ASSUMPTIONS)
        )
    return tuple(name for name in ASSUMPTIONS if name in found)


def impose(law: Law, assume: Sequence[str], rows: FloatArray = ALIKE) -> Law:
    """The nearest law under the assumptions, each row of the law being a profile.

    `rows`, shape (3,) or (laws, 3), says how many rows of the treated arm, the control arm and the observational table
    each law rests on: estimates of the same share are pooled by these. A law under the assumptions is left as it is.
    """
    treated, control, registry = np.moveaxis(rows, -1, 0)
    if EXOGENOUS in assume:
        return _exogenous(law, treated, control, registry, ordered=MONOTONE in assume)
    if MONOTONE not in assume:
        return law
    if law.joint is None:
        return Law(*_in_order(law.a, law.b, treated, control))
    xy, xy0, x0y, _ = law.joint.T
    y = xy + x0y
    return Law(np.clip(law.a, y, np.maximum(y, 1 - xy0)), np.clip(law.b, x0y, y), law.joint)


def _exogenous(law: Law, treated: FloatArray, control: FloatArray, registry: FloatArray, ordered: bool) -> Law:
    """P(x) from the observational table; P(y_x) = P(y|x) and P(y_x') = P(y|x') from the rows of both together."""
    if law.joint is None:
        raise AssumptionError(
            f"{EXOGENOUS!r} was assumed, which is about the treatment that people choose, but there is an experiment "
            "alone; leave the assumption out, or fit with an observational table."
        )
    xy, xy0, x0y, _ = law.joint.T
    chosen = xy + xy0
    rows_x, rows_x0 = treated + registry * chosen, control + registry * (1 - chosen)
    a = _pooled(law.a, treated, registry * xy, rows_x)
    b = _pooled(law.b, control, registry * x0y, rows_x0)
    if ordered:
        a, b = _in_order(a, b, rows_x, rows_x0)
    joint = np.stack([chosen * a, chosen * (1 - a), (1 - chosen) * b, (1 - chosen) * (1 - b)], axis=1)
    return Law(a, b, joint)


def _pooled(share: FloatArray, arm: FloatArray, responded: FloatArray, rows: FloatArray) -> FloatArray:
    """The share of both tables' rows; NaN where neither has any."""
    total = np.where(arm > 0, arm * share, 0.0) + responded
    return np.asarray(np.divide(total, rows, out=np.full(np.shape(total), np.nan), where=rows > 0))


def _in_order(a: FloatArray, b: FloatArray, rows_a: FloatArray, rows_b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where a is below b, their mean by rows in place of both: the likeliest pair with b <= a."""
    total = np.maximum(rows_a + rows_b, 1e-300)
    common = (rows_a * a + rows_b * b) / total
    return np.where(a < b, common, a), np.where(a < b, common, b)
