"""Claims about a study looked at for everyone and in subgroups, with what was found against them.

Each claim is a one-sided comparison of two proportions, by `evidence`, in the subgroups of `looks`. Profiles are
compared one by one and their evidence added up, so it matters neither that the tables mix profiles differently nor that
the experiment allocates some of them differently. An alarm is at most as likely as it is when every claim is an
equality, and then its chance is known. The level is shared equally among the kinds of look, and within a kind among its
comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr, ndtri

from pnsight._text import number_of
from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes
from pnsight.data.study import Study
from pnsight.diagnostics.inequalities import Claim, evidence_of
from pnsight.diagnostics.mantel_haenszel import Evidence
from pnsight.diagnostics.subgroups import EVERYONE, Looks, looks_at
from pnsight.diagnostics.verdict import FALSE_ALARMS
from pnsight.queries.query import decode, format_queries

LEAST_ROWS = 100
"""A subgroup is looked at if both shares compared are of as many rows in it."""

_MOST_NAMED = 5


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of two shares, one for each subgroup and claim; arrays have shape (comparisons,).

    Attributes
    ----------
    queries : the subgroup, as the `query` column of answers has it
    kinds : the kind of look
    claims : what is claimed
    rows_left, rows_right : rows that either share is of, in profiles that have both
    left, right : the two shares, in one and the same mix of profiles
    excess, low, high : by how much the left share is larger, with an interval that allows for all looks
    score : evidence against the claim, standard normal at equality
    multiplier : by how many the p-value is multiplied to allow for all looks
    named : positions of the comparisons that explain the other broken ones, the most certain first
    named_groups : their subgroups in words
    named_codes : the same as codes, shape (named, covariates)
    all_named : whether those named explain every broken one
    compared : share of all rows that could be compared
    pairs_left_out : whether there were too many pairs of covariates to look at
    """

    queries: tuple[str, ...]
    kinds: tuple[str, ...]
    claims: tuple[Claim, ...]
    rows_left: FloatArray
    rows_right: FloatArray
    left: FloatArray
    right: FloatArray
    excess: FloatArray
    low: FloatArray
    high: FloatArray
    score: FloatArray
    multiplier: FloatArray
    named: tuple[int, ...]
    named_groups: tuple[str, ...]
    named_codes: Codes
    all_named: bool
    compared: float
    pairs_left_out: bool

    @classmethod
    def of(cls, study: Study, claims: Sequence[Claim]) -> Self:
        """Compare the shares of each claim in every subgroup that has rows for it."""
        shared = evidence_of(study.counts, claims).weight.any(axis=1)
        counts = study.counts[shared]
        looks = looks_at(study.schema, study.profiles[shared])
        evidence = evidence_of(counts, claims).over(looks.covers)
        look, claim = np.nonzero(_taken(evidence, looks.kinds))
        kinds = looks.kinds[look]
        multiplier = _multiplier(kinds)
        left, right = evidence.sides
        reach = -ndtri(FALSE_ALARMS / multiplier) * evidence.error[look, claim]
        excess = evidence.difference[look, claim]
        named, all_named = _named(counts, claims, looks, look, claim, multiplier)
        return cls(
            queries=tuple(np.array(format_queries(study.schema, looks.codes), dtype=object)[look]),
            kinds=tuple(kinds.tolist()),
            claims=tuple(claims[int(k)] for k in claim),
            rows_left=evidence.rows_left[look, claim],
            rows_right=evidence.rows_right[look, claim],
            left=left[look, claim],
            right=right[look, claim],
            excess=excess,
            low=excess - reach,
            high=excess + reach,
            score=evidence.score[look, claim],
            multiplier=multiplier,
            named=named,
            named_groups=tuple(str(decode(study.schema, looks.codes[look[at]])) or EVERYONE for at in named),
            named_codes=looks.codes[look[list(named)]],
            all_named=all_named,
            compared=float(counts.sum() / max(study.counts.sum(), 1.0)),
            pairs_left_out=looks.pairs_left_out,
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
        """Where a claim is contradicted by more than chance explains."""
        return self.adjusted < FALSE_ALARMS

    @property
    def noticeable(self) -> float:
        """The contradiction for everyone that would have been noticed, whichever claim it breaks."""
        everyone = np.array(self.kinds) == EVERYONE
        return float((self.high - self.excess)[everyone].max())

    @property
    def power(self) -> str:
        """How large a contradiction would have been noticed, in words."""
        return f"for everyone, a contradiction of {self.noticeable:.3f} would have been noticed"

    @property
    def extent(self) -> str:
        """How much was looked at, in words."""
        return f"{number_of(len(set(self.queries)), 'subgroup')} ({number_of(len(self.queries), 'comparison')})"

    def told(self, which: int) -> str:
        """One of the contradictions named, in one sentence."""
        at, claim = self.named[which], self.claims[self.named[which]]
        pooled = ", profile by profile," if (self.named_codes[which] == OPEN).any() else ","
        return (
            f"For {self.named_groups[which]}{pooled} {claim.left.text} is {self.left[at]:.3f} {claim.left.where}, but "
            f"{claim.right.text} only {self.right[at]:.3f} {claim.right.where}: {self.excess[at]:.3f} too much "
            f"({self.low[at]:.3f} to {self.high[at]:.3f})."
        )


def _taken(evidence: Evidence, kinds: npt.NDArray[np.str_]) -> npt.NDArray[np.bool_]:
    """Comparisons with enough rows, (looks, claims); which they are depends on margins only, not on what they show."""
    rows = np.minimum(evidence.rows_left, evidence.rows_right)
    return np.asarray((evidence.weight > 0) & ((rows >= LEAST_ROWS) | (kinds == EVERYONE)[:, None]))


def _multiplier(kinds: npt.NDArray[np.str_]) -> FloatArray:
    """For each comparison the number of its kind, times the number of kinds."""
    found, place, number = np.unique(kinds, return_inverse=True, return_counts=True)
    return np.asarray(number[place] * len(found), dtype=np.float64)


def _named(
    counts: FloatArray,
    claims: Sequence[Claim],
    looks: Looks,
    look: npt.NDArray[np.intp],
    claim: npt.NDArray[np.intp],
    multiplier: FloatArray,
) -> tuple[tuple[int, ...], bool]:
    """Broken comparisons that explain the others, and whether they explain all.

    The most certain, then what is still broken without its people, and so on.
    """
    named: list[int] = []
    broken = np.ones(len(look), dtype=bool)
    while len(look):
        score = evidence_of(counts, claims).over(looks.covers).score[look, claim]
        log_p = log_ndtr(-score) + np.log(multiplier)
        broken &= log_p < np.log(FALSE_ALARMS)
        if not broken.any() or len(named) == _MOST_NAMED:
            break
        named.append(int(np.argmin(np.where(broken, log_p, np.inf))))
        counts = counts * (looks.covers[[look[named[-1]]]].toarray() == 0).T
    return tuple(named), not len(look) or not broken.any()
