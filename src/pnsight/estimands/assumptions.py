"""Assumptions that tighten bounds: what each says of people, and the nearest law of which it holds.

Monotonicity, ``monotone``: nobody is harmed by the treatment, no one responds only if untreated (Tian and Pearl 2000).
Response types that are harmed are left out of the program. A population of the others has a law iff

    P(x',y) <= P(y_x') <= P(y) <= P(y_x) <= 1 - P(x,y')         (from the experiment alone: P(y_x') <= P(y_x))

Exogeneity, ``exogenous``: within a profile the treatment that people choose says nothing about how they would respond,
as if it had been randomised (no unmeasured confounding). Such a profile has P(y_x) = P(y|x) and P(y_x') = P(y|x'); the
bounds are the usual ones.

With noncompliance: ``no-defiers``, nobody takes the treatment only if not assigned to it (G. W. Imbens and J. D.
Angrist 1994), and ``one-sided``, nobody takes it who was not assigned to it.

How much, where nothing is known for certain: ``harm<=0.05``, at most so many of the group asked about are harmed
(graded monotonicity), and ``correlation>=0.2``, how people respond with and without treatment is correlated by at least
so much in the group (with two outcomes, PNS <= a (1 - b) - r sqrt(a (1 - a) b (1 - b))). They are limits of the program
(`limits`), and of the group rather than of each of its profiles, unless bounds are refined.

An estimated law may lie off these edges, if only by noise: `project_onto_assumptions` gives the nearest one on them,
with two arms and two outcomes; `nearest_law` does so for any other structure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import OBSERVATIONAL
from pnsight.data.two_by_two import X0Y, XN, XY, Y_X, Y_X0, two_by_two_law
from pnsight.errors import AssumptionError, did_you_mean, join_names, percent_hint
from pnsight.wording import ASSUMPTIONS as MEANINGS
from pnsight.wording import assumption_meaning

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
    amount : of an assumption that says how much, that much; None for others
    """

    name: str
    meaning: str
    possible: str | None = None
    of_mixtures: bool = True
    of_assignment: bool = False
    amount: float | None = None

    @property
    def kind(self) -> str:
        """Its name without the amount."""
        return re.split("[<>]=", self.name)[0]


ASSUMPTIONS: dict[str, Assumption] = {
    MONOTONE: Assumption(MONOTONE, MEANINGS[MONOTONE], "Y1 >= Y0"),
    EXOGENOUS: Assumption(EXOGENOUS, MEANINGS[EXOGENOUS], of_mixtures=False),
    NO_DEFIERS: Assumption(NO_DEFIERS, MEANINGS[NO_DEFIERS], "not (D1 == 0 and D0 == 1)", of_assignment=True),
    ONE_SIDED: Assumption(ONE_SIDED, MEANINGS[ONE_SIDED], "D0 == 0", of_assignment=True),
}
"""The assumptions there are, by name."""

HARM, CORRELATION = "harm", "correlation"

GRADED: dict[str, tuple[str, float, float]] = {HARM: ("<=", 0.0, 1.0), CORRELATION: (">=", -1.0, 1.0)}
"""Assumptions that say how much: by name, the sign, and between which numbers the amount lies."""

_GRADED_TEXT = re.compile(r"\s*([a-z]+)\s*(<=|>=|<|>|=)\s*([^<>=]*?)\s*")

AssumeLike: TypeAlias = str | Iterable[str]
"""The name of an assumption, several separated by commas, or a sequence of names; empty for none."""

EQUAL_ROWS = (1.0, 1.0, 2.0)
"""Rows of each group where nothing says how many there are."""


def read_assumptions(assume: AssumeLike) -> tuple[str, ...]:
    """The assumptions named, each once and in the order of `ASSUMPTIONS`, those that say how much after the others."""
    names = [name for each in ([assume] if isinstance(assume, str) else assume) for name in each.split(",")]
    given = {name.strip() for name in names if name.strip()}
    graded = {name: _read_graded(name) for name in sorted(given) if _GRADED_TEXT.fullmatch(name)}
    for name in sorted(given - set(ASSUMPTIONS) - set(graded)):
        raise AssumptionError(
            f"no assumption is called {name!r}; known: {join_names(ASSUMPTIONS)}.{did_you_mean(name, ASSUMPTIONS)} How "
            f"much can be assumed too, as {' or '.join(_examples())}."
        )
    found = sorted(dict.fromkeys(graded.values()), key=lambda name: list(GRADED).index(find_assumption(name).kind))
    for kind in GRADED:
        own = [name for name in found if find_assumption(name).kind == kind]
        if len(own) > 1:
            raise AssumptionError(f"{join_names(map(repr, own))} are both assumed; say one of them.")
    return (*(name for name in ASSUMPTIONS if name in given), *found)


def find_assumption(name: str) -> Assumption:
    """The assumption of a name that `read_assumptions` gives.

    Parameters
    ----------
    name
        Such as ``monotone`` or ``harm<=0.05``.

    Returns
    -------
    What it says.
    """
    found = _GRADED_TEXT.fullmatch(name)
    if found is None:
        return ASSUMPTIONS[name]
    return Assumption(name, assumption_meaning(name), amount=float(found[3]))


def _read_graded(name: str) -> str:
    """An assumption that says how much, as it is kept: without blanks, and with the amount in its shortest form."""
    kind, sign, text = _GRADED_TEXT.fullmatch(name).groups()  # type: ignore[union-attr]
    if kind not in GRADED:
        raise AssumptionError(
            f"{name!r} was assumed, but nothing is known of {kind!r}; expected {' or '.join(map(repr, _examples()))}."
            + did_you_mean(kind, GRADED)
        )
    expected, least, most = GRADED[kind]
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if sign != expected or not least <= amount <= most:
        hint = percent_hint(amount) if kind == HARM and amount > most else "."
        raise AssumptionError(
            f"{name!r} was assumed; expected {kind}{expected}AMOUNT with an amount from {least:g} to {most:g}{hint}"
        )
    return f"{kind}{expected}{amount + 0.0:.12g}"


def _examples() -> list[str]:
    return [f"{kind}{sign}0.05" for kind, (sign, _, _) in GRADED.items()]


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
