"""Whether any population fits both tables: four inequalities, looked at for everyone and in subgroups.

A law is possible iff, for each treatment and each outcome, those who chose the treatment and show the outcome are no
more than those who show it when all are assigned the treatment: P(x,y) <= P(y_x), and so on (`INEQUALITIES`). Each is a
one-sided comparison of two proportions, by `evidence`, in the subgroups of `looks`.

Profiles are compared one by one and their evidence added up, so it matters neither that the tables mix profiles
differently nor that the experiment allocates some of them differently. An alarm is at most as likely as it is when
every inequality is an equality, and then its chance is known. The level is shared equally among the kinds of look, and
within a kind among its comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr, ndtri

from pnsight.bound_table import plain_counts
from pnsight.checks.evidence import Evidence
from pnsight.checks.looks import EVERYONE, Looks, looks_at
from pnsight.checks.verdict import FAILED, FALSE_ALARMS, OK, WARNING, Verdict
from pnsight.law import FloatArray
from pnsight.study import Study
from pnsight.text import as_records, number_of, percent

INEQUALITIES = ("P(x,y) <= P(y_x)", "P(x,y') <= P(y'_x)", "P(x',y) <= P(y_x')", "P(x',y') <= P(y'_x')")
"""What holds in every population, in the order of `law.COUNT_CELLS`."""

LEAST_ROWS = 100
"""A subgroup is looked at if the observational table and the arm compared both have as many rows in it."""

BROKEN = "broken"

_MOST_NAMED = 5
_LEAST_COMPARED = 0.5


@dataclass(frozen=True)
class Coherence:
    """Comparisons of the two tables, one for each subgroup and inequality; arrays have shape (comparisons,).

    Attributes
    ----------
    queries : the subgroup, as the `query` column of answers has it
    kinds : the kind of look
    inequalities : which of `INEQUALITIES` is compared
    rows_experimental, rows_observational : rows of the arm and of the observational table, in profiles that both have
    experimental, observational : the two shares, in one and the same mix of profiles
    excess, low, high : by how much the observational share is larger, with an interval that allows for all looks
    score : evidence against the inequality, standard normal at equality
    multiplier : by how many the p-value is multiplied to allow for all looks
    named : positions of the comparisons that explain the other broken ones, the most certain first
    named_groups : their subgroups in words
    compared : share of all rows that could be compared
    pairs_left_out : whether there were too many pairs of covariates to look at
    """

    queries: tuple[str, ...]
    kinds: tuple[str, ...]
    inequalities: tuple[str, ...]
    rows_experimental: FloatArray
    rows_observational: FloatArray
    experimental: FloatArray
    observational: FloatArray
    excess: FloatArray
    low: FloatArray
    high: FloatArray
    score: FloatArray
    multiplier: FloatArray
    named: tuple[int, ...]
    named_groups: tuple[str, ...]
    compared: float
    pairs_left_out: bool

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
        """Where the tables contradict each other by more than chance explains."""
        return self.adjusted < FALSE_ALARMS

    @property
    def verdict(self) -> Verdict:
        """Failed if some subgroup breaks an inequality; a warning if too little could be compared."""
        if self.named:
            others = f" Also: {'; '.join(self.named_groups[1:])}." if self.named[1:] else ""
            return Verdict(FAILED, f"no population fits both tables. {self.worst}{others} {self._extent()}")
        if not self.queries:
            return Verdict(WARNING, "nothing could be compared: no profile has rows in both tables.")
        text = (
            f"no contradiction in {number_of(len(set(self.queries)), 'subgroup')} "
            f"({number_of(len(self.queries), 'comparison')}); one of {self.noticeable:.3f} for everyone would show."
        )
        if self.pairs_left_out:
            text += " Pairs of covariates were too many to look at."
        if self.compared < _LEAST_COMPARED:
            shared = f"{percent(self.compared)} of the rows are in profiles that both tables have"
            text += f" But only {shared}: check again with fewer covariates."
        return Verdict(WARNING if self.compared < _LEAST_COMPARED else OK, text)

    def _extent(self) -> str:
        broken = {query for query, flag in zip(self.queries, self.broken, strict=True) if flag}
        return f"Subgroups that break an inequality: {len(broken):,} of {len(set(self.queries)):,}."

    @property
    def worst(self) -> str:
        """The most certain contradiction, in one sentence."""
        at = self.named[0]
        chosen, assigned = self.inequalities[at].split(" <= ")
        return (
            f"For {self.named_groups[0]}, {chosen} is {self.observational[at]:.3f} in the observational table, but "
            f"{assigned} only {self.experimental[at]:.3f} in the experiment: {self.excess[at]:.3f} too much "
            f"({self.low[at]:.3f} to {self.high[at]:.3f})."
        )

    @property
    def noticeable(self) -> float:
        """The contradiction for everyone that would have been noticed, whichever inequality it breaks."""
        everyone = np.array(self.kinds) == EVERYONE
        return float((self.high - self.excess)[everyone].max())

    def named_columns(self) -> dict[str, list[Any]]:
        """Every inequality that a named subgroup breaks, with the subgroup in words."""
        words = {self.queries[at]: group for at, group in zip(self.named, self.named_groups, strict=True)}
        rows = [row for query in words for row in np.flatnonzero(self.broken) if self.queries[row] == query]
        columns = self.columns()
        found = {name: [values[row] for row in rows] for name, values in columns.items()}
        return {"subgroup": [words[self.queries[row]] for row in rows], **found}

    def columns(self) -> dict[str, list[Any]]:
        """One row a comparison."""
        words = {"query": self.queries, "kind": self.kinds, "inequality": self.inequalities}
        rows = {name: plain_counts(getattr(self, name)) for name in ("rows_experimental", "rows_observational")}
        shares, tests = ("experimental", "observational", "excess", "low", "high"), ("score", "p_value", "adjusted")
        return {
            **{name: list(values) for name, values in words.items()},
            **rows,
            **{name: getattr(self, name).tolist() for name in (*shares, *tests)},
            "status": np.where(self.broken, BROKEN, OK).tolist(),
        }

    def looks(self) -> list[dict[str, Any]]:
        """Each comparison as a row of `Check.looks`."""
        named = {"query": "look", "inequality": "comparison", "excess": "size"}
        return as_records({named.get(name, name): values for name, values in self.columns().items()})

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        comparisons = as_records(self.columns())
        return {
            "compared": self.compared,
            "pairs_left_out": self.pairs_left_out,
            "named": [comparisons[at] for at in self.named],
            "comparisons": comparisons,
        }


def coherence_of(study: Study) -> Coherence | None:
    """Compare the two tables of a study; None for an experiment alone."""
    if study.observational is None:
        return None
    shared = (study.experimental.sum(axis=1) > 0) & (study.observational.sum(axis=1) > 0)
    counts = study.counts[shared]
    looks = looks_at(study.schema, study.profiles[shared])
    evidence = _evidence(counts, looks)
    look, cell = np.nonzero(_taken(evidence, looks.kinds))
    kinds = looks.kinds[look]
    multiplier = _multiplier(kinds)
    experimental, observational = evidence.sides
    reach = -ndtri(FALSE_ALARMS / multiplier) * evidence.error[look, cell]
    excess = evidence.difference[look, cell]
    named = _named(counts, looks, look, cell, multiplier)
    return Coherence(
        queries=tuple(np.array(study.schema.format(looks.codes), dtype=object)[look]),
        kinds=tuple(kinds.tolist()),
        inequalities=tuple(INEQUALITIES[k] for k in cell),
        rows_experimental=evidence.rows_experimental[look, cell],
        rows_observational=evidence.rows_observational[look, cell],
        experimental=experimental[look, cell],
        observational=observational[look, cell],
        excess=excess,
        low=excess - reach,
        high=excess + reach,
        score=evidence.score[look, cell],
        multiplier=multiplier,
        named=named,
        named_groups=tuple(str(study.schema.query(looks.codes[look[at]])) or EVERYONE for at in named),
        compared=float(counts.sum() / max(study.counts.sum(), 1.0)),
        pairs_left_out=looks.pairs_left_out,
    )


def _evidence(counts: FloatArray, looks: Looks) -> Evidence:
    return Evidence.of_profiles(counts[:, :4], counts[:, 4:]).over(looks.covers)


def _taken(evidence: Evidence, kinds: npt.NDArray[np.str_]) -> npt.NDArray[np.bool_]:
    """Comparisons with enough rows, shape (looks, 4); which they are depends on margins only, not on what they show."""
    rows = np.minimum(evidence.rows_experimental, evidence.rows_observational)
    return np.asarray((evidence.weight > 0) & ((rows >= LEAST_ROWS) | (kinds == EVERYONE)[:, None]))


def _multiplier(kinds: npt.NDArray[np.str_]) -> FloatArray:
    """For each comparison the number of its kind, times the number of kinds."""
    found, place, number = np.unique(kinds, return_inverse=True, return_counts=True)
    return np.asarray(number[place] * len(found), dtype=np.float64)


def _named(
    counts: FloatArray,
    looks: Looks,
    look: npt.NDArray[np.intp],
    cell: npt.NDArray[np.intp],
    multiplier: FloatArray,
) -> tuple[int, ...]:
    """Broken comparisons that explain the others: the most certain, then what is still broken without its people."""
    named: list[int] = []
    broken = np.ones(len(look), dtype=bool)
    while len(named) < _MOST_NAMED and len(look):
        log_p = log_ndtr(-_evidence(counts, looks).score[look, cell]) + np.log(multiplier)
        broken &= log_p < np.log(FALSE_ALARMS)
        if not broken.any():
            break
        named.append(int(np.argmin(np.where(broken, log_p, np.inf))))
        counts = counts * (looks.covers[[look[named[-1]]]].toarray() == 0).T
    return tuple(named)
