"""Attrition: whether outcomes are missing more often in one arm, or for some people, than for others.

Rows without an outcome are left out. That is harmless if being missing has nothing to do with the outcome, which no
table can show; but where the share that is missing differs between the arms, it is doubtful. It never makes tables
unusable by itself, as those who are missing may be like those who are not.
Source of the interval: R. G. Newcombe (1998), "Interval estimation for the difference between independent proportions".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from pnsight._typing import FloatArray
from pnsight.data.attrition import Arms, TableAttrition
from pnsight.data.structure import EXPERIMENTAL, WORST_CASE
from pnsight.data.study import Study
from pnsight.data.two_by_two import N_X, N_X0, X0N, X0Y, XN, XY, Y_X, Y_X0
from pnsight.diagnostics.bonferroni import OneOfMany
from pnsight.diagnostics.stratified_chi2 import association
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA, OK, WARNING, Verdict
from pnsight.notes import INFO, Note
from pnsight.notes import WARNING as WARNING_NOTE

MAX_MISSING = 0.05
"""A larger share of missing outcomes is warned of, whoever they are."""

_MIN_MISSING = 0.01  # with fewer it hardly matters who they are
_TWO_ARMS = ("treated", "untreated")
_RESPONDED = {True: ((Y_X, N_X), (Y_X0, N_X0)), False: ((XY, XN), (X0Y, X0N))}


@dataclass(frozen=True)
class ArmComparison(OneOfMany):
    """Missing outcomes of the arms of a table.

    Attributes
    ----------
    table : its name
    rows, missing : rows of either arm, and those of them without an outcome
    respond : share of either arm's known outcomes that are responses; None of none
    low, high : interval of the difference of the shares, treated less untreated; NaN with other arms
    p_value : of no difference, for this look alone
    tests : how many looks there are
    arms : names of the arms
    """

    table: str
    rows: Arms
    missing: Arms
    respond: tuple[float | None, ...]
    low: float
    high: float
    p_value: float
    tests: int
    arms: tuple[str, ...] = _TWO_ARMS

    @property
    def shares(self) -> Arms:
        """Share of either arm that is missing."""
        return TableAttrition(self.table, self.rows, self.missing).shares

    @property
    def size(self) -> float:
        """By how much the shares differ: treated less untreated, or the largest less the smallest."""
        return self.shares[0] - self.shares[1] if self.arms == _TWO_ARMS else max(self.shares) - min(self.shares)

    @property
    def differs(self) -> bool:
        """Whether the shares differ by more than chance explains."""
        return any(self.missing) and super().differs

    @property
    def note(self) -> Note:
        """Both shares, their difference, and what those who are missing could change in the arm that lacks more."""
        if self.arms != _TWO_ARMS:
            named = [{"arm": arm, "share": share} for arm, share in zip(self.arms, self.shares, strict=True)]
            return Note("outcomes_missing_by_arms", {"table": self.table, "arms": named}, WARNING_NOTE)
        treated, untreated = self.shares
        arm = 0 if treated >= untreated else 1
        known = self.respond[arm]
        shown = None if known is None else known * (1 - self.shares[arm])
        return Note(
            "outcomes_missing_by_arm",
            {
                "table": self.table,
                "treated": treated,
                "untreated": untreated,
                "difference": treated - untreated,
                "low": self.low,
                "high": self.high,
                "arm": _TWO_ARMS[arm],
                "respond": known,
                "least": shown,
                "most": None if shown is None else shown + self.shares[arm],
            },
            WARNING_NOTE,
        )


@dataclass(frozen=True)
class CovariateComparison(OneOfMany):
    """Missing outcomes of one arm, by the levels of a covariate.

    Attributes
    ----------
    table, arm, covariate : names
    share, least, most : share of the arm that is missing, and the smallest and largest of any level
    p_value : of no difference, for this look alone
    tests : how many looks there are
    """

    table: str
    arm: str
    covariate: str
    share: float
    least: float
    most: float
    p_value: float
    tests: int = 1

    @property
    def differs(self) -> bool:
        """Whether levels differ by more than chance explains, and it could matter."""
        return super().differs and self.share > _MIN_MISSING


@dataclass(frozen=True)
class MissingOutcomes:
    """Missing outcomes of all tables.

    Attributes
    ----------
    arms : one comparison a table
    covariates : one for each table, arm and covariate, where an outcome is missing
    allowed_for : whether bounds allow for any outcome of those who are missing
    """

    arms: tuple[ArmComparison, ...]
    covariates: tuple[CovariateComparison, ...]
    allowed_for: bool = False

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to be warned of: arms that differ, many missing outcomes, and covariates that they go with."""
        if self.allowed_for:
            return ()
        return (*(one.note for one in self.arms if one.differs), *self._many(), *self._by_covariate())

    def _many(self) -> Iterator[Note]:
        for one in self.arms:
            if max(one.shares) > MAX_MISSING and not one.differs:
                share = sum(one.missing) / sum(one.rows)
                yield Note("many_outcomes_missing", {"table": one.table, "share": share}, WARNING_NOTE)

    def _by_covariate(self) -> Iterator[Note]:
        for table, arm in dict.fromkeys((one.table, one.arm) for one in self.covariates):
            found = [one for one in self.covariates if (one.table, one.arm) == (table, arm) and one.differs]
            if found:
                by = [{"covariate": one.covariate, "least": one.least, "most": one.most} for one in found]
                values = {"table": table, "arm": arm, "covariates": by}
                yield Note("outcomes_missing_by_covariate", values, WARNING_NOTE)

    @property
    def verdict(self) -> Verdict:
        """A warning where outcomes are missing in a way that could change an answer."""
        if self.notes:
            return Verdict(WARNING, self.notes)
        missing, rows = (sum(sum(getattr(one, name)) for one in self.arms) for name in ("missing", "rows"))
        kind = "outcomes_missing_allowed_for" if self.allowed_for else "outcomes_missing"
        return Verdict(OK, (Note(kind, {"share": missing / (rows or 1.0)}, INFO),))

    def looks(self) -> list[dict[str, Any]]:
        """Each test as a row of `Check.looks`."""
        return [
            *(
                {
                    "kind": "arms",
                    "look": one.table,
                    "comparison": f"missing outcomes of {' and '.join(one.arms)}",
                    "size": one.size,
                    "low": _known(one.low),
                    "high": _known(one.high),
                    "p_value": one.p_value,
                    "adjusted": one.adjusted,
                    "status": one.status,
                }
                for one in self.arms
                if any(one.missing)
            ),
            *(
                {
                    "kind": "covariate",
                    "look": one.covariate,
                    "comparison": f"missing outcomes of the {one.arm}, {one.table} table",
                    "size": one.most - one.least,
                    "p_value": one.p_value,
                    "adjusted": one.adjusted,
                    "status": one.status,
                }
                for one in self.covariates
            ),
        ]

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        arms = [
            {
                **vars(one),
                "low": _known(one.low),
                "high": _known(one.high),
                "shares": one.shares,
                "adjusted": one.adjusted,
            }
            for one in self.arms
        ]
        return {"arms": arms, "covariates": [{**vars(one), "adjusted": one.adjusted} for one in self.covariates]}


