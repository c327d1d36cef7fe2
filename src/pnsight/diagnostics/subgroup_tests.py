"""Subgroup tests: inequalities about a study, tested for everyone and in subgroups, with what was found against them.

Each inequality is a one-sided comparison of two proportions, by `mantel_haenszel`, in the subgroups of `subgroups`.
Profiles are compared one by one and their evidence added up, so it matters neither that the tables mix profiles
differently nor that the experiment allocates some of them differently. An alarm is at most as likely as it is when
every inequality is an equality, and then its chance is known. The familywise error rate is divided equally among the
kinds of subgroup, and within a kind among its comparisons (Bonferroni). Rows that weigh unequally or come in clusters
count as the effective rows that they are worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr, ndtri

from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes
from pnsight.data.study import Study
from pnsight.diagnostics.inequalities import Inequality, evidence_of
from pnsight.diagnostics.mantel_haenszel import Evidence
from pnsight.diagnostics.subgroups import EVERYONE, Subgroups, enumerate_subgroups
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA
from pnsight.notes import Note
from pnsight.queries.query import decode, format_queries

MIN_ROWS = 100
"""A subgroup is tested if each of the proportions compared is of at least this many of its effective rows."""

_MAX_REPORTED = 5


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of two proportions, one for each subgroup and inequality; arrays have shape (comparisons,).

    Attributes
    ----------
    queries : the subgroup, as the `query` column of answers has it
    kinds : the kind of subgroup
    inequalities : what is tested
    rows_left, rows_right : effective rows that either proportion is of, in profiles that have both
    left, right : the two proportions, in one and the same mix of profiles
    excess, low, high : by how much the left proportion is larger, with an interval that allows for all subgroups
    score : evidence against the inequality, standard normal at equality
    multiplier : by how many the p-value is multiplied to allow for all subgroups
    reported : positions of the comparisons that explain the other broken ones, the most certain first
    reported_groups : their subgroups in words
    reported_codes : the same as codes, shape (reported, covariates)
    broken_codes : codes of every subgroup that breaks an inequality, shape (subgroups, covariates)
    all_reported : whether those reported explain every broken one
    compared : share of all rows that could be compared
    pairs_left_out : whether there were too many pairs of covariates to enumerate
    """

    queries: tuple[str, ...]
    kinds: tuple[str, ...]
    inequalities: tuple[Inequality, ...]
    rows_left: FloatArray
    rows_right: FloatArray
    left: FloatArray
    right: FloatArray
    excess: FloatArray
    low: FloatArray
    high: FloatArray
    score: FloatArray
    multiplier: FloatArray
    reported: tuple[int, ...]
    reported_groups: tuple[str, ...]
    reported_codes: Codes
    broken_codes: Codes
    all_reported: bool
    compared: float
    pairs_left_out: bool

    @classmethod
    def of(cls, study: Study, inequalities: Sequence[Inequality]) -> Self:
        """Test each inequality in every subgroup that has rows for it.

        Parameters
        ----------
        study
            The tables.
        inequalities
            What is to be tested.

        Returns
        -------
        one comparison for each subgroup and inequality
        """
        structure, rows = study.structure, study.cell_evidence
        shared = evidence_of(rows, inequalities, structure).weight.any(axis=1)
        counts = rows[shared]
        subgroups = enumerate_subgroups(study.schema, study.profiles[shared])
        evidence = evidence_of(counts, inequalities, structure).over(subgroups.covers)
        subgroup, inequality = np.nonzero(_enough_rows(evidence, subgroups.kinds))
        kinds = subgroups.kinds[subgroup]
        multiplier = _multiplier(kinds)
        left, right = evidence.sides
        reach = -ndtri(FAMILYWISE_ALPHA / multiplier) * evidence.error[subgroup, inequality]
        excess = evidence.difference[subgroup, inequality]
        score = evidence.score[subgroup, inequality]
        evidence_from = partial(evidence_of, inequalities=inequalities, structure=structure)
        reported, all_reported = _reported(counts, evidence_from, subgroups, subgroup, inequality, multiplier, score)
        broken = log_ndtr(-score) + np.log(multiplier) < np.log(FAMILYWISE_ALPHA)
        return cls(
            queries=tuple(np.array(format_queries(study.schema, subgroups.codes), dtype=object)[subgroup]),
            kinds=tuple(kinds.tolist()),
            inequalities=tuple(inequalities[int(k)] for k in inequality),
            rows_left=evidence.rows_left[subgroup, inequality],
            rows_right=evidence.rows_right[subgroup, inequality],
            left=left[subgroup, inequality],
            right=right[subgroup, inequality],
            excess=excess,
            low=excess - reach,
            high=excess + reach,
            score=score,
            multiplier=multiplier,
            reported=reported,
            reported_groups=tuple(
                str(decode(study.schema, subgroups.codes[subgroup[at]])) or EVERYONE for at in reported
            ),
            reported_codes=subgroups.codes[subgroup[list(reported)]],
            broken_codes=subgroups.codes[np.unique(subgroup[broken])],
            all_reported=all_reported,
            compared=float(counts.sum() / (rows.sum() or 1.0)),
            pairs_left_out=subgroups.pairs_left_out,
        )

    @property
    def p_value(self) -> FloatArray:
        """P-value of each comparison by itself."""
        return np.asarray(np.exp(log_ndtr(-self.score)))

    @property
    def adjusted(self) -> FloatArray:
        """P-value of each comparison that allows for all of them."""
        return np.minimum(1.0, self.p_value * self.multiplier)

    @property
    def broken(self) -> npt.NDArray[np.bool_]:
        """Where a inequality is contradicted by more than chance explains."""
        return self.adjusted < FAMILYWISE_ALPHA

    @property
    def minimum_detectable(self) -> float:
        """The contradiction for everyone that would have been noticed, whichever inequality it breaks."""
        everyone = np.array(self.kinds) == EVERYONE
        return float((self.high - self.excess)[everyone].max())

    @property
    def extent(self) -> dict[str, int]:
        """How many subgroups and comparisons there are, by name."""
        return {"subgroups": len(set(self.queries)), "comparisons": len(self.queries)}

    def describe(self, which: int) -> Note:
        """One of the contradictions reported: the subgroup, both sides, and by how much one is too large."""
        at = self.reported[which]
        sides = self.inequalities[at]
        return Note(
            "contradiction",
            {
                "group": self.reported_groups[which],
                "pooled": (self.reported_codes[which] == OPEN).any(),
                "left": {"text": sides.left.text, "where": sides.left.where, "value": self.left[at]},
                "right": {"text": sides.right.text, "where": sides.right.where, "value": self.right[at]},
                "excess": self.excess[at],
                "low": self.low[at],
                "high": self.high[at],
            },
            "failure",
        )