def missing_outcomes_of(study: Study) -> MissingOutcomes | None:
    """Attrition of a study.

    Parameters
    ----------
    study
        The tables.

    Returns
    -------
    comparisons of the arms and of covariates; None where it is not known how many outcomes were missing
    """
    if study.attrition is None:
        return None
    found = [one for one in study.attrition if one.table in study.structure.tables]
    arms = _TWO_ARMS if study.structure.is_two_by_two else study.structure.description.arms
    by_level = [look for one in found for look in _level_looks(one, arms)]
    tests = max(1, sum(any(one.missing) for one in found) + len(by_level))
    return MissingOutcomes(
        tuple(_compare_arms(study, one, tests, arms) for one in found),
        tuple(replace(look, tests=tests) for look in by_level),
        study.structure.description.missing == WORST_CASE,
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _compare_arms(study: Study, one: TableAttrition, tests: int, arms: tuple[str, ...]) -> ArmComparison:
    counts = np.array([one.missing, np.subtract(one.rows, one.missing)])
    p_value = association(counts, np.arange(2), None, one.worth).p_value
    if arms != _TWO_ARMS:
        unknown = (None,) * len(arms)
        return ArmComparison(one.table, one.rows, one.missing, unknown, math.nan, math.nan, p_value, tests, arms)
    low, high = _newcombe(one.shares, np.array(one.rows) * one.arm_worth)
    return ArmComparison(one.table, one.rows, one.missing, _responding(study, one.table), low, high, p_value, tests)


def _responding(study: Study, table: str) -> tuple[float | None, float | None]:
    """Share of either arm's known outcomes that are responses."""
    rows = {cell.name: float(rows) for cell, rows in zip(study.structure.cells, study.cell_rows[0], strict=False)}
    (y, n), (y0, n0) = _RESPONDED[table == EXPERIMENTAL]
    treated, untreated = (rows[a] / (rows[a] + rows[b]) if rows[a] + rows[b] else None for a, b in ((y, n), (y0, n0)))
    return treated, untreated


def _newcombe(shares: Sequence[float], rows: FloatArray) -> tuple[float, float]:
    """Interval of the first share less the second, from Wilson's intervals of each; `rows` are effective."""
    (p, low, high), (q, low0, high0) = (_wilson(share, n) for share, n in zip(shares, rows.tolist(), strict=True))
    return p - q - math.hypot(p - low, high0 - q), p - q + math.hypot(high - p, q - low0)


def _wilson(share: float, rows: float) -> tuple[float, float, float]:
    """A share with its score interval; from 0 to 1 without rows."""
    if not rows:
        return share, 0.0, 1.0
    z = -float(ndtri(FAMILYWISE_ALPHA / 2))
    middle = (share + z**2 / (2 * rows)) / (1 + z**2 / rows)
    reach = z / (1 + z**2 / rows) * math.sqrt(share * (1 - share) / rows + z**2 / (4 * rows**2))
    return share, max(0.0, middle - reach), min(1.0, middle + reach)


def _level_looks(one: TableAttrition, arms: tuple[str, ...]) -> Iterator[CovariateComparison]:
    """One for each arm with a missing outcome and each covariate that varies in it."""
    for arm, name in enumerate(arms):
        for levels in one.levels if one.missing[arm] else ():
            rows, missing = (np.array(counts)[:, arm] for counts in (levels.rows, levels.missing))
            some = rows > 0
            if some.sum() > 1:
                shares = missing[some] / rows[some]
                groups = np.stack([missing, rows - missing], axis=1)
                p_value = association(groups, np.arange(len(rows)), None, one.arm_worth[arm]).p_value
                whole = float(missing.sum() / rows.sum())
                ends = float(shares.min()), float(shares.max())
                yield CovariateComparison(one.table, name, levels.covariate, whole, *ends, p_value)