def _enough_rows(evidence: Evidence, kinds: npt.NDArray[np.str_]) -> npt.NDArray[np.bool_]:
    """Which comparisons have enough rows, shape (subgroups, inequalities); that depends on margins only."""
    rows = np.minimum(evidence.rows_left, evidence.rows_right)
    return np.asarray((evidence.weight > 0) & ((rows >= MIN_ROWS) | (kinds == EVERYONE)[:, None]))


def _multiplier(kinds: npt.NDArray[np.str_]) -> FloatArray:
    """For each comparison the number of its kind, times the number of kinds."""
    found, place, number = np.unique(kinds, return_inverse=True, return_counts=True)
    return np.asarray(number[place] * len(found), dtype=np.float64)


def _reported(
    counts: FloatArray,
    evidence_from: Callable[[FloatArray], Evidence],
    subgroups: Subgroups,
    subgroup: npt.NDArray[np.intp],
    inequality: npt.NDArray[np.intp],
    multiplier: FloatArray,
    score: FloatArray,
) -> tuple[tuple[int, ...], bool]:
    """Broken comparisons that explain the others, and whether they explain all.

    The most certain, then what is still broken without its people, and so on; `score` is that of all people.
    """
    reported: list[int] = []
    broken = np.ones(len(subgroup), dtype=bool)
    while len(subgroup):
        log_p = log_ndtr(-score) + np.log(multiplier)
        broken &= log_p < np.log(FAMILYWISE_ALPHA)
        if not broken.any() or len(reported) == _MAX_REPORTED:
            break
        reported.append(int(np.argmin(np.where(broken, log_p, np.inf))))
        counts = counts * (subgroups.covers[[subgroup[reported[-1]]]].toarray() == 0).T
        score = evidence_from(counts).over(subgroups.covers).score[subgroup, inequality]
    return tuple(reported), not len(subgroup) or not broken.any()
